"""What an iterative solver says after each step, and the answer that may stop it.

A solver calls ``on_step(step)`` once for every pass over the data and goes on while the answer is
False. It keeps no trace and catches no interrupt: who listens does both.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Step(NamedTuple):
    iteration: int  # from 0: the start
    objective: float
    bound: float | None  # the optimum cannot be lower, as far as the solver knows
    parameters: Callable[[], Any]  # → what the solver would return if it stopped here
    passes: float | None = None  # over X that the method needed so far, where it counts them


OnStep = Callable[[Step], bool]


def ignore(step: Step) -> bool:
    """Nobody listens."""
    return False


def always(parameters: object) -> Callable[[], Any]:
    """The parameters as they are now, for who asks later."""
    return lambda: parameters
