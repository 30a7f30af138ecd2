"""proofs: hinge: bounds by dual points, given or searched for."""

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from certus.data.csr import CSR
from certus.proofs.hinge import _dual, hinge
from tests.contract.classification import classes, rows
from tests.hinge import hinge_cases

SIZES = (0.0, 1e-8, 1e-4, 1e-2, 1.0)
INTERCEPTS = {"penalised": (2.0, False), "none": (0.0, False), "free": (0.0, True)}


def intercept_parameters(c, free):
    return {"fit_intercept": bool(c) or free, "intercept_scaling": c or None}


def problem(seed, c, free, n=30, p=3):
    X, y = classes(seed, n, p, 2)
    s = np.maximum(np.random.default_rng(seed).uniform(-0.5, 2, size=n), 0.0)
    weight = np.array([0.5, 2.0])
    sign, u = 2.0 * y - 1, 0.3 * s * weight[y]
    return X, y, s, weight, sign, u, hinge_cases.exact(X, sign, u, c, free)


@pytest.mark.parametrize("given", [True, False], ids=["dual point given", "looked for"])
@pytest.mark.parametrize("kind", INTERCEPTS)
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_the_gap_bounds_the_true_excess_and_vanishes_at_the_optimum(seed, kind, given):
    c, free = INTERCEPTS[kind]
    X, y, s, weight, sign, u, best = problem(seed, c, free)
    rng, gaps = np.random.default_rng(1), []
    for size in SIZES:
        w = best.w + size * rng.normal(size=3)
        b = best.b + (size * rng.normal() if c or free else 0.0)
        alpha = best.alpha * (1 + size * rng.normal(size=len(u)))
        result = hinge.check(
            rows(X, y, s), w=w[:, None], b=np.array([b]), C=0.3, class_weight=weight,
            beta=(alpha * sign)[None] if given else None, tol=1e-9, **intercept_parameters(c, free),
        )  # fmt: skip
        true = hinge_cases.value(X, sign, u, w, b, c)
        with mp.workdps(50):
            assert mp.mpf(result["bound"]) <= best.value
            assert mp.mpf(result["gap"]) >= true - best.value
            assert result["coef_error"] >= np.abs(w - best.w).max()
        assert result["objective"] == pytest.approx(float(true), rel=1e-13)
        if given and not size:
            assert result["support"] == np.count_nonzero(best.alpha)
        gaps.append(result["residual"])
    assert gaps[0] < (1e-12 if given else 1e-6), gaps
    assert gaps[1:] == sorted(gaps[1:]), gaps


@pytest.mark.parametrize("beta", [np.nan, np.inf, -5.0, 1e9])
def test_a_dual_point_that_is_none_proves_little_and_nothing_wrong(beta):
    X, y, s, weight, _sign, u, best = problem(0, 2.0, False)
    result = hinge.check(
        rows(X, y, s), w=best.w[:, None], b=np.array([best.b]), C=0.3, class_weight=weight,
        beta=np.full((1, len(u)), beta), **intercept_parameters(2.0, False),
    )  # fmt: skip
    assert result["bound"] <= float(best.value)
    assert result["gap"] >= 0
    assert result["residual"] > 1e-3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_with_an_l1_penalty_the_bound_comes_near_an_independent_optimum(l2, intercept):
    """l2 = 0 is a linear program; with it, the bound lies between that of l2 = 0 and F."""
    X, y = classes(5, 80, 3, 2)
    n, p, sign, l1, C = 80, 3, 2.0 * y - 1, 0.05, 1 / 80
    # w = w₊ − w₋, b = b₊ − b₋, ξ ≥ 0: minimise CΣξ + l1 Σ(w₊ + w₋)
    columns = sign[:, None] * np.column_stack([X, np.ones(n)])
    cost = np.concatenate([np.full(p, l1), [0], np.full(p, l1), [0], np.full(n, C)])
    bounds = [(0, None)] * len(cost)
    if not intercept:
        bounds[p] = bounds[2 * p + 1] = (0, 0)
    lp = linprog(
        cost, A_ub=-np.hstack([columns, -columns, np.eye(n)]), b_ub=-np.ones(n), bounds=bounds
    )
    theta = lp.x[: p + 1] - lp.x[p + 1 : 2 * p + 2]
    result = hinge.check(
        rows(X, y), w=theta[:p, None], b=theta[p:], C=C, l1=l1, l2=l2, fit_intercept=intercept,
    )  # fmt: skip
    if l2 == 0:
        assert result["objective"] == pytest.approx(lp.fun, rel=1e-9)
        assert lp.fun * (1 - 1e-3) <= result["bound"] <= lp.fun * (1 + 1e-12)
    else:
        assert lp.fun * (1 - 1e-3) <= result["bound"] <= result["objective"]
        assert result["objective"] > lp.fun


def test_several_columns_are_problems_of_their_own_and_add_up():
    X, y = classes(2, 60, 3, 3)
    rng = np.random.default_rng(0)
    w, b, c = rng.normal(size=(3, 3)), rng.normal(size=3), np.array([0.5, 1.0, 3.0])
    all_of_them = hinge.check(
        rows(X, y), w=w, b=b, C=0.2, class_weight=c, one_vs_rest=True, intercept_scaling=1.0
    )
    each = [
        hinge.check(
            rows(X, y == t), w=w[:, [t]], b=b[[t]], C=0.2, class_weight=np.array([1.0, c[t]]),
            intercept_scaling=1.0,
        )
        for t in range(3)
    ]  # fmt: skip
    for name in ("objective", "bound", "gap", "null_objective"):
        assert all_of_them[name] == pytest.approx(sum(one[name] for one in each), rel=1e-9)
    assert all_of_them["residual"] == pytest.approx(max(one["residual"] for one in each), rel=1e-9)


def test_balanced_weights_are_those_of_the_rows_masses():
    X, y = classes(2, 60, 3, 2)
    s = np.random.default_rng(0).uniform(0, 2, size=60)
    c = s.sum() / (2 * np.bincount(y, s))
    point = {"w": np.ones((3, 1)), "b": np.zeros(1), "intercept_scaling": 1.0}
    named = hinge.check(rows(X, y, s), class_weight="balanced", **point)
    counted = hinge.check(rows(X, y, s), class_weight=c, **point)
    assert named["objective"] == pytest.approx(counted["objective"], rel=1e-14)
    assert named["bound"] == pytest.approx(counted["bound"], rel=1e-6)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_search_by_conjugate_gradients_finds_what_factors_find(sparse, monkeypatch):
    X, y = classes(3, 200, 6, 2)
    X[np.abs(X) < 0.7] = 0.0
    data = rows(CSR(csr_array(X)) if sparse else X, y)
    point = {"w": np.zeros((6, 1)), "b": np.zeros(1), "intercept_scaling": 1.0, "C": 0.1}
    factored = hinge.check(data, **point)
    monkeypatch.setattr(_dual, "MAX_FACTORED_COLUMNS", 2)
    iterated = hinge.check(data, **point)
    assert iterated["bound"] == pytest.approx(factored["bound"], rel=0.05)
    assert factored["bound"] > 0.5 * factored["objective"] * 0.5


def test_numbers_that_are_not_finite_prove_nothing():
    X, y = classes(3, 40, 2, 2)
    result = hinge.check(
        rows(X, y), w=np.full((2, 1), np.nan), b=np.zeros(1), intercept_scaling=1.0
    )
    assert result["residual"] == np.inf
    assert result["infeasible"]
