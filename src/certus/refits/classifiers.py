"""Refits of linear classifiers.

    F(w, b) = C Σ_i s_i c_{y_i} ℓ(y_i, x_iᵀw + b) + l1·‖w‖₁ + l2/2·‖w‖²

An intercept that is penalised is the coefficient of a constant column. With one score for each
class against the rest there is one problem for each class.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.constant_column import with_constant
from ..data.rows import Rows
from ..losses import Huber, Logistic, Softmax, SquaredHinge
from ..penalties import ElasticNet
from ..solvers.glm.dispatch import choose, classification, one_vs_rest, solve
from ..solvers.glm.ordinal import minimize as minimize_ordinal
from ..solvers.glm.ordinal import ordinal_problem
from ..solvers.hinge import dispatch
from ..solvers.problem import Problem, weights_of_classes
from .no_refit import NoRefitError
from .regressions import MAX_ITER, TOL

NEARLY_FREE = 1e3  # constant column of an intercept that is not penalised

Parameters = Mapping[str, Any]


def logistic(p: Parameters, rows: Rows, K: int) -> dict[str, Any]:
    return _fitted(p, rows, K, Logistic())


def softmax(p: Parameters, rows: Rows, K: int) -> dict[str, Any]:
    return _fitted(p, rows, K, Softmax())


def squared_hinge(p: Parameters, rows: Rows, K: int) -> dict[str, Any]:
    return _fitted(p, rows, K, SquaredHinge())


def huber(p: Parameters, rows: Rows, K: int) -> dict[str, Any]:
    return _fitted(p, rows, K, Huber(p["delta"]))


def _class_weight(p: Parameters, rows: Rows, K: int) -> np.ndarray | None:
    c = p["class_weight"]
    if not isinstance(c, str):
        return None if c is None else np.asarray(c, dtype=float)
    (sums,) = rows.reduce_targets(weights_of_classes, K)
    if not (sums > 0).all():
        raise NoRefitError("a class has no weight")
    balanced: np.ndarray = sums.sum() / (K * sums)
    return balanced


def _fitted(p: Parameters, rows: Rows, K: int, loss: Any) -> dict[str, Any]:
    total, scaling = p["l1"] + p["l2"], _constant(p)
    penalty = ElasticNet(total, p["l1"] / total if total else 0.0)
    weight, design, w, b = _class_weight(p, rows, K), rows, p["w"], p["b"]
    intercept = bool(p["fit_intercept"])
    if scaling:
        design, intercept = with_constant(rows, scaling), False
        w, b = np.vstack([w, b / scaling]), np.zeros_like(b)
    if p.get("one_vs_rest") and K > 2:
        design = design.recoded(_times, float(p["C"]))
        problems = one_vs_rest(design, loss, penalty, intercept, K, weight)
    else:
        problems = [classification(design, loss, penalty, intercept, K, float(p["C"]), weight)]
    w, b = _solved(problems, w, b)
    if scaling:
        w, b = w[:-1], scaling * w[-1]
    return {"w": w, "b": b if p["fit_intercept"] else p["b"]}


def _constant(p: Parameters) -> float:
    """Return the value of the column whose coefficient is the intercept; 0: there is none."""
    return float(p.get("intercept_scaling") or 0.0) if p["fit_intercept"] else 0.0


def _times(y: np.ndarray, s: np.ndarray | None, C: float) -> tuple[np.ndarray, np.ndarray]:
    return y, np.full(len(y), C) if s is None else C * s


def _solved(problems: list[Problem], w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    fits = []
    for k, problem in enumerate(problems):
        at = slice(None) if len(problems) == 1 else slice(k, k + 1)
        start = np.array(w[:, at], dtype=float), np.array(b[at], dtype=float)
        fits.append(solve(problem, choose(problem), start, TOL, MAX_ITER))
    return np.hstack([fit.w for fit in fits]), np.concatenate([fit.b for fit in fits])


def ordinal(p: Parameters, rows: Rows, K: int) -> dict[str, Any]:
    """−Σ s log P(y | x) + α/2 ‖w‖²; thresholds are −b."""
    problem = ordinal_problem(rows, K, float(p["alpha"]))
    start = np.array(p["w"], dtype=float), -np.asarray(p["thresholds"], dtype=float)
    fit = minimize_ordinal(problem, start, TOL, MAX_ITER)
    return {"w": fit.w, "thresholds": -fit.b}


def hinge(p: Parameters, rows: Rows, K: int) -> dict[str, Any]:
    """C Σ s c [1 − m]₊ + l2/2 (‖w‖² + θ²), b = scaling·θ; with the dual point that proves it."""
    constant = _constant(p)
    if p["l1"] or not p["l2"]:
        raise NoRefitError("no solver takes the hinge loss with L1")
    free = p["fit_intercept"] and not constant
    constant = NEARLY_FREE if free else constant
    assert rows.y is not None
    weight, solver = _class_weight(p, rows, K), dispatch.choose(rows)
    c = np.ones(K) if weight is None else weight
    shared, fits = Rows(rows.X, threads=rows.threads), []
    cache: dict[str, Any] = {}
    k_of_row = rows.y[:, 0].astype(np.intp)
    s = np.ones(len(k_of_row)) if rows.s is None else rows.s
    for k in (1,) if K == 2 else range(K):
        in_class = k_of_row == k
        u = float(p["C"]) / p["l2"] * s * (c[k_of_row] if K == 2 else np.where(in_class, c[k], 1.0))
        y = np.where(in_class, 1.0, -1.0)
        problem = dispatch.HingeProblem(shared, y, u, constant, cache=cache)
        solver.prepare(problem)
        fits.append(dispatch.solve(problem, solver, None, TOL, MAX_ITER))
    b = np.concatenate([fit.b for fit in fits]) if constant else p["b"]
    found = {"w": np.column_stack([fit.w for fit in fits]), "b": b}
    if free:  # the proof looks for a dual point of its own
        return found
    beta = np.stack([p["l2"] * fit.alpha * fit.y for fit in fits])
    return {**found, "beta": beta}
