"""One loop for every solver of the smooth and composite problems.

A solver says how to begin and what a step is; when to stop is decided here.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from .glm.linear_problem import Aliases
from .problem import Problem
from .progress import OnStep, Step, ignore

TOO_LONG = "F ended above where it began: give a smaller step"
NO_LOWER = "The solver stopped because no step lowers the objective by more than rounding"
SAFETY = 4.0  # the certificate's own bound is a little weaker than the solver's


@dataclass
class State:
    """Where a solver stands."""

    w: np.ndarray  # (p, K)
    b: np.ndarray  # (K,)
    objective: float
    excess: float  # the solver's bound or estimate of F − min F
    bound: float | None = None  # the optimum cannot be lower, as far as the solver knows
    stalled: bool = False  # no step of this solver lowers F
    singular: bool = False  # some directions change nothing, as far as the solver can see
    evaluated: bool = True  # at F; else objective and bound are those of an earlier step
    passes: float | None = None  # over X so far that the method needs; None: not counted
    message: str = ""  # why it is stuck, if that is the user's business
    solver_state: Any = None  # the solver's own


class Solver(Protocol):
    """One that begins where it likes has ``begin(problem) → (w, b)`` besides."""

    name: str

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        """The state at (w, b)."""

    def step(self, problem: Problem, state: State) -> State:
        """A better one."""


class Fit(NamedTuple):
    w: np.ndarray
    b: np.ndarray
    solver: str
    n_iter: int
    stopped_at: int | None = None  # max_iter, if that is what ended it
    converged: bool = True  # the solver's own excess is as small as was asked
    singular: bool = False
    message: str = ""
    aliases: Aliases | None = None  # columns that repeat others, where the solver looked for them


def minimise(
    problem: Problem,
    solver: Solver,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    on_step: OnStep = ignore,
    before: int = 0,
) -> Fit:
    """Steps until the excess is tol·f₀ at most, f₀ = F of the intercept alone; where w = 0 is not
    allowed, with what is nearest to it.

    ``before``: steps already made, if this goes on from an earlier call.
    """
    b, f0 = problem.null
    problem.goal = tol * f0 / SAFETY
    nothing = problem.null_w, b
    if start is not None and not all(np.isfinite(part).all() for part in start):
        start = None
    begin = getattr(solver, "begin", None)
    if start is None and begin is not None:
        nothing = begin(problem)
    state = solver.init(problem, *(start or nothing))
    if start is not None and not state.objective <= f0:  # of another problem: no help?
        fresh = solver.init(problem, *nothing)
        state = state if state.objective <= fresh.objective else fresh
    iteration, first = before, state.objective
    made = problem.passes if before else 0.0
    while True:
        passes = None if state.passes is None else made + state.passes
        parameters = _fit(solver, state, iteration)
        step = Step(iteration, state.objective, state.bound, parameters, passes)
        tell = state.evaluated and (iteration > before or before == 0)
        stopped = on_step(step) if tell else False
        converged = state.excess <= problem.goal
        if converged or stopped or state.stalled or iteration >= max_iter:
            break
        problem.last_step = iteration + 1 >= max_iter
        state = solver.step(problem, state)
        iteration += 1
    problem.passes = passes or 0.0
    return Fit(
        w=state.w,
        b=state.b,
        solver=solver.name,
        n_iter=iteration,
        stopped_at=None if converged or stopped or state.stalled else max_iter,
        converged=bool(converged),
        singular=state.singular,
        message=state.message or (TOO_LONG if state.objective > first else ""),
    )


def _fit(solver: Solver, state: State, iteration: int) -> Any:
    return lambda: Fit(state.w.copy(), state.b.copy(), solver.name, iteration)
