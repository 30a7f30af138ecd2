"""Newton's method with a factored Hessian, for few columns.

With x̂ = (x − c)∘q (``coordinates.py``) and θ = (u, β) of x̂₁ = (x̂, 1), slopes g_i and curvatures
D_i (K×K) of the losses at z_i:

    ∇ = Σ s g x̂₁ᵀ + l2·q²∘u,   H = Σ s D ⊗ x̂₁x̂₁ᵀ + l2·diag(q²),   δ = −H⁻¹∇,   λ² = ∇ᵀH⁻¹∇

λ²/2 is the excess F − min F up to higher order. With a penalty there is a bound, the duality gap
‖∇_w‖²/(2·l2) (and a little for ∇_b). One pass over X a step: z, slopes and products are taken while
a block is in cache. Of losses that are curved everywhere the last step is not evaluated:
convergence is quadratic, λ²_{k+1} ∝ λ⁴_k, and what it reaches is known beforehand.

Several scores: H is singular along z + const, where nothing changes; a rank-one term for each
column fills that in.

Without a penalty, columns that nearly repeat others make H singular to rounding although F has an
optimum, at large coefficients. Steps are then made in coordinates in which it is not
(``solvers/linalg/orthogonal_columns.py``).

The squared hinge goes on by an interior-point method (``squared_hinge_interior.py``) where Newton's
steps are many or come to nothing, and these begin once more where that ends.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ...kernels import compiled_or
from ...losses import Loss
from ..first_order.repr_as_called import AsTyped
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import KERNEL_WORK, NonFiniteError, gram_block_rows
from ..linalg.orthogonal_columns import ColumnCoordinates, OrthogonalColumns, orthogonal_columns
from ..loop import NO_LOWER, State
from ..problem import Problem
from .coordinates import coordinates, coordinates_of_some
from .exact_step import exact_step
from .newton_direction import direction_by_qr
from .squared_hinge_interior import InteriorPoint, takes

LEAST_CURVATURE = 1e-30  # of a row: its slope is divided by it on the way
HALVINGS = 40
FEW_HALVINGS = 10  # of losses with straight parts, before a step that needs none
ROUNDING = 1e-15  # of F: a predicted decrease below this is none
SINGULAR = 1e12  # condition number of the scaled Hessian from which directions are dropped
QUADRATIC = 0.05  # λ² that fell to this share in a whole step is in the region where it falls so
MANY_STEPS = 50  # of the squared hinge; an interior-point method takes 15 to 30
CAUTION = 100.0  # times more than what the theory foretells


class Sums(NamedTuple):
    f: float  # Σ s ℓ
    right: int  # rows whose loss is below log 2: all of them, and the classes are separated
    g: np.ndarray  # (p+1, K): Σ s g x̂₁
    H: np.ndarray  # (K, K, p+1, p+1)


class Newton(AsTyped):
    """Newton steps by Cholesky factorisation: O(n(pK)² + (pK)³) operations, O((pK)²) memory."""

    name = "newton"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at = coordinates_for(problem)
        state = _state(problem, at, *at.inside(w, b))
        if not np.isfinite(state.objective):  # rows outside the sample are larger than those in it
            at = problem.cache["newton"] = coordinates(problem.rows.dense(), problem.fit_intercept)
            state = _state(problem, at, *at.inside(w, b))
            if not np.isfinite(state.objective):
                raise NonFiniteError
        return state

    def step(self, problem: Problem, state: State) -> State:
        made = problem.cache["factored steps"] = problem.cache.get("factored steps", 0) + 1
        if made > MANY_STEPS:
            begin_interior(problem, state)
        interior: InteriorPoint | None = problem.cache.get("interior")
        if interior is not None:
            return _interior_step(problem, interior, state)
        at, theta, delta, decrement, before = state.solver_state
        ratio = min(decrement / before, 1.0) if before > 0 else 1.0  # larger squares may overflow
        foretold = state.excess * ratio**2 * CAUTION
        curved = problem.loss.never_zero  # else a row may bend on the way, and nothing is foretold
        if curved and decrement < QUADRATIC * before and foretold <= problem.goal:
            w, b = at.outside(*split(theta + delta))
            return replace(
                state, w=w, b=b, objective=state.objective - decrement / 2, excess=foretold
            )
        t, passes = 1.0, state.passes or 0.0
        if not curved:
            t, passes = exact_step(problem, at, theta, delta), passes + 1
        for _ in range(HALVINGS if curved else FEW_HALVINGS):
            if t * decrement <= ROUNDING * abs(state.objective):
                break
            at_most = state.objective - 1e-4 * t * decrement
            new = _state(problem, at, *split(theta + t * delta), at_most)
            passes = new.passes = passes + 1
            if new.objective <= at_most:
                new.solver_state = (*new.solver_state[:-1], decrement if t == 1 else 0.0)
                return new
            t /= 2 if np.isfinite(new.objective) else 16
        if not curved:
            new = _majorised(problem, at, theta)
            new.passes = passes + 2
            if new.objective < state.objective:
                return new
        begin_interior(problem, state)
        if problem.cache.get("interior") is None:  # there is none, or it has ended
            state.stalled, state.message = True, NO_LOWER
        return state


def begin_interior(problem: Problem, state: State) -> None:
    """Let the steps from here on be those of an interior-point method, once for each problem."""
    if takes(problem) and "interior" not in problem.cache:
        at = state.solver_state[0]
        problem.cache["interior"] = InteriorPoint(problem, at, state.w, state.b, state.objective)


def _interior_step(problem: Problem, interior: InteriorPoint, state: State) -> State:
    """The best point after another step; F is no higher there, so that the excess still holds."""
    interior.step()
    w, b, passes = interior.w, interior.b, (state.passes or 0.0) + 1
    if not interior.done:
        return replace(state, w=w, b=b, objective=interior.objective, passes=passes)
    problem.cache["interior"] = None  # its copy of X is not needed any more
    state = _state(problem, interior.at, *interior.at.inside(w, b))
    state.passes = passes
    return state


class _MostCurved:
    """A loss with its curvature at the most that it can be."""

    def __init__(self, loss: Loss):
        self.loss, self.several = loss, False

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        value, slope, state = self.loss.evaluate(y, z)
        return value, slope, np.full_like(state, self.loss.curvature_bound)


def _majorised(problem: Problem, at: ColumnCoordinates, theta: np.ndarray) -> State:
    """The minimum of the quadratic above F that touches it at θ: where losses are straight lines
    their own curvature, 0, gives steps without measure."""
    above: Any = _MostCurved(problem.loss)
    sums = second_order(replace(problem, loss=above), at, *split(theta))
    gradient, penalty = gradient_of(problem, at, sums.g, theta)
    solve, _ = inverse(problem, sums.H, penalty)
    return _state(problem, at, *split(theta - solve(gradient)))


def coordinates_for(problem: Problem) -> Any:
    """``Coordinates``, or ``OrthogonalColumns`` once these are called for."""
    if "newton" not in problem.cache:
        rows = problem.rows.dense()
        problem.cache["newton"] = coordinates_of_some(rows, problem.fit_intercept)
    return problem.cache["newton"]


def _orthogonal(problem: Problem, at: ColumnCoordinates) -> OrthogonalColumns | None:
    """Coordinates for columns that nearly repeat others, if there are any that help."""
    some_of_the_rows = problem.rows.population != problem.rows.shape[0]
    if isinstance(at, OrthogonalColumns) or problem.l2 != 0 or some_of_the_rows:
        return None
    found = orthogonal_columns(problem.rows.dense(), at)
    if found is not None:
        problem.cache["newton"] = found
    return found


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
    """F and its derivatives at (u, β), and the step that follows from them; F alone where it is
    above ``at_most``."""
    sums = second_order(problem, at, u, beta)
    w, b = at.outside(u, beta)
    objective = float(sums.f) + problem.penalty.value(w)
    if not (np.isfinite(objective) and np.isfinite(sums.H).all()):
        return State(w, b, np.inf, np.inf)
    if objective > at_most:  # far from here losses may be straight lines, and H singular
        return State(w, b, objective, np.inf)
    theta, l2 = np.vstack([u, beta]), problem.l2
    gradient, penalty = gradient_of(problem, at, sums.g, theta)
    solve, singular = inverse(problem, sums.H, penalty)
    if singular:
        better = _orthogonal(problem, at)
        if better is not None:
            return _state(problem, better, *better.inside(w, b))
    if isinstance(at, OrthogonalColumns):
        singular = not at.whole
    by_qr = direction_by_qr(problem, at, u, beta) if singular else None
    delta = -solve(gradient) if by_qr is None else by_qr
    decrement = -float(np.sum(gradient * delta))
    excess, bound = decrement / 2, None
    if l2 > 0:
        excess = duality_gap(problem, at, gradient)
        bound = objective - excess
    tiny = decrement <= ROUNDING * abs(objective)
    separated = problem.separated(sums.right)
    state = State(w, b, objective, 0.0 if tiny else excess, bound, separated, singular)
    state.solver_state = at, theta, delta, decrement, 0.0  # no step led here
    state.passes = 1.0
    return state


def gradient_of(
    problem: Problem, at: ColumnCoordinates, g: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """∇, and the penalty's part of H's diagonal."""
    penalty = problem.l2 * np.broadcast_to(at.scale, (len(theta) - 1,)) ** 2
    gradient = g.copy()
    gradient[:-1] += (penalty * theta[:-1].T).T
    return gradient, penalty


def duality_gap(problem: Problem, at: ColumnCoordinates, gradient: np.ndarray) -> float:
    """‖∇_w‖²/(2·l2) in the user's units, and a little for the intercept."""
    w = (gradient[:-1].T / at.scale).T
    return float(np.sum(w**2)) / (2 * problem.l2) + float(np.abs(gradient[-1]).sum())


