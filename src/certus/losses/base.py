"""What a solver asks of a loss, and what losses of one score share."""

from typing import Any, Protocol

import numpy as np


class Loss(Protocol):
    """A convex loss ℓ(y, z), row by row; z is (n,), or (n, K) where a row has K scores.

    ``evaluate`` is what solvers call, once for each block of a pass; the rest says what it means
    and is what the tests compare.
    """

    name: str
    formula: str
    several: bool  # a row has K scores
    curvature_bound: float  # no eigenvalue of the curvature is above this
    never_zero: bool  # above 0 at every score: classes that are separated then have no optimum

    def value(self, y: np.ndarray, z: np.ndarray) -> Any:
        """ℓ(y, z), (n,)."""

    def slope(self, y: np.ndarray, z: np.ndarray) -> Any:
        """∂ℓ/∂z, like z."""

    def curvature(self, y: np.ndarray, z: np.ndarray) -> Any:
        """∂²ℓ/∂z², (n,) or (n, K, K). Where it jumps, either side."""

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        """ℓ*(y, a) = sup_z ⟨a, z⟩ − ℓ(y, z), (n,); infinite outside its domain."""

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        """Value, slope, and a state from which ``curvature_product`` is cheap."""

    def curvature_product(self, state: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Curvature times v, like v."""


class OneScore:
    """Losses of one score: the curvature is a number for each row, and is the state."""

    several = False
    never_zero = False

    def curvature_product(self, state: np.ndarray, v: np.ndarray) -> np.ndarray:
        return state * v

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({given})"


def where_inside(inside: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The value inside the domain, +∞ outside."""
    return np.where(inside, value, np.inf)
