"""Rows that are made when they are read: the same answers, never more than a block at once."""

import pickle

import numpy as np
import pytest
import sklearn.linear_model as peers
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import certus
from certus.data.lazy import LazyRows
from certus.data.rows import MAX_CACHED_SAMPLE_ELEMENTS, Rows
from certus.linear_model import (
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    PenalizedClassifier,
    Ridge,
    RidgeCV,
)
from certus.preprocessing import GaussianBasis, PolynomialBasis, SigmoidBasis

REGRESSORS = [LinearRegression(), LinearRegression(positive=True), Ridge(0.1), RidgeCV()]
CLASSIFIERS = [
    LogisticRegression(),
    LogisticRegression(C=0.1, l1_ratio=1, solver="saga"),
    LogisticRegression(solver="newton-cg"),
    LogisticRegression(solver="liblinear"),
    LogisticRegressionCV(Cs=2, cv=2, l1_ratios=(0,), use_legacy_attributes=False),
    PenalizedClassifier(),
]
MODELS = [*REGRESSORS, *CLASSIFIERS]
BASES = [PolynomialBasis(5), GaussianBasis(12), SigmoidBasis(8)]
each_basis = pytest.mark.parametrize("basis", BASES, ids=str)
each_model = pytest.mark.parametrize("model", MODELS, ids=str)


def problem(n, classes=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + rng.normal(0, 0.5, size=n)
    return X, y if classes is None else np.digitize(y, np.linspace(0, 2, classes - 1))


def lazy_and_held(basis, X):
    return clone(basis).set_params(lazy=True).fit_transform(X), clone(basis).fit_transform(X)


# --- as an array ----------------------------------------------------------------------------------


@each_basis
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_lazy_rows_are_the_rows_to_the_bit(basis, dtype):
    X = (100 * problem(200)[0]).astype(dtype)
    lazy, held = lazy_and_held(basis, X)
    assert isinstance(lazy, LazyRows)
    assert (lazy.shape, lazy.dtype, len(lazy)) == (held.shape, held.dtype, 200)
    assert held.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(np.asarray(lazy), held)
    some = np.random.default_rng(0).permutation(200)[:70]
    for key in (
        slice(3, 50),
        slice(None, None, 7),
        some,
        held[:, 0] > 0,
        -1,
        (slice(9), 1),
        (4, 2),
    ):
        np.testing.assert_array_equal(lazy[key], held[key])
        assert np.asarray(lazy[key]).dtype == held.dtype
    np.testing.assert_array_equal(lazy.take(some)[5:9], held[some][5:9])
    np.testing.assert_array_equal(list(lazy), held)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(lazy))[:], held)
    np.testing.assert_array_equal(np.asarray(lazy, dtype=np.float32), held.astype(np.float32))


def test_an_array_of_them_is_a_copy_and_a_row_too_many_an_error():
    lazy, _ = lazy_and_held(GaussianBasis(3), problem(20)[0])
    with pytest.raises(ValueError, match="an array of them is a copy"):
        np.asarray(lazy, copy=False)
    with pytest.raises(IndexError):
        lazy[20]


def test_a_later_fit_of_the_basis_does_not_change_them():
    X, _ = problem(50)
    basis = GaussianBasis(4, lazy=True)
    lazy = basis.fit_transform(X)
    before = np.asarray(lazy)
    basis.fit(1000 * X)
    np.testing.assert_array_equal(np.asarray(lazy), before)


# --- as X of a fit --------------------------------------------------------------------------------


