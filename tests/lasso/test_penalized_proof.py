"""proofs: penalised: gaps against optima of 50 digits."""

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

from certus.data.csr import CSR
from certus.proofs.lasso import penalized
from certus.proofs.lasso.penalty_terms import group_numbers, term_of
from tests.contract.problems import weights
from tests.lasso.penalized_cases import (
    HUBER,
    LOSSES,
    NET,
    SQUARED,
    Case,
    checked,
    each_loss,
    exact_objective,
    optimum,
    problem,
    prox,
    rows,
)

PENALTIES = {
    "l1": NET,
    "l1, positive": {**NET, "positive": True},
    "elastic net": {**NET, "l2": 0.2},
    "elastic net, positive": {**NET, "l2": 0.2, "positive": True},
    "l2": {**NET, "l1": 0.0, "l2": 0.4},
    "group": {"name": "group_l2", "strength": 0.3, "groups": [[0, 2], [1], [3]]},
    "box": {"name": "box", "low": [-0.5, -1.0, -0.5, -3.0], "high": 1.5},
    "simplex": {"name": "simplex", "total": 2.0},
}
each_penalty = pytest.mark.parametrize("penalty", PENALTIES)


def allowed(case, w):
    """The nearest w that the penalty allows, as floats that it allows exactly."""
    name = case.penalty["name"]
    if name == "box":
        return np.clip(w, case.penalty["low"], case.penalty["high"])
    if name == "simplex":
        return np.asarray(prox(case, np.vectorize(mp.mpf)(w), None), dtype=float)
    return np.maximum(w, 0.0) if case.penalty.get("positive") else w


def attack(case, exactly=1e-11, sizes=(0.0, 1e-6, 1e-3, 0.1, 2.0)):
    """The bound lies below the optimum, the gap above the excess, and both close at the optimum."""
    best, w, b = optimum(case)
    rng = np.random.default_rng(1)
    unit = np.minimum(1.0, 1 / np.asarray(case.X, dtype=float).std(axis=0))
    residuals = []
    for size in sizes:
        moved = allowed(case, w + size * unit * rng.normal(size=w.shape))
        at = b + size * rng.normal() * case.fit_intercept
        at -= np.asarray(case.X, dtype=float).mean(axis=0) @ (moved - w) * case.fit_intercept
        found = checked(case, moved, at)
        true = exact_objective(case, moved, at)
        assert found["kind"] == "global"
        assert found["infeasible"] is None
        assert found["bound"] <= best
        assert found["gap"] >= true - best
        assert found["objective"] == pytest.approx(float(true), rel=1e-9)
        if found["coef_error"] is not None:
            assert found["coef_error"] >= np.abs(moved - w).max() * (1 - 1e-9)
        residuals.append(found["residual"])
    assert residuals[0] < exactly, residuals
    assert residuals[1] < 1e-3
    assert residuals[1:] == sorted(residuals[1:])
    return residuals


@pytest.mark.parametrize(
    ("loss", "weighted", "intercept"),
    [
        *(("squared", weighted, b) for weighted in (False, True) for b in (False, True)),
        ("huber", False, False),
        ("huber", True, True),
    ],
)
@each_penalty
def test_the_gap_bounds_the_true_excess_and_vanishes_at_the_optimum(
    penalty, loss, weighted, intercept
):
    X, y = problem()
    s = np.random.default_rng(2).integers(0, 3, size=len(y)).astype(float) if weighted else None
    attack(Case(X, y, s, LOSSES[loss], PENALTIES[penalty], "weights", intercept))


@pytest.mark.parametrize("divisor", [None, "rows", "weights"])
@each_loss
def test_every_divisor(divisor, loss):
    X, y = problem(3)
    s = weights(3, len(y))
    strength = {None: 10.0, "rows": 0.3, "weights": 0.3}[divisor]
    attack(Case(X, y, s, LOSSES[loss], {**NET, "l1": strength}, divisor))


# --- where arithmetic is hard ---------------------------------------------------------------------


@each_loss
@pytest.mark.parametrize("penalty", ["l1", "elastic net", "group", "box"])
def test_columns_far_from_the_origin(penalty, loss):
    X, y = problem(4)
    """There w and b are known to eight digits only, however they are found."""
    attack(Case(X + np.array([1e8, -1e8, 0, 1e4]), y, None, LOSSES[loss], PENALTIES[penalty]), 1e-7)


@pytest.mark.parametrize("penalty", ["l1", "l1, positive", "elastic net"])
@pytest.mark.parametrize("scale", [2.0**500, 2.0**-500, 2.0**30])
def test_columns_of_any_scale(penalty, scale):
    """So large that the penalty is lost in the slope's last digits, or so small that w_j is 0."""
    X, y = problem(5)
    X[:, 1] *= scale
    attack(Case(X, y, None, SQUARED, PENALTIES[penalty], "weights"), 1e-9)


