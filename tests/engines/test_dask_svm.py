"""Dask collections for LinearSVC, and as queries of models that were fitted on arrays."""

import numpy as np
import pytest

import certus
from certus.linear_model import LogisticRegression
from certus.metrics import CalibratedClassifier
from certus.neighbors import KNeighborsClassifier
from certus.svm import LinearSVC
from tests.engines.dask_data import MARKS, collections

pytestmark = MARKS
N = 4000


@pytest.fixture(scope="module")
def labelled():
    """X, labels and weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    return X, (X[:, 0] + rng.normal(size=N) > 0).astype(int), rng.uniform(0.5, 2, size=N)


@pytest.mark.parametrize("options", [{}, {"loss": "hinge"}, {"penalty": "l1"}], ids=str)
def test_linear_svc_on_chunks_has_the_optimum_of_the_arrays(options, where, labelled):
    X, y, s = labelled
    found, expected = LinearSVC(**options).fit(*collections(X, y, s, 1300)), LinearSVC(**options)
    expected.fit(X, y, s)
    f, g = found.certificate_, expected.certificate_
    assert f.certified
    assert abs(f.objective - g.objective) <= f.gap + g.gap
    if not options:  # to the bit, though the constant column is appended where the chunks are
        np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert certus.verify(found, *collections(X, y, s, 1300)).certified
    lazy = found.predict(collections(X, y, s, 1300)[0])
    np.testing.assert_array_equal(lazy.compute(), found.predict(X))


def test_answers_of_inherited_methods_are_lazy_too(where, labelled):
    X, y, s = labelled
    model = LogisticRegression().fit(X, y, s)
    for name in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(model, name)(collections(X, y, s, 1300)[0])
        assert not isinstance(lazy, np.ndarray)
        np.testing.assert_allclose(lazy.compute(), getattr(model, name)(X), rtol=1e-12)


def test_chunks_are_queries_of_neighbours_in_memory(where, labelled):
    X, y, s = labelled
    model = KNeighborsClassifier(3).fit(X[:200], y[:200])
    chunks = collections(X, y, s, 1300)
    for found, expected in zip(model.kneighbors(chunks[0]), model.kneighbors(X), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(model.predict(chunks[0]).compute(), model.predict(X))
    assert model.score(*chunks) == pytest.approx(model.score(X, y, s), rel=1e-12)


def test_calibration_takes_chunks(where, labelled):
    X, y, s = labelled
    chunks = collections(X, y, s, 1300)
    model = CalibratedClassifier(LinearSVC(), cv=3).fit(*chunks)
    P = model.predict_proba(chunks[0]).compute()
    np.testing.assert_allclose(P, model.predict_proba(X), rtol=1e-12)
    assert abs(np.average(P[:, 1], weights=s) - np.average(y, weights=s)) < 0.01
