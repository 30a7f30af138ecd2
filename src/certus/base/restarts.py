"""A solver that runs from several starts, of which the best is kept.

    best = the first of r = 1 … count that no other start beats by more than rounding

Listeners hear of all starts as of one long fit. The trace is that of the start that was kept.
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ..runtime.kernel_clock import kernel_clock
from ..runtime.progress import FitMonitor, TracePoint
from ..solvers.progress import OnStep, Step
from ..text.format import number, printable

SAME_OBJECTIVE = 1e-12  # relative: objectives that differ by rounding alone are equal


class Outcome(Protocol):
    """Result of a solver for one start."""

    @property
    def objective(self) -> float: ...

    @property
    def n_iter(self) -> int: ...


class Iterate(NamedTuple):
    """State of a start after some steps."""

    parameters: Any
    n_iter: int
    objectives: list[float]  # of its steps, from the start on
    restarts: list[float]  # objectives of the starts that are done, and of this one


F = TypeVar("F", bound=Outcome)


class Restarts(Generic[F]):
    """The starts of one fit.

    ``better(result, best)``: does a later start replace the best so far? ``every``:
    steps between two lines that are printed, 0 for none.
    """

    def __init__(
        self, name: str, monitor: FitMonitor, count: int, better: Callable[[F, F], bool], every: int
    ):
        self.name, self.monitor, self.count = name, monitor, count
        self.better, self.every = better, every
        self.objectives: list[float] = []  # of the starts that are done
        self.steps = 0  # … and their steps
        self.trace: list[TracePoint] = []  # of the start under way

    def run(self, solve: Callable[[OnStep], F]) -> F:
        """The best of ``count`` fits, or of those made before a listener stopped the fit.

        ``solve(on_step)`` draws the next start, and runs the solver from it.
        """
        best: F | None = None
        best_trace: list[TracePoint] = []
        for _ in range(self.count):
            self.trace = []
            result = solve(self._on_step)
            self.objectives.append(result.objective)
            self.steps += result.n_iter
            if best is None or self.better(result, best):
                best, best_trace = result, self.trace
            if self.monitor.stopped is not None:
                break
        self.monitor.trace = best_trace
        assert best is not None
        return best

    def _on_step(self, step: Step) -> bool:
        """Hand on one step of one start, as a step of the whole."""
        seconds = kernel_clock.now() - self.monitor.started
        self.trace.append(TracePoint(step.iteration, seconds, step.objective, step.bound))
        if self.every and step.iteration % self.every == 0:
            self._print(step)
        if step.iteration == 0 and self.steps > 0:
            return False  # the start itself is no step
        trace, until = self.trace, len(self.trace)
        restarts = [*self.objectives, float(step.objective)]

        def iterate() -> Iterate:
            objectives = [point.objective for point in trace[:until]]
            return Iterate(step.parameters(), step.iteration, objectives, restarts)

        return self.monitor(
            step._replace(iteration=self.steps + step.iteration, parameters=iterate)
        )

    def _print(self, step: Step) -> None:
        which = f" start {len(self.objectives) + 1} of {self.count}," if self.count > 1 else ""
        print(
            printable(
                f"{self.name}:{which} iteration {step.iteration}, objective "
                f"{number(step.objective, 10)}"
            )
        )
