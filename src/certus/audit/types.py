"""The type of a fitted model of any library, as readers take it."""

from typing import Any, Protocol


class FittedModel(Protocol):
    """A fitted model, read by its attributes."""

    def __getattr__(self, name: str) -> Any:
        """An attribute of the model."""
        ...