def inverse(problem: Problem, H: np.ndarray, penalty: np.ndarray) -> tuple[Any, bool]:
    """(∇ ↦ H⁻¹∇, on columns scaled to a diagonal of 1; and is H singular?)"""
    K, _, m, _ = H.shape
    kept = m if problem.fit_intercept else m - 1
    A = H[:, :, :kept, :kept].copy()
    for k in range(K):
        A[k, k].flat[: (m - 1) * kept : kept + 1] += penalty
    if K > 1:
        diagonal = np.einsum("kkii->i", A) / K
        for k in range(K):
            for l in range(K):
                A[k, l].flat[:: kept + 1] += diagonal / K
    A = A.transpose(0, 2, 1, 3).reshape(K * kept, K * kept)
    diagonal = np.diagonal(A)
    d = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    A = A / d / d[:, None]
    dead = np.isinf(d)
    A.flat[:: len(d) + 1] = 1.0  # also where nothing varies: there ∇ is 0
    R, condition = factor(A.copy())
    regular = condition < SINGULAR

    def solve(gradient: np.ndarray) -> np.ndarray:
        g = gradient[:kept].T.ravel() / d
        x = cholesky_solve(R, g[:, None])[:, 0] if regular else _on_the_range(A, g)
        x[dead] = 0.0
        out = np.zeros_like(gradient)
        out[:kept] = (x / d).reshape(K, kept).T
        return out

    return solve, bool(dead.any() or not regular)


