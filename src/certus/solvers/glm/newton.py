"""Newton's method with a factored Hessian, for problems with few columns.

With x̂ = (x − c)∘q (``coordinates.py``) and θ = (u, β) of x̂₁ = (x̂, 1), slopes g_i and curvatures
D_i (K×K) of the losses at z_i:

    ∇ = Σ s g x̂₁ᵀ + l2·q²∘u,   H = Σ s D ⊗ x̂₁x̂₁ᵀ + l2·diag(q²),   δ = −H⁻¹∇,   λ² = ∇ᵀH⁻¹∇

λ²/2 is the excess F − min F up to higher order. With a penalty there is a bound, the duality gap
‖∇_w‖²/(2·l2) (plus a small term for ∇_b). Each step is one pass over X: scores, slopes and products
are computed while a block is in cache. For losses that are curved everywhere the last step is not
evaluated: convergence is quadratic, λ²_{k+1} ∝ λ⁴_k, so its result is known beforehand.

Several scores: H is singular along z + const, where F is constant; a rank-one term for each column
makes it regular.

Without a penalty, columns that nearly repeat others make H numerically singular although F has an
optimum, at large coefficients. Steps are then made in orthogonal coordinates
(``solvers/linalg/orthogonal_columns.py``).

For the squared hinge an interior-point method (``squared_hinge_interior.py``) takes over where
Newton's steps are many or stall; Newton's method then resumes from its result.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ...kernels import compiled_or
from ...losses import Loss
from ..first_order.repr_as_called import ReprAsCalled
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import KERNEL_WORK, NonFiniteError, gram_block_rows
from ..linalg.orthogonal_columns import ColumnCoordinates, OrthogonalColumns, orthogonal_columns
from ..loop import NO_DESCENT_MESSAGE, State
from ..problem import Problem
from .coordinates import coordinates, sampled_coordinates
from .exact_step import exact_step
from .newton_direction import direction_by_qr
from .squared_hinge_interior import InteriorPoint, interior_point_applies

MIN_ROW_CURVATURE = 1e-30  # a row's slope is divided by its curvature, which must not be 0
MAX_STEP_HALVINGS = 40  # a factor of 1e-12; rounding ends most searches earlier
MAX_PIECEWISE_HALVINGS = 10  # for losses with linear parts, before a step that needs no search
OBJECTIVE_ROUNDING = 1e-15  # relative: a predicted decrease of F below this is rounding
MAX_HESSIAN_CONDITION = 1e12  # of the scaled Hessian; beyond it directions are dropped
QUADRATIC_PHASE_RATIO = 0.05  # λ² that a full step reduced to this share converges quadratically
MAX_STEPS_BEFORE_INTERIOR = 50  # of the squared hinge; an interior-point method takes 15 to 30
PREDICTION_SAFETY_FACTOR = 100.0  # of the excess that quadratic convergence predicts


class NewtonSums(NamedTuple):
    """Losses, gradient and Hessian, summed over rows."""

    f: float  # Σ s ℓ
    n_correct: int  # rows whose loss is below log 2; if all are, the classes are separated
    g: np.ndarray  # (p+1, K): Σ s g x̂₁
    H: np.ndarray  # (K, K, p+1, p+1)


class Newton(ReprAsCalled):
    """Newton steps by Cholesky factorisation: O(n(pK)² + (pK)³) operations, O((pK)²) memory."""

    name = "newton"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at = coordinates_for(problem)
        state = _state(problem, at, *at.to_internal(w, b))
        if not np.isfinite(state.objective):  # rows outside the sample are larger than those in it
            at = problem.cache["newton"] = coordinates(problem.rows.dense(), problem.fit_intercept)
            state = _state(problem, at, *at.to_internal(w, b))
            if not np.isfinite(state.objective):
                raise NonFiniteError
        return state

    def step(self, problem: Problem, state: State) -> State:
        n_steps = problem.cache["factored steps"] = problem.cache.get("factored steps", 0) + 1
        if n_steps > MAX_STEPS_BEFORE_INTERIOR:
            begin_interior(problem, state)
        interior: InteriorPoint | None = problem.cache.get("interior")
        if interior is not None:
            return _interior_step(problem, interior, state)
        at, theta, delta, decrement, before = state.solver_state
        ratio = min(decrement / before, 1.0) if before > 0 else 1.0  # larger squares may overflow
        predicted = state.excess * ratio**2 * PREDICTION_SAFETY_FACTOR
        curved = problem.curved  # else the curvature may jump along the step
        if curved and decrement < QUADRATIC_PHASE_RATIO * before and predicted <= problem.goal:
            w, b = at.to_user(*split(theta + delta))
            return replace(
                state, w=w, b=b, objective=state.objective - decrement / 2, excess=predicted
            )
        t, passes = 1.0, state.passes or 0.0
        if not curved:
            t, passes = exact_step(problem, at, theta, delta), passes + 1
        for _ in range(MAX_STEP_HALVINGS if curved else MAX_PIECEWISE_HALVINGS):
            if t * decrement <= OBJECTIVE_ROUNDING * abs(state.objective):
                break
            at_most = state.objective - 1e-4 * t * decrement
            new = _state(problem, at, *split(theta + t * delta), at_most)
            passes = new.passes = passes + 1
            if new.objective <= at_most:
                new.solver_state = (*new.solver_state[:-1], decrement if t == 1 else 0.0)
                return new
            t /= 2 if np.isfinite(new.objective) else 16
        if not curved:
            new = _majorizer_step(problem, at, theta)
            new.passes = passes + 2
            if new.objective < state.objective:
                return new
        begin_interior(problem, state)
        if problem.cache.get("interior") is None:  # it does not apply, or has ended
            state.stalled, state.message = True, NO_DESCENT_MESSAGE
        return state


def begin_interior(problem: Problem, state: State) -> None:
    """Switch to the interior-point method where it applies, at most once for each problem."""
    if interior_point_applies(problem) and "interior" not in problem.cache:
        at = state.solver_state[0]
        problem.cache["interior"] = InteriorPoint(problem, at, state.w, state.b, state.objective)


def _interior_step(problem: Problem, interior: InteriorPoint, state: State) -> State:
    """Return the best point after another step; F is no higher there, so the excess still holds."""
    interior.step()
    w, b, passes = interior.w, interior.b, (state.passes or 0.0) + 1
    if not interior.done:
        return replace(state, w=w, b=b, objective=interior.objective, passes=passes)
    problem.cache["interior"] = None  # releases its copy of X
    state = _state(problem, interior.at, *interior.at.to_internal(w, b))
    state.passes = passes
    return state


class _MajorizedLoss:
    """A loss with its curvature replaced by the upper bound."""

    def __init__(self, loss: Loss):
        self.loss, self.several = loss, False

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        value, slope, state = self.loss.evaluate(y, z)
        return value, slope, np.full_like(state, self.loss.curvature_bound)


def _majorizer_step(problem: Problem, at: ColumnCoordinates, theta: np.ndarray) -> State:
    """Return the state at the minimum of a quadratic that lies above F and touches it at θ.

    Where losses are linear, their own curvature is 0 and gives steps of unlimited length.
    """
    majorizer: Any = _MajorizedLoss(problem.loss)
    sums = second_order(replace(problem, loss=majorizer), at, *split(theta))
    gradient, penalty = gradient_of(problem, at, sums.g, theta)
    solve, _ = inverse(problem, sums.H, penalty)
    return _state(problem, at, *split(theta - solve(gradient)))


def coordinates_for(problem: Problem) -> Any:
    """Return the ``Coordinates``, or ``OrthogonalColumns`` once they were needed."""
    if "newton" not in problem.cache:
        rows = problem.rows.dense()
        problem.cache["newton"] = sampled_coordinates(rows, problem.fit_intercept)
    return problem.cache["newton"]


def _orthogonal(problem: Problem, at: ColumnCoordinates) -> OrthogonalColumns | None:
    """Return coordinates for columns that nearly repeat others; None where they do not help."""
    is_subsample = problem.rows.population != problem.rows.shape[0]
    if isinstance(at, OrthogonalColumns) or problem.l2 != 0 or is_subsample:
        return None
    orthogonal = orthogonal_columns(problem.rows.dense(), at)
    if orthogonal is not None:
        problem.cache["newton"] = orthogonal
    return orthogonal


def split(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return theta[:-1], theta[-1]


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused below
def _state(
    problem: Problem,
    at: ColumnCoordinates,
    u: np.ndarray,
    beta: np.ndarray,
    at_most: float = np.inf,
) -> State:
    """Return F, derivatives and the next step at (u, β); only F where it exceeds ``at_most``."""
    sums = second_order(problem, at, u, beta)
    w, b = at.to_user(u, beta)
    objective = float(sums.f) + problem.penalty.value(w)
    if not (np.isfinite(objective) and np.isfinite(sums.H).all()):
        return State(w, b, np.inf, np.inf)
    if objective > at_most:  # the step will be refused, and H may be singular there
        return State(w, b, objective, np.inf)
    theta, l2 = np.vstack([u, beta]), problem.l2
    gradient, penalty = gradient_of(problem, at, sums.g, theta)
    solve, singular = inverse(problem, sums.H, penalty)
    if singular:
        better = _orthogonal(problem, at)
        if better is not None:
            return _state(problem, better, *better.to_internal(w, b))
    if isinstance(at, OrthogonalColumns):
        singular = not at.whole
    by_qr = direction_by_qr(problem, at, u, beta) if singular else None
    delta = -solve(gradient) if by_qr is None else by_qr
    decrement = -float(np.sum(gradient * delta))
    excess, bound = decrement / 2, None
    if l2 > 0:
        excess = duality_gap(problem, at, gradient)
        bound = objective - excess
    tiny = decrement <= OBJECTIVE_ROUNDING * abs(objective)
    if tiny and problem.has_unbounded_curvature:  # F does not show the step, the coefficients do
        w, b = at.to_user(*split(theta + delta))
    separated = problem.is_separated(sums.n_correct)
    state = State(w, b, objective, 0.0 if tiny else excess, bound, separated, singular)
    state.solver_state = at, theta, delta, decrement, 0.0  # 0: no previous decrement
    state.passes = 1.0
    return state


def gradient_of(
    problem: Problem, at: ColumnCoordinates, g: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return ∇F, and the penalty's part of H's diagonal."""
    penalty = problem.l2 * np.broadcast_to(at.scale, (len(theta) - 1,)) ** 2
    gradient = g.copy()
    gradient[:-1] += (penalty * theta[:-1].T).T
    return gradient, penalty


