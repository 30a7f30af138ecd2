"""What a fitted model claims, as a definition and its parameters.

A model is known by the public name of its class, so nothing of another library is imported to read
its models. A subclass is read as the nearest class that is known.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import linear


@dataclass(frozen=True)
class Reading:
    """``definition.check(data, **parameters)`` recomputes what ``model`` claims."""

    model: str  # as printed
    definition: str
    formula: str
    parameters: dict[str, Any]
    choice: dict[str, Any] | None = None  # parameters of definitions.ridge_cv.check
    rank: int | None = None
    spectrum: dict[str, Any] = field(default_factory=dict)  # singular_ and condition_, if stated
    notes: tuple[str, ...] = ()
    ours: bool = True


_READERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "linear_model.LinearRegression": linear.read_least_squares,
    "linear_model.Ridge": linear.read_ridge,
    "linear_model.RidgeCV": linear.read_ridge_cv,
}
_LIBRARIES = ("certus", "sklearn")


def _public_name(cls: type) -> str:
    """sklearn.linear_model._base.LinearRegression → sklearn.linear_model.LinearRegression."""
    parts = [part for part in cls.__module__.split(".") if not part.startswith("_")]
    return ".".join([*parts[:2], cls.__name__])


def _known_name(model: Any) -> str | None:
    for cls in type(model).__mro__:
        library, _, name = _public_name(cls).partition(".")
        if library in _LIBRARIES and name in _READERS:
            return f"{library}.{name}"
    return None


def readable() -> str:
    """What can be read, for people."""
    names = ", ".join(sorted(_READERS))
    return (
        f"{names} of certus and scikit-learn, also as the last step of a Pipeline, inside "
        "GridSearchCV and the like, and in TransformedTargetRegressor"
    )


def known(model: Any) -> bool:
    return _known_name(model) is not None


def read(model: Any) -> Reading:
    """What a fitted model that is known claims."""
    full = _known_name(model)
    assert full is not None
    library, _, name = full.partition(".")
    ours = library == "certus"
    shown = type(model).__name__ if ours else full
    return Reading(model=shown, ours=ours, **_READERS[name](model))
