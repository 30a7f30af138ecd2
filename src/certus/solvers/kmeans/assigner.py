"""The interface of assigners, the choice among them, and a single assignment."""

from typing import Any, Protocol

import numpy as np

from ...data.rows import Rows
from .bounds import Bounds
from .differences import DifferenceAssigner, exceeds_float32_range
from .fit import AssignmentChange, OwnDistances
from .sparse import SparseAssigner


class Assigner(Protocol):
    """Labels of all rows, kept up to date while the centres move."""

    tracks_sums: bool  # whether move_to reports the change of the clusters' sums
    labels: Any  # the nearest centre of each row: a ``RowState``
    C: np.ndarray | None  # centres; None before the first move
    c: np.ndarray  # the origin that sums are taken about
    block: int  # rows of a block

    def move_to(self, C: np.ndarray) -> AssignmentChange:
        """Update every label for the centres C (k, p)."""
        ...

    def distances_to_own_center(self, keep: bool = True) -> OwnDistances:
        """Measure every row against the centre of its label; ``keep``: and keep the distances."""
        ...

    def invalidate(self, i: int) -> None:
        """Discard the bounds of row i, whose label was changed from outside."""
        ...


def assigner(rows: Rows, k: int, once: bool = False) -> Assigner:
    """Choose the assigner by the kind of rows; ``once``: no further step will need bounds."""
    if rows.sparse:
        return SparseAssigner(rows, k)
    if exceeds_float32_range(rows):
        return DifferenceAssigner(rows, k)
    return Bounds(rows, k, 1 if once else None)


def nearest_centers(rows: Rows, centers: np.ndarray) -> tuple[Any, Any]:
    """Return (labels, squared distances) of the nearest centres; of equally near ones the first.

    They are arrays, or for streamed rows what ``Rows.allocate`` gives.

    Distances are differences in float64. O(n·k·p), mostly in float32; a few numbers a row.
    """
    C = np.ascontiguousarray(centers, dtype=float)
    engine = assigner(rows, len(C), once=True)
    engine.move_to(C)
    return engine.labels, engine.distances_to_own_center().d2
