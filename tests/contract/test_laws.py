"""The laws of ``laws.py``, over every estimator that has coefficients."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import certus
from certus.certificate import TOL
from certus.exceptions import NotCertifiedWarning
from tests.contract.estimator_classes import CLASSES
from tests.contract.laws import ESTIMATORS, LAWS, Law, keeping
from tests.contract.problems import weights

SEEDS = range(3)
EXACTLY = {"rtol": 0, "atol": 0}
few = settings(max_examples=15, deadline=None, derandomize=True)


@contextmanager
def expected_warning(case: Law):
    """The one warning that a case's data deserve; all others stay errors."""
    with warnings.catch_warnings():
        if case.tol is not None:  # far from the origin, rounding hides so small a residual
            warnings.simplefilter("ignore", NotCertifiedWarning)
        if case.warns is not None:
            warnings.simplefilter("ignore", case.warns)
        yield


def fit(case: Law, X, y, s=None, penalty=1.0):
    model = case.make(penalty=penalty)
    if case.tol is not None:
        model.set_params(tol=case.tol)
    with expected_warning(case):
        model.fit(X, y, sample_weight=s)
    assert model.certificate_.residual <= TOL
    return model


def scores(model, X):
    """What it says of rows, as numbers."""
    return getattr(model, "decision_function", model.predict)(X)


def within_what_is_certified(there, here, factor=1.0, order=slice(None)):
    """No coefficient is farther from another's than their certificates allow together."""
    errors = [model.certificate_.coef_error for model in (there, here)]
    if None not in errors:
        apart = np.abs(factor * there.coef_ - here.coef_[..., order]).max()
        assert apart <= np.max(factor) * errors[0] + errors[1]


def same(case, ours, truth, rtol=1e-9):
    """Equal up to ``rtol`` of the largest entry, or what its steps can do."""
    rtol = max(rtol, case.rtol)
    ours, truth = np.asarray(ours), np.asarray(truth)
    assert ours.shape == truth.shape
    np.testing.assert_allclose(ours, truth, rtol=0, atol=rtol * np.abs(truth).max())


def law(name):
    """Over the estimators that keep a law."""
    return pytest.mark.parametrize("case", keeping(name, ESTIMATORS), ids=str)


def test_every_estimator_with_coefficients_is_in_the_table():
    listed = {type(case.make()).__name__ for case in ESTIMATORS}
    assert listed == {cls.__name__ for cls in CLASSES}


@pytest.mark.parametrize("case", ESTIMATORS, ids=str)
def test_every_exemption_is_from_a_law_and_says_why(case):
    assert set(case.exemptions) <= set(LAWS)
    for reason in (*case.exemptions.values(), *case.no_claim.values()):
        assert len(reason.split()) >= 4


def test_no_law_is_without_an_estimator_that_keeps_it():
    assert all(keeping(name, ESTIMATORS) for name in LAWS)


@pytest.mark.costly
@law("shift")
@few
@given(seed=st.integers(0, 99), power=st.integers(0, 30), sign=st.sampled_from([-1, 1]))
def test_a_shift_of_the_columns_moves_only_the_intercept(case, seed, power, sign):
    X, y, _ = case.draw(seed)
    # data are multiples of 1/64 and the shift is a whole number, so that X + c is exact
    c = sign * np.rint(2.0**power * np.linspace(0.5, 1, X.shape[1]))
    there, here = fit(case, X + c, y), fit(case, X, y)
    same(case, there.coef_, here.coef_)
    within_what_is_certified(there, here)
    with np.errstate(all="raise"):
        moved = here.intercept_ - here.coef_ @ c
        softmax = np.size(moved) == case.classes and hasattr(here, "predict_proba")
        if softmax:  # what all scores share changes nothing, and is 0
            moved = moved - moved.mean()
        size = np.max(1 + np.abs(here.coef_) @ np.abs(c))
    np.testing.assert_array_less(np.abs(there.intercept_ - moved), max(1e-8, case.rtol) * size)


@law("shift y")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_shift_of_y_moves_only_the_intercept(case, seed):
    X, y, _ = case.draw(seed)
    there, here = fit(case, X, y + 2.0**27), fit(case, X, y)
    same(case, there.coef_, here.coef_)
    np.testing.assert_allclose(there.intercept_, here.intercept_ + 2.0**27, rtol=1e-15)


