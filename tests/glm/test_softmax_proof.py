"""proofs: softmax: the bound is below the optimum, the gap above the excess."""

import mpmath
import numpy as np
import pytest
from scipy.sparse import csr_array

from certus.data.csr import CSR
from certus.proofs.glm import duality, logistic, softmax
from certus.proofs.glm._weightless import weightless_odds
from certus.proofs.glm.separation import separates
from certus.proofs.linalg.linear_sums import View
from tests.contract.classification import Case, classes, exact_objective, optimum, rows

S = np.random.default_rng(9).integers(0, 4, size=40).astype(float)
CLASS_WEIGHT = np.array([0.25, 3.0, 1.0, 0.7, 1.5])
PENALTIES = {"l2": (0.0, 1.0), "l1": (1.0, 0.0), "elastic net": (0.4, 0.6)}


def problem(K=3, penalty="l2", intercept="free", weighted=False, C=0.7, n=30, p=2, seed=1):
    X, y = classes(seed, n, p, K)
    l1, l2 = PENALTIES.get(penalty, (0.0, 0.0))
    s = np.maximum(S[:n], np.arange(n) < K) if weighted else np.ones(n)
    c = CLASS_WEIGHT[:K] if weighted else np.ones(K)
    case = Case(X, y, C * s * c[y], K, l1, l2, intercept, 2.0)
    parameters = {
        "C": C, "l1": l1, "l2": l2, "fit_intercept": intercept != "none",
        "class_weight": c if weighted else None,
        "intercept_scaling": 2.0 if intercept == "penalised" else None,
    }  # fmt: skip
    return case, rows(X, y, s if weighted else None), parameters


@pytest.mark.parametrize(
    ("K", "penalty", "intercept", "weighted"),
    [
        (2, "l2", "free", False),
        (3, "l2", "free", True),
        (3, "l2", "none", False),
        (3, "l2", "penalised", True),
        (3, "l1", "free", True),
        (3, "l1", "none", False),
        (3, "elastic net", "free", True),
        (5, "l2", "free", False),
        (5, "elastic net", "free", True),
    ],
)
def test_the_gap_bounds_the_true_excess_and_vanishes_at_the_optimum(
    K, penalty, intercept, weighted
):
    case, data, parameters = problem(K, penalty, intercept, weighted)
    best, w, b = optimum(case)
    rng = np.random.default_rng(1)
    gaps = []
    for size in (0.0, 1e-6, 1e-3, 0.1, 3.0):
        u = w + size * rng.normal(size=w.shape) * (w != 0)
        c = b if intercept == "none" else b + size * rng.normal(size=b.shape)
        result = softmax.check(data, w=u, b=c, **parameters)
        true = exact_objective(case, u, c)
        assert result["bound"] <= best
        assert result["gap"] >= true - best
        assert result["objective"] == pytest.approx(float(true), rel=1e-13)
        assert result["residual"] == pytest.approx(result["gap"] / result["null_objective"])
        if result["coef_error"] is not None:
            assert result["coef_error"] >= np.abs(u - w).max()
        gaps.append(result["residual"])
    assert gaps[0] < (1e-11 if penalty == "l1" else 1e-12)
    assert gaps[1] < (1e-4 if penalty == "l1" else 1e-6)


def test_the_objective_is_what_is_written():
    case, data, parameters = problem(3, "elastic net", weighted=True)
    rng = np.random.default_rng(0)
    w, b = rng.normal(size=(2, 3)), rng.normal(size=3)
    result = softmax.check(data, w=w, b=b, **parameters)
    z = case.X @ w + b
    loss = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), case.y]
    direct = case.omega @ loss + 0.4 * np.abs(w).sum() + 0.3 * (w * w).sum()
    assert result["objective"] == pytest.approx(direct, rel=1e-14)
    s = case.omega / (0.7 * CLASS_WEIGHT[:3][case.y])
    Q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    assert result["mean_probability"] == pytest.approx(s @ Q / s.sum())
    assert result["share"] == pytest.approx([s @ (case.y == k) / s.sum() for k in range(3)])
    n = np.array([case.omega @ (case.y == k) for k in range(3)])
    assert result["null_objective"] == pytest.approx(-n @ np.log(n / n.sum()))


def test_two_classes_are_the_logistic_loss_of_a_difference():
    X, y = classes(2, 60, 3, 2)
    w, b = np.array([[0.5], [-1.0], [0.2]]), np.array([0.1])
    one = logistic.check(rows(X, y), w=w, b=b, l2=0.0, class_weight="balanced")
    two = softmax.check(
        rows(X, y), w=np.hstack([0 * w, w]), b=np.array([0.0, b[0]]), l2=0.0,
        class_weight="balanced",
    )  # fmt: skip
    for key in ("objective", "null_objective", "residual"):
        assert two[key] == pytest.approx(one[key], rel=1e-9)
    assert two["mean_probability"] == pytest.approx(one["mean_probability"])


