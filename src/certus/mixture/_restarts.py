"""EM from several starts, of which the best is kept.

    best = argmax_r F(θ_r),  F = L + log prior,  ties to the first start

Listeners hear of all starts as of one long fit. The trace is that of the start that was kept.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._watching import TracePoint, Watching
from .._words import number, printable
from ..solvers.em import Found
from ..solvers.steps import Step

SAME = 1e-12  # relative: objectives that differ by rounding alone are equal


class Iterate(NamedTuple):
    """Where a start is after some steps."""

    theta: Any
    n_iter: int
    trace: list[float]
    restarts: list[float]  # objectives of the starts that are done, and of this one


class Restarts:
    """The starts of one fit. ``every``: steps between two lines that are printed; 0 for none."""

    def __init__(self, name: str, watching: Watching, count: int, every: int):
        self.name, self.watching, self.count, self.every = name, watching, count, every
        self.objectives: list[float] = []  # of the starts that are done
        self.steps = 0  # … and their steps
        self.trace: list[TracePoint] = []  # of the start under way
        self.best: Found | None = None

    def run(self, start: Callable[[], Any], solve: Callable[..., Found]) -> Found:
        """The best of ``count`` fits, or of those before a listener said stop."""
        kept: list[TracePoint] = []
        for _ in range(self.count):
            self.trace = []
            found = solve(start(), on_step=self._told)
            self.objectives.append(found.objective)
            self.steps += found.n_iter
            if self.best is None or _better(found, self.best):
                self.best, kept = found, self.trace
            if self.watching.stopped is not None:
                break
        self.watching.trace = kept
        assert self.best is not None
        return self.best

    def _told(self, step: Step) -> bool:
        """One step of one start, told as a step of the whole."""
        seconds = time.perf_counter() - self.watching.started
        self.trace.append(TracePoint(step.iteration, seconds, step.objective, step.bound))
        if self.every and step.iteration % self.every == 0:
            self._say(step)
        if step.iteration == 0 and self.steps > 0:
            return False  # the start itself is no step
        trace = [point.objective for point in self.trace]
        so_far = [*self.objectives, float(step.objective)]
        told = step._replace(
            iteration=self.steps + step.iteration,
            parameters=lambda: Iterate(step.parameters(), step.iteration, trace, so_far),
        )
        return self.watching(told)

    def _say(self, step: Step) -> None:
        which = f" start {len(self.objectives) + 1} of {self.count}," if self.count > 1 else ""
        print(
            printable(
                f"{self.name}:{which} iteration {step.iteration}, objective "
                f"{number(step.objective, 10)}"
            )
        )


def _better(found: Found, best: Found) -> bool:
    """Of fits in which no component collapsed, the best; else the best of the others."""
    if (found.collapsed is None) != (best.collapsed is None):
        return found.collapsed is None
    return bool(found.objective > best.objective + SAME * np.abs(best.objective))
