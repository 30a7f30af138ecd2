"""Ordinal and Firth's logistic regression on columns that nearly, or fully, repeat each other.

Against optima to 60 digits: certificates hold as worded, and fits use every direction that the data
hold.
"""

from unittest.mock import patch

import mpmath as mp
import numpy as np
import pytest

import certus
from certus.certificate.data import Data
from certus.data.rows import Rows
from certus.exceptions import AliasWarning
from certus.linear_model import FirthLogisticRegression, OrdinalRegression
from certus.proofs.glm import firth as firth_definition
from certus.proofs.glm._firth_sums import gain_of_step
from certus.proofs.linalg.orthogonal_directions import find_directions
from certus.solvers.linalg.orthogonal import orthogonal
from certus.solvers.linalg.sliced_products import product
from tests.contract.precise_optima import DIGITS, Firth, Ordinal, optimum
from tests.linalg.near_collinear_cases import GENERATORS, near_pair, ordered_classes

N = 50
SIZES = [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13, 1e-14]
REPEATING = {"low_rank", "low_rank_and_near"}
pytestmark = [
    pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
]


def case(name, size, seed, classes=3):
    rng = np.random.default_rng([seed, int(-np.log10(size)), classes])
    X, z = GENERATORS[name](rng, N, size)
    s = rng.integers(0, 4, N).astype(float) if seed % 3 == 1 else None
    y = ordered_classes(rng, z, classes)
    if s is not None:
        s[[np.flatnonzero(y == k)[0] for k in range(classes)]] = 1.0  # no class without rows
    return X, y, s


def grid(seeds, sizes):
    return [(name, size, seed) for name in GENERATORS for size in sizes for seed in seeds]


def held(X, s):
    """Columns that the certificate's claim holds: one of each direction that is left out."""
    data = Data(Rows(X, np.zeros((len(X), 1)), s))
    return [one.pivot for one in find_directions(data, True, lambda X, y, s: s).left_out]


def true_excess(model, X, y, s, alpha=0.0):
    fixed = [] if alpha else held(X, s)
    w, c = model.coef_[0], model.thresholds_
    problem = Ordinal(X, y, s, alpha, held={j: w[j] for j in fixed})
    start = [*np.delete(w, fixed), *c]
    theta, best = optimum(problem, start)
    assert theta is not None
    return float(problem.value([mp.mpf(float(v)) for v in start]) - best)


def check_ordinal(name, size, seed, alpha=0.0):
    X, y, s = case(name, size, seed)
    model = OrdinalRegression(alpha=alpha).fit(X, y, s)
    c = model.certificate_
    if c.certified:
        with mp.workdps(DIGITS):
            assert true_excess(model, X, y, s, alpha) <= c.gap
        assert c.kind == "global"
        assert bool(c._finding.left_out) == (name in REPEATING and not alpha)
    else:
        assert c.status != "stationary"
    return c


@pytest.mark.parametrize(("name", "size", "seed"), grid([0], [1e-4, 1e-8, 1e-12, 1e-14]))
def test_an_ordinal_certificate_is_true_to_sixty_digits(name, size, seed):
    c = check_ordinal(name, size, seed)
    # three_alike holds a direction of size², at most 1e-14
    assert c.status == "optimal" or size < 1e-12 or (name == "three_alike" and size < 1e-6)


@pytest.mark.exhaustive
@pytest.mark.parametrize("alpha", [0.0, 1e-8])
@pytest.mark.parametrize(("name", "size", "seed"), grid(range(1, 4), SIZES))
def test_every_ordinal_certificate_is_true_to_sixty_digits(name, size, seed, alpha):
    check_ordinal(name, size, seed, alpha)


