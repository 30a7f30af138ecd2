"""Newton's method with the Hessian of some of the rows, where rows abound.

    θ ← θ − H_m⁻¹ ∇F(θ),   H_m = (n/m) Σ_sample s d x̂₁x̂₁ᵀ + l2·diag(q²)

The sample's optimum is the first guess. H_m is off by about √(p/m) of H, so a step leaves about p/m
of the excess: few passes for the gradient alone, which cost a third of one with the Hessian. Where
that is not what happens, ordinary Newton steps take over. The steps made mend H_m as in L-BFGS.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...kernels import compiled_or
from ...losses import Loss
from ..first_order.lbfgs import Inverse, Pair, times_inverse
from ..loop import State, minimise
from ..problem import Problem
from .coordinates import Coordinates
from .newton import Newton, coordinates_for, duality_gap, gradient_of, inverse, split
from .newton import second_order as with_hessian
from .newton_cg import NewtonCG
from .passes import first_order as several
from .passes import room_for_states

FIRST = 20, 256  # rows for each unknown, and the share of all, that find the first guess …
SECOND = 20, 8  # … and that refine it, and give the Hessian
SHRINKS = 0.2  # share of the excess that a step may leave; if more is left, the sample misleads
CAUTION = 4.0  # times more than what the last step foretells
FINER = 0.02  # of the goal, for the certificate's curvature is that of some rows
REFINE = 2  # steps on the second sample with the Hessian of the first
CALLS = 64  # blocks of a compiled pass


class Sums(NamedTuple):
    f: float  # Σ s ℓ
    g: np.ndarray  # (p+1, K): Σ s g x̂₁


class _Here(NamedTuple):
    at: Coordinates
    theta: np.ndarray
    delta: np.ndarray
    decrement: float
    solve: Inverse
    gradient: np.ndarray
    pairs: tuple[Pair, ...]  # steps and changes of the gradient, which mend H_m
    left: float  # share of the excess that the last step left


class SampledNewton:
    """O(n·p·K) operations a step, besides O(m(pK)² + (pK)³) for a sample of m rows."""

    name = "newton"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at = coordinates_for(problem)
        found = None if w.any() or not worth_sampling(problem) else _of_a_sample(problem, at, w, b)
        if found is not None:
            state = _state(problem, at, *found)
            if np.isfinite(state.objective):
                return state
        return _rest(problem).init(problem, w, b)

    def step(self, problem: Problem, state: State) -> State:
        if not isinstance(state.solver_state, _Here):
            return _rest(problem).step(problem, state)
        here = state.solver_state
        foretold = state.excess * here.left * CAUTION
        if foretold <= problem.goal:
            w, b = here.at.outside(*split(here.theta + here.delta))
            f = state.objective - here.decrement / 2
            return replace(state, w=w, b=b, objective=f, excess=foretold)
        new = _state(problem, here.at, here.theta + here.delta, here.solve, here)
        left = new.solver_state.decrement / here.decrement if np.isfinite(new.objective) else np.inf
        if not (new.objective <= state.objective and left <= SHRINKS):
            best = new if new.objective < state.objective else state
            return _rest(problem).init(problem, best.w, best.b)
        new.solver_state = new.solver_state._replace(left=left)
        return new


def _rest(problem: Problem) -> Any:
    """Who goes on where a sample does not help."""
    return Newton() if problem.outputs == 1 else NewtonCG()


def worth_sampling(problem: Problem) -> bool:
    """Are there so many rows that a few of them are enough for the Hessian?"""
    return 2 * _count(SECOND, problem) <= problem.rows.shape[0]


def _count(share: tuple[int, int], problem: Problem) -> int:
    (of_an_unknown, of_all), (n, p) = share, problem.rows.shape
    if problem.outputs > 1:
        of_all *= 2  # for there a Hessian costs as much as many passes
    return max(of_an_unknown * (p + 1) * problem.outputs, n // of_all)


@np.errstate(over="ignore", invalid="ignore")
def _of_a_sample(
    problem: Problem, at: Coordinates, w: np.ndarray, b: np.ndarray
) -> tuple[Any, Any] | None:
    """(θ, ∇ ↦ H_m⁻¹∇); None where the sample lacks a class, or determines too little."""
    first, second = (problem.subsample(_count(share, problem)) for share in (FIRST, SECOND))
    if not (first.has_every_class() and second.has_every_class()):
        return None
    several = problem.outputs > 1
    fit = (
        minimise(second, NewtonCG(), (w, b), 1e-2, 20)
        if several
        else (minimise(first, Newton(), (w, b), 1e-3, 20))
    )
    theta = np.vstack(at.inside(fit.w, fit.b))
    if not several:  # the Hessian shall be of a good guess, and that of few rows finds one
        found = _newton_step(first, at, theta)
        if found is None:
            return None
        for _ in range(REFINE):
            sums = first_order(second, at, *split(theta))
            theta = theta - found[1](gradient_of(problem, at, sums.g, theta)[0])
    return _newton_step(second, at, theta)


@np.errstate(over="ignore", invalid="ignore")
def _newton_step(problem: Problem, at: Coordinates, theta: np.ndarray) -> tuple[Any, Any] | None:
    """(θ − H⁻¹∇, ∇ ↦ H⁻¹∇)"""
    for rough in (True, False) if problem.outputs > 1 else (False,):
        sums = with_hessian(problem, at, *split(theta), rough)
        gradient, penalty = gradient_of(problem, at, sums.g, theta)
        if not np.isfinite(sums.H).all():
            continue
        solve, singular = inverse(problem, sums.H.astype(float, copy=False), penalty)
        if not singular:
            return theta - solve(gradient), solve
    return None


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused below
def _state(
    problem: Problem,
    at: Coordinates,
    theta: np.ndarray,
    solve: Inverse,
    before: _Here | None = None,
) -> State:
    sums = first_order(problem, at, *split(theta))
    w, b = at.outside(*split(theta))
    objective = float(sums.f) + problem.penalty.value(w)
    gradient, _ = gradient_of(problem, at, sums.g, theta)
    pairs: tuple[Pair, ...] = ()
    if before is not None:
        step, change = theta - before.theta, gradient - before.gradient
        mends = float(np.sum(step * change)) > 0
        pairs = (*before.pairs, (step, change)) if mends else before.pairs
    delta = -times_inverse(pairs, gradient, solve)
    decrement = -float(np.sum(gradient * delta))
    if not (np.isfinite(objective) and decrement >= 0):
        return State(w, b, np.inf, np.inf)
    here = _Here(at, theta, delta, decrement, solve, gradient, pairs, 1.0)
    excess = decrement / (2 * FINER)
    if problem.l2 == 0:
        return State(w, b, objective, excess, solver_state=here)
    gap = duality_gap(problem, at, gradient)
    excess = min(gap, excess) if problem.outputs == 1 else gap
    return State(w, b, objective, excess, objective - gap, solver_state=here)


def first_order(problem: Problem, at: Coordinates, u: np.ndarray, beta: np.ndarray) -> Sums:
    """F without its penalty and its gradient, in one pass."""
    rows = problem.rows.dense()
    c = at.correction
    shift = np.zeros(len(u)) if c is None else c
    if problem.outputs > 1:
        if "states" not in problem.cache:
            problem.cache["states"] = room_for_states(problem)
        found = several(rows, problem.loss, at, u, beta, problem.cache["states"])
        sums = Sums(found.f, np.vstack([found.Xg, found.g]))
    else:
        compiled = _plain(rows, at) and problem.loss.name == "logistic"
        block = compiled_or(_compiled, _block) if compiled else _block
        # a call costs little beside many rows
        most = max(rows.block_rows(), rows.shape[0] // CALLS) if compiled else None
        sums = rows.reduce(block, problem.loss, at, u, beta - shift @ u, block_rows=most)
    sums.g[:-1] -= np.multiply.outer(shift, sums.g[-1])
    return sums


def _plain(rows: Rows, at: Coordinates) -> bool:
    return not at.shifted and isinstance(rows.X, np.ndarray) and rows.X.flags.c_contiguous


def _block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> Sums:
    X = at.block(X)
    z = X @ u[:, 0]  # not np.dot, which copies rows of Fortran order
    z += beta
    value, slope, _ = loss.evaluate(y[:, 0], z)
    f, slope = (value.sum(), slope) if s is None else (s @ value, s * slope)
    return Sums(f, np.append(slope @ X, slope.sum())[:, None])


def _compiled(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> Sums:
    from ...kernels.glm.logistic import gradient

    sums, XG = gradient(X, y[:, 0], s, u[:, 0], beta[0])
    return Sums(sums[0], np.append(XG[0], sums[1])[:, None])
