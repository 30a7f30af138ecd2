"""Interface between a mixture and the distribution of its components.

    parameters ─► ComponentFamily ── problem(rows) ─► EM ─► θ ── attributes ─► model

A family holds parameters of the estimator and no fitted state: θ is read from the fitted model.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from ..data.rows import Rows

if TYPE_CHECKING:
    from ._base import Mixture

P = TypeVar("P")  # the problem that EM solves
T = TypeVar("T")  # θ

Names = Sequence[str] | None  # of the columns
# (X, y, s) of a block → log π_k p(x | θ_k), (rows, k); it can be pickled
LogJoint = Callable[..., np.ndarray]


class ComponentFamily(Protocol[P, T]):
    """Distributions that the components of a mixture may have."""

    def problem(self, rows: Rows, names: Names) -> P:
        """Problem of fitting these distributions to the rows; raise if a row has no density."""
        ...

    def starts(
        self, problem: P, rng: np.random.RandomState, fitted: "Mixture | None"
    ) -> Callable[[], T]:
        """Return a function that gives the next start.

        ``fitted``: a model to start from if it has the same shape, or None.
        """
        ...

    def attributes(self, problem: P, theta: T) -> dict[str, Any]:
        """Fitted attributes that hold θ, by name."""
        ...

    def log_joint(self, rows: Rows, fitted: "Mixture", names: Names) -> LogJoint:
        """Return the function from a block of rows to log π_k p(x | θ_k), (rows, k)."""
        ...

    def draw_rows(self, rng: np.random.RandomState, y: np.ndarray, fitted: "Mixture") -> np.ndarray:
        """Draw one row from each of the components y, which are sorted."""
        ...

    def n_parameters(self, fitted: "Mixture") -> int:
        """Number of free parameters."""
        ...