@pytest.mark.costly
@law("scale X")
@few
@given(seed=st.integers(0, 99), c=st.floats(-8, 8).map(lambda e: 10**e))
def test_coefficients_of_scaled_data_are_the_coefficients_divided(case, seed, c):
    X, y, _ = case.draw(seed)
    there, here = fit(case, c * X, y, penalty=c**case.degree), fit(case, X, y)
    same(case, c * there.coef_, here.coef_)
    within_what_is_certified(there, here, c)
    same(case, there.intercept_, here.intercept_)


@law("scale columns")
@few
@given(seed=st.integers(0, 99), spread=st.floats(0, 10))
def test_each_column_may_have_its_own_unit(case, seed, spread):
    X, y, _ = case.draw(seed)
    d = 10 ** np.linspace(-spread, spread, X.shape[1])
    there, here = fit(case, X * d, y), fit(case, X, y)
    same(case, there.coef_ * d, here.coef_)
    same(case, there.intercept_, here.intercept_)


@law("scale y")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("c", [1e-9, 3.0, 1e9])
def test_coefficients_grow_with_y(case, seed, c):
    X, y, _ = case.draw(seed)
    there, here = fit(case, X, c * y, penalty=c ** (2 - case.degree)), fit(case, X, y)
    same(case, there.coef_ / c, here.coef_)
    same(case, there.intercept_ / c, here.intercept_)


@law("order of classes")
@pytest.mark.parametrize("seed", SEEDS)
def test_coefficients_follow_their_classes(case, seed):
    X, y, _ = case.draw(seed)
    s = weights(seed, len(X))
    there, here = fit(case, X, 9 - y, s), fit(case, X, y, s)
    np.testing.assert_array_equal(there.classes_, 9 - here.classes_[::-1])
    # one score: all that was above lies below now
    turned = (lambda w: -w[::-1]) if len(here.coef_) == 1 else (lambda w: w[::-1])
    same(case, turned(there.coef_), here.coef_)
    same(case, turned(there.intercept_), here.intercept_)
    np.testing.assert_array_equal(9 - there.predict(X), here.predict(X))


@law("permute rows")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_rows_does_not_matter(case, seed):
    X, y, _ = case.draw(seed)
    s = weights(seed, len(X))
    order = np.random.default_rng(seed).permutation(len(X))
    there, here = fit(case, X[order], y[order], s[order]), fit(case, X, y, s)
    same(case, there.coef_, here.coef_)
    same(case, there.intercept_, here.intercept_)


