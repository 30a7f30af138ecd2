"""Which way of assigning rows suits them, and one assignment."""

from typing import Protocol

import numpy as np

from ...data.rows import Rows
from .bounds import Bounds, Change, Own
from .differences import Differences, far_apart
from .sparse import SparseAssigner


class Assigner(Protocol):
    """Rows with labels that follow moving centres."""

    keeps_sums: bool  # move_to reports what the sums of the clusters lost and gained
    labels: np.ndarray  # the nearest centre of each row
    C: np.ndarray | None  # centres; None before the first move
    c: np.ndarray  # the origin that sums are taken about

    def move_to(self, C: np.ndarray) -> Change:
        """Bring every label up to date with the centres C."""
        ...

    def own(self) -> Own:
        """Measure all rows against their own centres."""
        ...

    def forget(self, i: int) -> None:
        """Row i was given another label: what is known of its distances no longer holds."""
        ...


def assigner(rows: Rows, k: int, once: bool = False) -> Assigner:
    """The assigner that suits the rows; ``once``: bounds for further steps are not wanted."""
    if rows.sparse:
        return SparseAssigner(rows, k)
    if far_apart(rows):
        return Differences(rows, k)
    return Bounds(rows, k, 1 if once else None)


def nearest_centers(rows: Rows, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(labels, squared distances): the first of the nearest centres, by differences in float64.

    O(n·k·p), mostly in float32; memory for a few numbers a row.
    """
    C = np.ascontiguousarray(centers, dtype=float)
    engine = assigner(rows, len(C), once=True)
    engine.move_to(C)
    return engine.labels, engine.own().d2