@pytest.mark.parametrize("size", [1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("seed", [0, 2])
def test_the_difference_of_two_nearly_equal_columns_is_used(seed, size):
    X, y, s = case("near_pair", size, seed)
    model = OrdinalRegression().fit(X, y, s)
    without = OrdinalRegression().fit(X[:, 1:], y, s)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.objective < without.certificate_.objective - 1


@pytest.mark.parametrize("kind", ["ordinal", "firth"])
def test_a_fit_that_ignores_a_direction_is_refused(kind):
    X, y, s = case("near_pair", 1e-8, 0, 3 if kind == "ordinal" else 2)
    estimator = OrdinalRegression if kind == "ordinal" else FirthLogisticRegression
    less = estimator().fit(X[:, 1:], y, s)
    model = estimator().fit(X, y, s)
    assert certus.verify(model, X, y, s).certified
    model.coef_ = np.append(0.0, less.coef_[0])[None]
    if kind == "ordinal":
        model.thresholds_ = less.thresholds_
    else:
        model.intercept_ = less.intercept_
    c = certus.verify(model, X, y, s)
    assert not c.certified
    assert c.status in ("not optimal", "not stationary")


def test_what_only_rounding_made_is_left_out_and_named():
    rng = np.random.default_rng(0)
    price, tax = np.round(rng.uniform(1, 100, (2, 60)), 2)
    X = np.column_stack([price, tax, price + tax])
    y = ordered_classes(rng, price - tax)
    with pytest.warns(AliasWarning, match="column 2 = column 0 \\+ column 1"):
        model = OrdinalRegression().fit(X, y)
    c = model.certificate_
    words = "OPTIMAL among models that do not use column 2 − column 0 − column 1"
    assert words in c.explain()
    np.testing.assert_allclose(model.coef_[0, 2], model.coef_[0, :2].sum(), rtol=1e-9)  # smallest
    two = FirthLogisticRegression().fit(X, y > 0)
    assert "STATIONARY among models that do not use column 2" in two.certificate_.explain()
    # the same sums in whole cents hold no rounding, and nothing is left out
    cents = np.round(100 * X)
    cents[:, 2] = cents[:, 0] + cents[:, 1]
    assert OrdinalRegression().fit(cents, y).certificate_._finding.left_out == ()


def test_a_column_is_not_left_out_with_a_larger_one_that_is_all_rounding():
    # in float32 the second column is 1e6 up to a rounding or two: combinations of both are
    # dominated by it, and pass the rule; the first column alone does not
    rng = np.random.default_rng(0)
    a = rng.normal(size=N)
    b = 1e6 + 0.05 * rng.normal(size=N)
    X = np.column_stack([1 + 1e-3 * a, b, np.full(N, 1e9)]).astype(np.float32)
    y = ordered_classes(rng, a)
    model = OrdinalRegression().fit(X, y)
    c = model.certificate_
    assert c.status == "optimal"
    assert [one.columns for one in c._finding.left_out] == [(1,)]
    alone = OrdinalRegression().fit(X[:, :1], y)
    assert c.objective == pytest.approx(alone.certificate_.objective, rel=1e-9)


def check_firth(name, size, seed):
    X, y, s = case(name, size, seed, 2)
    model = FirthLogisticRegression(fit_intercept=seed % 2 == 0).fit(X, y, s)
    c = model.certificate_
    if name not in REPEATING:
        counted = slice(None) if s is None else s > 0
        theta = [*model.coef_[0], *(model.intercept_ if model.fit_intercept else [])]
        with mp.workdps(DIGITS):
            problem = Firth(
                X[counted], y[counted], None if s is None else s[counted], model.fit_intercept
            )
            theta = [mp.mpf(float(v)) for v in theta]
            gain = float(problem.gain(theta)) / c._finding.null_objective
            assert abs(float(problem.value(theta)) - c.objective) < 1e-8 * (1 + abs(c.objective))
        # the residual bounds the gain, with what rounding can have done: a hundredth of tol at most
        assert gain <= c.residual <= gain * (1 + 1e-6) + c.tol / 100
        measured = gain_without_rounding(model, X, y, s) / c._finding.null_objective
        assert gain == pytest.approx(measured, rel=1e-6, abs=1e-12)
    return c


def gain_without_rounding(model, X, y, s):
    """The gain of a scoring step as the proof computes it, before rounding is added to it."""
    gains = []

    def recorded(*args):
        gain, most = gain_of_step(*args)
        gains.append(gain)
        return gain, most

    with patch("certus.proofs.glm.firth.gain_of_step", recorded):
        certus.verify(model, X, y, s)
    return gains[-1]


@pytest.mark.parametrize(("name", "size", "seed"), grid([0], [1e-4, 1e-8, 1e-12]))
def test_a_firth_certificate_is_true_to_sixty_digits(name, size, seed):
    c = check_firth(name, size, seed)
    assert c.status == "stationary" or (name == "three_alike" and size < 1e-6)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "size", "seed"), grid(range(1, 4), SIZES))
