"""proofs: logistic: the bound is below the optimum, the gap above the excess."""

import mpmath as mp
import numpy as np
import pytest
from scipy.sparse import csr_array

from certus.data.csr import CSR
from certus.proofs.glm import _curvature, logistic
from certus.proofs.glm.separation import separates
from tests.contract.classification import classes, exact_objective, optimum, rows
from tests.glm.logistic_proof_cases import PENALTIES, S, problem

KINDS = [
    (penalty, intercept, weighted)
    for penalty in PENALTIES
    for intercept in ("free", "none", "penalised")
    for weighted in (False, True)
]


@pytest.mark.parametrize(("penalty", "intercept", "weighted"), KINDS)
def test_the_gap_bounds_the_true_excess_and_vanishes_at_the_optimum(penalty, intercept, weighted):
    case, data, parameters = problem(penalty, intercept, weighted)
    best, w, b = optimum(case)
    rng = np.random.default_rng(1)
    gaps = []
    for size in (0.0, 1e-9, 1e-6, 1e-3, 0.1, 3.0):
        u = w * (1 + size * rng.normal(size=w.shape)) + size * rng.normal(size=w.shape) * (w != 0)
        c = b if intercept == "none" else b + size * rng.normal(size=b.shape)
        result = logistic.check(data, w=u, b=c, **parameters)
        true = exact_objective(case, u, c)
        assert result["bound"] <= best
        assert result["gap"] >= true - best
        assert result["kind"] == "global"
        assert result["objective"] == pytest.approx(float(true), rel=1e-13)
        assert result["residual"] == pytest.approx(result["gap"] / result["null_objective"])
        if result["coef_error"] is not None:
            assert result["coef_error"] >= np.abs(u - w).max()
        gaps.append(result["gap"] / result["null_objective"])
    assert gaps[0] < 1e-12
    assert gaps[2] < (1e-6 if penalty == "l1" else 1e-9)  # of second order where a may be moved
    assert gaps[2:] == sorted(gaps[2:])


def test_the_objective_is_what_is_written():
    case, data, parameters = problem("elastic net", weighted=True)
    w, b = np.array([[1.0], [-2.0], [0.5]]), np.array([0.3])
    result = logistic.check(data, w=w, b=b, **parameters)
    m = (2 * case.y - 1) * (case.X @ w[:, 0] + b[0])
    direct = case.omega @ np.log1p(np.exp(-m)) + 0.5 * 3.5 + 0.25 * 5.25
    assert result["objective"] == pytest.approx(direct, rel=1e-14)
    raw = S[:40]
    probability = 1 / (1 + np.exp(-(case.X @ w[:, 0] + b[0])))
    assert result["mean_probability"][1] == pytest.approx(raw @ probability / raw.sum())
    assert result["share"] == pytest.approx([raw @ (case.y == k) / raw.sum() for k in (0, 1)])


def test_the_null_objective_is_that_of_the_best_intercept():
    case, data, parameters = problem(weighted=True)
    result = logistic.check(data, w=np.zeros((3, 1)), b=np.zeros(1), **parameters)
    constants = np.linspace(-4, 4, 4001)
    m = np.multiply.outer(constants, 2 * case.y - 1)
    assert result["null_objective"] == pytest.approx((np.log1p(np.exp(-m)) @ case.omega).min())
    result = logistic.check(
        data, w=np.zeros((3, 1)), b=np.zeros(1), **{**parameters, "fit_intercept": False}
    )
    assert result["null_objective"] == pytest.approx(case.omega.sum() * np.log(2))


def test_balanced_weights_are_those_of_scikit_learn():
    from sklearn.utils.class_weight import compute_class_weight

    X, y = classes(4, 60, 2, 2)
    s = np.random.default_rng(0).uniform(0.1, 3, 60)
    c = compute_class_weight("balanced", classes=np.array([0, 1]), y=y, sample_weight=s)
    w, b = np.ones((2, 1)), np.ones(1)
    result = logistic.check(rows(X, y, s), w=w, b=b, class_weight="balanced")
    given = logistic.check(rows(X, y, s), w=w, b=b, class_weight=c)
    assert result["objective"] == pytest.approx(given["objective"], rel=1e-14)


def test_a_weight_of_two_is_the_row_twice_and_of_zero_none():
    X, y = classes(5, 50, 3, 2)
    s = np.random.default_rng(0).integers(0, 3, 50)
    s[:2] = 1
    w, b = np.full((3, 1), 0.4), np.array([-0.2])
    X[s == 0] = 1e8
    a = logistic.check(rows(X, y, s), w=w, b=b)
    c = logistic.check(rows(np.repeat(X, s, axis=0), np.repeat(y, s)), w=w, b=b)
    for key in ("objective", "bound", "gap", "null_objective"):
        assert a[key] == pytest.approx(c[key], rel=1e-12)


