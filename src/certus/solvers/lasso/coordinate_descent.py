"""L1 and elastic-net problems by Newton's model and coordinate descent on a working set.

    F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + l1·‖w‖₁ + l2/2·‖w‖²

A step: of all coefficients take those that are not 0 and those whose −∂F/∂w_j lies farthest from
the penalty's subdifferential (in units of its column); minimise F over these alone, by quadratic
models with the losses' curvature, each minimised by coordinates and followed as far as F falls;
then one pass over X for the gradient of all. It gives a bound too: with slopes a of the losses,
Σ s a = 0 because b is at its best, and v = Xᵀ(s∘a),

    F* ≥ −Σ s ℓ*(y, ρa) − pen*(−ρv),   ρ ≤ 1 such that pen* is finite
"""

from dataclasses import dataclass

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import blas_limiter
from ..first_order.repr_as_called import ReprAsCalled
from ..glm.exact_step import exact_step_from_scores
from ..linalg.sparse_columns import by_columns
from ..loop import NO_DESCENT_MESSAGE, State
from ..problem import Problem
from .active_columns import (
    Curvature,
    DenseColumns,
    Pairs,
    SparseColumns,
    gather,
    gradient_of_columns,
)
from .column_model import minimise_by_columns
from .coordinate_penalty import CoordinatePenalty
from .quadratic_model import QuadraticModel
from .small_newton import FewColumns, dual_bound

FEW = 256  # coordinates up to which no working set is formed
FIRST = 2.0, 10.0  # times √(coordinates) are in the first working set: dense, sparse
GRAM_MOST = 2000  # coordinates up to which the model's matrix is formed …
GRAM_ENTRIES = 8.0  # … if it has no more than this times the entries of the columns
NEWTON_STEPS = 20  # on one working set
SHARE = 0.2  # of the excess: the working set is left when its own excess is below …
SMALL_SHARE, SMALL = 1e-3, 8.0  # … or this, where |set|² is below 8 times the coefficients
HALVINGS = 40
PIECEWISE = ("huber", "squared_hinge")  # losses whose curvature is 0 for some rows: there …
LEAST_CURVATURE = 1e-4  # … it is this, of its bound; 1e-9 and 1e-3 took three times as long
KINK = 1e-12  # of a score, or of 1: so near to where two pieces meet a row counts as in both
TOO_SHORT, TOO_LONG = 1.5, 0.5  # best steps, of the model's: it is too curved, or too flat
LEAST_OF_ALL = 1e-20
# Newton steps of a fit before the least curvature is adapted: from the first on it made fits of 500
# rows and 1,000 columns take up to ten times as long, and none of ordinary weights comes this far
USUAL_STEPS = 400
# a fall of F, as its share, that is next to nothing where the excess does not fall either: steps
# of one rounding of w can go on for ever; and how many such steps in a row are enough
STALLED, MOST_STALLED = 1e-9, 20
STALLED_MESSAGE = (
    f"The solver stopped because each of {MOST_STALLED} steps in a row lowered the objective by at "
    f"most {STALLED:.0e} of itself"
)
ROUNDING = 4e-15  # of F: a predicted decrease below this is none
SAMPLE = 16  # rows from which the columns' deviations are guessed; they set priorities only