def test_every_firth_certificate_is_true_to_sixty_digits(name, size, seed):
    check_firth(name, size, seed)


@pytest.mark.parametrize("size", [1e-6, 1e-9, 1e-12])
def test_firth_reaches_the_sixty_digit_optimum(size):
    X, y, _ = case("near_pair", size, 0, 2)
    model = FirthLogisticRegression().fit(X, y)
    with mp.workdps(DIGITS):
        _, best = optimum(Firth(X, y), digits=16)
    assert model.certificate_.objective - float(best) < 1e-5 * abs(float(best))


def test_the_determinant_of_repeated_columns_is_that_of_the_eigenvalues_that_are_not_zero():
    rng = np.random.default_rng(3)
    X = np.round(4 * rng.normal(size=(30, 3)))
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(30, 2.0)])
    w, b, y = rng.normal(size=(5, 1)) / 8, np.array([0.1]), rng.integers(0, 2, 30)
    data = Data(Rows(X, y.astype(float)[:, None]))
    z = X @ w[:, 0] + b
    A = np.column_stack([X, np.ones(30)])
    I = A.T @ ((1 / (2 + 2 * np.cosh(z)))[:, None] * A)
    values = np.linalg.eigvalsh(I)[2:]
    found = firth_definition.check(data, w=w, b=b)
    assert found["log_det"] == pytest.approx(np.log(values).sum(), rel=1e-10)
    wide = X[:4]
    found = firth_definition.check(Data(Rows(wide, np.array([[0.0], [1], [1], [0]]))), w=w, b=b)
    A = A[:4]
    values = np.linalg.eigvalsh(A.T @ ((1 / (2 + 2 * np.cosh(z[:4])))[:, None] * A))[2:]
    assert found["log_det"] == pytest.approx(np.log(values).sum(), rel=1e-10)


@pytest.mark.parametrize("size", [1e-6, 1e-8, 1e-10, 1e-12])
def test_firth_inference_is_refused_where_columns_nearly_repeat_others(size):
    X, y, s = case("near_pair", size, 0, 2)
    model = FirthLogisticRegression().fit(X, y, s)
    assert model.certificate_.certified
    with pytest.raises(certus.exceptions.InferenceError, match="columns repeat others so nearly"):
        model.inference(X, y, s)
    # of the difference itself there is all that is asked for
    better = np.column_stack([X[:, 0], (X[:, 1] - X[:, 0]) / size, X[:, 2]])
    found = FirthLogisticRegression().fit(better, y, s).inference(better, y, s)
    assert np.isfinite(found.lr_pvalues).all()


# --- more columns than rows -----------------------------------------------------------------------


def wide(seed=0, n=40, p=1500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p)) + 5.0
    return X, rng.integers(0, 3, n)


