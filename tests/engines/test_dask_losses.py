"""A worker that is killed in the middle of a fit changes nothing: not a bit of the result."""

import os
import signal
import time

import numpy as np
import pytest
from sklearn.base import clone

import certus
from certus.cluster import KMeans
from certus.data.rows import Rows
from certus.engines.dask import DaskEngine
from certus.linear_model import LogisticRegression, Ridge
from certus.mixture import GaussianMixture
from tests.engines.dask_data import MARKS, WORKERS, N, P, collections, da, data, many_parts
from tests.engines.test_parts import nearest_so_far

distributed = pytest.importorskip("distributed")
pytestmark = MARKS


def killed_while(fit, at):
    """The result of a fit, and its number of passes; before pass ``at`` a worker is killed.

    It is one that holds a part of the table, and the scheduler has lost it before the pass begins.
    """
    with distributed.Client(**WORKERS) as client, pytest.MonkeyPatch.context() as patch:
        processes = client.run(os.getpid)
        passes = []
        started = DaskEngine.run

        def run(self, function, *args, **kwargs):
            passes.append(function.__name__)
            if len(passes) == at:
                distributed.wait(self.parts)
                assert len(self.parts) > 2
                holders = client.who_has(self.parts)
                worker = holders[self.parts[0].key][0]
                os.kill(processes[worker], signal.SIGKILL)
                while worker in client.scheduler_info(n_workers=-1)["workers"]:
                    time.sleep(0.02)
            return started(self, function, *args, **kwargs)

        patch.setattr(DaskEngine, "run", run)
        many_parts(patch)
        result = fit()
        assert len(passes) >= at, "the worker was killed in the middle of the fit"
        return result, len(passes)


@pytest.mark.parametrize("at", [2, 3])  # before the sums of the fit, and before those of the proof
def test_a_killed_worker_changes_nothing(at):
    X, y, s = data()
    found, _ = killed_while(lambda: Ridge().fit(*collections(X, y, s)), at)
    np.testing.assert_array_equal(found.coef_, Ridge().fit(X, y, s).coef_)
    assert found.certificate_.certified


FITS = {
    "logistic": (lambda: LogisticRegression(tol=1e-8), 6, ("coef_", "intercept_")),
    "k-means": (
        lambda: KMeans(4, n_init=1, random_state=0),
        12,
        ("cluster_centers_", "inertia_"),
    ),
    "mixture": (
        lambda: GaussianMixture(3, covariance_type="diag", random_state=0),
        7,
        ("means_", "covariances_", "weights_"),
    ),
}


@pytest.mark.costly
@pytest.mark.parametrize("name", FITS)
def test_a_killed_worker_changes_nothing_in_a_fit_that_iterates(name):
    make, at, attributes = FITS[name]
    X, y, _ = data()
    y = (y > np.median(y)).astype(int)
    classes = {"y": da.from_array(y)} if name == "logistic" else {}
    dX = da.from_array(X, chunks=(7_001, -1))
    found, passes = killed_while(lambda: make().fit(dX, **classes), at)
    assert passes > at + 2, "passes of the solver follow"
    expected = make().fit(dX, **classes)  # without a client: in this process
    for attribute in attributes:
        np.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))
    assert found.certificate_.objective == expected.certificate_.objective
    assert found.certificate_.certified


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("classes", "options", "at"),
    [
        (2, {"solver": "newton-cg", "tol": 1e-9}, 12),  # curvatures of the rows are kept
        (3, {"C": np.inf}, 6),
    ],
    ids=str,
)
def test_a_killed_worker_changes_nothing_in_a_logistic_fit(classes, options, at):
    X, y, s = data()
    y = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))
    y = np.where(np.random.default_rng(1).uniform(size=N) < 0.2, 0, y)
    found, _ = killed_while(lambda: LogisticRegression(**options).fit(*collections(X, y, s)), at)
    expected = LogisticRegression(**options).fit(X, y, s)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.intercept_, expected.intercept_)
    assert found.certificate_.certified
    assert found.certificate_.gap == expected.certificate_.gap


def nearest_of_all_passes(rows):
    """What is kept for every row after passes that each change it."""
    best, which = rows.allocate(), rows.allocate(dtype=np.int32)
    best[0:N] = np.inf
    for k, size in enumerate((4_000, 4_000, 3_000, 4_000, 4_000)):
        center = np.full(P, 5.0 * k)
        rows.reduce(nearest_so_far, center, k, beside=(best, which), block_rows=size)
    return np.asarray(best), np.asarray(which)


@pytest.mark.costly
def test_what_is_kept_for_every_row_is_made_again_after_a_loss():
    X, y, _ = data()

    def fit():
        table = certus.open_rows(da.from_array(X, chunks=(7_001, -1)), target=y)
        return nearest_of_all_passes(Rows(table.X, table.y))

    expected = nearest_of_all_passes(Rows(X, y[:, None]))
    found, _ = killed_while(fit, 12)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_k_means_whose_worker_is_killed_has_the_bits_of_arrays():
    """Labels and bounds of the lost parts are made again, by the steps so far."""
    X, _, s = data()
    model = KMeans(12, random_state=0, max_iter=15)
    dX, _, ds = collections(X, s, s)
    found, passes = killed_while(lambda: clone(model).fit(dX, sample_weight=ds), 12)
    expected = model.fit(X, sample_weight=s)
    assert passes > 17
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.inertia_ == expected.inertia_
    assert found.certificate_.residual == expected.certificate_.residual
