"""proofs: squared_hinge and huber: piecewise quadratics, with optima found piece by piece."""

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from certus.proofs.glm import huber, squared_hinge
from tests.contract.classification import classes, rows

DELTA = 0.8


def hinge(m):
    return np.maximum(1 - m, 0.0) ** 2


def robust(m):
    r = np.abs(1 - m)
    near = np.minimum(r, DELTA)
    return near * (r - near / 2)


LOSSES = {
    "squared_hinge": (hinge, lambda **k: squared_hinge.check(**k)),
    "huber": (robust, lambda **k: huber.check(delta=DELTA, **k)),
}


def pieces(name, m):
    """Which piece a margin is in: (in the curved one, slope of a linear one)."""
    if name == "squared_hinge":
        return (m < 1), np.zeros_like(m)
    r = 1 - m
    return np.abs(r) <= DELTA, np.sign(r) * DELTA


def exact_optimum(name, X, y, omega, l2, intercept):
    """F* to 50 digits: which piece a row is in is seen in floats, the rest is linear algebra."""
    sign = 2.0 * y - 1
    A = sign[:, None] * (np.column_stack([X, np.ones(len(y))]) if intercept else X)
    penalized = np.r_[np.ones(X.shape[1]), np.zeros(int(intercept))]
    loss = LOSSES[name][0]

    def f(theta):
        return omega @ loss(A @ theta) + l2 / 2 * penalized @ theta**2

    start = minimize(f, np.zeros(A.shape[1]), method="BFGS", options={"gtol": 1e-7}).x
    start = minimize(f, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).x
    curved, slope = pieces(name, A @ start)
    kappa = 2 if name == "squared_hinge" else 1
    with mp.workdps(50):
        H = mp.diag([mp.mpf(l2) * int(v) for v in penalized])
        g = mp.matrix(A.shape[1], 1)
        for a, o, c, d in zip(A, omega, curved, slope, strict=True):
            for j, x in enumerate(a):
                g[j] += mp.mpf(o) * mp.mpf(x) * (kappa if c else mp.mpf(d))
                for i, u in enumerate(a):
                    H[j, i] += kappa * int(c) * mp.mpf(o) * mp.mpf(x) * mp.mpf(u)
        theta = mp.lu_solve(H, g)
        m = A @ np.array([float(v) for v in theta])
        assert (pieces(name, m)[0] == curved).all()
        best = exact_value(name, A, omega, l2, penalized, list(theta))
    return best, np.array([float(v) for v in theta]), A, penalized


def exact_value(name, A, omega, l2, penalized, theta):
    with mp.workdps(50):
        total = mp.mpf(0)
        for a, o in zip(A, omega, strict=True):
            r = 1 - mp.fsum(mp.mpf(x) * mp.mpf(t) for x, t in zip(a, theta, strict=True))
            if name == "squared_hinge":
                value = max(r, mp.mpf(0)) ** 2
            else:
                near = min(abs(r), mp.mpf(DELTA))
                value = near * (abs(r) - near / 2)
            total += mp.mpf(o) * value
        squares = (mp.mpf(t) ** 2 for t, at in zip(theta, penalized, strict=True) if at)
        return total + mp.mpf(l2) / 2 * mp.fsum(squares)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_the_gap_bounds_the_true_excess_and_vanishes_at_the_optimum(name, intercept):
    X, y = classes(3, 40, 3, 2)
    s = np.random.default_rng(0).integers(0, 3, size=40).astype(float)
    c = np.array([0.5, 2.0])
    best, theta, A, penalized = exact_optimum(name, X, y, 0.3 * s * c[y], 0.7, intercept)
    rng = np.random.default_rng(1)
    gaps = []
    for size in (0.0, 1e-6, 1e-3, 0.1, 2.0):
        moved = theta + size * rng.normal(size=theta.shape)
        b = moved[3:] if intercept else np.zeros(1)
        result = LOSSES[name][1](
            data=rows(X, y, s), w=moved[:3, None], b=b, C=0.3, l2=0.7, class_weight=c,
            fit_intercept=intercept,
        )  # fmt: skip
        true = exact_value(name, A, 0.3 * s * c[y], 0.7, penalized, moved)
        assert result["bound"] <= best
        assert result["gap"] >= true - best
        assert result["objective"] == pytest.approx(float(true), rel=1e-13)
        assert result["coef_error"] >= np.abs(moved[:3] - theta[:3]).max()
        gaps.append(result["residual"])
    assert gaps[0] < 1e-12
    # a row beyond δ loses in first order when a is scaled for the intercept
    assert gaps[1] < (1e-5 if name == "huber" and intercept else 1e-9)
    assert gaps == sorted(gaps)


@pytest.mark.parametrize("name", LOSSES)
def test_the_null_objective_is_that_of_the_best_constant(name):
    loss, check = LOSSES[name]
    for plus in (1, 10, 19):
        y = (np.arange(20) < plus).astype(int)
        data = rows(np.zeros((20, 1)), y)
        result = check(data=data, w=np.zeros((1, 1)), b=np.zeros(1))
        best = minimize_scalar(
            lambda b, y=y: loss((2 * y - 1) * b).sum(), bounds=(-1, 1), method="bounded",
            options={"xatol": 1e-12},
        )  # fmt: skip
        assert result["null_objective"] == pytest.approx(best.fun, rel=1e-9)
        result = check(data=data, w=np.zeros((1, 1)), b=np.zeros(1), fit_intercept=False)
        assert result["null_objective"] == pytest.approx(loss(np.zeros(20)).sum())


@pytest.mark.parametrize("name", LOSSES)
def test_an_l1_penalty_and_several_columns(name):
    """A bound is below every objective that a search can find."""
    loss, check = LOSSES[name]
    X, y = classes(4, 60, 2, 3)
    rng = np.random.default_rng(0)
    values = []
    for t in range(3):
        sign = 2.0 * (y == t) - 1

        def f(theta, sign=sign):
            return 0.2 * loss(sign * (X @ theta[:2] + theta[2])).sum() + np.abs(theta[:2]).sum()

        starts = rng.normal(size=(3, 3))
        options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000}
        tried = [minimize(f, x, method="Nelder-Mead", options=options) for x in starts]
        values.append(min(tried, key=lambda result: result.fun))
    w, b = np.column_stack([v.x[:2] for v in values]), np.array([v.x[2] for v in values])
    result = check(data=rows(X, y), w=w, b=b, C=0.2, l1=1.0, l2=0.0, one_vs_rest=True)
    total = sum(v.fun for v in values)
    assert result["objective"] == pytest.approx(total, rel=1e-12)
    assert result["bound"] <= total * (1 + 1e-12)
    assert result["bound"] >= total * (1 - 1e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_without_a_penalty_only_a_loss_of_zero_is_proven(name):
    _, check = LOSSES[name]
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    result = check(data=rows(X, y), w=np.array([[1.0]]), b=np.zeros(1), l2=0.0)
    assert result["gap"] < 1e-14
    X, y = classes(4, 60, 2, 2)
    result = check(data=rows(X, y), w=np.zeros((2, 1)), b=np.zeros(1), l2=0.0)
    assert result["bound"] == 0
    assert result["gap"] >= result["objective"]
