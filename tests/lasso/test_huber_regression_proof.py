"""proofs: huber_regression: the joint dual by brute force, gaps against optima of 50 digits."""

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize

from certus.proofs.lasso import huber_regression
from tests.contract.problems import weights
from tests.lasso.penalized_cases import rows

EPSILON, ALPHA = 1.35, 0.7


def problem(seed=0, n=40, p=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X @ [1.5, -1.0][:p] + 0.7 + 0.5 * rng.normal(size=n)
    y[: n // 8] += 6.0
    return X, y


def objective(X, y, s, theta, intercept=True, number=float):
    """F at θ = (w, b, σ), in floats or in mpmath."""
    w, b, sigma = theta[: X.shape[1]], theta[-2] if intercept else 0, theta[-1]
    total = number(0)
    for x, t, weight in zip(X, y, s, strict=True):
        r = number(t) - sum((number(a) * c for a, c in zip(x, w, strict=True)), number(0)) - b
        z = abs(r / sigma)
        H = z * z if z <= EPSILON else 2 * number(EPSILON) * z - number(EPSILON) ** 2
        total += number(weight) * (sigma + sigma * H)
    return total + number(ALPHA) * sum((c * c for c in w), number(0))


def optimum(X, y, s, intercept=True):
    """(F*, θ*) by Newton's method in mpmath from what SciPy finds."""
    p, free = X.shape[1], intercept
    A = np.column_stack([X, np.ones(len(y))]) if free else X

    def F(theta):
        r, sigma = y - A @ theta[:-1], theta[-1]
        a = np.clip(2 * r / sigma, -2 * EPSILON, 2 * EPSILON)
        value = s @ (sigma + a * r - sigma * a * a / 4) + ALPHA * theta[:p] @ theta[:p]
        g = -A.T @ (s * a)
        g[:p] += 2 * ALPHA * theta[:p]
        return value, np.append(g, s @ (1 - a * a / 4))

    start = np.append(np.zeros(A.shape[1]), 1.0)
    bounds = [(None, None)] * A.shape[1] + [(1e-8, None)]
    how = {"jac": True, "method": "L-BFGS-B", "bounds": bounds}
    theta = minimize(F, start, options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000}, **how).x
    r = y - A @ theta[:-1]
    side = np.where(np.abs(r) > EPSILON * theta[-1], np.sign(r), 0.0)  # beyond, or 0
    with mp.workdps(50):

        def gradient(*at):
            w, sigma = at[:-1], at[-1]
            g = [mp.mpf(0)] * len(at)
            for x, t, weight, way in zip(A, y, s, side, strict=True):
                res = mp.mpf(t) - mp.fsum(mp.mpf(c) * v for c, v in zip(x, w, strict=True))
                a = 2 * mp.mpf(EPSILON) * way if way else 2 * res / sigma
                for j, c in enumerate(x):
                    g[j] -= mp.mpf(weight) * a * mp.mpf(c)
                g[-1] += mp.mpf(weight) * (1 - a * a / 4)
            for j in range(p):
                g[j] += 2 * mp.mpf(ALPHA) * w[j]
            return g

        found = mp.findroot(gradient, list(theta), tol=1e-60)
        at = list(found)
        if not free:
            at = [*at[:-1], mp.mpf(0), at[-1]]
        best = objective(X, y, s, at, True, mp.mpf)
    return best, np.array([float(v) for v in at])


def checked(X, y, s, theta, intercept=True, **more):
    w, b = theta[: X.shape[1], None], theta[[-2]] if intercept else np.zeros(1)
    how = {"scale": theta[-1], "epsilon": EPSILON, "alpha": ALPHA, "fit_intercept": intercept}
    return huber_regression.check(rows(X, y, s), w=w, b=b, **{**how, **more})


@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_gap_bounds_the_true_excess_and_vanishes_at_the_optimum(weighted, intercept):
    X, y = problem()
    s = weights(0, len(y)) if weighted else np.ones(len(y))
    best, theta = optimum(X, y, s, intercept)
    rng = np.random.default_rng(1)
    residuals = []
    for size in (0.0, 1e-6, 1e-3, 0.1, 0.6):
        moved = theta * (1 + size * rng.uniform(-1, 1, size=theta.shape))
        found = checked(X, y, s, moved, intercept)
        with mp.workdps(50):
            true = objective(X, y, s, [mp.mpf(v) for v in moved], True, mp.mpf)
        assert found["objective"] == pytest.approx(float(true), rel=1e-13)
        assert found["bound"] <= best
        assert found["gap"] >= true - best
        assert found["coef_error"] >= np.abs(moved - theta)[:2].max()
        residuals.append(found["residual"])
    assert residuals[0] < 1e-12
    assert residuals[1] < 1e-5
    assert residuals == sorted(residuals)


def test_the_dual_by_brute_force():
    """max Σ s a y − ‖Σ s a x‖²/4α over |a| ≤ 2ε, Σ s a = 0, Σ s a²/4 ≤ Σ s is the least of F."""
    X, y = problem(3, n=10)
    s = weights(3, 10)
    best, _ = optimum(X, y, s)

    def dual(a):
        v = X.T @ (s * a)
        return -(s * a) @ y + v @ v / (4 * ALPHA)

    constraints = [
        {"type": "eq", "fun": lambda a: s @ a},
        {"type": "ineq", "fun": lambda a: s.sum() - s @ a**2 / 4},
    ]
    found = minimize(
        dual, np.zeros(10), bounds=[(-2 * EPSILON, 2 * EPSILON)] * 10, constraints=constraints,
        method="SLSQP", options={"ftol": 1e-13, "maxiter": 500},
    )  # fmt: skip
    assert -found.fun == pytest.approx(float(best), rel=1e-7)


def test_the_null_objective_is_that_of_a_constant_and_its_scale():
    X, y = problem(4)
    s = weights(4, len(y))
    for intercept in (True, False):

        def F(at, intercept=intercept):
            return objective(0 * X[:, :1], y, s, [0.0, at[0] * intercept, np.exp(at[1])])

        best = minimize(F, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9}).fun
        theta = np.array([0.0, 0.0, 0.0, 1.0])
        found = checked(X, y, s, theta, intercept)
        assert found["null_objective"] == pytest.approx(best, rel=1e-3)


