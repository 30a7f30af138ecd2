"""Progress of the procedure, for whoever waits."""

from typing import Protocol


class Progress(Protocol):
    """Receives what is being done, and the share of the work that is done.

    ``done`` and ``of`` are in units of the cost model, so the time left is about (of − done)/done
    of the time passed.
    """

    def step(self, name: str, done: int, of: int) -> None:
        """``name`` is being done now; ``done`` of ``of`` units lie behind."""
        ...


class Silent:
    """Progress that nobody waits for."""

    def step(self, name: str, done: int, of: int) -> None:
        """Do nothing."""
