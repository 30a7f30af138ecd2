"""L1 and elastic-net problems by proximal Newton steps on working sets.

    F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + l1·‖w‖₁ + l2/2·‖w‖²

A step takes the nonzero coefficients and those whose −∂F/∂w_j is farthest from the penalty's
subdifferential, relative to the spread of column j. It minimises F over these by quadratic models
with the losses' curvature, each minimised by coordinate descent and followed by a line search; one
pass over X then gives the gradient of all coefficients, and a bound: with slopes a of the losses,
Σ s a = 0 because b is optimal, and v = Xᵀ(s∘a),

    F* ≥ −Σ s ℓ*(y, ρa) − pen*(−ρv),   ρ ≤ 1 such that pen* is finite
"""

from dataclasses import dataclass

import numpy as np

from ...runtime.pool import blas_limiter
from ..first_order.repr_as_called import ReprAsCalled
from ..glm.exact_step import exact_step_from_scores
from ..linalg.sparse_columns import by_columns
from ..loop import NO_DESCENT_MESSAGE, State
from ..problem import Problem
from .active_columns import (
    ColumnClassPairs,
    Curvature,
    DenseColumns,
    SparseColumns,
    gather,
    gradient_of_columns,
    scores,
)
from .column_model import minimize_by_columns
from .coordinate_penalty import CoordinatePenalty
from .quadratic_model import QuadraticModel
from .small_newton import SmallNewton, dual_bound

MAX_COLUMNS_WITHOUT_WORKING_SET = 256  # columns × classes
FIRST_SET_PER_SQRT_SIZE = 2.0, 10.0  # first working set: times √(coefficients), dense and sparse X
MAX_GRAM_COORDINATES = 2000  # up to which the model's matrix H is formed …
MAX_GRAM_TO_ENTRIES = 8.0  # … if H has at most 8 times the entries of the columns
MAX_NEWTON_STEPS = 20  # on one working set
SET_EXCESS_SHARE = 0.2  # a working set is left when its own excess is below 0.2 of the total …
# … or below 1e-3 if |set|² is at most 8 times the number of coefficients
SMALL_SET_EXCESS_SHARE, SMALL_SET_SQUARES = 1e-3, 8.0
MAX_STEP_HALVINGS = 40
PIECEWISE_LOSSES = ("huber", "squared_hinge")  # their curvature is 0 at some rows, replaced by …
MIN_CURVATURE_SHARE = 1e-4  # … this share of its bound; 1e-9 and 1e-3 took three times as long
KINK_WIDTH = 1e-12  # relative to max(|score|, 1): a row this close to a kink counts on both sides
# best steps, relative to the model's, that show it to be too curved or too flat
MIN_SHORT_STEP, MAX_LONG_STEP = 1.5, 0.5
MIN_ADAPTED_CURVATURE_SHARE = 1e-20
# Newton steps of a fit before the minimum curvature is adapted: adapting from the first step made
# fits of 500 rows and 1,000 columns up to ten times slower, and no fit with ordinary weights takes
# this many steps
STEPS_BEFORE_ADAPTING = 400
# a step stalls if neither F (relative decrease) nor the excess falls: steps of one rounding of w
# can repeat for ever. After this many in a row the solver stops
STALLED_DECREASE, MAX_STALLED_STEPS = 1e-9, 20
# a step that lowers F, but leaves this share of the excess, counts as a fraction of a stalled one
MAX_EXCESS_RATIO, NEARLY_STALLED_STEP = 0.999, 0.1
STALLED_MESSAGE = (
    f"The solver stopped because each of {MAX_STALLED_STEPS} steps in a row brought the objective "
    "hardly closer to its bound"
)
OBJECTIVE_ROUNDING = 4e-15  # relative to F: a smaller predicted decrease is rounding
DEVIATION_SAMPLE_ROWS = 16  # for estimates of the columns' spread, which only rank columns


