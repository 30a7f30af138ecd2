"""Rows of few columns find their nearest centre by walking along the neighbours of their last one.

In the first step they start from the centre nearest to the middle of their grid cell.
"""

from typing import NamedTuple

import numpy as np

from ...runtime.pool import run_on_threads
from ..neighbors.lists import even_slices
from .fit import AssignmentChange
from .groups import cells_of

NEIGHBORS_PER_COLUMN = 12  # length of a centre's list of neighbours, times the number of columns
CENTERS_PER_TASK = 32  # centres whose neighbours one task computes


class WalkStep(NamedTuple):
    """The centres, their lists of neighbours, and how far they moved."""

    C: np.ndarray
    c: np.ndarray
    scale: float
    near: np.ndarray  # (k, m): the nearest other centres of each centre
    gap: np.ndarray  # (k, m): their distances
    drifts: tuple[np.ndarray, np.ndarray]  # of each centre, and the largest in its list
    cells: tuple[np.ndarray, np.ndarray] | None  # of the first step; then None


def walk_of(
    C: np.ndarray, c: np.ndarray, scale: float, drift: np.ndarray | None, threads: int
) -> WalkStep:
    """Return a step to the centres C; ``drift``: how far they moved, None for the first step."""
    from ...kernels.kmeans.walk import neighbors

    k = len(C)
    moved = np.zeros(k, dtype=np.float32) if drift is None else drift
    m = min(k - 1, NEIGHBORS_PER_COLUMN * len(c))
    near, gap = np.zeros((k, m), dtype=np.int32), np.empty((k, m))
    parts = even_slices(k, CENTERS_PER_TASK)
    run_on_threads(
        lambda i: neighbors(C, scale, parts[i].start, parts[i].stop, near, gap),
        len(parts), threads,
    )  # fmt: skip
    cells = cells_of(C) if drift is None else None
    return WalkStep(C, c, scale, near, gap, (moved, moved[near].max(axis=1)), cells)


def walk_block(
    X: np.ndarray,
    _y: object,
    s: np.ndarray | None,
    labels: np.ndarray,
    u: np.ndarray,
    L: np.ndarray,
    step: WalkStep,
) -> AssignmentChange:
    """Update labels and bounds of one block."""
    from ...kernels.kmeans.walk import cells, walk

    C, c, scale, near, gap, drifts, grid = step
    sums, mass = np.zeros(C.shape), np.zeros(len(C))
    X, l = np.ascontiguousarray(X), L[:, 0]
    if grid is not None:
        cells(X, *grid, labels)
        u[:], l[:] = np.inf, 0
    counts = walk(
        X, np.empty(0) if s is None else s, c, scale, C, near, gap, drifts, grid is not None,
        (u, l, labels), sums, mass,
    )  # fmt: skip
    return AssignmentChange(sums, mass, *counts)
