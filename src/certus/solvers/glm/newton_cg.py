"""Newton's method by conjugate gradients, for many columns and for sparse rows.

At (u, β) the direction V = (δ, δ_β) approximately minimises ∇ᵀV + ½VᵀHV. In

    x̌ = x̂ − m,   m = Σ d x̂ / Σ d,   d the losses' curvature

the intercept nearly decouples from the rest of H (fully for one score), so that it costs no extra
steps. The preconditioner is either the diagonal, κ_k·var x̂_j + l2·q_j², or for few columns the
matrix

    B ⊗ Ĝ + l2·diag(q²),   Ĝ = covariance of x̂,  B = Σ s D_i  (K×K)

which is what H would be if every row had the same curvature. Each step of conjugate gradients is
one pass over X. The last Newton step is not evaluated where it is so short that F is quadratic
along it.

Piecewise quadratic losses use an exact line search. Where conjugate gradients have cost as much as
a factorisation would have, Newton's method continues in the smaller of the row and column spaces
(``row_space.py``).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ...data.memory import available_memory
from ...data.rows import Rows
from ...runtime.pool import blas_limiter
from ..first_order.repr_as_called import ReprAsCalled
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import NonFiniteError, gram
from ..loop import NO_DESCENT_MESSAGE, State
from ..problem import Problem
from .coordinates import Coordinates
from .exact_step import exact_step
from .passes import allocate_states, coordinates_for, curvature, curvature_scale, first_order
from .row_space import FactoredProblem, FactoredState, worth_factoring

MAX_STEP_HALVINGS = 40  # a factor of 1e-12; rounding ends most searches earlier
OBJECTIVE_ROUNDING = 1e-15  # relative: a predicted decrease of F below this is rounding
MAX_DENSE_PRECONDITIONER_COLUMNS = 600  # beyond, the preconditioner is diagonal
FORCING_TERM = 0.3  # share of ∇ (in the preconditioner's norm) that the first directions may leave
MAX_QUADRATIC_DECREASE = 1e-5  # relative decrease of F below which F is quadratic along the step
GOAL_SHARE = 0.25  # a direction is accurate enough if it leads below this share of the goal
MIN_FLOAT32_COPY_BYTES = 1 << 26  # size of X in float32 from which products are bound by memory
# number of outputs from which, and of matrix elements up to which, their systems are inverted as a
# batch: with 214 classes and 10 columns, one at a time took ten times as long
MIN_BATCHED_OUTPUTS, MAX_BATCHED_NUMBERS = 32, 1 << 22
MAX_CG_STEPS = 200  # for one direction


class NewtonCG(ReprAsCalled):
    """Newton's method by conjugate gradients: O(n·p·K) operations a pass, O(n·K + p·K) memory."""

    name = "newton-cg"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        if "factored" in problem.cache:
            factored: FactoredProblem = problem.cache["factored"]
            return factored.init(w, b)
        buffers = allocate_states(problem), allocate_states(problem)
        for all_rows in (False, True):
            at = coordinates_for(problem, all_rows)
            state = _state(problem, at, *at.to_internal(w, b), buffers)
            if np.isfinite(state.objective):
                state.passes = 1.0
                return state
        raise NonFiniteError

    def step(self, problem: Problem, state: State) -> State:
        if isinstance(state.solver_state, FactoredState):
            return state.solver_state.factored.step(problem, state)
        if not problem.curved and worth_factoring(problem, state.passes or 0.0):
            factored = FactoredProblem(problem)
            if factored.finite:
                problem.cache["factored"] = factored
                return replace(factored.init(state.w, state.b), passes=state.passes)
        current: NewtonCGState = state.solver_state
        newton, predicted, last = current.direction(problem)
        passes = (state.passes or 0.0) + current.products
        curved = problem.curved
        if last and curved and predicted <= MAX_QUADRATIC_DECREASE * abs(state.objective):
            w, b = current.at.to_user(*current.moved(newton))
            f = state.objective - predicted / 2
            return replace(state, w=w, b=b, objective=f, excess=problem.goal, passes=passes)
        # where losses are linear H vanishes; the preconditioner still gives a direction
        for V, decrement in ((newton, predicted), (-current.z, current.size)):
            t = 1.0
            if not curved:
                t, passes = (
                    exact_step(problem, current.at, current.theta, current.about_c(V)),
                    passes + 1,
                )
            for _ in range(MAX_STEP_HALVINGS):
                if not t * decrement > OBJECTIVE_ROUNDING * abs(state.objective):
                    break
                new = _state(problem, current.at, *current.moved(t * V), current.buffers[::-1])
                passes = new.passes = passes + 1
                if new.objective <= state.objective - 1e-4 * t * decrement:
                    new.solver_state.first = current.first or new.solver_state.size
                    return new
                t /= 2 if np.isfinite(new.objective) else 16
            if curved:
                break
        state.stalled, state.message = True, NO_DESCENT_MESSAGE
        return state