class CoordinateDescent(ReprAsCalled):
    """L1 and elastic-net penalties by proximal Newton steps on working sets of coefficients.

    O(n·p + n·|set|²) operations per step, and memory for a copy of the columns in the set. With few
    columns there are no working sets, and X is not copied.
    """

    name = "cd"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        with blas_limiter:
            if _takes_all_columns(problem):
                return SmallNewton().init(problem, w, b)
            _prepare(problem)
            z = scores(problem.rows, w, b)
            point = _best_intercept(problem, _Iterate.at(problem, w, b, z))
            size = max(64, int(FIRST_SET_PER_SQRT_SIZE[problem.rows.sparse] * np.sqrt(w.size)))
            return _state_at(
                problem, point, gradient_of_columns(problem.rows, point.slope), size, -np.inf
            )

    def step(self, problem: Problem, state: State) -> State:
        with blas_limiter:
            if _takes_all_columns(problem):
                return SmallNewton().step(problem, state)
            solver_state: CoordinateDescentState = state.solver_state
            nonzero = int(np.count_nonzero(state.w))
            size = nonzero + max(solver_state.size, nonzero)
            flat, is_complete = _working_set(problem, solver_state, size)
            if not len(flat):  # every coefficient is 0, as it should be
                state.stalled = True
                return state
            pairs = ColumnClassPairs.of(flat, problem.outputs)
            # a step on a small set costs less than the gradient of all columns
            share = (
                SMALL_SET_EXCESS_SHARE
                if len(flat) ** 2 <= SMALL_SET_SQUARES * state.w.size
                else SET_EXCESS_SHARE
            )
            goal = max(share * state.excess, problem.goal / 4)
            point, g_set = _minimize_on(problem, pairs, solver_state.point, goal)
            g = gradient_of_columns(problem.rows, point.slope)
            g[pairs.features] = g_set  # from centred columns: nothing cancels
            new = _state_at(problem, point, g, solver_state.size, solver_state.bound)
            decreased = state.objective - new.objective > OBJECTIVE_ROUNDING * abs(state.objective)
            if not decreased and new.excess > state.excess / 2:
                new.stalled, new.message = is_complete, NO_DESCENT_MESSAGE if is_complete else ""
                new.solver_state.size = 2 * size
            slow = state.objective - new.objective <= STALLED_DECREASE * abs(state.objective)
            ratio, counted = (0.9, 1.0) if slow else (MAX_EXCESS_RATIO, NEARLY_STALLED_STEP)
            if new.excess > ratio * state.excess:
                new.solver_state.stalled = solver_state.stalled + counted
                if new.solver_state.stalled >= MAX_STALLED_STEPS:
                    new.stalled, new.message = True, new.message or STALLED_MESSAGE
            return new


def _takes_all_columns(problem: Problem) -> bool:
    """Return whether there are no working sets: they need columns of X in memory."""
    is_small = problem.rows.shape[1] * problem.outputs <= MAX_COLUMNS_WITHOUT_WORKING_SET
    smooth = problem.loss.name not in PIECEWISE_LOSSES
    return problem.rows.streamed or (is_small and smooth)


@dataclass
class _Iterate:
    """(w, b) with its scores, slopes and curvatures."""

    w: np.ndarray  # (p, K)
    b: np.ndarray  # (K,)
    z: np.ndarray  # (n, K)
    objective: float
    slope: np.ndarray  # (n, K): s∘∂ℓ/∂z
    inside: np.ndarray  # (n,): curvature, or (n, K): probabilities

    @classmethod
    def at(cls, problem: Problem, w: np.ndarray, b: np.ndarray, z: np.ndarray) -> "_Iterate":
        loss, s = problem.loss, problem.rows.s
        value, slope, inside = loss.evaluate(problem.y, z if loss.several else z[:, 0])
        slope = slope.reshape(z.shape)
        f = value.sum() if s is None else s @ value
        if s is not None:
            slope = s[:, None] * slope
        return cls(w, b, z, float(f) + problem.penalty.value(w), slope, inside)


@dataclass
class CoordinateDescentState:
    point: _Iterate
    gradient: np.ndarray  # (p, K): of the losses
    bound: float
    size: int  # coefficients to add to the nonzero ones in the next working set
    stalled: float = 0.0  # consecutive steps without progress


# --- columns --------------------------------------------------------------------------------------


def _prepare(problem: Problem) -> None:
    cache, rows = problem.cache, problem.rows
    if "deviation" in cache:
        return
    cache["deviation"] = np.full(rows.shape[1], np.nan)
    if rows.sparse:
        cache["columns"] = by_columns(rows)
    else:
        sample, _, s = rows.sample_block(DEVIATION_SAMPLE_ROWS)
        cache["sample"] = sample if s is None or not s.any() else sample[s > 0]


def _deviation(problem: Problem, features: np.ndarray) -> np.ndarray:
    """Mean |x − x̄| over a few rows, (f,), by which the gradients of columns are scaled."""
    known: np.ndarray = problem.cache["deviation"]
    new = features[np.isnan(known[features])]
    if len(new):
        if problem.rows.sparse:
            deviation = abs(problem.cache["columns"][:, new]).mean(axis=0)
        else:
            sample = problem.cache["sample"][:, new]
            deviation = np.abs(sample - sample.mean(axis=0)).mean(axis=0)
        typical = np.median(deviation[deviation > 0]) if (deviation > 0).any() else 1.0
        known[new] = np.where(deviation > 0, deviation, typical)
    return known[features]


