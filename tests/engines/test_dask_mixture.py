"""Mixtures on Dask collections, with workers and without: the bits of arrays, missing entries."""

import numpy as np
import pandas as pd
import pytest

import certus
from certus.linear_model import Ridge
from certus.mixture import GaussianMixture, MultinomialMixture
from tests.engines.dask_data import MARKS, da, many_parts
from tests.streamed.linear_cases import attributes
from tests.streamed.mixture_cases import K, clouds, counts, with_holes

dd = pytest.importorskip("dask.dataframe")
pytestmark = MARKS


@pytest.fixture(autouse=True)
def several_parts(monkeypatch):
    many_parts(monkeypatch)


def collection(X, chunk):
    return da.from_array(X, chunks=(chunk, *X.shape[1:]))


def assert_equal_fits(one, other):
    for name, value in attributes(other).items():
        np.testing.assert_array_equal(getattr(one, name), value, err_msg=name)
    assert one.certificate_.status == other.certificate_.status
    assert one.certificate_.residual == other.certificate_.residual


@pytest.mark.parametrize("shape", ["full", "tied"])
def test_a_gaussian_mixture_has_the_bits_of_the_fit_to_an_array(where, shape):
    X, s = clouds(n=8000, p=6, weights=True)
    given = collection(X, 1_701), collection(s, 3_000)
    model = GaussianMixture(K, covariance_type=shape, random_state=0)
    arrays = GaussianMixture(K, covariance_type=shape, random_state=0).fit(X, sample_weight=s)
    assert_equal_fits(model.fit(given[0], sample_weight=given[1]), arrays)
    assert certus.verify(model, given[0], None, given[1]).status == "local optimum"
    np.testing.assert_array_equal(model.predict(given[0]).compute(), arrays.predict(X))
    assert model.score(given[0]) == pytest.approx(arrays.score(X), rel=1e-12)
    assert model.bic(given[0]) == pytest.approx(arrays.bic(X), rel=1e-12)
    assert model.fit_predict(given[0], sample_weight=given[1]).shape == (8000,)


def test_missing_entries_of_a_frame_are_integrated_out(where):
    X, _ = with_holes()
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=3)
    model = GaussianMixture(K, random_state=0, max_iter=5, tol=0)
    arrays = GaussianMixture(K, random_state=0, max_iter=5, tol=0)
    with pytest.warns(certus.exceptions.NotCertifiedWarning):
        model.fit(frame)
    with pytest.warns(certus.exceptions.NotCertifiedWarning):
        arrays.fit(pd.DataFrame(X, columns=list("abcd")))
    assert_equal_fits(model, arrays)
    assert certus.verify(model, frame).objective == model.certificate_.objective
    with pytest.raises(ValueError, match="missing value"):
        Ridge().fit(frame[["a", "b"]], frame["c"])


def test_imputed_rows_of_a_collection_are_those_of_the_array():
    X, _ = with_holes()
    model = GaussianMixture(K, random_state=0).fit(X)
    imputed = model.impute(collection(X, 700))
    np.testing.assert_allclose(imputed.compute(), model.impute(X), rtol=1e-12, atol=1e-12)


def test_counts_on_workers_have_the_bits_of_arrays(where):
    X, _ = counts()
    model = MultinomialMixture(K, random_state=0).fit(collection(X, 700))
    assert_equal_fits(model, MultinomialMixture(K, random_state=0).fit(X))
