"""k-means on Dask collections, with workers and without: the bits of arrays."""

import numpy as np
import pytest

import certus
from certus.cluster import KMeans, MiniBatchKMeans
from tests.engines.dask_data import MARKS, da, many_parts

pytestmark = [*MARKS, pytest.mark.filterwarnings("ignore::certus.exceptions.RangeWarning")]
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2, size=8000)


@pytest.fixture(autouse=True)
def several_parts(monkeypatch):
    many_parts(monkeypatch)


def noise():
    """Rows without clusters, of which many gain by moving alone."""
    return np.random.default_rng(0).uniform(size=(8000, 6))


def assert_equal_fits(one, other):
    np.testing.assert_array_equal(np.asarray(one.labels_), other.labels_)
    np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
    assert (one.inertia_, one.unit_) == (other.inertia_, other.unit_)
    assert one.certificate_.status == other.certificate_.status


# 8000·6·k numbers: rows are swept for 12 clusters, and searched in one pass for 120
@pytest.mark.costly
@pytest.mark.parametrize("k", [12, 120])
@pytest.mark.parametrize("weighted", [False, True])
def test_moves_of_single_rows_give_the_labels_of_the_fit_to_an_array(where, k, weighted):
    X, s = noise(), WEIGHTS if weighted else None
    given = da.from_array(X, chunks=(1_701, 6))
    weights = da.from_array(s, chunks=3_000) if weighted else None
    arrays = KMeans(k, random_state=0).fit(X, sample_weight=s)
    lloyd = KMeans(k, random_state=0, single_moves=False).fit(X, sample_weight=s)
    assert arrays.inertia_ < lloyd.inertia_  # rows did move
    model = KMeans(k, random_state=0).fit(given, sample_weight=weights)
    assert_equal_fits(model, arrays)
    assert certus.verify(model, given, None, weights).status == "local optimum"


@pytest.mark.costly
@pytest.mark.parametrize("power", [560, -560])
@pytest.mark.parametrize("make", [KMeans, MiniBatchKMeans])
def test_rows_whose_squares_float64_cannot_hold_have_the_bits_of_arrays(where, make, power):
    Z = noise() * 2.0**power
    given = da.from_array(Z, chunks=(1_701, 6))
    arrays, model = (make(12, random_state=0).fit(A) for A in (Z, given))
    assert arrays.unit_ != 1.0
    assert_equal_fits(model, arrays)
    np.testing.assert_array_equal(np.asarray(model.predict(given)), arrays.labels_)
    np.testing.assert_array_equal(np.asarray(model.transform(given)), arrays.transform(Z))
    assert model.score(given) == pytest.approx(arrays.score(Z), rel=1e-12)
    assert certus.verify(model, given).objective == model.certificate_.objective