def duality_gap(problem: Problem, at: ColumnCoordinates, gradient: np.ndarray) -> float:
    """Return ‖∇_w‖²/(2·l2) in the user's units, plus a small term for the intercept."""
    w = (gradient[:-1].T / at.scale).T
    return float(np.sum(w**2)) / (2 * problem.l2) + float(np.abs(gradient[-1]).sum())


def inverse(problem: Problem, H: np.ndarray, penalty: np.ndarray) -> tuple[Any, bool]:
    """Return ∇ ↦ H⁻¹∇, computed on columns scaled to a diagonal of 1, and whether H is singular."""
    K, _, m, _ = H.shape
    n_free = m if problem.fit_intercept else m - 1
    A = H[:, :, :n_free, :n_free].copy()
    for k in range(K):
        A[k, k].flat[: (m - 1) * n_free : n_free + 1] += penalty
    if K > 1:
        diagonal = np.einsum("kkii->i", A) / K
        for k in range(K):
            for l in range(K):
                A[k, l].flat[:: n_free + 1] += diagonal / K
    A = A.transpose(0, 2, 1, 3).reshape(K * n_free, K * n_free)
    diagonal = np.diagonal(A)
    d = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    A = A / d / d[:, None]
    is_zero = np.isinf(d)
    A.flat[:: len(d) + 1] = 1.0  # also for constant columns, where ∇ is 0
    R, condition = factor(A.copy())
    regular = condition < MAX_HESSIAN_CONDITION

    def solve(gradient: np.ndarray) -> np.ndarray:
        g = gradient[:n_free].T.ravel() / d
        x = cholesky_solve(R, g[:, None])[:, 0] if regular else _solve_on_range(A, g)
        x[is_zero] = 0.0
        out = np.zeros_like(gradient)
        out[:n_free] = (x / d).reshape(K, n_free).T
        return out

    return solve, bool(is_zero.any() or not regular)


