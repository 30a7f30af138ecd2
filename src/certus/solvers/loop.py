"""The loop that runs every solver of smooth and composite problems.

A solver provides ``init`` and ``step``; the loop decides when to stop.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from .glm.linear_problem import Aliases
from .problem import Problem
from .progress import OnStep, Step, ignore

OBJECTIVE_ROSE_MESSAGE = "F ended above where it began: give a smaller step"
NO_DESCENT_MESSAGE = "The solver stopped because no step lowers the objective by more than rounding"
GOAL_SAFETY_FACTOR = 4.0  # the certificate's bound is a little weaker than the solver's


@dataclass
class State:
    """Current iterate of a solver, with its objective and bounds."""

    w: np.ndarray  # (p, K)
    b: np.ndarray  # (K,)
    objective: float
    excess: float  # the solver's bound or estimate of F − min F
    bound: float | None = None  # the solver's lower bound of min F
    stalled: bool = False  # no step of this solver lowers F
    singular: bool = False  # F is constant along some directions, as far as the solver can tell
    evaluated: bool = True  # False: objective and bound are those of an earlier step
    passes: float | None = None  # passes over X that the method needed so far; None: not counted
    message: str = ""  # why the solver stalled, where the user can do something about it
    solver_state: Any = None  # private to the solver


class Solver(Protocol):
    """A method that minimises F step by step.

    A solver with a start of its own also has ``begin(problem) → (w, b)``.
    """

    name: str

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        """Return the state at (w, b)."""

    def step(self, problem: Problem, state: State) -> State:
        """Return the state after one more step."""


class Fit(NamedTuple):
    """Result of a solver."""

    w: np.ndarray
    b: np.ndarray
    solver: str
    n_iter: int
    stopped_at: int | None = None  # max_iter, if the fit ended there
    converged: bool = True  # the solver's own excess is within the requested tolerance
    singular: bool = False
    message: str = ""
    aliases: Aliases | None = None  # columns that repeat others, where the solver looked for them


def minimize(
    problem: Problem,
    solver: Solver,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    on_step: OnStep = ignore,
    before: int = 0,
) -> Fit:
    """Run ``solver`` until the excess is at most tol·f₀, f₀ the value of the null model.

    The null model is the best one with w = 0, or with the feasible w nearest to 0.
    ``before``: steps made by an earlier call that this one continues.
    """
    b, f0 = problem.null
    problem.goal = tol * f0 / GOAL_SAFETY_FACTOR
    origin = problem.null_w, b
    if start is not None and not all(np.isfinite(part).all() for part in start):
        start = None
    begin = getattr(solver, "begin", None)
    if start is None and begin is not None:
        origin = begin(problem)
    state = solver.init(problem, *(start or origin))
    if start is not None and not state.objective <= f0:  # a start worse than the null model
        fresh = solver.init(problem, *origin)
        state = state if state.objective <= fresh.objective else fresh
    iteration, first = before, state.objective
    made = problem.passes if before else 0.0
    while True:
        passes = None if state.passes is None else made + state.passes
        parameters = _fit(solver, state, iteration)
        step = Step(iteration, state.objective, state.bound, parameters, passes)
        is_new = state.evaluated and (iteration > before or before == 0)
        stopped = on_step(step) if is_new else False
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
        message=state.message or (OBJECTIVE_ROSE_MESSAGE if state.objective > first else ""),
    )


def _fit(solver: Solver, state: State, iteration: int) -> Any:
    return lambda: Fit(state.w.copy(), state.b.copy(), solver.name, iteration)
