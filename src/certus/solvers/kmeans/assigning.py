"""Which way of assigning rows suits them, and one assignment."""

from typing import Any

import numpy as np

from ...rows import Rows
from .bounds import Bounds
from .differences import Differences, far_apart
from .sparse import SparseAssigner


def assigner(rows: Rows, k: int, once: bool = False) -> Any:
    """``once``: bounds for further steps are not wanted."""
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
