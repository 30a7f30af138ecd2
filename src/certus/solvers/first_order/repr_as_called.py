"""A ``repr`` that repeats the call: ``SGD(0.1, average=10)``."""

from typing import Any, Self


class ReprAsCalled:
    """Base class whose ``repr`` shows the arguments as they were passed."""

    _typed: tuple[str, ...]

    def __new__(cls, *given: Any, **named: Any) -> Self:
        self = super().__new__(cls)
        self._typed = *map(repr, given), *(f"{name}={value!r}" for name, value in named.items())
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._typed)})"
