"""The interface of a loss, and the base class of losses of one score."""

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np


class Loss(Protocol):
    """A convex loss ℓ(y, z), row by row; z is (n,), or (n, K) where a row has K scores.

    Solvers call ``evaluate`` once for each block of a pass. The other methods define the loss, and
    the tests compare ``evaluate`` with them.
    """

    name: str
    formula: str
    several: bool  # whether a row has K scores rather than one
    curvature_bound: float  # upper bound of the eigenvalues of the curvature
    never_zero: bool  # positive at every score, so that separated classes have no optimum
    curved: bool  # the curvature is positive and smooth at every score

    def value(self, y: np.ndarray, z: np.ndarray) -> Any:
        """Return ℓ(y, z), (n,)."""

    def slope(self, y: np.ndarray, z: np.ndarray) -> Any:
        """Return ∂ℓ/∂z, in the shape of z."""

    def curvature(self, y: np.ndarray, z: np.ndarray) -> Any:
        """Return ∂²ℓ/∂z², (n,) or (n, K, K); either one-sided value where it jumps."""

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        """Return ℓ*(y, a) = sup_z ⟨a, z⟩ − ℓ(y, z), (n,); infinite outside its domain."""

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        """Return value, slope, and a state from which ``curvature_product`` is cheap."""

    def curvature_product(self, state: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the curvature times v, in the shape of v."""


class OneScore:
    """Base of losses of one score: the state is the curvature, one number for each row."""

    several = False
    never_zero = False
    curved = False

    def curvature_product(self, state: np.ndarray, v: np.ndarray) -> np.ndarray:
        return state * v

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({given})"


class EvaluatedLoss(OneScore, ABC):
    """Base of losses whose value, slope and curvature share most of their work."""

    @abstractmethod
    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        """Return value, slope and curvature."""

    def value(self, y: np.ndarray, z: np.ndarray) -> Any:
        return self.evaluate(y, z)[0]

    def slope(self, y: np.ndarray, z: np.ndarray) -> Any:
        return self.evaluate(y, z)[1]

    def curvature(self, y: np.ndarray, z: np.ndarray) -> Any:
        return self.evaluate(y, z)[2]


def xlogx(u: np.ndarray) -> Any:
    """Return u log u, 0 at 0."""
    return u * np.log(np.where(u > 0, u, 1.0))


def where_inside(inside: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return the value inside the domain, +∞ outside."""
    return np.where(inside, value, np.inf)