class NewtonCGState:
    """Derivatives of F at one iterate, about the centre m."""

    def __init__(
        self,
        problem: Problem,
        at: Coordinates,
        u: np.ndarray,
        beta: np.ndarray,
        buffers: tuple[Any, Any],
    ):
        self.at, self.u, self.beta, self.buffers = at, u, beta, buffers
        self.sums = sums = first_order(problem.rows, problem.loss, at, u, beta, buffers[0])
        self.first, self.products = 0.0, 0
        p, K = u.shape
        self.q2 = np.broadcast_to(at.scale, (p,)) ** 2
        self.a = np.zeros(p)  # the centre, in a block's own columns
        total = float(np.sum(sums.d))
        if problem.fit_intercept and total > 0:
            self.a = sums.Xd / total
        penalty = (problem.l2 * self.q2 * u.T).T
        g = sums.g if problem.fit_intercept else np.zeros(K)
        self.gradient = np.vstack([sums.Xg - np.multiply.outer(self.a, g) + penalty, g])
        c = at.correction
        self.m = self.a - (0.0 if c is None else c)  # the centre, in x̂
        self.solve = _preconditioner(problem, self)
        self.z = self.solve(self.gradient)
        self.size = float(np.sum(self.gradient * self.z))

    @np.errstate(over="ignore")  # an infinite bound is valid
    def bound_of_excess(self, gradient: np.ndarray, l2: float) -> float:
        """Return ‖∇_w‖²/(2·l2) in the user's units, plus a small term for the intercept."""
        g_b = gradient[-1]
        g_w = ((gradient[:-1] + np.multiply.outer(self.m, g_b)).T / self.at.scale).T
        return float(np.sum(g_w**2)) / (2 * l2) + float(np.abs(g_b).sum())

    def direction(self, problem: Problem) -> tuple[np.ndarray, float, bool]:
        """Solve HV = −∇ by conjugate gradients.

        Returns V, −∇ᵀV, and whether the step V is predicted to reach the goal.
        """
        V, r, z = np.zeros_like(self.gradient), -self.gradient, -self.z
        p, gamma = z.copy(), self.size
        target, l2 = self.size * self._residual_share(), problem.l2
        rows, last = rows_for_directions(problem, self.at), False
        for _ in range(MAX_CG_STEPS):
            Hp = curvature(rows, problem.loss, self.at, self.buffers[0], self.a, p)
            Hp[:-1] += (problem.l2 * self.q2 * p[:-1].T).T
            if not problem.fit_intercept:
                Hp[-1] = 0.0
            self.products += 1
            pHp = float(np.sum(p * Hp))
            if not pHp > 0:
                break
            step = gamma / pHp
            V += step * p
            r -= step * Hp
            z = self.solve(r)
            gamma, before = float(np.sum(r * z)), gamma
            # −r is the gradient after the step, if F were quadratic
            last = l2 > 0 and self.bound_of_excess(r, l2) <= GOAL_SHARE * problem.goal
            if gamma <= target or last:
                break
            p = z + (gamma / before) * p
        if not V.any():
            V = -self.z
        return V, -float(np.sum(self.gradient * V)), last

    def _residual_share(self) -> float:
        """Share of ∇ that a direction may leave; it falls with ∇, for superlinear convergence."""
        if not self.first:
            return FORCING_TERM**2
        return float(min(FORCING_TERM**2, np.sqrt(self.size / self.first)))

    @property
    def theta(self) -> np.ndarray:
        return np.vstack([self.u, self.beta])

    def about_c(self, V: np.ndarray) -> np.ndarray:
        """Return V with its intercept about c, as in (u, β), instead of about the centre m."""
        return np.vstack([V[:-1], V[-1] - self.m @ V[:-1]])

    def moved(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (u, β) + V, where β is about c and V about the centre m."""
        return self.u + V[:-1], self.beta + V[-1] - self.m @ V[:-1]


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused below
def _state(
    problem: Problem,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
    buffers: tuple[Any, Any],
) -> State:
    current = NewtonCGState(problem, at, u, beta, buffers)
    w, b = at.to_user(u, beta)
    objective = float(current.sums.f) + problem.penalty.value(w)
    if not np.isfinite(objective) or not np.isfinite(current.size):
        return State(w, b, np.inf, np.inf)
    l2 = problem.l2
    # without a penalty: the preconditioner's norm, which is within a factor of H's
    excess = current.bound_of_excess(current.gradient, l2) if l2 > 0 else current.size
    separated = problem.is_separated(current.sums.n_correct)
    bound = objective - excess if l2 > 0 else None
    return State(w, b, objective, excess, bound, stalled=separated, solver_state=current)


def rows_for_directions(problem: Problem, at: Coordinates) -> Rows:
    """Return the rows, in float32 where memory traffic limits the products.

    Directions need no more digits than that, since the gradient is exact.
    """
    rows, size = problem.rows, 4 * problem.rows.shape[0] * problem.rows.shape[1]
    plain = problem.outputs == 1 and not at.shifted and isinstance(rows.X, np.ndarray)
    if not plain or rows.X.dtype != np.float64 or size < MIN_FLOAT32_COPY_BYTES:
        return rows
    if "single" not in problem.cache:
        free_memory = available_memory()
        problem.cache["single"] = None
        if rows.X.flags.c_contiguous and free_memory is not None and size <= free_memory / 4:
            X32 = np.empty(rows.shape, dtype=np.float32)
            problem.cache["single"] = rows.map(_columns, X32)
    X32 = problem.cache["single"]
    if X32 is None:
        return rows
    return Rows(X32, rows.y, rows.s, threads=rows.threads, population=rows.population)


def _columns(X: np.ndarray, _y: object, _s: object) -> np.ndarray:
    return X


# --- preconditioners ------------------------------------------------------------------------------


def _preconditioner(problem: Problem, current: NewtonCGState) -> Any:
    if problem.rows.shape[1] <= MAX_DENSE_PRECONDITIONER_COLUMNS and not problem.rows.sparse:
        return _dense_preconditioner(problem, current)
    return _diagonal_preconditioner(problem, current)


def _diagonal_preconditioner(problem: Problem, current: NewtonCGState) -> Any:
    kappa = curvature_scale(problem, current.sums.d)  # (K,)
    d = np.multiply.outer(current.at.variance, kappa) + problem.l2 * current.q2[:, None]
    d = np.vstack([d, kappa if problem.fit_intercept else np.zeros_like(kappa)])
    inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
    return lambda r: inverse * r


def _dense_preconditioner(problem: Problem, current: NewtonCGState) -> Any:
    """Return r ↦ (B ⊗ Ĝ + l2·diag(q²))⁻¹r: with B = UβUᵀ, K systems β_k Ĝ + l2·diag(q²)."""
    if "covariance" not in problem.cache:
        problem.cache["covariance"] = _covariance(problem, current.at)
    G, P, rows = problem.cache["covariance"], current.buffers[0], problem.rows
    beta, U = curvature_scale(problem, current.sums.d), np.ones((1, 1))
    if problem.outputs > 1:
        with blas_limiter.for_work(P.shape):
            sums, squares = rows.with_targets(P, rows.s).reduce_targets(_probability_sums)
            beta, U = np.linalg.eigh(np.diag(sums) - squares)
        beta[0] = beta[-1]  # F is constant along z + const, so any positive number is valid
    solve_each = _solver_for_each_output(
        G, np.maximum(beta, 1e-12 * beta.max()), problem.l2 * current.q2
    )

    def solve(r: np.ndarray) -> np.ndarray:
        out = np.empty_like(r)
        out[:-1] = solve_each(r[:-1] @ U) @ U.T
        out[-1] = (r[-1] @ U / beta) @ U.T if problem.fit_intercept else 0.0
        return out

    return solve


def _solver_for_each_output(G: np.ndarray, beta: np.ndarray, penalty: np.ndarray) -> Any:
    """Return a solver of (β_k Ĝ + diag(penalty)) z_k = r_k for all columns; it may overwrite r."""
    if len(beta) >= MIN_BATCHED_OUTPUTS and len(beta) * len(G) ** 2 <= MAX_BATCHED_NUMBERS:
        inverses = _inverses(G, beta, penalty)
        if inverses is not None:
            return lambda r: np.matmul(inverses, r.T[:, :, None])[:, :, 0].T
    factors = [_factor(b * G, penalty) for b in beta]

    def solve(r: np.ndarray) -> np.ndarray:
        for k, (R, d) in enumerate(factors):
            r[:, k] = cholesky_solve(R, (r[:, k] * d)[:, None])[:, 0] * d
        return r

    return solve


def _inverses(G: np.ndarray, beta: np.ndarray, penalty: np.ndarray) -> np.ndarray | None:
    """Return the inverses (K, p, p) of many small systems; None where one is not definite."""
    A = beta[:, None, None] * G
    A += np.diag(penalty)
    diagonal = np.einsum("kii->ki", A)
    d = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A *= d[:, :, None] * d[:, None, :]
    np.einsum("kii->ki", A)[...] = 1 + 1e-14
    try:
        np.linalg.cholesky(A)  # fails where A is not positive definite
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    inverse = (inverse + inverse.transpose(0, 2, 1)) / 2
    return inverse * (d[:, :, None] * d[:, None, :])


def _factor(A: np.ndarray, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (R, d) with A + diag(penalty) = D⁻¹RᵀRD⁻¹, plus a ridge where that would fail."""
    A.flat[:: len(A) + 1] += penalty
    diagonal = np.diagonal(A)
    d = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A *= d
    A *= d[:, None]
    ridge = 1e-14
    while True:
        A.flat[:: len(A) + 1] = 1 + ridge
        R, condition = factor(A.copy())
        if condition < np.inf or not ridge < 1:  # what is not finite stays so
            return R, d
        ridge *= 100


def _probability_sums(P: np.ndarray, s: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ s p and Σ s p pᵀ of one block."""
    sP = P if s is None else s[:, None] * P
    return sP.sum(axis=0), P.T @ sP


def _zero_targets(y: np.ndarray, s: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    return np.zeros((len(y), 1)), s


def _covariance(problem: Problem, at: Coordinates) -> np.ndarray:
    """Return the covariance of x̂; about 0 without an intercept."""
    rows, centered = problem.rows, problem.fit_intercept
    sums = gram(rows.recoded(_zero_targets), centered)
    q = at.scale / (1.0 if sums.q is None else sums.q)
    return (sums.G / sums.S * q).T * q
