"""What a solver of NCFS needs of its problem, of all rows at once or batch by batch."""

from typing import Protocol, Self

import numpy as np

from .problem import NCFSEvaluation


class NCFSObjective(Protocol):
    """Interface: F(W) with its slope, in P columns."""

    alpha: float  # λ; 0 if W is identified up to a factor only
    metric: str
    scale_free: bool

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def a_total(self) -> float:
        """Σ a, the scale of F."""
        ...

    def restricted(self, columns: np.ndarray) -> Self:
        """Return the same problem in some columns, with the others at W = 0."""
        ...

    def slope_scale(self) -> float: ...

    def value(self, W: np.ndarray) -> float: ...

    def value_and_slope(self, W: np.ndarray) -> NCFSEvaluation: ...

    def kinks(self, W: np.ndarray) -> np.ndarray | None: ...