def test_columns_of_one_against_the_rest_are_problems_of_their_own():
    X, y = classes(6, 60, 2, 3)
    rng = np.random.default_rng(0)
    w, b = rng.normal(size=(2, 3)), rng.normal(size=3)
    c = np.array([2.0, 1.0, 0.5])
    result = logistic.check(rows(X, y), w=w, b=b, C=0.3, class_weight=c, one_vs_rest=True)
    alone = [
        logistic.check(
            rows(X, y == t), w=w[:, [t]], b=b[[t]], C=0.3, class_weight=np.array([1.0, c[t]])
        )
        for t in range(3)
    ]
    for key in ("objective", "bound", "gap", "null_objective"):
        assert result[key] == pytest.approx(sum(one[key] for one in alone), rel=1e-12)
    assert result["residual"] == pytest.approx(max(one["residual"] for one in alone))


# --- no penalty -----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", ["free", "none"])
def test_gradient_and_curvature_bound_the_excess_of_unpenalised_fits(intercept):
    case, data, parameters = problem("none", intercept, weighted=True, n=40)
    best, w, b = optimum(case)
    rng = np.random.default_rng(2)
    certified = 0
    for size in (0.0, 1e-6, 1e-3, 0.03, 0.3, 2.0):
        u = w + size * rng.normal(size=w.shape)
        c = b if intercept == "none" else b + size * rng.normal(size=b.shape)
        result = logistic.check(data, w=u, b=c, **parameters)
        excess = float(exact_objective(case, u, c) - best)
        assert result["gap"] >= excess
        if result["bound"] is None:
            assert result["kind"] == "stationary"
            assert result["gap"] == np.inf
            continue
        certified += 1
        assert result["kind"] == "global"
        assert result["bound"] <= best
        assert result["coef_error"] >= np.abs(u - w).max()
        if 1e-6 <= size <= 0.03:
            assert result["gap"] <= 4 * excess
    assert certified >= 4
    assert result["separated"] is None


def test_the_excess_is_the_sum_of_its_series_and_never_smaller():
    with mp.workdps(50):
        for a in (1e-9, 1e-3, 0.0999, 0.1001, 0.5, 0.99):
            for M in (1e-8, 1.0, 1e6):
                nu = a / M
                x = mp.mpf(nu) * mp.mpf(M)
                true = (x + (1 - x) * mp.log(1 - x)) / mp.mpf(M) ** 2
                result, step = _curvature.excess_bound(nu, M)
                assert true <= result <= true * (1 + mp.mpf("1e-4"))
                assert step >= -mp.log(1 - x) / M * (1 - mp.mpf("1e-15"))
    assert _curvature.excess_bound(1.0, 1.0)[0] == np.inf


def test_a_subset_of_the_rows_proves_an_excess_of_all(monkeypatch):
    monkeypatch.setattr(_curvature, "SUBSET_WORK", (0,))
    case, _, parameters = problem("none", n=40)
    X, y = np.tile(case.X, (40, 1)), np.tile(case.y, 40)
    best, w, b = optimum(case)
    u = w + 1e-5
    result = logistic.check(rows(X, y), w=u, b=b, **{**parameters, "tol": 1.0})
    assert len(X) > 1024 + 2 * 4
    excess = 40 * float(exact_objective(case, u, b) - best)
    assert excess <= result["gap"] <= 10 * excess


def test_repeated_columns_do_not_hide_the_curvature_of_the_others():
    case, _, parameters = problem("none")
    X = np.column_stack([case.X, case.X[:, 0] + case.X[:, 1]])
    best, w, b = optimum(case)
    u = np.vstack([w, [[0.0]]])
    result = logistic.check(rows(X, case.y), w=u, b=b, **parameters)
    assert result["residual"] < 1e-10
    assert result["bound"] <= best
    assert result["coef_error"] is None  # they are not unique


def test_nearly_repeated_columns_are_not_taken_for_repeated_ones():
    case, _, parameters = problem("none")
    x, e = case.X[:, [0]], case.X[:, [1]]
    best, _, _ = optimum(case._replace(X=np.hstack([x, e])))
    alone, u, b = optimum(case._replace(X=x))
    assert best < alone
    for tiny in (1e-4, 1e-7, 1e-9, 1e-11):
        X = np.hstack([x, x + tiny * e])
        result = logistic.check(rows(X, case.y), w=np.vstack([u, [[0.0]]]), b=b, **parameters)
        assert result["gap"] >= alone - best