def test_a_second_pass_at_the_moved_point_proves_what_concavity_loses():
    case, data, parameters = problem(3, "l2", weighted=True)
    best, w, b = optimum(case)
    c = b + np.array([1e-4, -1e-4, 2e-4])
    result = softmax.SoftmaxProblem(data, w=w, b=c, **parameters)
    first, delta = result.bound(result.sums)
    second, _ = result.bound(result.take_sums(delta))
    excess = float(exact_objective(case, w, c) - best)
    assert best - first > 100 * excess
    assert 0 <= best - second < 10 * excess


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.3, 5.0])
def test_the_moved_point_is_feasible_whatever_the_intercepts(size):
    _, data, parameters = problem(5, "l2", weighted=True)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        w, b = rng.normal(size=(2, 5)), np.log(CLASS_WEIGHT) + size * rng.normal(size=5)
        result = softmax.SoftmaxProblem(data, w=w, b=b, **parameters)
        delta, t = result.balance(result.sums)
        assert (delta >= 0).all()
        assert (delta < 1).all()
        q = (1 - delta) @ (result.factor[:, None] * result.sums.Q) + delta * result.n
        assert 0 < t <= 1
        assert (result.n - (1 - t) * q >= 0).all()


@pytest.mark.parametrize(("K", "intercept"), [(3, "free"), (3, "none"), (5, "free")])
def test_gradient_and_curvature_bound_the_excess_of_unpenalised_fits(K, intercept):
    case, data, parameters = problem(K, "none", intercept, n=40, seed=3)
    best, w, b = optimum(case)
    rng = np.random.default_rng(2)
    certified = 0
    for size in (0.0, 1e-5, 1e-2, 1.0):
        u = w + size * rng.normal(size=w.shape)
        c = b if intercept == "none" else b + size * rng.normal(size=b.shape)
        shift = rng.normal(size=2)[:, None]  # of all classes alike
        result = softmax.check(data, w=u + shift, b=c, **parameters)
        excess = float(exact_objective(case, u, c) - best)
        assert result["gap"] >= excess
        if result["bound"] is not None:
            certified += 1
            assert result["bound"] <= best
            if size == 1e-5:
                assert result["gap"] <= 4 * excess
    assert certified >= 2


def test_separated_classes_have_no_bound_without_a_penalty():
    angle = np.repeat([0.0, 2.0, 4.0], 10)
    rng = np.random.default_rng(0)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.normal(size=(30, 2))
    y = np.repeat([0, 1, 2], 10)
    w = np.column_stack([[np.cos(a), np.sin(a)] for a in (0.0, 2.0, 4.0)])
    result = softmax.check(rows(X, y), w=w, b=np.zeros(3), l1=0.0, l2=0.0)
    assert result["bound"] is None
    assert result["residual"] == np.inf
    assert result["separated"]["kind"] == "complete"
    given = {"w": 0 * w, "b": np.zeros(3), "l1": 0.0, "l2": 0.0}
    assert softmax.check(rows(X, y), **given)["separated"] is None
    result = softmax.check(rows(X, y), **given, direction=(w, np.zeros(3)))
    assert result["separated"]["rows"] == 30
    assert softmax.check(rows(X, y), **{**given, "l2": 1.0})["separated"] is None


def test_one_class_apart_is_a_quasi_complete_separation():
    X, y = classes(5, 40, 2, 3)
    X = np.column_stack([X, y == 2]).astype(float)
    u = np.zeros((3, 3))
    u[2] = [0.0, 0.0, 1.0]
    result = separates(rows(X, y), u, np.array([0.0, 0.0, 0.5]))
    assert result is None, "rows of the other classes are drawn to class 2"
    result = separates(rows(X, y), u, np.array([0.0, 0.0, -0.5]))
    assert result["kind"] == "quasi-complete"
    assert result["rows"] == 40, "each has a margin above 0 against some class"
    assert separates(rows(X, y), u, np.zeros(3))["rows"] == (y == 2).sum()


@pytest.mark.parametrize("layout", [np.asarray, lambda X: CSR(csr_array(X))])
def test_sparse_and_narrow_rows_say_the_same(layout):
    X, y = classes(7, 400, 6, 4)
    X = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.3, X, 0.0).astype(np.float32)
    rng = np.random.default_rng(1)
    w, b, s = rng.normal(size=(6, 4)), rng.normal(size=4), rng.uniform(size=400)
    plain = softmax.check(rows(X.astype(float), y, s), w=w, b=b)
    result = softmax.check(rows(layout(X), y, s), w=w, b=b)
    for key in ("objective", "bound", "residual", "null_objective"):
        assert result[key] == pytest.approx(plain[key], rel=1e-9)