def test_all_columns_of_another_scale_as_the_penalty_is():
    """X·c with l1·c and l2·c² is the same problem, w/c its solution."""
    X, y = problem(6)
    for name in ("l1", "elastic net", "l1, positive"):
        case = Case(X, y, None, SQUARED, PENALTIES[name], "weights")
        _, w, b = optimum(case)
        first = checked(case, w, b)
        for loss in (SQUARED, HUBER):
            for c in (2.0**400, 2.0**-400):
                scaled = {**case.penalty, "l1": 0.3 * c, "l2": case.penalty["l2"] * c * c}
                other = Case(X * c, y, None, loss, scaled, "weights")
                found = checked(other, w / c, b)
                if loss is SQUARED:
                    assert found["objective"] == first["objective"]
                    assert found["residual"] < 1e-10
                assert np.isfinite(found["residual"])


@each_loss
@each_penalty
def test_float32_rows_and_sparse_rows(penalty, loss):
    X, y = problem(7, n=300)
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    how = {"loss": LOSSES[loss], "penalty": PENALTIES[penalty], "divisor": "rows"}
    w = allowed(Case(X, y, None, LOSSES[loss], PENALTIES[penalty]), np.full(4, 0.4))[:, None]
    s = weights(7, len(y))
    first = penalized.check(rows(X.astype(float), y, s), w=w, b=np.array([0.3]), **how)
    for other in (X, np.asfortranarray(X), CSR(csr_array(X)), np.asfortranarray(X.astype(float))):
        found = penalized.check(rows(other, y, s), w=w, b=np.array([0.3]), **how)
        assert found["objective"] == pytest.approx(first["objective"], rel=1e-12)
        assert found["bound"] == pytest.approx(first["bound"], rel=1e-9, abs=1e-12)


@each_loss
@pytest.mark.parametrize("penalty", ["l1", "elastic net", "group", "box", "simplex"])
def test_odd_data(penalty, loss):
    """One row; constant columns; a constant y; one row that counts."""
    for X, y, s in (
        (np.ones((1, 4)), np.ones(1), None),
        (np.ones((5, 4)), np.arange(5.0), None),
        (problem(8)[0], np.full(18, 3.0), None),
        (np.zeros((5, 4)), np.zeros(5), None),
        (problem(8)[0], problem(8)[1], np.eye(18)[4]),
    ):
        for intercept in (True, False):
            case = Case(X, y, s, LOSSES[loss], PENALTIES[penalty], "weights", intercept)
            best, w, b = optimum(case)
            found = checked(case, w, b)
            assert found["bound"] <= best
            assert found["gap"] >= exact_objective(case, w, b) - best
            assert found["gap"] < 1e-12 * (1 + np.abs(y).max() ** 2), found


def test_several_targets_are_several_problems_and_threads_change_nothing():
    X, y = problem(9, n=3000)
    Y = np.column_stack([y, -2 * y + X[:, 3]])
    W, b = np.random.default_rng(0).normal(size=(4, 2)), np.array([0.1, 0.2])
    for loss in LOSSES.values():
        for penalty in PENALTIES.values():
            if penalty["name"] in ("box", "simplex"):
                continue
            how = {"loss": loss, "penalty": penalty, "divisor": "weights"}
            W_ = np.maximum(W, 0) if penalty.get("positive") else W
            both = penalized.check(rows(X, Y), w=W_, b=b, **how)
            each = [
                penalized.check(rows(X, Y[:, t]), w=W_[:, [t]], b=b[[t]], **how) for t in range(2)
            ]
            for key in ("objective", "bound", "null_objective"):
                rel = 1e-6 if key == "null_objective" and loss is HUBER else 1e-12
                assert both[key] == pytest.approx(sum(one[key] for one in each), rel=rel)
            assert both["residual"] == pytest.approx(max(one["residual"] for one in each), rel=1e-6)
            other = penalized.check(rows(X, Y, threads=2), w=W_, b=b, **how)
            assert all(other[key] == both[key] for key in ("objective", "gap", "residual"))


@each_loss
def test_the_null_objective_is_that_of_the_best_constant(loss):
    X, y = problem(10, n=60)
    y[:8] += 40.0
    s = weights(10, 60)
    how = {"loss": LOSSES[loss], "penalty": NET, "divisor": "weights"}
    found = penalized.check(rows(X, y, s), w=np.zeros((4, 1)), b=np.zeros(1), **how)

    def F(b):
        r = np.abs(y - b)
        near = r if loss == "squared" else np.minimum(r, HUBER["delta"])
        return s @ (near * (r - near / 2)) / s.sum()

    best = minimize_scalar(F, bounds=(-50, 50), method="bounded", options={"xatol": 1e-10})
    assert found["null_objective"] == pytest.approx(best.fun, rel=1e-5)
    alone = penalized.check(
        rows(X, y, s), w=np.zeros((4, 1)), b=np.zeros(1), fit_intercept=False, **how
    )
    assert alone["null_objective"] == pytest.approx(F(0.0), rel=1e-12)