@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_with_a_penalty_the_optimum_of_a_microarray_lies_among_its_rows(alpha):
    X, y = wide()
    model = OrdinalRegression(alpha=alpha).fit(X, y)
    c = model.certificate_
    assert (c.status, c.kind) == ("optimal", "global")
    A = X - X.mean(axis=0)
    inside = A.T @ np.linalg.lstsq(A.T, model.coef_[0], rcond=None)[0]
    np.testing.assert_allclose(inside, model.coef_[0], atol=1e-9 * np.abs(model.coef_).max())
    # the gradient of all columns, and not of those combinations alone
    there = OrdinalRegression(alpha=alpha).fit(X[:, :30], y)
    model.coef_ = np.append(there.coef_[0], np.zeros(X.shape[1] - 30))[None]
    model.thresholds_ = there.thresholds_
    assert not certus.verify(model, X, y).certified


def test_the_gap_of_wide_data_holds_against_the_optimum_in_fewer_columns():
    # orthogonal combinations of the columns: the same penalty, the same optimum
    rng = np.random.default_rng(1)
    small = rng.normal(size=(24, 6))
    Q = np.linalg.qr(rng.normal(size=(60, 6)))[0]
    X, y = small @ Q.T, rng.integers(0, 3, 24)
    model = OrdinalRegression(alpha=0.5).fit(X, y)
    for size in (0.0, 1e-6, 1e-3):
        model.coef_ = model.coef_ + size * rng.normal(size=60)
        c = certus.verify(model, X, y, tol=1.0)
        with mp.workdps(DIGITS):
            _, best = optimum(Ordinal(small, y, None, 0.5))
        assert c.objective - float(best) <= c.gap + 1e-12
        assert c.kind == "global"


def test_without_a_penalty_a_microarray_has_no_optimum_and_firth_gives_three_quarters():
    X, y = wide()
    with pytest.warns(certus.exceptions.SeparationWarning):
        model = OrdinalRegression().fit(X, y)
    assert model.certificate_.status == "no finite optimum"
    model = FirthLogisticRegression().fit(X, y > 0)
    assert model.certificate_.status == "stationary"
    P = model.predict_proba(X)[np.arange(len(y)), (y > 0).astype(int)]
    np.testing.assert_allclose(P, 0.75, rtol=1e-9)


def test_rows_that_are_repeated_with_other_classes_have_an_optimum_however_many_columns():
    X, _ = wide(n=12, p=60)
    X, y = np.repeat(X, 4, axis=0), np.tile([0, 1, 2, 1], 12)
    c = OrdinalRegression().fit(X, y).certificate_
    assert (c.status, c._finding.left_out) == ("optimal", ())
    np.testing.assert_allclose(c.objective, 48 * 1.5 * np.log(2), rtol=1e-12)


# --- the tools ------------------------------------------------------------------------------------


def test_sliced_products_hold_the_digits_that_cancel():
    rng = np.random.default_rng(0)
    A = rng.uniform(-1, 1, (6, 40))
    B = 1e5 * rng.normal(size=(40, 3))
    B[-1] = -(A[0, :-1] @ B[:-1]) / A[0, -1]
    found = product(A, B)
    with mp.workdps(DIGITS):
        for i in range(6):
            for j in range(3):
                true = mp.fdot(map(mp.mpf, A[i].tolist()), map(mp.mpf, B[:, j].tolist()))
                assert abs(found[i, j] - true) <= 2.0**-52 * abs(true) + 1e-18


@pytest.mark.parametrize("size", [1e-5, 1e-10, 1e-14, 1e-17])
def test_solver_and_definition_find_the_same_directions(size):
    X, _ = near_pair(np.random.default_rng(1), N, size)
    rows = Rows(X, np.zeros((N, 1)))
    basis = orthogonal(rows, True)
    there = find_directions(Data(rows), True, lambda X, y, s: s)
    assert basis.T.shape == there.T.shape == (5, 4 if size > 1e-16 else 3)
    for Z in (basis.rows(rows).X, there.of(X)[0]):
        assert np.linalg.cond(Z) < 2
