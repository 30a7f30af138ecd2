"""Lloyd's steps from several starts, of which the best is kept.

    best = argmin_r J(μ_r),  J = Σ s_i min_k ‖x_i − μ_k‖²,  ties to the first start

Listeners hear of all starts as of one long fit. The trace is that of the start that was kept.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._pool import blas_limiter
from .._watching import TracePoint, Watching
from .._words import number, printable
from ..rows import Rows
from ..solvers.kmeans import Fit, lloyd
from ..solvers.steps import Step

SAME = 1e-12  # relative: objectives that differ by rounding alone are equal


class Iterate(NamedTuple):
    """Where a start is after some steps."""

    centers: np.ndarray
    n_iter: int
    restarts: list[float]  # objectives of the starts that are done, and of this one


class Restarts:
    """The starts of one fit."""

    def __init__(self, name: str, watching: Watching, count: int, verbose: Any):
        self.name, self.watching, self.count, self.verbose = name, watching, count, verbose
        self.objectives: list[float] = []  # of the starts that are done
        self.steps = 0  # … and their steps
        self.trace: list[TracePoint] = []  # of the start under way
        self.best: Fit | None = None

    def run(self, rows: Rows, start: Callable[[], np.ndarray], **how: Any) -> Fit:
        """The best of ``count`` fits, or of those before a listener said stop."""
        kept: list[TracePoint] = []
        for _ in range(self.count):
            self.trace = []
            begin = start()
            with blas_limiter.for_work(rows.shape), np.errstate(over="ignore", invalid="ignore"):
                found = lloyd(rows, begin, on_step=self._told, **how)
            self.objectives.append(found.objective)
            self.steps += found.n_iter
            if self.best is None or found.objective < (1 - SAME) * self.best.objective:
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
        if self.verbose:
            self._say(step)
        if step.iteration == 0 and self.steps > 0:
            return False  # the start itself is no step
        so_far = [*self.objectives, float(step.objective)]
        told = step._replace(
            iteration=self.steps + step.iteration,
            parameters=lambda: Iterate(step.parameters()[0], step.iteration, so_far),
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