def test_without_a_penalty_slopes_are_reported():
    X, y = problem(5)
    s = np.ones(len(y))
    theta = None
    from sklearn.linear_model import HuberRegressor

    model = HuberRegressor(alpha=0.0, tol=1e-10, max_iter=10_000).fit(X, y)
    theta = np.array([*model.coef_, model.intercept_, model.scale_])
    found = checked(X, y, s, theta, alpha=0.0)
    assert found["kind"] == "stationary"
    assert found["bound"] is None
    assert found["residual"] < 1e-5
    for j in range(4):
        moved = theta.copy()
        moved[j] *= 1.01
        assert checked(X, y, s, moved, alpha=0.0)["residual"] > 1e-4


def test_odd_data_and_scales():
    X, y = problem(6)
    s = np.ones(len(y))
    _, theta = optimum(X, y, s)
    assert "scale" in checked(X, y, s, theta * [1, 1, 1, -1])["infeasible"]
    assert checked(X, y, s, theta * [1, 1, 1, 0])["residual"] == np.inf
    shifted = checked(X + np.array([1e8, 0]), y, s, theta - [0, 0, 1e8 * theta[0], 0])
    assert shifted["residual"] < 1e-7
    constant = checked(X, np.full(len(y), 3.0), s, np.array([0, 0, 3.0, 1e-14]))
    assert np.isfinite(constant["null_objective"])
    assert constant["null_objective"] > 0


@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
def test_every_bound_lies_below_every_objective(intercept):
    rng = np.random.default_rng(0)
    for trial in range(20):
        X, y = problem(trial, n=12)
        X = X * 10.0 ** rng.integers(-3, 4, size=2) + rng.choice([0.0, 50.0], size=2)
        s = (rng.integers(0, 3, size=12) + (np.arange(12) == 0)).astype(float)
        found = []
        for size in (0.0, 0.1, 1.0, 3.0):
            w = size * rng.normal(size=2) / np.abs(X).max(axis=0)
            b = float(np.average(y - X @ w, weights=s)) + 0.1 * rng.normal()
            theta = np.array([*w, b if intercept else 0.0, np.exp(2 * rng.normal())])
            found.append(checked(X, y, s, theta, intercept))
        assert max(f["bound"] for f in found) <= min(f["objective"] for f in found) * (1 + 1e-12)
        assert max(f["bound"] for f in found) > 0
