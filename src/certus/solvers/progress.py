"""The callback that iterative solvers call after each step, and that may stop them.

A solver calls ``on_step(step)`` once for every pass over the data and continues while it returns
False. Solvers keep no trace and catch no interrupt: the callback's owner does both.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Step(NamedTuple):
    """Progress of a solver after one step."""

    iteration: int  # 0 at the start
    objective: float
    bound: float | None  # the solver's lower bound of the optimum
    parameters: Callable[[], Any]  # returns what the solver would return if it stopped now
    passes: float | None = None  # passes over X so far, where the method counts them


OnStep = Callable[[Step], bool]


def ignore(step: Step) -> bool:
    """Default callback: never stops the fit."""
    return False


def constant_parameters(parameters: object) -> Callable[[], Any]:
    """Return a function that returns ``parameters``, for ``Step.parameters``."""
    return lambda: parameters