def _solve_on_range(A: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return A⁺g without the directions whose eigenvalues are rounding."""
    values, V = np.linalg.eigh(A)
    large = values > len(A) * np.finfo(float).eps * values[-1] * 16
    x: np.ndarray = V[:, large] @ ((V[:, large].T @ g) / values[large])
    return x


# --- the pass -------------------------------------------------------------------------------------


def second_order(
    problem: Problem, at: ColumnCoordinates, u: np.ndarray, beta: np.ndarray, rough: bool = False
) -> NewtonSums:
    """Return the losses, their gradient and Hessian in (u, β), in one pass.

    ``rough``: float32 is accurate enough for the Hessian of several scores.
    """
    rows, p = problem.rows.dense(), len(u)  # p < columns where directions were dropped
    compiled = problem.outputs == 1 and rows.population * p * p >= KERNEL_WORK
    sums: NewtonSums = rows.reduce(
        _block, problem.loss, at, u, beta, compiled, rough, block_rows=_block_rows(problem),
        square=True,
    )  # fmt: skip
    upper = np.triu_indices(p, 1)
    for H in sums.H.reshape(-1, p + 1, p + 1) if compiled else ():
        H.T[upper] = H[upper]
    return sums


def _block_rows(problem: Problem) -> int:
    rows, unknowns = problem.rows, problem.rows.shape[1] * problem.outputs
    return gram_block_rows(rows) if problem.outputs == 1 else max(256, 2**19 // unknowns)


def _block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    loss: Loss,
    at: ColumnCoordinates,
    u: np.ndarray,
    beta: np.ndarray,
    compiled: bool,
    rough: bool,
) -> NewtonSums:
    X = at.block(X)
    c = at.correction
    z = np.dot(X, u)
    z += beta if c is None else beta - c @ u
    y = y[:, 0]
    value, slope, state = loss.evaluate(y, z if loss.several else z[:, 0])
    is_correct = value < np.log(2)
    if s is not None:
        is_correct |= s == 0
        value, slope = s * value, (s * slope.T).T
    shift = np.zeros(X.shape[1]) if c is None else c
    if loss.several:
        g, H = _multi_score_sums(X, state, slope, s, shift, np.float32 if rough else np.float64)
    else:
        d = np.maximum(state, MIN_ROW_CURVATURE)
        if s is not None:
            d *= s
        single_score_sums = (
            compiled_or(_single_score_sums_compiled, _single_score_sums)
            if compiled
            else _single_score_sums
        )
        g, H = single_score_sums(X, d, slope, shift)
    return NewtonSums(value.sum(), is_correct.sum(), g, H)


def _with_constant(X: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return the rows x̂₁: shifted columns and a constant 1."""
    A = np.empty((len(X), X.shape[1] + 1))
    np.subtract(X, shift, out=A[:, :-1], dtype=float)
    A[:, -1] = 1.0
    return A


def _multi_score_sums(
    X: np.ndarray,
    P: np.ndarray,
    slope: np.ndarray,
    s: np.ndarray | None,
    shift: np.ndarray,
    dtype: DTypeLike,
) -> tuple[Any, Any]:
    """Return Σ g x̂₁ᵀ and Σ s (diag p − ppᵀ) ⊗ x̂₁x̂₁ᵀ.

    The Hessian is K products on the diagonal, minus one of p ⊗ x̂₁ with itself.
    """
    A = _with_constant(X, shift)
    g = np.dot(A.T, slope)  # the slopes include the weights
    K, m = P.shape[1], A.shape[1]
    root = 1.0 if s is None else np.sqrt(s)[:, None]
    A, P = (root * A).astype(dtype, copy=False), P.astype(dtype, copy=False)
    B = (P[:, :, None] * A[:, None, :]).reshape(len(A), K * m)
    H = np.dot(B.T, B)
    np.negative(H, out=H)
    H = H.reshape(K, m, K, m).transpose(0, 2, 1, 3)
    for k in range(K):
        H[k, k] += np.dot(A.T, B[:, k * m : (k + 1) * m])
    return g, H


def _single_score_sums(
    X: np.ndarray, d: np.ndarray, slope: np.ndarray, shift: np.ndarray
) -> tuple[Any, Any]:
    """Return Σ slope·x̂₁ (m, 1) and Σ d x̂₁x̂₁ᵀ."""
    A = _with_constant(X, shift)
    return np.dot(A.T, slope[:, None]), np.dot(A.T, d[:, None] * A)[None, None]


def _single_score_sums_compiled(
    X: np.ndarray, d: np.ndarray, slope: np.ndarray, shift: np.ndarray
) -> tuple[Any, Any]:
    """Compiled twin of ``_single_score_sums``; only one triangle of H is filled."""
    from ...kernels.gram.weighted import gram_sums

    p = X.shape[1]
    # the kernel sums d·Y·x̂, so Y = slope/d; where d is 0 (a row of weight 0) so is the slope
    Y = np.divide(slope, d, out=np.zeros(len(X)), where=d > 0)[:, None]
    G, sx, sy, Xy, yy = np.zeros((p, p)), np.zeros(p), np.zeros(1), np.zeros((p, 1)), np.zeros(1)
    gram_sums(X, Y, d, shift, np.zeros(1), G, sx, sy, Xy, yy)
    H = np.empty((p + 1, p + 1))
    H[:p, :p], H[p, :p], H[:p, p], H[p, p] = G, sx, sx, d.sum()
    return np.vstack([Xy, sy[:, None]]), H[None, None]