def _on_the_range(A: np.ndarray, g: np.ndarray) -> np.ndarray:
    """A⁺g, without the directions that are rounding."""
    values, V = np.linalg.eigh(A)
    large = values > len(A) * np.finfo(float).eps * values[-1] * 16
    x: np.ndarray = V[:, large] @ ((V[:, large].T @ g) / values[large])
    return x


# --- the pass -------------------------------------------------------------------------------------


def second_order(
    problem: Problem, at: ColumnCoordinates, u: np.ndarray, beta: np.ndarray, rough: bool = False
) -> Sums:
    """F without its penalty, gradient and Hessian in (u, β), in one pass.

    ``rough``: of several scores' H, the digits of float32 are enough.
    """
    rows, p = problem.rows.dense(), len(u)  # fewer than columns where directions are left out
    compiled = problem.outputs == 1 and rows.population * p * p >= KERNEL_WORK
    sums: Sums = rows.reduce(
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
) -> Sums:
    X = at.block(X)
    c = at.correction
    z = np.dot(X, u)
    z += beta if c is None else beta - c @ u
    y = y[:, 0]
    value, slope, state = loss.evaluate(y, z if loss.several else z[:, 0])
    right = value < np.log(2)
    if s is not None:
        right |= s == 0
        value, slope = s * value, (s * slope.T).T
    shift = np.zeros(X.shape[1]) if c is None else c
    if loss.several:
        g, H = _several(X, state, slope, s, shift, np.float32 if rough else np.float64)
    else:
        d = np.maximum(state, LEAST_CURVATURE)
        if s is not None:
            d *= s
        one = compiled_or(_one_compiled, _one) if compiled else _one
        g, H = one(X, d, slope, shift)
    return Sums(value.sum(), right.sum(), g, H)


def _with_one(X: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """x̂₁, row by row."""
    A = np.empty((len(X), X.shape[1] + 1))
    np.subtract(X, shift, out=A[:, :-1], dtype=float)
    A[:, -1] = 1.0
    return A


def _several(
    X: np.ndarray,
    P: np.ndarray,
    slope: np.ndarray,
    s: np.ndarray | None,
    shift: np.ndarray,
    dtype: DTypeLike,
) -> tuple[Any, Any]:
    """Σ s (diag p − ppᵀ) ⊗ x̂₁x̂₁ᵀ: K products on the diagonal, less one of p ⊗ x̂₁ with itself."""
    A = _with_one(X, shift)
    g = np.dot(A.T, slope)  # the slope has its weights already
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


def _one(X: np.ndarray, d: np.ndarray, slope: np.ndarray, shift: np.ndarray) -> tuple[Any, Any]:
    """Σ slope·x̂₁ (m, 1) and Σ d x̂₁x̂₁ᵀ."""
    A = _with_one(X, shift)
    return np.dot(A.T, slope[:, None]), np.dot(A.T, d[:, None] * A)[None, None]


def _one_compiled(
    X: np.ndarray, d: np.ndarray, slope: np.ndarray, shift: np.ndarray
) -> tuple[Any, Any]:
    """The same; of H only one half."""
    from ...kernels.gram.weighted import gram_sums

    p = X.shape[1]
    # the kernel sums d·Y·x̂, so Y = slope/d; where d is 0 (a row of weight 0) so is the slope
    Y = np.divide(slope, d, out=np.zeros(len(X)), where=d > 0)[:, None]
    G, sx, sy, Xy, yy = np.zeros((p, p)), np.zeros(p), np.zeros(1), np.zeros((p, 1)), np.zeros(1)
    gram_sums(X, Y, d, shift, np.zeros(1), G, sx, sy, Xy, yy)
    H = np.empty((p + 1, p + 1))
    H[:p, :p], H[p, :p], H[:p, p], H[p, p] = G, sx, sx, d.sum()
    return np.vstack([Xy, sy[:, None]]), H[None, None]
