"""L1 and elastic-net problems of few columns: the full Newton model from one pass over the rows.

    F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + l1·‖w‖₁ + l2/2·‖w‖²

Gradient and Hessian of the losses come from the pass of ``solvers/glm/newton.py``, coordinate
descent with the penalty from ``quadratic_model.py``. The bound needs no extra pass. With
slopes a of the losses, z = x̂ᵀu + β and ∇ their gradient in (u, β), Fenchel's equality and
ℓ*(0) = 0 give

    Σ s ℓ*(a) = Σ s a z − f = ⟨∇, (u, β)⟩ − f,    ℓ*(ρa) ≤ ρ ℓ*(a)  for 0 ≤ ρ ≤ 1

    F* ≥ −ρ Σ s ℓ*(a) − pen*(−ρ∇_w)
"""

from collections.abc import Callable

import numpy as np

from ..glm.coordinates import Coordinates, coordinates, sampled_coordinates
from ..glm.newton import NewtonSums, second_order
from ..linalg.gram import NonFiniteError
from ..loop import NO_DESCENT_MESSAGE, State, minimize
from ..problem import MAX_SAMPLE_ELEMENTS, Problem
from .coordinate_penalty import NON_NEGATIVE, CoordinatePenalty
from .quadratic_model import QuadraticModel

MODEL_RTOL = 1e-12  # of the quadratic model; a pass over the rows costs more than its digits
MAX_STEP_HALVINGS = 40
OBJECTIVE_ROUNDING = 4e-15  # relative to F: a smaller decrease is rounding
SAMPLE_ROWS_PER_COEFFICIENT = 20  # for the first guess, or 1/32 of all rows if that is more
MIN_SAMPLED_ELEMENTS = 1 << 20  # of X, from which a sample pays


class SmallNewton:
    """Proximal Newton on all coefficients: O(n(pK)²) operations per step, O((pK)²) memory."""

    name = "cd"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        rows = problem.rows.dense()
        if rows.shape[0] * rows.shape[1] >= MIN_SAMPLED_ELEMENTS and not w.any():
            w, b = _first_guess(problem, w, b)
        if "small newton coordinates" not in problem.cache:
            at = sampled_coordinates(rows, problem.fit_intercept)
            problem.cache["small newton coordinates"] = at
        at = problem.cache["small newton coordinates"]
        state = _state(problem, at, *at.to_internal(w, b))
        if not np.isfinite(state.objective):  # rows outside the sample are larger
            at = problem.cache["small newton coordinates"] = coordinates(
                rows, problem.fit_intercept
            )
            state = _state(problem, at, *at.to_internal(w, b))
            if not np.isfinite(state.objective):
                raise NonFiniteError
        return state

    def step(self, problem: Problem, state: State) -> State:
        at, u, beta, sums = state.solver_state
        p, K = u.shape
        scale = np.tile(np.broadcast_to(at.scale, p), K)
        l1, l2 = problem.l1 * scale, problem.l2 * scale**2
        u0 = u.T.ravel()
        model = QuadraticModel.of(*_by_class(sums), problem.fit_intercept)
        v = model.minimize(u0, CoordinatePenalty(l1, l2, problem.code), MODEL_RTOL)
        delta, move = (v - u0).reshape(K, p).T, model.intercepts(v - u0)
        penalty = problem.penalty
        new_w, _ = at.to_user(u + delta, beta)
        predicted = float(np.sum(sums.g[:-1] * delta) + sums.g[-1] @ move)
        predicted += penalty.value(new_w) - penalty.value(state.w)
        rounding = OBJECTIVE_ROUNDING * abs(state.objective)
        r = 1.0
        for _ in range(MAX_STEP_HALVINGS):
            new = _state(problem, at, u + r * delta, beta + r * move)
            if new.objective <= state.objective + 1e-4 * r * predicted + rounding:
                break
            r /= 2 if np.isfinite(new.objective) else 16
        if state.objective - new.objective <= rounding and new.excess > state.excess / 2:
            state.stalled, state.message = True, NO_DESCENT_MESSAGE
            return state
        return new


def _by_class(sums: NewtonSums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """H of (class, column) pairs followed by the intercepts, and the slopes of both."""
    K, _, m, _ = sums.H.shape
    p = m - 1
    H = np.empty((K * m, K * m))
    blocks = sums.H.transpose(0, 2, 1, 3)  # (K, m, K, m)
    H[: K * p, : K * p] = blocks[:, :p, :, :p].reshape(K * p, K * p)
    H[: K * p, K * p :] = blocks[:, :p, :, p].reshape(K * p, K)
    H[K * p :, : K * p] = H[: K * p, K * p :].T
    H[K * p :, K * p :] = blocks[:, p, :, p]
    return H, sums.g[:-1].T.ravel(), sums.g[-1]


def _state(problem: Problem, at: Coordinates, u: np.ndarray, beta: np.ndarray) -> State:
    with np.errstate(over="ignore", invalid="ignore"):
        sums = second_order(problem, at, u, beta)
        w, b = at.to_user(u, beta)
        objective = float(sums.f) + problem.penalty.value(w)
    if not (np.isfinite(objective) and np.isfinite(sums.H).all()):
        return State(w, b, np.inf, np.inf)
    g = (sums.g[:-1].T / at.scale).T
    # Σ s a = 0 only at the optimum; the missing term ∇_β(β* − β) vanishes with the excess
    conjugate = float(np.sum(sums.g[:-1] * u) - sums.f)
    intercept_slope = float(np.abs(sums.g[-1]).sum()) if problem.fit_intercept else 0.0
    bound = dual_bound(problem, g, lambda shrink: -shrink * conjugate) - intercept_slope
    bound = min(bound, objective)
    state = State(w, b, objective, objective - bound, bound)
    state.solver_state = at, u, beta, sums
    return state


def dual_bound(problem: Problem, g: np.ndarray, of_losses: Callable[[float], float]) -> float:
    """The larger of −Σ s ℓ*(ρa) − pen*(−ρg) for ρ = 1 and for the largest ρ with |ρg| ≤ l1.

    ``of_losses(ρ)`` is the first term or a lower bound of it.
    """
    l1, l2 = problem.l1, problem.l2
    v = -g if problem.code == NON_NEGATIVE else np.abs(g)
    largest = v.max(initial=0.0)
    feasible = min(1.0, l1 / largest) if largest > 0 else 1.0
    best = of_losses(feasible)
    if l2 > 0 and feasible < 1:
        beyond = np.maximum(v - l1, 0.0)
        best = max(best, of_losses(1.0) - float(np.sum(beyond**2)) / (2 * l2))
    return float(best)


def _first_guess(problem: Problem, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Optimum of a weighted subsample of the rows."""
    n, p = problem.rows.shape
    share_of_rows = min(n // 32, MAX_SAMPLE_ELEMENTS // max(1, p))
    count = max(SAMPLE_ROWS_PER_COEFFICIENT * (p + 1) * problem.outputs, share_of_rows)
    if 4 * count > n:
        return w, b
    subsample = problem.subsample(count)
    if not subsample.has_every_class():
        return w, b
    fit = minimize(subsample, SmallNewton(), (w, b), tol=1e-3, max_iter=20)
    return fit.w, fit.b
