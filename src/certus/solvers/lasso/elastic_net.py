"""Squared loss with a penalty of each coefficient, on working sets of columns.

    F(w) = ½‖ŷ − X̂w‖² + Σ_j pen_j(w_j)                     (see ``squared_columns.py``)

A step takes the nonzero coefficients and those that violate optimality most, minimises F over
these from their sums of products (``quadratic_model.py``), then evaluates the gradient of all
columns. With r = ŷ − X̂w and v = X̂ᵀr, every τ gives a lower bound

    F* ≥ τ ŷᵀr − τ²/2 ‖r‖² − Σ_j [|τv_j| − l1]₊²/(2·l2),     l2 = 0: for τ with |τv_j| ≤ l1

(over w ≥ 0: v_j in place of |v_j|).

A nonconvex penalty has no bound; there the iteration ends when every coefficient is close to
stationary.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ...runtime.pool import blas_limiter
from ..progress import OnStep, Step, ignore
from .coordinate_penalty import NON_NEGATIVE, CoordinatePenalty
from .quadratic_model import minimize_model
from .squared_columns import Residuals, SquaredLossColumns

FIRST_SET_PER_SQRT_P = 2.0  # the first working set has 2√p columns …
FIRST_NONCONVEX_COLUMNS = 10  # … or 10, for MCP and SCAD
SET_EXCESS_SHARE = 0.1  # a working set is left when its own excess is below 0.1 of the total …
LAST_SET_SHARE = 0.1  # … unless it is probably the last: it adds at most 0.1 of the support
PREFETCH_SHARE = 0.5  # up to half the support is added ahead of need: optimal columns whose …
PREFETCH_MIN_SLOPE = 0.9  # … slope is above 0.9·l1, since they are likely to enter next
# remaining gain of single coefficients, relative to that at the start, that ends a model
MODEL_RTOL, NONCONVEX_MODEL_RTOL = 1e-12, 1e-7
OBJECTIVE_ROUNDING = 4e-15  # relative to F: a smaller decrease is rounding
NO_INTERCEPT = np.zeros(1)


class ElasticNetResult(NamedTuple):
    """Coefficients with their residuals, objective and bound."""

    w: np.ndarray  # (p,)
    residuals: Residuals
    objective: float
    bound: float | None  # None where the penalty is not convex
    excess: float
    n_iter: int
    b: np.ndarray = NO_INTERCEPT  # (1,)

    def step(self) -> Step:
        return Step(self.n_iter, self.objective, self.bound, lambda: self)

    @property
    def gap(self) -> float:
        return float("inf") if self.bound is None else max(self.objective - self.bound, 0.0)


def solve(
    columns: SquaredLossColumns,
    penalty: CoordinatePenalty,
    goal: float,
    start: tuple[np.ndarray, Residuals] | None = None,
    max_iter: int = 1000,
    on_step: OnStep = ignore,
) -> ElasticNetResult:
    """Minimise F by steps on working sets until the excess is at most ``goal``."""
    w, residuals = start or (np.zeros(columns.p), columns.evaluate(np.zeros(columns.p)))
    size, stalled, iteration = first_working_set_size(columns.p, penalty), False, 0
    result = result_at(columns, penalty, w, residuals)
    with blas_limiter:
        while True:
            step = Step(
                iteration, result.objective, result.bound, partial(_with_intercept, columns, result)
            )
            stopped = on_step(step) if iteration else False
            if result.excess <= goal or stalled or stopped or iteration >= max_iter:
                break
            result, size, stalled = advance(columns, penalty, result, size, goal)
            iteration += 1
            result = result._replace(n_iter=iteration)
    return _with_intercept(columns, result)


def advance(
    columns: SquaredLossColumns,
    penalty: CoordinatePenalty,
    result: ElasticNetResult,
    size: int,
    goal: float,
) -> tuple[ElasticNetResult, int, bool]:
    """Minimise over one working set.

    Returns the result, the size of the next working set, and whether no other set would help.
    """
    A, is_complete = _working_set(columns, penalty, result, size)
    new, stalled = _step(columns, penalty, result, A, goal), False
    # either only rounding is left, or more columns are needed than were taken
    fell = result.objective - new.objective > OBJECTIVE_ROUNDING * abs(result.objective)
    if not fell and new.excess > result.excess / 2:
        stalled, size = is_complete, 2 * size
    return new, max(size, int(np.count_nonzero(new.w))), stalled


def _step(
    columns: SquaredLossColumns,
    penalty: CoordinatePenalty,
    result: ElasticNetResult,
    A: np.ndarray,
    goal: float,
) -> ElasticNetResult:
    H, g, q = columns.quadratic_on(A, result.residuals)
    penalty_A = penalty.take(A)
    penalty_A = penalty_A._replace(l1=penalty_A.l1 * q, l2=penalty_A.l2 * q**2)
    u0, residuals = result.w[A] / q, result.residuals
    Xy, model_goal = H @ u0 - g, goal / 2
    zero = A[result.w[A] == 0]
    violation = penalty.take(zero).distances(result.w[zero], -residuals.v[zero])
    if np.count_nonzero(violation) > LAST_SET_SHARE * (len(A) - len(zero)):
        model_goal = max(SET_EXCESS_SHARE * result.excess, model_goal)

    def done(u: np.ndarray, slope: np.ndarray) -> bool:
        """Return whether the gap of the problem on A alone is small enough."""
        move = u - u0
        at_u = Residuals(
            residuals.rr + float(move @ (g + slope)), residuals.yr - float(Xy @ move), -slope
        )
        return at_u.rr / 2 + penalty_A.value(u) - dual_bound(penalty_A, at_u) <= model_goal

    if penalty.convex:
        u = minimize_model(H, g, u0, penalty_A, MODEL_RTOL, done)
    else:
        u = minimize_model(H, g, u0, penalty_A, NONCONVEX_MODEL_RTOL)
    w = result.w.copy()
    w[A] = q * u
    return result_at(columns, penalty, w, columns.evaluate(w))


def first_working_set_size(p: int, penalty: CoordinatePenalty) -> int:
    """Number of columns in the first working set.

    Small for nonconvex penalties: adding columns little by little leads to lower local optima.
    """
    return (
        max(64, int(FIRST_SET_PER_SQRT_P * np.sqrt(p)))
        if penalty.convex
        else FIRST_NONCONVEX_COLUMNS
    )


def result_at(
    columns: SquaredLossColumns, penalty: CoordinatePenalty, w: np.ndarray, residuals: Residuals
) -> ElasticNetResult:
    """Result at w: objective and bound, or for a nonconvex penalty a measure of stationarity."""
    objective = residuals.rr / 2 + penalty.value(w)
    if penalty.convex:
        bound = dual_bound(penalty, residuals)
        return ElasticNetResult(w, residuals, objective, bound, max(objective - bound, 0.0), 0)
    violation = penalty.distances(w, -residuals.v)
    worst = np.flatnonzero(violation > 0)
    excess = 0.0
    if len(worst):  # cosines with ŷ, relative to ‖ŷ‖²/2: not a bound, but of the same scale
        cosine = float(np.max(violation[worst] / columns.column_norms(worst)))
        excess = cosine * columns.target_norm / 2
    return ElasticNetResult(w, residuals, objective, None, excess, 0)


def dual_bound(penalty: CoordinatePenalty, residuals: Residuals) -> float:
    """Lower bound of F*: the best of a few values of τ."""
    if residuals.rr == 0:
        return 0.0
    v = residuals.v if penalty.code == NON_NEGATIVE else np.abs(residuals.v)
    with np.errstate(divide="ignore", over="ignore"):
        reach = np.min(np.where(v > 0, penalty.l1 / np.maximum(v, 1e-300), np.inf), initial=np.inf)
    tau = min(max(residuals.yr / residuals.rr, 0.0), float(reach))
    best = tau * residuals.yr - tau**2 / 2 * residuals.rr
    if (penalty.l2 > 0).all() and len(penalty.l2):
        beyond = np.maximum(v - penalty.l1, 0.0)
        best = max(
            best, residuals.yr - residuals.rr / 2 - float(np.sum(beyond**2 / (2 * penalty.l2)))
        )
    return best


def _working_set(
    columns: SquaredLossColumns, penalty: CoordinatePenalty, result: ElasticNetResult, size: int
) -> tuple[np.ndarray, bool]:
    """Return the columns of the next working set, ascending, and whether they include every
    column that violates optimality."""
    if columns.takes_all_columns:
        return np.arange(columns.p), True
    support = np.flatnonzero(result.w)
    violation = penalty.distances(result.w, -result.residuals.v)
    outside = np.flatnonzero((violation > 0) & (result.w == 0))
    is_complete = len(outside) <= size
    if not is_complete:
        priority = violation[outside] / columns.column_norms(outside)
        outside = outside[np.argpartition(priority, -size)[-size:]]
    # columns whose slope is nearly l1 are likely to enter next
    n_candidates = int(PREFETCH_SHARE * len(support)) - len(outside)
    if n_candidates > 0:
        v = result.residuals.v if penalty.code == NON_NEGATIVE else np.abs(result.residuals.v)
        v = np.where((result.w == 0) & (violation == 0), v, -np.inf)
        candidates = np.argpartition(v, -n_candidates)[-n_candidates:]
        outside = np.append(
            outside, candidates[v[candidates] > PREFETCH_MIN_SLOPE * penalty.l1[candidates]]
        )
    return np.union1d(support, outside), is_complete


def _with_intercept(columns: SquaredLossColumns, result: ElasticNetResult) -> ElasticNetResult:
    return result._replace(b=np.array([columns.intercept(result.w)]))