class CoordinateDescent(ReprAsCalled):
    """L1 and elastic-net penalties by proximal Newton steps on working sets of coefficients.

    O(n·p) operations a step beside O(n·|set|²), and memory for a copy of the columns in the set.
    Few columns are all taken, from the rows as they are.
    """

    name = "cd"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        with blas_limiter:
            if _few(problem):
                return FewColumns().init(problem, w, b)
            _prepare(problem)
            z = _scores(problem.rows, w, b)
            point = _best_intercept(problem, _Point.at(problem, w, b, z))
            size = max(64, int(FIRST[problem.rows.sparse] * np.sqrt(w.size)))
            return _judged(
                problem, point, gradient_of_columns(problem.rows, point.slope), size, -np.inf
            )

    def step(self, problem: Problem, state: State) -> State:
        with blas_limiter:
            if _few(problem):
                return FewColumns().step(problem, state)
            more: _More = state.solver_state
            nonzero = int(np.count_nonzero(state.w))
            size = nonzero + max(more.size, nonzero)
            flat, all_of_them = _working_set(problem, more, size)
            if not len(flat):  # every coefficient is 0, as it should be
                state.stalled = True
                return state
            pairs = Pairs.of(flat, problem.outputs)
            # a step on a small set costs less than a look at all columns
            share = SMALL_SHARE if len(flat) ** 2 <= SMALL * state.w.size else SHARE
            goal = max(share * state.excess, problem.goal / 4)
            point, g_set = _minimise_on(problem, pairs, more.point, goal)
            g = gradient_of_columns(problem.rows, point.slope)
            g[pairs.features] = g_set  # of centred columns: nothing cancels
            new = _judged(problem, point, g, more.size, more.bound)
            fell = state.objective - new.objective > ROUNDING * abs(state.objective)
            if not fell and new.excess > state.excess / 2:
                new.stalled, new.message = all_of_them, NO_DESCENT_MESSAGE if all_of_them else ""
                new.solver_state.size = 2 * size
            slow = state.objective - new.objective <= STALLED * abs(state.objective)
            if slow and new.excess > 0.9 * state.excess:
                new.solver_state.stalled = more.stalled + 1
                if new.solver_state.stalled >= MOST_STALLED:
                    new.stalled, new.message = True, new.message or STALLED_MESSAGE
            return new


def _few(problem: Problem) -> bool:
    few = problem.rows.shape[1] * problem.outputs <= FEW
    return few and problem.loss.name not in PIECEWISE


@dataclass
class _Point:
    """(w, b) with everything about its rows."""

    w: np.ndarray  # (p, K)
    b: np.ndarray  # (K,)
    z: np.ndarray  # (n, K)
    objective: float
    slope: np.ndarray  # (n, K): s∘∂ℓ/∂z
    inside: np.ndarray  # (n,) curvature or (n, K) probabilities

    @classmethod
    def at(cls, problem: Problem, w: np.ndarray, b: np.ndarray, z: np.ndarray) -> "_Point":
        loss, s = problem.loss, problem.rows.s
        value, slope, inside = loss.evaluate(problem.y, z if loss.several else z[:, 0])
        slope = slope.reshape(z.shape)
        f = value.sum() if s is None else s @ value
        if s is not None:
            slope = s[:, None] * slope
        return cls(w, b, z, float(f) + problem.penalty.value(w), slope, inside)


@dataclass
class _More:
    point: _Point
    gradient: np.ndarray  # (p, K): of the losses
    bound: float
    size: int  # of the next working set, beside what is not 0
    stalled: int = 0  # steps in a row that gained next to nothing


# --- what is known of X ---------------------------------------------------------------------------


def _prepare(problem: Problem) -> None:
    kept, rows = problem.cache, problem.rows
    if "deviation" in kept:
        return
    kept["deviation"] = np.full(rows.shape[1], np.nan)
    if rows.sparse:
        kept["columns"] = by_columns(rows)
    else:
        some, _, s = rows.sample_block(SAMPLE)
        kept["some"] = some if s is None or not s.any() else some[s > 0]


def _deviation(problem: Problem, features: np.ndarray) -> np.ndarray:
    """Mean |x − x̄| of a few rows, (f,): what a column's gradient is measured by."""
    known: np.ndarray = problem.cache["deviation"]
    new = features[np.isnan(known[features])]
    if len(new):
        if problem.rows.sparse:
            found = abs(problem.cache["columns"][:, new]).mean(axis=0)
        else:
            some = problem.cache["some"][:, new]
            found = np.abs(some - some.mean(axis=0)).mean(axis=0)
        typical = np.median(found[found > 0]) if (found > 0).any() else 1.0
        known[new] = np.where(found > 0, found, typical)
    return known[features]