def test_repeated_columns_are_not_left_out_where_a_penalty_sees_them():
    """(2u, −u) predicts as (u, 0) does and costs 2|u| more."""
    case, _, parameters = problem("l1")
    X = np.column_stack([case.X, case.X[:, 0]])
    best, w, b = optimum(case)
    assert w[0] != 0
    u = np.vstack([w, -w[:1]])
    u[0] *= 2
    result = logistic.check(rows(X, case.y), w=u, b=b, **parameters)
    assert result["bound"] <= best
    assert result["gap"] >= 2 * abs(w[0, 0])


def test_a_weak_penalty_is_no_obstacle():
    case, data, parameters = problem("l2", C=1e8)
    best, w, b = optimum(case)
    u = w * (1 + 1e-5)
    result = logistic.check(data, w=u, b=b, **parameters)
    assert result["proof"] == "gradient and curvature"
    assert result["residual"] < 1e-6
    assert result["gap"] >= exact_objective(case, u, b) - best


def test_a_glance_at_some_rows_proves_what_a_weak_penalty_does_not(monkeypatch):
    """1,032 of 1,600 rows are used, and their curvature is about that of all rows."""
    monkeypatch.setattr(_curvature, "QUICK_WORK", (1,))
    monkeypatch.setattr(_curvature, "SUBSET_WORK", ())  # nothing else is asked
    monkeypatch.setattr(_curvature, "ALL_ROWS_WORK", 0)
    case, _, parameters = problem("l2", C=1e6, n=40)
    best, w, b = optimum(case)
    X, y, parameters = np.tile(case.X, (40, 1)), np.tile(case.y, 40), parameters | {"C": 1e6 / 40}
    for size in (1e-3, 1e-4, 1e-5):
        u = w + size
        result = logistic.check(rows(X, y), w=u, b=b, **parameters)
        excess = float(exact_objective(case, u, b) - best)
        assert result["proof"] == "gradient and curvature"
        assert excess <= result["gap"] <= 10 * excess


# --- separation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("grown", [1.0, 30.0, 1e4])
def test_separable_data_never_get_a_bound_without_a_penalty(grown):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] > 0).astype(int)
    w, b = grown * np.array([[1.0], [0.0], [0.0]]), np.zeros(1)
    result = logistic.check(rows(X, y), w=w, b=b, l1=0.0, l2=0.0)
    assert result["bound"] is None
    assert result["residual"] == np.inf
    assert result["separated"]["kind"] == "complete"
    assert result["separated"]["rows"] == 50


def test_a_direction_that_was_found_elsewhere_is_proof_too():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] > 0.25).astype(int)
    given = {"w": np.zeros((3, 1)), "b": np.zeros(1), "l1": 0.0, "l2": 0.0}
    assert logistic.check(rows(X, y), **given)["separated"] is None
    direction = np.array([1.0, 0.0, 0.0]), np.array([-0.25])
    result = logistic.check(rows(X, y), **given, direction=direction)
    assert result["separated"]["kind"] == "complete"
    result = logistic.check(rows(X, y), **given, direction=direction, fit_intercept=False)
    assert result["separated"] is None, "without an intercept it is no direction"


@pytest.mark.parametrize("layout", [np.asarray, lambda X: CSR(csr_array(X))])
def test_rows_on_the_boundary_are_told_from_rows_near_it(layout):
    X = np.array([[0.1, 3.0], [0.1, -3.0], [0.3, 0.1], [-0.2, 0.7]])
    y = np.array([0, 1, 1, 0])
    u, c = np.array([1.0, 0.0]), np.array([-0.1])
    result = separates(rows(layout(X), y), u, c)
    assert result["kind"] == "quasi-complete"
    assert result["rows"] == 2
    X[0, 0] = np.nextafter(0.1, 1)  # one unit on the wrong side
    assert separates(rows(layout(X), y), u, c) is None
    X[0, 0] = np.nextafter(0.1, 0)
    assert separates(rows(layout(X), y), u, c)["rows"] == 3
    assert separates(rows(layout(X), y), -u, -c) is None
    # 0.1·3 − 0.3 is 5.6e-17, exactly −2.8e-17 + …: signs of sums, not of their rounding
    X = np.array([[0.1, 0.3], [1.0, 0.0]])
    exact = 3 * mp.mpf(0.1) - mp.mpf(0.3)
    label = np.array([int(exact > 0), 1])
    assert separates(rows(layout(X), label), np.array([3.0, -1.0]), 0.0)["kind"] == "complete"
    assert separates(rows(layout(X), 1 - label), np.array([3.0, -1.0]), 0.0) is None


def test_rows_of_no_weight_do_not_spoil_a_separation():
    X = np.array([[1.0], [2.0], [-1.0], [-2.0]])
    y, s = np.array([1, 0, 0, 0]), np.array([1.0, 0.0, 1.0, 1.0])
    assert separates(rows(X, y), [1.0], 0.0) is None
    assert separates(rows(X, y, s), [1.0], 0.0)["rows"] == 3
