"""L-BFGS: Newton's direction from the last few steps and changes of the gradient.

    H ≈ (…(D⁻¹ + corrections by pairs (s_k, y_k))…)⁻¹,   s = θ_{k+1} − θ_k,  y = ∇_{k+1} − ∇_k

D is the diagonal preconditioner of ``solvers/glm/newton_cg.py``. A step is taken where F falls
enough and the slope along it has lost a share (Wolfe); one pass over X a trial.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..glm.coordinates import Coordinates
from ..glm.passes import coordinates_for, first_order, room_for_states, scale_of
from ..linalg.gram import NonFiniteError
from ..loop import NO_LOWER, State
from ..problem import Problem
from .repr_as_called import AsTyped
from .step_rules import Line, Trial, Wolfe

Pair = tuple[np.ndarray, np.ndarray]  # a step, and the change of the gradient along it
Inverse = Callable[[np.ndarray], np.ndarray]  # r ↦ H⁻¹r


class LBFGS(AsTyped):
    """O(n·p·K) operations a pass, O(n·K + memory·p·K) memory.

    Parameters
    ----------
    memory : int, default=10
        Pairs that are remembered.
    line_search : Wolfe, default=Wolfe()
        Its second condition is what keeps the pairs of use.
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
        room = room_for_states(problem)
        for of_all in (False, True):
            at = coordinates_for(problem, of_all)
            state = _state(problem, at, np.vstack(at.inside(w, b)), room, pairs)
            if np.isfinite(state.objective):
                state.passes = 1.0
                return state
        raise NonFiniteError

    def step(self, problem: Problem, state: State) -> State:
        here: _Here = state.solver_state
        V = -here.times_inverse(here.gradient)
        slope = float(np.sum(V * here.gradient))
        if slope >= 0:
            here.pairs.clear()
            V = -here.inverse * here.gradient
            slope = float(np.sum(V * here.gradient))
        passes = state.passes or 0.0

        def trial(t: float) -> Trial:
            nonlocal passes
            passes += 1
            new = _state(problem, here.at, here.theta + t * V, here.room, here.pairs)
            return Trial(new.objective, float(np.sum(V * new.solver_state.gradient)), new)

        found = self.line_search.find(Line(state.objective, slope, 1.0, trial))
        if found is None:
            state.stalled, state.message, state.passes = True, NO_LOWER, passes
            return state
        t, (_, _, new) = found
        here.pairs.append((t * V, new.solver_state.gradient - here.gradient))
        new.passes = passes
        return new


class _Here:
    def __init__(
        self,
        problem: Problem,
        at: Coordinates,
        theta: np.ndarray,
        room: np.ndarray,
        pairs: deque[Pair],
    ):
        self.at, self.theta, self.room, self.pairs = at, theta, room, pairs
        u, beta = theta[:-1], theta[-1]
        self.sums = sums = first_order(problem.rows, problem.loss, at, u, beta, room)
        q2 = np.broadcast_to(at.scale, (len(u),)) ** 2
        c = at.correction
        g = sums.g if problem.fit_intercept else np.zeros_like(sums.g)
        Xg = sums.Xg if c is None else sums.Xg - np.multiply.outer(c, sums.g)
        self.gradient = np.vstack([Xg + (problem.l2 * q2 * u.T).T, g])
        kappa = scale_of(problem, sums.d)
        d = np.multiply.outer(at.variance, kappa) + problem.l2 * q2[:, None]
        d = np.vstack([d, kappa if problem.fit_intercept else np.zeros_like(kappa)])
        self.inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)

    def times_inverse(self, r: np.ndarray) -> np.ndarray:
        return times_inverse(self.pairs, r, lambda r: self.inverse * r)


def times_inverse(pairs: Sequence[Pair], r: np.ndarray, first: Inverse) -> np.ndarray:
    """H⁻¹r by two loops over the pairs (s, y); ``first``: r ↦ H⁻¹r as it was without them."""
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
    problem: Problem, at: Coordinates, theta: np.ndarray, room: np.ndarray, pairs: deque[Pair]
) -> State:
    here = _Here(problem, at, theta, room, pairs)
    w, b = at.outside(theta[:-1], theta[-1])
    objective = float(here.sums.f) + problem.penalty.value(w)
    if not np.isfinite(objective) or not np.isfinite(here.gradient).all():
        return State(w, b, np.inf, np.inf, solver_state=here)
    l2, bound = problem.l2, None
    excess = float(np.sum(here.inverse * here.gradient**2))
    if l2 > 0:
        g_w = (here.gradient[:-1].T / at.scale).T
        excess = float(np.sum(g_w**2)) / (2 * l2) + float(np.abs(here.gradient[-1]).sum())
        bound = objective - excess
    separated = problem.separated(here.sums.right)
    return State(w, b, objective, excess, bound, stalled=separated, solver_state=here)
