"""proofs: penalised: stationary points, where no bound is known."""

import numpy as np
import pytest

from tests.lasso.penalized_cases import (
    LOSSES,
    NET,
    SQUARED,
    Case,
    checked,
    each_loss,
    optimum,
    problem,
)

CONCAVE = {
    "mcp": {"name": "mcp", "strength": 0.3, "gamma": 3.0},
    "scad": {"name": "scad", "strength": 0.3, "gamma": 3.7},
}
each_concave = pytest.mark.parametrize("concave", CONCAVE)


def plain_objective(case, w, b):
    """F in floats, the penalty as the integral of its slope."""
    r = np.abs(case.y - case.X @ w - b)
    near = r if case.loss["name"] == "squared" else np.minimum(r, case.loss["delta"])
    lam, g = case.penalty["strength"], case.penalty["gamma"]
    u = np.linspace(0, 1, 4001)[:, None] * np.abs(w)
    if case.penalty["name"] == "mcp":
        slope = np.maximum(lam - u / g, 0)
    else:
        slope = np.where(u <= lam, lam, np.maximum(g * lam - u, 0) / (g - 1))
    pen = np.trapezoid(slope, u, axis=0).sum()
    return np.sum(near * (r - near / 2)) / len(r) + pen


def descended(case):
    """A stationary point by proximal steps, on the scalar problems by brute force."""
    lam, g = case.penalty["strength"], case.penalty["gamma"]
    n = len(case.y)
    step = n / np.linalg.norm(np.column_stack([case.X, np.ones(n)]), 2) ** 2
    grid = np.zeros(4)
    w, b = np.zeros(4), 0.0
    for _ in range(3000):
        r = case.y - case.X @ w - b
        a = (
            r
            if case.loss["name"] == "squared"
            else np.clip(r, -case.loss["delta"], case.loss["delta"])
        )
        u = w + step * case.X.T @ a / n
        size, best = np.abs(u), np.full(4, np.inf)
        soft = np.maximum(size - step * lam, 0)
        if case.penalty["name"] == "mcp":
            tried = [0 * u, soft / (1 - step / g), size]
        else:
            tried = [0 * u, soft, ((g - 1) * size - step * g * lam) / (g - 1 - step), size]
        for at in tried:
            at = np.maximum(at, 0)
            if case.penalty["name"] == "mcp":
                m = np.minimum(at, g * lam)
                pen = lam * m - m * m / (2 * g)
            else:
                m = np.clip(at, lam, g * lam)
                beyond = lam * lam + (m - lam) * (2 * g * lam - lam - m) / (2 * (g - 1))
                pen = np.where(at <= lam, lam * at, beyond)
            value = (at - size) ** 2 / (2 * step) + pen
            grid, best = np.where(value < best, at, grid), np.minimum(best, value)
        w, b = np.sign(u) * grid, b + step * a.mean()
    return w, b


@each_loss
@each_concave
def test_a_stationary_point_of_a_concave_penalty(concave, loss):
    X, y = problem(11, n=80)
    case = Case(X, y, None, LOSSES[loss], CONCAVE[concave], "rows")
    w, b = descended(case)
    assert (w == 0).any()
    assert (w != 0).any()
    found = checked(case, w, b)
    assert found["kind"] == "stationary"
    assert found["convex"] is False
    assert found["bound"] is None
    assert found["gap"] == np.inf
    assert found["residual"] < 1e-9
    assert found["objective"] == pytest.approx(plain_objective(case, w, b), rel=1e-6)
    for j in np.flatnonzero(w):
        moved = w.copy()
        moved[j] *= 1.01
        assert checked(case, moved, b)["residual"] > 1e-4
    assert checked(case, w, b * 1.01)["residual"] > 1e-4


@each_concave
def test_slopes_are_those_of_finite_differences(concave):
    """Residual = max_j |∂F/∂w_j| D/(‖x̃_j‖‖ỹ‖), or of the intercept, where no w_j is 0."""
    X, y = problem(12, n=60)
    X = X + 3.0
    case = Case(X, y, None, SQUARED, CONCAVE[concave], "rows")
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, b = rng.uniform(0.1, 1.0, size=4) * rng.choice([-1, 1], size=4), rng.normal()
        b = float(np.mean(y - X @ w))  # else the centred slope is not that of w alone
        found = checked(case, w, b)
        if found["infeasible"]:
            continue
        e = 1e-6
        slope = np.array([
            (plain_objective(case, w + e * d, b) - plain_objective(case, w - e * d, b)) / (2 * e)
            for d in np.eye(4)
        ])  # fmt: skip
        norm = np.linalg.norm(X - X.mean(axis=0), axis=0) * np.linalg.norm(y - y.mean())
        assert found["residual"] == pytest.approx(np.max(np.abs(slope) * 60 / norm), rel=1e-4)


@each_concave
def test_the_top_of_a_hill_is_no_stationary_point_to_rest_at(concave):
    """‖x‖²/D below 1/γ: the objective is concave where the penalty is, and flat at one w."""
    penalty = {**CONCAVE[concave], "gamma": 3.0}
    lam, kappa = 0.3, 1 / 3.0 if concave == "mcp" else 0.5
    u = 0.5  # inside (λ, γλ)
    pull = lam - u / 3.0 if concave == "mcp" else (0.9 - u) / 2
    x = np.sqrt(kappa / 2)
    y = (pull + x * x * u) / x  # slope 0 at u
    case = Case(np.array([[x]]), np.array([y]), None, SQUARED, penalty, "rows", False)
    found = checked(case, np.array([u]), 0.0)
    assert found["residual"] == np.inf
    assert "decreases whichever way" in found["infeasible"]
    for other in (u - 1e-3, u + 1e-3):
        assert checked(case, np.array([other]), 0.0)["objective"] < found["objective"]


@each_loss
def test_bounds_at_infinity(loss):
    """w ≥ 0 and the like: the curvature of the rows proves it."""
    X, y = problem(13, n=50)
    for penalty in (
        {"name": "box", "low": 0.0, "high": np.inf},
        {"name": "box", "low": [-np.inf, -0.1, -np.inf, 0.0], "high": [0.5, 0.3, np.inf, np.inf]},
        {**NET, "l1": 0.0, "positive": True},
        {**NET, "l1": 0.0},
    ):
        case = Case(X, y, None, LOSSES[loss], penalty, "rows")
        best, w, b = optimum(case)
        found = checked(case, w, b)
        assert found["residual"] < 1e-10
        assert found["kind"] == "global"
        assert found["convex"]
        assert found["bound"] <= best
        if loss == "squared":
            assert found["coef_error"] < 1e-9
        w = w * 1.01
        w = np.clip(w, penalty["low"], penalty["high"]) if "low" in penalty else w
        assert checked(case, w, b)["residual"] > 1e-6