def _scores(rows: Rows, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    z = np.tile(b, (rows.shape[0], 1))
    if w.any():
        used = np.flatnonzero(w.any(axis=1))
        z += rows.map(lambda X, y, s: X[:, used] @ w[used], np.empty_like(z))
    return z


# --- how good a point is --------------------------------------------------------------------------


def _judged(problem: Problem, point: _Point, g: np.ndarray, size: int, bound: float) -> State:
    bound = max(bound, _dual(problem, point, g))
    excess = max(point.objective - bound, 0.0)
    more = _More(point, g, bound, size)
    return State(point.w, point.b, point.objective, excess, bound, solver_state=more)


def _dual(problem: Problem, point: _Point, g: np.ndarray) -> float:
    """The bound of the head of this file, were g the whole gradient."""
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


def _working_set(problem: Problem, more: _More, size: int) -> tuple[np.ndarray, bool]:
    """Places in w.ravel(): all that are not 0, and those farthest from optimal; whether these are
    all that are not optimal."""
    w = more.point.w
    outside = problem.penalty.distance(w, more.gradient).ravel()
    found = np.flatnonzero(outside > 0)
    all_of_them = len(found) <= size
    if not all_of_them:
        priority = outside[found] / _deviation(problem, found // problem.outputs)
        priority[w.ravel()[found] != 0] = np.inf
        found = found[np.argpartition(priority, -size)[-size:]]
    return np.union1d(found, np.flatnonzero(w)), all_of_them


# --- on the working set ---------------------------------------------------------------------------


def _minimise_on(
    problem: Problem, pairs: Pairs, point: _Point, goal: float
) -> tuple[_Point, np.ndarray]:
    """F's least value over the pairs and the intercepts, to the excess ``goal``; and the gradient
    of their columns, (f, K)."""
    by_columns = problem.cache.get("columns")
    columns = gather(
        problem.rows, pairs.features, problem.fit_intercept, problem.outputs, by_columns
    )
    inside = pairs.spread(np.ones(len(pairs.column))) > 0
    g, before = columns.gradient(point.slope.T), np.inf  # (f, K), of x̂
    for _ in range(NEWTON_STEPS):
        old = point
        # coordinates that are 0 and would stay so are left out of the model
        w = point.w.ravel()[pairs.flat]
        outside = problem.penalty.distance(w, (g.T / columns.q).T[pairs.column, pairs.of_class])
        some = pairs.take((w != 0) | (outside > 0))
        point = _newton_step(problem, columns, some, old, g)
        if problem.cache.get("newton steps", 0) > USUAL_STEPS and _on_a_kink(problem, old):
            other = _newton_step(problem, columns, some, old, g, kinks_curved=True)
            point = other if other.objective < point.objective else point
        g = columns.gradient(point.slope.T)
        # the bound, were there no other columns
        bound = _dual(problem, point, np.where(inside, (g.T / columns.q).T, 0.0))
        excess = point.objective - bound
        if excess <= goal:
            break
        fell = old.objective - point.objective
        if point is old or (fell <= ROUNDING * abs(old.objective) and excess > before / 2):
            break
        before = excess
    return point, (g.T / columns.q).T


def _newton_step(
    problem: Problem, columns: DenseColumns | SparseColumns, pairs: Pairs, point: _Point,
    g: np.ndarray, kinks_curved: bool = False,
) -> _Point:  # fmt: skip
    intercept = problem.fit_intercept
    at = _curvature(problem, point, kinks_curved)
    flat, q, m = pairs.flat, columns.q[pairs.column], len(pairs.column)
    u0 = point.w.ravel()[flat] / q
    l1, l2 = problem.l1 * q, problem.l2 * q**2
    if m <= GRAM_MOST and m * m <= GRAM_ENTRIES * columns.entries:
        H = columns.gram(pairs, at, intercept)
        model = QuadraticModel.of(H, g[pairs.column, pairs.of_class], at.R.sum(axis=1), intercept)
        u = model.minimise(u0, CoordinatePenalty(l1, l2, problem.code))
        beta = model.intercepts(u - u0)
        t = columns.product(pairs.spread(u - u0)) + beta
    else:
        penalty = CoordinatePenalty(l1, l2, problem.code)
        u, beta, t = minimise_by_columns(columns, pairs, at, u0, penalty, intercept)
    delta = pairs.spread(q * (u - u0))
    W = np.zeros_like(point.w)
    W[pairs.features] = delta
    new = _line_search(problem, point, W, beta - columns.c @ delta, t)
    return _best_intercept(problem, new)


def _curvature(problem: Problem, point: _Point, kinks_curved: bool = False) -> Curvature:
    s, several = problem.rows.s, problem.loss.several
    R = np.ascontiguousarray(point.slope.T)
    T = point.inside.reshape(point.z.shape).T
    if problem.loss.name in PIECEWISE:
        least = problem.cache.get("least curvature", LEAST_CURVATURE)
        T = _curvature_beside(problem, point.z).T if kinks_curved else T
        T = np.where(T > 0, T, least * problem.loss.curvature_bound)
    P = np.ascontiguousarray(point.inside.T) if several else np.zeros_like(R)
    T = np.ascontiguousarray(T if s is None else s * T)
    return Curvature(R, T, P)


def _on_a_kink(problem: Problem, point: _Point) -> bool:
    here = point.inside.reshape(point.z.shape)
    return bool(((here == 0) & (_curvature_beside(problem, point.z) > 0)).any())


def _curvature_beside(problem: Problem, z: np.ndarray) -> np.ndarray:
    """The larger curvature of both sides of z, (n, 1).

    Where b is at its best, rows often lie where two pieces of their loss meet. Those that count as
    straight there are sent far into the piece that is curved, and steps become short for ever;
    those that count as curved are held back on their way into the straight piece.
    """
    beside = KINK * np.maximum(np.abs(z), 1.0)
    below, above = (problem.loss.evaluate(problem.y, (z + e)[:, 0])[2] for e in (-beside, beside))
    larger: np.ndarray = np.maximum(below, above).reshape(z.shape)
    return larger


def _line_search(
    problem: Problem, point: _Point, delta: np.ndarray, beta: np.ndarray, t: np.ndarray
) -> _Point:
    """(w, b) + r·(δ, β) with the first r = 1, ½, … that lowers F by its share of what the slope
    foretells; of losses in pieces that need many steps, from the best r on. ``t``: what a whole
    step adds to the scores."""
    penalty = problem.penalty
    slope = float(np.sum(point.slope * t))
    before = penalty.value(point.w)
    foretold = slope + penalty.value(point.w + delta) - before
    rounding = ROUNDING * abs(point.objective)
    r = 1.0
    if problem.loss.name in PIECEWISE and foretold < 0:
        made = problem.cache["newton steps"] = problem.cache.get("newton steps", 0) + 1
        # rows that count as curved and are not hold the model back, the more the heavier they are
        if made > USUAL_STEPS:
            r = exact_step_from_scores(problem, point.w, delta, point.z, t)
            _adapt_least_curvature(problem, r)
    for _ in range(HALVINGS):
        new = _Point.at(problem, point.w + r * delta, point.b + r * beta, point.z + r * t)
        if new.objective <= point.objective + 1e-4 * r * foretold + rounding:
            return new
        r /= 2
    return point


def _adapt_least_curvature(problem: Problem, r: float) -> None:
    """Less curvature for straight rows where steps come out short, more where they are too long:
    rows of weight 1e12 that are straight lines would otherwise outweigh all that are curved."""
    least = problem.cache.get("least curvature", LEAST_CURVATURE)
    if r > TOO_SHORT:
        problem.cache["least curvature"] = max(least / 100, LEAST_OF_ALL)
    elif r < TOO_LONG:
        problem.cache["least curvature"] = min(least * 10, LEAST_CURVATURE)


def _best_intercept(problem: Problem, point: _Point) -> _Point:
    """b where Σ s ∂ℓ/∂z = 0: without that the slopes are no dual point."""
    if not problem.fit_intercept:
        return point
    for _ in range(8):
        E = point.slope.sum(axis=0)
        if np.abs(E).max() <= 1e-14 * np.abs(point.slope).sum():
            break
        at = _curvature(problem, point)
        step = -np.linalg.pinv(at.of_intercepts(), hermitian=True) @ E
        new = _Point.at(problem, point.w, point.b + step, point.z + step)
        if new.objective > point.objective + ROUNDING * abs(point.objective):
            break
        point = new
    return point