def test_rounding_is_in_the_gap(monkeypatch):
    case, data, parameters = problem()
    _, w, b = optimum(case)
    parameters["tol"] = 1.0
    gap = softmax.check(data, w=w, b=b, **parameters)["gap"]
    monkeypatch.setattr(duality, "EVALUATION_ROUNDINGS", 10**9)
    assert softmax.check(data, w=w, b=b, **parameters)["gap"] > 1e3 * gap


def test_far_columns_keep_their_proofs():
    case, _, parameters = problem(3, "l2")
    near = case._replace(X=np.round(case.X * 2**10) / 2**10)
    best, w, b = optimum(near)
    far = rows(near.X + 2.0**20, case.y)
    result = softmax.check(far, w=w, b=b - 2.0**20 * w.sum(axis=0), **parameters)
    assert result["residual"] < 1e-8
    assert result["bound"] <= best


def test_a_class_of_one_row_among_many_is_no_obstacle():
    X, y = classes(8, 3000, 2, 3)
    y[y == 2] = 1
    y[2] = 2
    case = Case(X[:60], y[:60], np.ones(60), 3, 0.0, 1.0, "free")
    best, w, b = optimum(case)
    result = softmax.check(rows(X[:60], y[:60]), w=w, b=b)
    assert result["residual"] < 1e-12
    assert result["bound"] <= best


def test_the_loss_of_a_row_that_is_all_but_certain_keeps_its_digits():
    """log(1 + 1e-9) would be off by 1e-16, which a weight of 1e9 enlarges."""
    X, y = np.array([[1.0], [1.0], [-1.0]]), np.array([0.0, 1.0, 2.0])
    s = np.array([1e9, 1.0, 1.0])
    w, b = np.array([[21.0, 0.3, -2.0]]), np.zeros(3)
    result = softmax.check(rows(X, y, s), w=w, b=b, l2=0.0, fit_intercept=False)
    z = [[mpmath.mpf(float(v)) for v in row] for row in X @ w]
    with mpmath.workdps(40):
        true = sum(
            mpmath.mpf(float(weight)) * (mpmath.log(sum(map(mpmath.exp, row))) - row[int(k)])
            for row, k, weight in zip(z, y, s, strict=True)
        )
        assert abs(float((result["objective"] - true) / true)) < 1e-14


@pytest.mark.parametrize("seed", range(12))
def test_newton_gain_with_a_weightless_class_is_bounded(seed: int) -> None:
    """½ gᵀH⁺g of all classes, from dense derivatives, is at most the bound."""
    rng = np.random.default_rng(seed)
    n, p, K = 12, 2, 4
    X, y = rng.normal(size=(n, p)), rng.integers(K, size=n)
    has_weight = np.arange(K) != seed % K
    omega = np.where(has_weight[y], rng.uniform(0.1, 2.0, n), 0.0)
    w, b = rng.normal(size=(p, K)), rng.normal(size=K)
    b[~has_weight] -= rng.uniform(0, 12)
    weighted = newton_gain_of(X, y, omega, w[:, has_weight], b[has_weight], has_weight)
    gain = newton_gain_of(X, y, omega, w, b, np.ones(K, dtype=bool))
    view = View(None, None, np.zeros(1))
    odds = weightless_odds(X, y[:, None], omega, w, b, view, np.ones(K), has_weight)
    bound = weighted * (1 + odds[1]) + 0.5 * odds[0]
    assert gain <= bound * (1 + 1e-9)
    assert gain >= weighted - 1e-12


def newton_gain_of(
    X: np.ndarray, y: np.ndarray, omega: np.ndarray, w: np.ndarray, b: np.ndarray,
    classes: np.ndarray,
) -> float:  # fmt: skip
    """½ gᵀH⁺g of Σ ω (log Σ exp z − z_y), by the Kronecker products of its definition."""
    Z = np.hstack([X, np.ones((len(X), 1))])
    z = X @ w + b
    Q = np.exp(z - z.max(axis=1, keepdims=True))
    Q /= Q.sum(axis=1, keepdims=True)
    Y = np.eye(len(classes))[y][:, classes]
    g = sum(o * np.kron(x, q - e) for o, x, q, e in zip(omega, Z, Q, Y, strict=True))
    H = sum(
        o * np.kron(np.outer(x, x), np.diag(q) - np.outer(q, q))
        for o, x, q in zip(omega, Z, Q, strict=True)
    )
    return float(g @ np.linalg.pinv(H, rcond=1e-11) @ g) / 2