# --- what is not allowed --------------------------------------------------------------------------


def test_what_a_constraint_excludes_is_refused_and_said():
    X, y = problem()
    outside = {
        "l1, positive": ([1.0, -1e-9, 0, 0], "below 0"),
        "box": ([2.0, 0, 0, 0], "outside the box"),
        "simplex": ([1.0, 1.0, 1e-6, 0], "do not sum to 2"),
    }
    for name, (w, message) in outside.items():
        found = checked(Case(X, y, None, SQUARED, PENALTIES[name]), np.array(w), 0.0)
        assert found["residual"] == np.inf
        assert message in found["infeasible"]
    found = checked(Case(X, y, None, SQUARED, PENALTIES["simplex"]), np.array([3, -1.0, 0, 0]), 0.0)
    assert "below 0" in found["infeasible"]
    how = {"loss": SQUARED, "penalty": NET, "fit_intercept": False}
    found = penalized.check(rows(X, y), w=np.zeros((4, 1)), b=np.ones(1), **how)
    assert "intercept" in found["infeasible"]
    found = checked(Case(X, y, None, SQUARED, NET), np.array([np.nan, 0, 0, 0]), 0.0)
    assert found["residual"] == np.inf


def test_groups_in_either_spelling():
    assert group_numbers([[0, 2], [1], [3]], 4).tolist() == [0, 1, 0, 2]
    assert group_numbers(np.array([7, 3, 7, 9]), 4).tolist() == [1, 0, 1, 2]
    for wrong in ([[0, 1], [1, 2, 3]], [[0, 1]], [[0, 1], [2, 3], [0]]):
        with pytest.raises(ValueError, match="every column"):
            group_numbers(wrong, 4)


# --- duals by brute force -------------------------------------------------------------------------


@each_penalty
def test_the_conjugate_is_the_supremum_over_many_points(penalty):
    """pen*(v) ≥ vᵀw − pen(w) for every w, with equality somewhere near."""
    rng = np.random.default_rng(0)
    term = term_of(PENALTIES[penalty], 4)
    case = Case(np.eye(4), np.ones(4), None, SQUARED, PENALTIES[penalty])
    W = np.array([allowed(case, w) for w in 2 * rng.normal(size=(3000, 4))]).T
    W = np.hstack(
        [W, np.array([allowed(case, w) for w in 9 * np.vstack([np.eye(4), -np.eye(4)])]).T]
    )
    zero = np.zeros((4, 1))
    for v in 0.6 * rng.normal(size=(20, 4, 1)):
        c, most = (float(x[0]) for x in term.support(v, zero))
        tau = min(most, 1.0)
        largest = (tau * v.T @ W - term.value(W)).max()
        assert largest <= tau * c + 1e-12
        whole = float(term.conjugate(v, zero)[0])
        assert (v.T @ W - term.value(W)).max() <= min(whole, c if most >= 1 else np.inf) + 1e-12
        wider = term.support(v, zero + 0.1)
        assert wider[0][0] >= c
        assert wider[1][0] <= most
        for _ in range(5):  # every v within the error
            u = v + 0.1 * rng.uniform(-1, 1, size=v.shape)
            tau = min(float(wider[1][0]), 1.0)
            assert (tau * u.T @ W - term.value(W)).max() <= tau * wider[0][0] + 1e-12


# --- every bound lies below every objective -------------------------------------------------------


@each_loss
@pytest.mark.parametrize("penalty", [*PENALTIES, "half a box"])
@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
def test_every_bound_lies_below_every_objective(penalty, loss, intercept):
    half = {"name": "box", "low": -np.inf, "high": [0.4, 0.4, 9.0, 9.0]}
    rng = np.random.default_rng(0)
    for trial in range(12):
        X, y = problem(trial, n=12)
        X = X * 10.0 ** rng.integers(-3, 4, size=4) + rng.choice([0.0, 50.0], size=4)
        s = rng.integers(0, 3, size=12) + (np.arange(12) == 0)
        delta = {"delta": float(rng.choice([1e-3, 0.3, 5.0]))} if loss == "huber" else {}
        how = {**PENALTIES, "half a box": half}[penalty]
        divisor = (None, "rows", "weights")[trial % 3]
        case = Case(X, y, s, {"name": loss, **delta}, how, divisor, intercept)
        found = []
        for size in (0.0, 1e-3, 0.1, 1.0, 3.0):
            w = allowed(case, size * rng.normal(size=4) / np.abs(X).max(axis=0))
            level = float(np.average(y - X @ w, weights=s))
            found.append(checked(case, w, level + 0.1 * rng.normal() if intercept else 0.0))
        assert all(one["infeasible"] is None for one in found)
        bounds = [one["bound"] for one in found if one["bound"] is not None]
        least = min(one["objective"] for one in found)
        assert bounds == [] or max(bounds) <= least * (1 + 1e-12)
        assert all(one["gap"] >= one["objective"] - least for one in found)