@each_model
@pytest.mark.parametrize("n", [300, 30_000])
def test_a_fit_is_the_same(model, n):
    X, y = problem(n, None if model in REGRESSORS else 2)
    lazy, held = lazy_and_held(GaussianBasis(6), X)
    weights = 1 + (np.arange(n) % 3)
    ours, theirs = clone(model).fit(lazy, y, weights), clone(model).fit(held, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-8)
    assert ours.certificate_.certified
    np.testing.assert_allclose(ours.predict(lazy), ours.predict(held), rtol=1e-12, atol=1e-12)
    for given in (lazy, held):
        assert certus.verify(ours, given, y, weights).status == "optimal"
    assert certus.verify(theirs, lazy, y, weights).status == "optimal"
    assert ours.certificate_.fingerprint.differs(theirs.certificate_.fingerprint) is None


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
@pytest.mark.parametrize("model", [RidgeCV(), LogisticRegression()], ids=str)
def test_float32_and_whole_numbers_are_fitted(model, dtype):
    X, y = problem(5000, None if model in REGRESSORS or isinstance(model, RidgeCV) else 3)
    lazy, held = lazy_and_held(SigmoidBasis(5), (1000 * X).astype(dtype))
    ours, theirs = clone(model).fit(lazy, y), clone(model).fit(held, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-7)
    assert ours.certificate_.certified


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), RidgeCV()], ids=str)
@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
def test_fewer_rows_than_columns(model):
    X, y = problem(12)
    lazy, held = lazy_and_held(GaussianBasis(9), X)
    np.testing.assert_allclose(
        clone(model).fit(lazy, y).predict(lazy), clone(model).fit(held, y).predict(held), atol=1e-8
    )


@pytest.fixture
def blocks(monkeypatch):
    """Shapes of all that is made of lazy rows."""
    made = []
    plain = LazyRows.__getitem__

    def recorded(self, key):
        block = plain(self, key)
        made.append(block.shape)
        return block

    monkeypatch.setattr(LazyRows, "__getitem__", recorded)
    return made


# liblinear penalises the intercept, which takes a copy of X with one more column
@pytest.mark.costly
@pytest.mark.parametrize(
    "model", [m for m in MODELS if getattr(m, "solver", "") != "liblinear"], ids=str
)
def test_no_more_than_a_block_exists_at_once(model, blocks):
    n = 60_000
    X, y = problem(n, None if model in REGRESSORS else 2)
    lazy = GaussianBasis(30, lazy=True).fit_transform(X)
    block = Rows(lazy).block_rows()
    assert 10 * block < n
    pass_over_all = max(block, 5 * lazy.shape[1] // 2)
    fitted = clone(model).fit(lazy, y)
    fitted.predict(lazy)
    certus.verify(fitted, lazy, y)
    assert sum(rows for rows, _ in blocks) > 3 * n, "a fit, a certificate, predictions: all lazy"
    largest = max(rows for rows, _ in blocks)
    assert largest <= max(1.1 * pass_over_all, MAX_CACHED_SAMPLE_ELEMENTS // lazy.shape[1]) < n / 3


def test_a_pipeline_is_lazy_from_end_to_end(blocks):
    X, y = problem(60_000)
    model = make_pipeline(GaussianBasis(30, lazy=True), RidgeCV()).fit(X, y)
    assert certus.verify(model, X, y).certified
    assert model.score(X, y) > 0.5
    assert max(rows for rows, _ in blocks) < 10_000


def test_errors_and_inference_by_lazy_rows():
    X, y = problem(500)
    lazy, held = lazy_and_held(PolynomialBasis(3), X)
    model = LinearRegression().fit(lazy, y)
    np.testing.assert_allclose(
        model.inference(lazy, y).standard_errors,
        model.inference(held, y).standard_errors,
        rtol=1e-9,
    )
    other = GaussianBasis(2, lazy=True).fit_transform(X)
    with pytest.raises(ValueError, match="X has 4 features, but LinearRegression is expecting 6"):
        model.predict(other)
    with pytest.raises(ValueError, match="X has 500 rows, y has 499"):
        LinearRegression().fit(lazy, y[1:])
    assert certus.verify(model, lazy.take(np.arange(499, -1, -1)), y).status == "other rows"


def test_other_libraries_see_an_array():
    X, y = problem(200)
    lazy, held = lazy_and_held(PolynomialBasis(3), X)
    theirs = peers.Ridge().fit(lazy, y)
    np.testing.assert_array_equal(theirs.coef_, peers.Ridge().fit(held, y).coef_)
    assert certus.verify(theirs, lazy, y).certified
    for model in (Ridge(), peers.Ridge()):
        np.testing.assert_allclose(cross_val_score(model, lazy, y), cross_val_score(model, held, y))
