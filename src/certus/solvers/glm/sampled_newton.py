"""Newton's method with the Hessian of a sample of the rows, for very many rows.

    θ ← θ − H_m⁻¹ ∇F(θ),   H_m = (n/m) Σ_sample s d x̂₁x̂₁ᵀ + l2·diag(q²)

The sample's optimum is the first guess. H_m differs from H by about √(p/m), so a step leaves about
p/m of the excess, and a few passes for the gradient suffice; each costs a third of one with the
Hessian. Where the excess falls more slowly, ordinary Newton steps take over. H_m is corrected by
the steps made, as in L-BFGS.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...kernels import compiled_or
from ...losses import Loss
from ..first_order.lbfgs import Inverse, Pair, times_inverse
from ..loop import State, minimize
from ..problem import MAX_SAMPLE_ELEMENTS, Problem
from .coordinates import Coordinates
from .newton import Newton, coordinates_for, duality_gap, gradient_of, inverse, split
from .newton import second_order as with_hessian
from .newton_cg import NewtonCG
from .passes import first_order as multi_score_sums

INITIAL_SAMPLE = 20, 256  # rows for each unknown, and divisor of n: the sample of the first guess …
HESSIAN_SAMPLE = 20, 8  # … and the sample that refines it and gives the Hessian
MAX_EXCESS_RATIO = 0.2  # share of the excess that a step may leave; else the sample is abandoned
PREDICTION_SAFETY_FACTOR = 4.0  # of the excess that the last step's ratio predicts
GOAL_SHARE = 0.02  # margin of the excess: the certificate's curvature is that of a sample
REFINEMENT_STEPS = 2  # on the second sample with the Hessian of the first
KERNEL_BLOCKS = 64  # of a compiled pass


class GradientSums(NamedTuple):
    """Losses and gradient, summed over rows."""

    f: float  # Σ s ℓ
    g: np.ndarray  # (p+1, K): Σ s g x̂₁


class SampledNewtonState(NamedTuple):
    """Iterate, direction and corrected Hessian."""

    at: Coordinates
    theta: np.ndarray
    delta: np.ndarray
    decrement: float
    solve: Inverse
    gradient: np.ndarray
    pairs: tuple[Pair, ...]  # steps and changes of the gradient, which correct H_m
    excess_ratio: float  # share of the excess that the last step left


class SampledNewton:
    """Newton's method with a sampled Hessian.

    O(n·p·K) operations a step, and O(m(pK)² + (pK)³) for a sample of m rows.
    """

    name = "newton"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at = coordinates_for(problem)
        result = (
            None if w.any() or not worth_sampling(problem) else _solve_sample(problem, at, w, b)
        )
        if result is not None:
            state = _state(problem, at, *result)
            if np.isfinite(state.objective):
                return state
        return _fallback_solver(problem).init(problem, w, b)

    def step(self, problem: Problem, state: State) -> State:
        if not isinstance(state.solver_state, SampledNewtonState):
            return _fallback_solver(problem).step(problem, state)
        current = state.solver_state
        predicted = state.excess * current.excess_ratio * PREDICTION_SAFETY_FACTOR
        if predicted <= problem.goal:
            w, b = current.at.to_user(*split(current.theta + current.delta))
            f = state.objective - current.decrement / 2
            return replace(state, w=w, b=b, objective=f, excess=predicted)
        new = _state(problem, current.at, current.theta + current.delta, current.solve, current)
        excess_ratio = (
            new.solver_state.decrement / current.decrement if np.isfinite(new.objective) else np.inf
        )
        if not (new.objective <= state.objective and excess_ratio <= MAX_EXCESS_RATIO):
            best = new if new.objective < state.objective else state
            return _fallback_solver(problem).init(problem, best.w, best.b)
        new.solver_state = new.solver_state._replace(excess_ratio=excess_ratio)
        return new


def _fallback_solver(problem: Problem) -> Any:
    """Return the solver to use when the subsampled Hessian is not good enough."""
    return Newton() if problem.outputs == 1 else NewtonCG()


def worth_sampling(problem: Problem) -> bool:
    """Return whether there are enough rows for a sampled Hessian to be accurate."""
    return 2 * _count(HESSIAN_SAMPLE, problem) <= problem.rows.shape[0]


def _count(share: tuple[int, int], problem: Problem) -> int:
    (of_an_unknown, of_all), (n, p) = share, problem.rows.shape
    if problem.outputs > 1:
        of_all *= 2  # here a Hessian costs as much as many passes
    share_of_rows = min(n // of_all, MAX_SAMPLE_ELEMENTS // max(1, p))
    return max(of_an_unknown * (p + 1) * problem.outputs, share_of_rows)


@np.errstate(over="ignore", invalid="ignore")
def _solve_sample(
    problem: Problem, at: Coordinates, w: np.ndarray, b: np.ndarray
) -> tuple[Any, Any] | None:
    """Return (θ, ∇ ↦ H_m⁻¹∇); None where the sample lacks a class or its Hessian is singular."""
    first, second = problem.subsamples(
        *(_count(share, problem) for share in (INITIAL_SAMPLE, HESSIAN_SAMPLE))
    )
    if not (first.has_every_class() and second.has_every_class()):
        return None
    several = problem.outputs > 1
    fit = (
        minimize(second, NewtonCG(), (w, b), 1e-2, 20)
        if several
        else (minimize(first, Newton(), (w, b), 1e-3, 20))
    )
    theta = np.vstack(at.to_internal(fit.w, fit.b))
    if not several:  # refine θ by the small sample's Hessian before forming the large one
        result = _newton_step(first, at, theta)
        if result is None:
            return None
        for _ in range(REFINEMENT_STEPS):
            sums = first_order(second, at, *split(theta))
            theta = theta - result[1](gradient_of(problem, at, sums.g, theta)[0])
    return _newton_step(second, at, theta)


@np.errstate(over="ignore", invalid="ignore")
def _newton_step(problem: Problem, at: Coordinates, theta: np.ndarray) -> tuple[Any, Any] | None:
    """Return (θ − H⁻¹∇, ∇ ↦ H⁻¹∇); None where H is singular."""
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
    previous: SampledNewtonState | None = None,
) -> State:
    sums = first_order(problem, at, *split(theta))
    w, b = at.to_user(*split(theta))
    objective = float(sums.f) + problem.penalty.value(w)
    gradient, _ = gradient_of(problem, at, sums.g, theta)
    pairs: tuple[Pair, ...] = ()
    if previous is not None:
        step, change = theta - previous.theta, gradient - previous.gradient
        is_curved = float(np.sum(step * change)) > 0
        pairs = (*previous.pairs, (step, change)) if is_curved else previous.pairs
    delta = -times_inverse(pairs, gradient, solve)
    decrement = -float(np.sum(gradient * delta))
    if not (np.isfinite(objective) and decrement >= 0):
        return State(w, b, np.inf, np.inf)
    current = SampledNewtonState(at, theta, delta, decrement, solve, gradient, pairs, 1.0)
    excess = decrement / (2 * GOAL_SHARE)
    if problem.l2 == 0:
        return State(w, b, objective, excess, solver_state=current)
    gap = duality_gap(problem, at, gradient)
    excess = min(gap, excess) if problem.outputs == 1 else gap
    return State(w, b, objective, excess, objective - gap, solver_state=current)


def first_order(problem: Problem, at: Coordinates, u: np.ndarray, beta: np.ndarray) -> GradientSums:
    """Return the losses and their gradient, in one pass."""
    rows = problem.rows.dense()
    c = at.correction
    shift = np.zeros(len(u)) if c is None else c
    if problem.outputs > 1:
        result = multi_score_sums(rows, problem.loss, at, u, beta, None)
        sums = GradientSums(result.f, np.vstack([result.Xg, result.g]))
    else:
        compiled = _kernel_applies(rows, at) and problem.loss.name == "logistic"
        block = compiled_or(_block_compiled, _block) if compiled else _block
        # fewer, larger blocks: the kernel needs no blocking for the cache
        block_rows = max(rows.block_rows(), rows.shape[0] // KERNEL_BLOCKS) if compiled else None
        sums = rows.reduce(block, problem.loss, at, u, beta - shift @ u, block_rows=block_rows)
    sums.g[:-1] -= np.multiply.outer(shift, sums.g[-1])
    return sums


def _kernel_applies(rows: Rows, at: Coordinates) -> bool:
    return not at.shifted and rows.row_major


def _block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> GradientSums:
    X = at.block(X)
    z = X @ u[:, 0]  # not np.dot, which copies X in Fortran order
    z += beta
    value, slope, _ = loss.evaluate(y[:, 0], z)
    f, slope = (value.sum(), slope) if s is None else (s @ value, s * slope)
    return GradientSums(f, np.append(slope @ X, slope.sum())[:, None])


def _block_compiled(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    loss: Loss,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> GradientSums:
    from ...kernels.glm.logistic import gradient

    sums, XG = gradient(X, y[:, 0], s, u[:, 0], beta[0])
    return GradientSums(sums[0], np.append(XG[0], sums[1])[:, None])
