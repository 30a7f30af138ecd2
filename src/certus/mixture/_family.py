"""What a mixture asks of the distribution of its components.

    parameters ─► ComponentFamily ── problem(rows) ─► what EM runs on ─► θ ── attributes ─► model

A family holds parameters of the estimator and nothing fitted: θ is read from the fitted model.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from ..data.rows import Rows

if TYPE_CHECKING:
    from ._base import Mixture

P = TypeVar("P")  # the rows with these distributions
T = TypeVar("T")  # θ

Names = Sequence[str] | None  # of the columns


class ComponentFamily(Protocol[P, T]):
    """Distributions that the components of a mixture may have."""

    def problem(self, rows: Rows, names: Names) -> P:
        """The rows with these distributions, for EM; rows without a density are refused."""
        ...

    def starts(
        self, problem: P, draw: np.random.RandomState, fitted: "Mixture | None"
    ) -> Callable[[], T]:
        """A function that gives the next start.

        ``fitted``: a model to begin from, where it has the same shape; None: there is none.
        """
        ...

    def attributes(self, problem: P, theta: T) -> dict[str, Any]:
        """Fitted attributes of θ."""
        ...

    def log_joint(self, rows: Rows, fitted: "Mixture", names: Names) -> Callable[..., np.ndarray]:
        """A function of blocks of rows: log π_k p(x | θ_k) of the fitted model, (rows, k)."""
        ...

    def draw_rows(
        self, draw: np.random.RandomState, y: np.ndarray, fitted: "Mixture"
    ) -> np.ndarray:
        """A row of each of the components y, which are sorted."""
        ...

    def n_parameters(self, fitted: "Mixture") -> int:
        """How many numbers were fitted."""
        ...
