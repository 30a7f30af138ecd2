"""Newton's method by conjugate gradients, for many columns and for sparse ones.

At (u, β) the direction V = (δ, δ_β) minimises ∇ᵀV + ½VᵀHV roughly. In

    x̌ = x̂ − m,   m = Σ d x̂ / Σ d,   d the losses' curvature

the intercept hardly takes part in H (not at all for one score), so that it needs no steps of its
own. The preconditioner is either the diagonal, κ_k·var x̂_j + l2·q_j², or for few columns the whole

    B ⊗ Ĝ + l2·diag(q²),   Ĝ = covariance of x̂,  B = Σ s D_i  (K×K)

which is what H would be if every row had the same curvature. One pass over X a step of conjugate
gradients. The last step is not evaluated where it is so short that what it reaches is known.

Losses that are quadratic in pieces take the step that is least along the direction, and where
conjugate gradients have cost as much as a factor would have, Newton's method goes on in the smaller
of the spaces of rows and columns (``row_space.py``).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ...data.memory import available_memory
from ...data.rows import Rows
from ...runtime.pool import blas_limiter
from ..first_order.repr_as_called import AsTyped
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import NonFiniteError, gram
from ..loop import NO_LOWER, State
from ..problem import Problem
from .coordinates import Coordinates
from .exact_step import exact_step
from .passes import coordinates_for, curvature, first_order, room_for_states, scale_of
from .row_space import FactoredProblem, FactoredState, worth_factoring

HALVINGS = 40
ROUNDING = 1e-15  # of F: a predicted decrease below this is none
WHOLE = 600  # columns up to which the preconditioner is a whole matrix
FORCING = 0.3  # share of ∇ (in the preconditioner's norm) that the first steps may leave
QUADRATIC = 1e-5  # decrease, as a share of F, of a step so short that F is quadratic along it
ENOUGH = 0.25  # of the goal: a direction need not promise less
WORTH_A_COPY = 1 << 26  # bytes of X in float32 above which products with it are bound by memory
# outputs, and numbers in their systems, from which and up to which they are inverted at once: of
# 214 classes and 10 columns one at a time took ten times as long
MANY_OUTPUTS, SMALL_BLOCKS = 32, 1 << 22
MOST_STEPS = 200  # of conjugate gradients for one direction


class NewtonCG(AsTyped):
    """O(n·p·K) operations a pass, O(n·K + p·K) memory."""

    name = "newton-cg"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        if "factored" in problem.cache:
            factored: FactoredProblem = problem.cache["factored"]
            return factored.init(w, b)
        room = room_for_states(problem), room_for_states(problem)
        for of_all in (False, True):
            at = coordinates_for(problem, of_all)
            state = _state(problem, at, *at.inside(w, b), room)
            if np.isfinite(state.objective):
                state.passes = 1.0
                return state
        raise NonFiniteError

    def step(self, problem: Problem, state: State) -> State:
        if isinstance(state.solver_state, FactoredState):
            return state.solver_state.factored.step(problem, state)
        if not problem.loss.never_zero and worth_factoring(problem, state.passes or 0.0):
            factored = FactoredProblem(problem)
            if factored.finite:
                problem.cache["factored"] = factored
                return replace(factored.init(state.w, state.b), passes=state.passes)
        here: _Here = state.solver_state
        newton, promised, last = here.direction(problem)
        passes = (state.passes or 0.0) + here.products
        curved = problem.loss.never_zero
        if last and curved and promised <= QUADRATIC * abs(state.objective):
            w, b = here.at.outside(*here.moved(newton))
            f = state.objective - promised / 2
            return replace(state, w=w, b=b, objective=f, excess=problem.goal, passes=passes)
        # where losses are straight lines H says nothing; the preconditioner still does
        for V, decrement in ((newton, promised), (-here.z, here.size)):
            t = 1.0
            if not curved:
                t, passes = exact_step(problem, here.at, here.theta, here.about_c(V)), passes + 1
            for _ in range(HALVINGS):
                if not t * decrement > ROUNDING * abs(state.objective):
                    break
                new = _state(problem, here.at, *here.moved(t * V), here.room[::-1])
                passes = new.passes = passes + 1
                if new.objective <= state.objective - 1e-4 * t * decrement:
                    new.solver_state.first = here.first or new.solver_state.size
                    return new
                t /= 2 if np.isfinite(new.objective) else 16
            if curved:
                break
        state.stalled, state.message = True, NO_LOWER
        return state


class _Here:
    """F's derivatives at one point, about the centre m."""

    def __init__(
        self,
        problem: Problem,
        at: Coordinates,
        u: np.ndarray,
        beta: np.ndarray,
        room: tuple[np.ndarray, np.ndarray],
    ):
        self.at, self.u, self.beta, self.room = at, u, beta, room
        self.sums = sums = first_order(problem.rows, problem.loss, at, u, beta, room[0])
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

    @np.errstate(over="ignore")  # infinite is no bound
    def bound_of_excess(self, gradient: np.ndarray, l2: float) -> float:
        """‖∇_w‖²/(2·l2) about c, where w and b are the user's, and a little for the intercept."""
        g_b = gradient[-1]
        g_w = ((gradient[:-1] + np.multiply.outer(self.m, g_b)).T / self.at.scale).T
        return float(np.sum(g_w**2)) / (2 * l2) + float(np.abs(g_b).sum())

    def direction(self, problem: Problem) -> tuple[np.ndarray, float, bool]:
        """V and −∇ᵀV, by conjugate gradients on H V = −∇; and will that be enough?"""
        V, r, z = np.zeros_like(self.gradient), -self.gradient, -self.z
        p, gamma = z.copy(), self.size
        enough, l2 = self.size * self._share_to_leave(), problem.l2
        rows, last = rows_for_directions(problem, self.at), False
        for _ in range(MOST_STEPS):
            Hp = curvature(rows, problem.loss, self.at, self.room[0], self.a, p)
            Hp[:-1] += (problem.l2 * self.q2 * p[:-1].T).T
            if not problem.fit_intercept:
                Hp[-1] = 0.0
            self.products += 1
            bend = float(np.sum(p * Hp))
            if not bend > 0:
                break
            step = gamma / bend
            V += step * p
            r -= step * Hp
            z = self.solve(r)
            gamma, before = float(np.sum(r * z)), gamma
            # r is the gradient that the step would leave, if F were quadratic
            last = l2 > 0 and self.bound_of_excess(r, l2) <= ENOUGH * problem.goal
            if gamma <= enough or last:
                break
            p = z + (gamma / before) * p
        if not V.any():
            V = -self.z
        return V, -float(np.sum(self.gradient * V)), last

    def _share_to_leave(self) -> float:
        """Less and less as ∇ becomes small: convergence is then faster than linear."""
        if not self.first:
            return FORCING**2
        return float(min(FORCING**2, np.sqrt(self.size / self.first)))

    @property
    def theta(self) -> np.ndarray:
        return np.vstack([self.u, self.beta])

    def about_c(self, V: np.ndarray) -> np.ndarray:
        """V, whose intercept is about the centre m, with the intercept about c as in (u, β)."""
        return np.vstack([V[:-1], V[-1] - self.m @ V[:-1]])

    def moved(self, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(u, β) + V: β is about c, V about the centre m."""
        return self.u + V[:-1], self.beta + V[-1] - self.m @ V[:-1]


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused below
def _state(
    problem: Problem,
    at: Coordinates,
    u: np.ndarray,
    beta: np.ndarray,
    room: tuple[np.ndarray, np.ndarray],
) -> State:
    here = _Here(problem, at, u, beta, room)
    w, b = at.outside(u, beta)
    objective = float(here.sums.f) + problem.penalty.value(w)
    if not np.isfinite(objective) or not np.isfinite(here.size):
        return State(w, b, np.inf, np.inf)
    l2 = problem.l2
    # without a penalty the preconditioner's norm must do: it is within a factor of H's
    excess = here.bound_of_excess(here.gradient, l2) if l2 > 0 else here.size
    separated = problem.separated(here.sums.right)
    bound = objective - excess if l2 > 0 else None
    return State(w, b, objective, excess, bound, stalled=separated, solver_state=here)


def rows_for_directions(problem: Problem, at: Coordinates) -> Rows:
    """The rows, in float32 where that halves the memory to be read: a direction need not have more
    digits, for the gradient has them all."""
    rows, size = problem.rows, 4 * problem.rows.shape[0] * problem.rows.shape[1]
    plain = problem.outputs == 1 and not at.shifted and isinstance(rows.X, np.ndarray)
    if not plain or rows.X.dtype != np.float64 or size < WORTH_A_COPY:
        return rows
    if "single" not in problem.cache:
        free = available_memory()
        problem.cache["single"] = None
        if rows.X.flags.c_contiguous and free is not None and size <= free / 4:
            single = np.empty(rows.shape, dtype=np.float32)
            problem.cache["single"] = rows.map(lambda X, y, s: X, single)
    single = problem.cache["single"]
    if single is None:
        return rows
    return Rows(single, rows.y, rows.s, threads=rows.threads, population=rows.population)


# --- preconditioners ------------------------------------------------------------------------------


def _preconditioner(problem: Problem, here: _Here) -> Any:
    if problem.rows.shape[1] <= WHOLE and not problem.rows.sparse:
        return _whole(problem, here)
    return _diagonal(problem, here)


def _diagonal(problem: Problem, here: _Here) -> Any:
    kappa = scale_of(problem, here.sums.d)  # (K,)
    d = np.multiply.outer(here.at.variance, kappa) + problem.l2 * here.q2[:, None]
    d = np.vstack([d, kappa if problem.fit_intercept else np.zeros_like(kappa)])
    inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
    return lambda r: inverse * r


def _whole(problem: Problem, here: _Here) -> Any:
    """B = UβUᵀ, so B ⊗ Ĝ + l2·diag(q²) falls into K systems β_k Ĝ + l2·diag(q²)."""
    if "covariance" not in problem.cache:
        problem.cache["covariance"] = _covariance(problem, here.at)
    G, P, s = problem.cache["covariance"], here.room[0], problem.rows.s
    beta, U = scale_of(problem, here.sums.d), np.ones((1, 1))
    if problem.outputs > 1:
        sP = P if s is None else s[:, None] * P
        with blas_limiter.for_work(P.shape):
            beta, U = np.linalg.eigh(np.diag(sP.sum(axis=0)) - P.T @ sP)
        beta[0] = beta[-1]  # z + const changes nothing, so any number will do
    solve_each = _solver_of_each(G, np.maximum(beta, 1e-12 * beta.max()), problem.l2 * here.q2)

    def solve(r: np.ndarray) -> np.ndarray:
        out = np.empty_like(r)
        out[:-1] = solve_each(r[:-1] @ U) @ U.T
        out[-1] = (r[-1] @ U / beta) @ U.T if problem.fit_intercept else 0.0
        return out

    return solve


def _solver_of_each(G: np.ndarray, beta: np.ndarray, penalty: np.ndarray) -> Any:
    """Solves (β_k Ĝ + diag(penalty)) z_k = r_k for each column r_k; may overwrite r."""
    if len(beta) >= MANY_OUTPUTS and len(beta) * len(G) ** 2 <= SMALL_BLOCKS:
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
    """(K, p, p), of many small systems at once; None where one is singular."""
    A = beta[:, None, None] * G
    A += np.diag(penalty)
    diagonal = np.einsum("kii->ki", A)
    d = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A *= d[:, :, None] * d[:, None, :]
    np.einsum("kii->ki", A)[...] = 1 + 1e-14
    try:
        np.linalg.cholesky(A)  # fails where a direction bends downwards
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    inverse = (inverse + inverse.transpose(0, 2, 1)) / 2
    return inverse * (d[:, :, None] * d[:, None, :])


def _factor(A: np.ndarray, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(R, d): A + diag(penalty) = D⁻¹RᵀRD⁻¹, with a little added where that would fail."""
    A.flat[:: len(A) + 1] += penalty
    diagonal = np.diagonal(A)
    d = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A *= d
    A *= d[:, None]
    little = 1e-14
    while True:
        A.flat[:: len(A) + 1] = 1 + little
        R, condition = factor(A.copy())
        if condition < np.inf:
            return R, d
        little *= 100


def _covariance(problem: Problem, at: Coordinates) -> np.ndarray:
    """Of x̂; about 0 without an intercept."""
    rows, centred = problem.rows, problem.fit_intercept
    sums = gram(rows.with_targets(np.zeros((rows.shape[0], 1)), rows.s), centred)
    q = at.scale / (1.0 if sums.q is None else sums.q)
    return (sums.G / sums.S * q).T * q
