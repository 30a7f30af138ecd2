"""The best fits so far of classes solved one after another against the rest, kept on Ctrl-C."""

from collections.abc import Callable
from typing import Any

from ..solvers.progress import OnStep, Step


class ClassesSoFar:
    """The best iterate of each class.

    ``start(k)``: the fit that stands for class k where its solver has made no step.
    """

    def __init__(self, n_classes: int, start: Callable[[int], Any]):
        self.start = start
        self.best: list[Any] = [None] * n_classes
        self.least = [float("inf")] * n_classes  # objectives
        self.complete: set[int] = set()

    def listener(self, k: int) -> OnStep:
        """Return the ``on_step`` of the solver of class k. Threads may call several at once."""

        def on_step(step: Step) -> bool:
            if step.iteration > 0 and step.objective < self.least[k]:
                self.best[k], self.least[k] = step.parameters(), step.objective
            return False

        return on_step

    def done(self, k: int, fit: object) -> None:
        """Record the final fit of class k."""
        self.best[k] = fit
        self.complete.add(k)

    def fits(self) -> list[Any]:
        """Return a fit for each class."""
        return [self.start(k) if fit is None else fit for k, fit in enumerate(self.best)]

    def has_steps(self) -> bool:
        """Return whether any class has made a step."""
        return any(fit is not None for fit in self.best)

    def message(self) -> str:
        """Return a description of what was kept."""
        K, n_unstarted = len(self.best), sum(fit is None for fit in self.best)
        message = f"after {len(self.complete)} of {K} classes; the best fit so far of each was kept"
        return message + (f", {n_unstarted} of them at their start" if n_unstarted else "")
