"""L-BFGS: Newton's direction from the last few steps and changes of the gradient.

    H ≈ (…(D⁻¹ + corrections by pairs (s_k, y_k))…)⁻¹,   s = θ_{k+1} − θ_k,  y = ∇_{k+1} − ∇_k

D is the diagonal preconditioner of ``solvers/glm/newton_cg.py``. Step lengths satisfy the weak
Wolfe conditions; one pass over X for each trial.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..glm.coordinates import Coordinates
from ..glm.passes import allocate_states, coordinates_for, curvature_scale, first_order
from ..linalg.gram import NonFiniteError
from ..loop import NO_DESCENT_MESSAGE, State
from ..problem import Problem
from .repr_as_called import ReprAsCalled
from .step_rules import Line, Trial, Wolfe

Pair = tuple[np.ndarray, np.ndarray]  # a step, and the change of the gradient along it
Inverse = Callable[[np.ndarray], np.ndarray]  # r ↦ H⁻¹r


class LBFGS(ReprAsCalled):
    """L-BFGS with a diagonal preconditioner.

    O(n·p·K) operations a pass, O(n·K + memory·p·K) memory.

    Parameters
    ----------
    memory : int, default=10
        Number of pairs (s, y) that are stored.
    line_search : Wolfe, default=Wolfe()
        The curvature condition ensures sᵀy > 0, without which a pair is useless.
    """

    name = "lbfgs"

    def __init__(self, memory: int = 10, line_search: Wolfe | None = None):
        if memory < 1:
            raise ValueError(f"memory={memory!r}: give a whole number above 0")
        if not isinstance(line_search, (Wolfe, type(None))):
            raise ValueError(f"line_search={line_search!r}: give certus.solvers.Wolfe(…)")
        self.memory, self.line_search = memory, line_search or Wolfe()

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        pairs: deque[Any] = deque(maxlen=self.memory)
        buffer = allocate_states(problem)
        for all_rows in (False, True):
            at = coordinates_for(problem, all_rows)
            state = _state(problem, at, np.vstack(at.to_internal(w, b)), buffer, pairs)
            if np.isfinite(state.objective):
                state.passes = 1.0
                return state
        raise NonFiniteError

    def step(self, problem: Problem, state: State) -> State:
        current: LBFGSState = state.solver_state
        V = -current.times_inverse(current.gradient)
        slope = float(np.sum(V * current.gradient))
        if slope >= 0:
            current.pairs.clear()
            V = -current.inverse * current.gradient
            slope = float(np.sum(V * current.gradient))
        passes = state.passes or 0.0

        def trial(t: float) -> Trial:
            nonlocal passes
            passes += 1
            new = _state(problem, current.at, current.theta + t * V, current.buffer, current.pairs)
            return Trial(new.objective, float(np.sum(V * new.solver_state.gradient)), new)

        result = self.line_search.find(Line(state.objective, slope, 1.0, trial))
        if result is None:
            state.stalled, state.message, state.passes = True, NO_DESCENT_MESSAGE, passes
            return state
        t, (_, _, new) = result
        current.pairs.append((t * V, new.solver_state.gradient - current.gradient))
        new.passes = passes
        return new


class LBFGSState:
    """Gradient and diagonal preconditioner at one iterate, with the stored pairs."""

    def __init__(
        self,
        problem: Problem,
        at: Coordinates,
        theta: np.ndarray,
        buffer: np.ndarray,
        pairs: deque[Pair],
    ):
        self.at, self.theta, self.buffer, self.pairs = at, theta, buffer, pairs
        u, beta = theta[:-1], theta[-1]
        self.sums = sums = first_order(problem.rows, problem.loss, at, u, beta, buffer)
        q2 = np.broadcast_to(at.scale, (len(u),)) ** 2
        c = at.correction
        g = sums.g if problem.fit_intercept else np.zeros_like(sums.g)
        Xg = sums.Xg if c is None else sums.Xg - np.multiply.outer(c, sums.g)
        self.gradient = np.vstack([Xg + (problem.l2 * q2 * u.T).T, g])
        kappa = curvature_scale(problem, sums.d)
        d = np.multiply.outer(at.variance, kappa) + problem.l2 * q2[:, None]
        d = np.vstack([d, kappa if problem.fit_intercept else np.zeros_like(kappa)])
        self.inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)

    def times_inverse(self, r: np.ndarray) -> np.ndarray:
        return times_inverse(self.pairs, r, lambda r: self.inverse * r)


def times_inverse(pairs: Sequence[Pair], r: np.ndarray, first: Inverse) -> np.ndarray:
    """Return H⁻¹r by the two-loop recursion over the pairs (s, y).

    ``first``: r ↦ H₀⁻¹r, the inverse before any of the corrections.
    """
    r, shares = r.copy(), []
    for s, y in reversed(pairs):
        share = float(np.sum(s * r)) / float(np.sum(s * y))
        r -= share * y
        shares.append(share)
    r = first(r)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        r += (share - float(np.sum(y * r)) / float(np.sum(s * y))) * s
    return r


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused below
def _state(
    problem: Problem, at: Coordinates, theta: np.ndarray, buffer: np.ndarray, pairs: deque[Pair]
) -> State:
    current = LBFGSState(problem, at, theta, buffer, pairs)
    w, b = at.to_user(theta[:-1], theta[-1])
    objective = float(current.sums.f) + problem.penalty.value(w)
    if not np.isfinite(objective) or not np.isfinite(current.gradient).all():
        return State(w, b, np.inf, np.inf, solver_state=current)
    l2, bound = problem.l2, None
    excess = float(np.sum(current.inverse * current.gradient**2))
    if l2 > 0:
        g_w = (current.gradient[:-1].T / at.scale).T
        excess = float(np.sum(g_w**2)) / (2 * l2) + float(np.abs(current.gradient[-1]).sum())
        bound = objective - excess
    separated = problem.is_separated(current.sums.n_correct)
    return State(w, b, objective, excess, bound, stalled=separated, solver_state=current)
