"""Refits of linear regressions.

F(w, b) = (1/D) Σ_i s_i ℓ(y_i − x_iᵀw − b) + pen(w)
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..data.rows import Rows
from ..losses import Gamma, Huber, Poisson, Squared
from ..penalties import L2, Box, ElasticNet, GroupL2, Simplex
from ..solvers.glm import dispatch
from ..solvers.glm.dispatch import solve
from ..solvers.glm.linear_problem import Solution
from ..solvers.glm.rates import as_rates
from ..solvers.glm.regression_dispatch import choose, target_problems
from ..solvers.least_squares import least_squares as squares
from ..solvers.least_squares.sparse import solve_sparse
from ..solvers.problem import Problem
from .no_refit import NoRefitError

TOL = 1e-10  # of the excess, as a share of the intercept's objective: bounds are then narrow
MAX_ITER = 1000
MAX_SCALES = 30  # values of Huber's scale
SCALE_RTOL = 1e-12

Parameters = Mapping[str, Any]


def least_squares(p: Parameters, rows: Rows, _K: int) -> dict[str, Any]:
    """Σ s r² + α‖w‖², perhaps over w ≥ 0."""
    alpha, positive = np.ravel(p["alpha"]), bool(p.get("positive"))
    by: Callable[..., Solution] = solve_sparse if rows.sparse else squares.solve
    each = alpha[0] if alpha.size == 1 else alpha
    solution = by(rows, bool(p["fit_intercept"]), alpha=each, positive=positive)
    return {"w": solution.w, "b": _intercept(p, solution.b)}


def _intercept(p: Parameters, b: np.ndarray) -> np.ndarray:
    return np.asarray(b, dtype=float) if p["fit_intercept"] else np.asarray(p["b"])


def penalized(p: Parameters, rows: Rows, _K: int) -> dict[str, Any]:
    """(1/D) Σ s ℓ + pen(w), for squared and Huber loss and the convex penalties."""
    if not isinstance(p["loss"], dict):
        raise NoRefitError("its loss is your own")
    loss = Squared() if p["loss"]["name"] == "squared" else Huber(p["loss"]["delta"])
    divisor = {None: 1.0, "rows": float(rows.shape[0]), "weights": rows.S}[p["divisor"]]
    term = p["penalty"]
    if term["name"] == "elastic_net" and term["l1"] == 0 and p["loss"]["name"] == "squared":
        alpha, positive = divisor * term["l2"], term.get("positive", False)
        return least_squares({**p, "alpha": alpha, "positive": positive}, rows, _K)
    scaled = rows.recoded(_divided, divisor)
    return _fitted(p, scaled, loss, _penalty(term))


def _divided(y: np.ndarray, s: np.ndarray | None, D: float) -> tuple[np.ndarray, np.ndarray | None]:
    if D == 1:
        return y, s
    return y, np.full(len(y), 1 / D) if s is None else s / D


def _penalty(term: Mapping[str, Any]) -> Any:
    name = term["name"]
    if name == "elastic_net":
        total = term["l1"] + term["l2"]
        ratio = term["l1"] / total if total else 0.0
        return ElasticNet(total, ratio, positive=bool(term.get("positive", False)))
    if name == "group_l2":
        return GroupL2(term["strength"], groups=term["groups"])
    if name == "box":
        return Box(term["low"], term["high"])
    if name == "simplex":
        return Simplex(term["total"])
    raise NoRefitError("its penalty is not convex")


def _fitted(p: Parameters, rows: Rows, loss: Any, penalty: Any) -> dict[str, Any]:
    problems = target_problems(rows, loss, penalty, bool(p["fit_intercept"]), center=True)
    columns, intercepts = [], []
    for t, problem in enumerate(problems):
        start = p["w"][:, [t]].copy(), p["b"][[t]] - problem.shift
        fit = solve(problem, choose(problem), start, TOL, MAX_ITER)
        columns.append(fit.w)
        intercepts.append(fit.b + problem.shift)
    return {"w": np.hstack(columns), "b": _intercept(p, np.concatenate(intercepts))}


def log_link(p: Parameters, rows: Rows, _K: int) -> dict[str, Any]:
    """1/S Σ s ½d(y, exp(o + Xw + b)) + l1‖w‖₁ + l2/2 ‖w‖², for counts and amounts."""
    counts, total, free = p["family"] == "poisson", p["l1"] + p["l2"], bool(p["fit_intercept"])
    penalty = ElasticNet(total * rows.S, p["l1"] / total if total else 0.0)
    solved, shift = as_rates(rows, counts, free)
    problem = Problem(solved, Poisson() if counts else Gamma(), penalty, free, shift=shift)
    start = np.array(p["w"], dtype=float), np.asarray(p["b"], dtype=float) - shift
    fit = solve(problem, dispatch.choose(problem), start, TOL, MAX_ITER)
    return {"w": fit.w, "b": _intercept(p, fit.b + shift)}


def huber_regression(p: Parameters, rows: Rows, _K: int) -> dict[str, Any]:
    """Σ s (σ + σH(r/σ)) + α‖w‖², minimised over w and b and over σ in turn.

    At a fixed σ it is 2/σ times Σ s h(r) + ασ/2 ‖w‖², h Huber's loss with δ = εσ.
    """
    found, sigma = {"w": p["w"], "b": p["b"]}, float(p["scale"])
    y, s = rows.y, np.ones(rows.shape[0]) if rows.s is None else rows.s
    for _ in range(MAX_SCALES):
        penalty = L2(p["alpha"] * sigma)
        found = _fitted({**p, **found}, rows, Huber(p["epsilon"] * sigma), penalty)
        z = rows.map(_scores, np.empty((rows.shape[0], 1)), found["w"], found["b"])
        before, sigma = sigma, _scale(np.abs(y - z)[:, 0], s, p["epsilon"])
        if not sigma > 0:
            raise NoRefitError("most residuals are 0, where the scale has no optimum above 0")
        if abs(sigma - before) <= SCALE_RTOL * sigma:
            break
    return {**found, "scale": sigma}


def _scores(X: Any, _y: Any, _s: Any, w: np.ndarray, b: np.ndarray) -> Any:
    return X @ w + b


def _scale(size: np.ndarray, s: np.ndarray, epsilon: float) -> float:
    """Return σ with Σ_in s r²/σ² = Σ s − ε² Σ_out s, in: |r| ≤ εσ."""
    order = np.argsort(size)
    r, s = size[order], s[order]
    inside, weight = np.cumsum(s * r**2), np.cumsum(s)
    left = weight[-1] - epsilon**2 * (weight[-1] - weight)  # with the rows up to each one inside
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = np.sqrt(np.where(left > 0, inside / left, np.inf))
    next_r = np.append(r[1:], np.inf)
    fits = (epsilon * sigma >= r) & (epsilon * sigma < next_r)
    return float(sigma[np.flatnonzero(fits)[0]]) if fits.any() else 0.0