@law("permute columns")
@pytest.mark.parametrize("seed", SEEDS)
def test_coefficients_follow_their_columns(case, seed):
    X, y, _ = case.draw(seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    there, here = fit(case, X[:, order], y), fit(case, X, y)
    same(case, there.coef_, here.coef_[..., order])
    within_what_is_certified(there, here, order=order)
    same(case, there.intercept_, here.intercept_)


@law("weight is repetition")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_whole_weight_is_a_row_repeated(case, seed):
    X, y, _ = case.draw(seed)
    s = np.random.default_rng(seed).integers(0, 5, size=len(X))
    s[0] = 1
    weighted = fit(case, X, y, s)
    repeated = fit(case, np.repeat(X, s, axis=0), np.repeat(y, s, axis=0))
    same(case, weighted.coef_, repeated.coef_, 1e-10)
    same(case, weighted.intercept_, repeated.intercept_, 1e-10)


@law("zero weight")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("value", [None, 0.0, -999.0, 1e6, 1e12], ids=str)
def test_a_row_of_weight_zero_is_absent_whatever_it_holds(case, seed, value):
    X, y, _ = case.draw(seed)
    s = weights(seed, len(X))
    s[::3] = 0
    kept = s > 0
    if value is not None:
        X = X.copy()
        X[~kept] = value
        y = case.spoil(y, ~kept, value)
    there, here = fit(case, X, y, s), fit(case, X[kept], y[kept], s[kept])
    rtol = 1e-9 if value != 1e12 else 1e-6
    same(case, there.coef_, here.coef_, rtol)
    same(case, scores(there, X[kept]), scores(here, X[kept]), rtol)


@pytest.mark.parametrize(
    "case", [c for c in keeping("zero weight", ESTIMATORS) if "shift" not in c.exemptions], ids=str
)
def test_rows_of_weight_zero_at_the_origin_do_not_hide_what_varies_far_away(case):
    # a third of the rows are "not recorded": zeros, with weight 0; the others lie near 1e8
    X, y, _ = case.draw(0)
    s = weights(0, len(X))
    s[::3] = 0
    kept = s > 0
    X = np.where(kept[:, None], X + 2.0**27, 0.0)
    there, here = fit(case, X, y, s), fit(case, X[kept], y[kept], s[kept])
    same(case, there.coef_, here.coef_, 1e-7)
    last_digits = 4 * np.finfo(float).eps * 2.0**27 * np.abs(here.coef_).sum()
    np.testing.assert_allclose(
        scores(there, X[kept]), scores(here, X[kept]), atol=max(1e-6, last_digits)
    )


@law("scale weights")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("c", [1e-6, 7.0, 1e6])
def test_weights_count_relative_to_each_other_and_to_the_penalty(case, seed, c):
    X, y, _ = case.draw(seed)
    s = weights(seed, len(X))
    penalty = 1.0 if case.mean else c
    there, here = fit(case, X, y, c * s, penalty=penalty), fit(case, X, y, s)
    same(case, there.coef_, here.coef_)
    same(case, there.intercept_, here.intercept_)


@law("scale weights")
@pytest.mark.parametrize("seed", SEEDS)
def test_weights_of_one_are_no_weights(case, seed):
    X, y, _ = case.draw(seed)
    there, here = fit(case, X, y, np.ones(len(X))), fit(case, X, y)
    same(case, there.coef_, here.coef_, 1e-12)
    same(case, there.intercept_, here.intercept_, 1e-12)


@law("float32")
@pytest.mark.parametrize("seed", SEEDS)
def test_float32_data_are_the_same_numbers(case, seed):
    X, y, _ = case.draw(seed)
    X = (X + 0.1).astype(np.float32)
    there, here = fit(case, X, y), fit(case, X.astype(float), y)
    assert there.coef_.dtype == np.float64
    same(case, there.coef_, here.coef_, 1e-10)
    same(case, scores(there, X), scores(here, X.astype(float)), 1e-10)


@law("threads")
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("threads", [2, 3])
def test_the_same_bits_on_any_number_of_threads(case, threads, weighted, monkeypatch):
    monkeypatch.setattr("certus.data.rows.SMALL_WORK", 0)  # threads, whether they pay or not
    X, y, _ = case.large()
    s = weights(1, len(X)) if weighted else None
    fits = []
    for count in (1, threads):
        with certus.config_context(threads=count):
            fits.append(fit(case, X, y, s))
    one, many = fits
    np.testing.assert_allclose(many.coef_, one.coef_, **EXACTLY)
    np.testing.assert_allclose(many.intercept_, one.intercept_, **EXACTLY)
    np.testing.assert_allclose(scores(many, X), scores(one, X), **EXACTLY)
    for name in ("objective", "bound", "gap", "residual", "coef_error"):
        assert getattr(many.certificate_, name) == getattr(one.certificate_, name)


@law("block size")
@pytest.mark.parametrize("block", [1, 7, 64, 10**9])
def test_the_size_of_blocks_changes_only_rounding(case, block, monkeypatch):
    X, y, _ = case.draw(0)
    s = weights(1, len(X))
    here = fit(case, X, y, s)
    monkeypatch.setattr("certus.data.rows.BLOCK_BYTES", 8 * X.shape[1] * block)
    monkeypatch.setattr(
        "certus.data.rows.Rows.block_rows", lambda self, least=256, columns=None: block
    )
    for module in ("linalg.gram", "glm.newton"):
        monkeypatch.setattr(f"certus.solvers.{module}.gram_block_rows", lambda *_: block)
    there = fit(case, X, y, s)
    same(case, there.coef_, here.coef_, 1e-11)
    same(case, there.intercept_, here.intercept_, 1e-11)
    objectives = [model.certificate_.objective for model in (there, here)]
    largest = (y**2).sum() if case.classes is None else objectives[1]
    assert abs(objectives[0] - objectives[1]) <= 1e-11 * largest