# --- bounds and working sets ----------------------------------------------------------------------


def _state_at(problem: Problem, point: _Iterate, g: np.ndarray, size: int, bound: float) -> State:
    bound = max(bound, _dual_bound(problem, point, g))
    excess = max(point.objective - bound, 0.0)
    solver_state = CoordinateDescentState(point, g, bound, size)
    return State(point.w, point.b, point.objective, excess, bound, solver_state=solver_state)


def _dual_bound(problem: Problem, point: _Iterate, g: np.ndarray) -> float:
    """Dual bound (see the top of this file), taking g for the whole gradient."""
    s, loss = problem.rows.s, problem.loss
    slope = point.slope
    if s is not None:
        slope = slope / np.where(s > 0, s, 1.0)[:, None]
    if not loss.several:
        slope = slope[:, 0]

    def of_losses(shrink: float) -> float:
        conjugate = loss.conjugate(problem.y, shrink * slope)
        return -float(conjugate.sum() if s is None else s @ conjugate)

    return dual_bound(problem, g, of_losses)


def _working_set(
    problem: Problem, solver_state: CoordinateDescentState, size: int
) -> tuple[np.ndarray, bool]:
    """Return indices into w.ravel() of the nonzero coefficients and of those that violate
    optimality most, and whether these are all that violate it."""
    w = solver_state.point.w
    outside = problem.penalty.distance(w, solver_state.gradient).ravel()
    violating = np.flatnonzero(outside > 0)
    is_complete = len(violating) <= size
    if not is_complete:
        priority = outside[violating] / _deviation(problem, violating // problem.outputs)
        priority[w.ravel()[violating] != 0] = np.inf
        violating = violating[np.argpartition(priority, -size)[-size:]]
    return np.union1d(violating, np.flatnonzero(w)), is_complete


# --- on the working set ---------------------------------------------------------------------------


def _minimize_on(
    problem: Problem, pairs: ColumnClassPairs, point: _Iterate, goal: float
) -> tuple[_Iterate, np.ndarray]:
    """Minimise F over the pairs and the intercepts, to the excess ``goal``.

    Returns the iterate and the gradient of the pairs' columns, (f, K).
    """
    by_columns = problem.cache.get("columns")
    columns = gather(
        problem.rows, pairs.features, problem.fit_intercept, problem.outputs, by_columns
    )
    inside = pairs.spread(np.ones(len(pairs.column))) > 0
    g, before = columns.gradient(point.slope.T), np.inf  # (f, K), of x̂
    for _ in range(MAX_NEWTON_STEPS):
        old = point
        # coordinates that are 0 and would stay 0 are excluded from the model
        w = point.w.ravel()[pairs.flat]
        outside = problem.penalty.distance(w, (g.T / columns.q).T[pairs.column, pairs.of_class])
        included = pairs.take((w != 0) | (outside > 0))
        point = _newton_step(problem, columns, included, old, g)
        if problem.cache.get("newton steps", 0) > STEPS_BEFORE_ADAPTING and _is_on_kink(
            problem, old
        ):
            other = _newton_step(problem, columns, included, old, g, kinks_curved=True)
            point = other if other.objective < point.objective else point
        g = columns.gradient(point.slope.T)
        # the bound of the problem on these columns alone
        bound = _dual_bound(problem, point, np.where(inside, (g.T / columns.q).T, 0.0))
        excess = point.objective - bound
        if excess <= goal:
            break
        decreased = old.objective - point.objective
        if point is old or (
            decreased <= OBJECTIVE_ROUNDING * abs(old.objective) and excess > before / 2
        ):
            break
        before = excess
    return point, (g.T / columns.q).T


def _newton_step(
    problem: Problem, columns: DenseColumns | SparseColumns, pairs: ColumnClassPairs,
    point: _Iterate, g: np.ndarray, kinks_curved: bool = False,
) -> _Iterate:  # fmt: skip
    intercept = problem.fit_intercept
    at = _curvature(problem, point, kinks_curved)
    flat, q, m = pairs.flat, columns.q[pairs.column], len(pairs.column)
    u0 = point.w.ravel()[flat] / q
    l1, l2 = problem.l1 * q, problem.l2 * q**2
    if m <= MAX_GRAM_COORDINATES and m * m <= MAX_GRAM_TO_ENTRIES * columns.entries:
        H = columns.gram(pairs, at, intercept)
        model = QuadraticModel.of(H, g[pairs.column, pairs.of_class], at.R.sum(axis=1), intercept)
        u = model.minimize(u0, CoordinatePenalty(l1, l2, problem.code))
        beta = model.intercepts(u - u0)
        t = columns.product(pairs.spread(u - u0)) + beta
    else:
        penalty = CoordinatePenalty(l1, l2, problem.code)
        u, beta, t = minimize_by_columns(columns, pairs, at, u0, penalty, intercept)
    delta = pairs.spread(q * (u - u0))
    W = np.zeros_like(point.w)
    W[pairs.features] = delta
    new = _line_search(problem, point, W, beta - columns.c @ delta, t)
    return _best_intercept(problem, new)


def _curvature(problem: Problem, point: _Iterate, kinks_curved: bool = False) -> Curvature:
    s, several = problem.rows.s, problem.loss.several
    R = np.ascontiguousarray(point.slope.T)
    T = point.inside.reshape(point.z.shape).T
    if problem.loss.name in PIECEWISE_LOSSES:
        least = problem.cache.get("least curvature", MIN_CURVATURE_SHARE)
        T = _one_sided_curvature(problem, point.z).T if kinks_curved else T
        T = np.where(T > 0, T, least * problem.loss.curvature_bound)
    P = np.ascontiguousarray(point.inside.T) if several else np.zeros_like(R)
    T = np.ascontiguousarray(T if s is None else s * T)
    return Curvature(R, T, P)


def _is_on_kink(problem: Problem, point: _Iterate) -> bool:
    curvature = point.inside.reshape(point.z.shape)
    return bool(((curvature == 0) & (_one_sided_curvature(problem, point.z) > 0)).any())


def _one_sided_curvature(problem: Problem, z: np.ndarray) -> np.ndarray:
    """Larger of the curvatures on the two sides of z, (n, 1).

    At the optimal b, some rows are often exactly at a kink of their loss. If such a row counts as
    linear, the model sends it far into the curved piece and steps stay short for ever; if it
    counts as curved, the model holds it back on its way into the linear piece.
    """
    beside = KINK_WIDTH * np.maximum(np.abs(z), 1.0)
    below, above = (problem.loss.evaluate(problem.y, (z + e)[:, 0])[2] for e in (-beside, beside))
    larger: np.ndarray = np.maximum(below, above).reshape(z.shape)
    return larger


def _line_search(
    problem: Problem, point: _Iterate, delta: np.ndarray, beta: np.ndarray, t: np.ndarray
) -> _Iterate:
    """Return (w, b) + r·(δ, β) with the first r = 1, ½, … of sufficient decrease (Armijo).

    For piecewise losses that need many steps, r starts at the exact minimiser. ``t`` is what a
    full step adds to the scores.
    """
    penalty = problem.penalty
    slope = float(np.sum(point.slope * t))
    before = penalty.value(point.w)
    predicted = slope + penalty.value(point.w + delta) - before
    rounding = OBJECTIVE_ROUNDING * abs(point.objective)
    r = 1.0
    if problem.loss.name in PIECEWISE_LOSSES and predicted < 0:
        made = problem.cache["newton steps"] = problem.cache.get("newton steps", 0) + 1
        # rows with an artificial curvature hold the model back, the more the larger their weight
        if made > STEPS_BEFORE_ADAPTING:
            r = exact_step_from_scores(problem, point.w, delta, point.z, t)
            _adapt_least_curvature(problem, r)
    for _ in range(MAX_STEP_HALVINGS):
        new = _Iterate.at(problem, point.w + r * delta, point.b + r * beta, point.z + r * t)
        if new.objective <= point.objective + 1e-4 * r * predicted + rounding:
            return new
        r /= 2
    return point


def _adapt_least_curvature(problem: Problem, r: float) -> None:
    """Lower the artificial curvature of linear rows if steps are too short, raise it if too long.

    Linear rows of weight 1e12 would otherwise outweigh all rows that are truly curved.
    """
    least = problem.cache.get("least curvature", MIN_CURVATURE_SHARE)
    if r > MIN_SHORT_STEP:
        problem.cache["least curvature"] = max(least / 100, MIN_ADAPTED_CURVATURE_SHARE)
    elif r < MAX_LONG_STEP:
        problem.cache["least curvature"] = min(least * 10, MIN_CURVATURE_SHARE)


def _best_intercept(problem: Problem, point: _Iterate) -> _Iterate:
    """Move b to where Σ s ∂ℓ/∂z = 0; only then are the slopes a dual point."""
    if not problem.fit_intercept:
        return point
    for _ in range(8):
        E = point.slope.sum(axis=0)
        if np.abs(E).max() <= 1e-14 * np.abs(point.slope).sum():
            break
        at = _curvature(problem, point)
        step = -np.linalg.pinv(at.of_intercepts(), hermitian=True) @ E
        new = _Iterate.at(problem, point.w, point.b + step, point.z + step)
        if new.objective > point.objective + OBJECTIVE_ROUNDING * abs(point.objective):
            break
        point = new
    return point
