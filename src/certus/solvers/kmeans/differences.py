"""Labels of dense rows by differences in float64 alone, where rows lie too far apart for float32.

Bounds and products in float32 hold squares up to 1e38. A few rows 1e12 times as far out as the
others put either the bulk or themselves out of that range: then all distances are recomputed in
every step.
"""

import numpy as np

from ...data.rows import Rows
from .bounds import SAMPLE_ROWS, block_rows, origin_and_scale
from .fit import AssignmentChange, OwnDistances, own_distances
from .squares import sum_of_squares

MAX_RELATIVE_DISTANCE = 2.0**40  # of the farthest row, in typical distances: float32 holds both
FIRST_SAMPLE_ROWS = 16  # rows sampled first; more only if these are all equal


class DifferenceAssigner:
    """Assigner that computes all distances in every step: O(n·k·p), no memory besides labels."""

    tracks_sums = False

    def __init__(self, rows: Rows, k: int):
        self.rows, self.k = rows, k
        self.c, self.scale = origin_and_scale(rows)
        self.labels = rows.allocate(dtype=np.int32)
        self.C: np.ndarray | None = None
        self.block = block_rows(rows.shape[0], k, rows.shape[1], rows.shape[1])

    def move_to(self, C: np.ndarray) -> AssignmentChange:
        """Assign every row to the nearest of the centres C (k, p); sums are not tracked."""
        first, self.C = self.C is None, np.array(C, dtype=float, order="C")
        n = self.rows.shape[0]
        moved, mass, total = self.rows.reduce(
            _assign_block, self.C, self.c, first,
            beside=(self.labels,), block_rows=self.block, times=self.k,
        )  # fmt: skip
        return AssignmentChange(np.zeros(C.shape), mass, n if first else moved, n, n, total)

    def distances_to_own_center(self, keep: bool = True) -> OwnDistances:
        """Measure every row against the centre of its label."""
        return own_distances(self.rows, self.labels, self.C, 1.0, self.block, keep)

    def invalidate(self, i: int) -> None:
        """Do nothing: this assigner holds no bounds."""


def _assign_block(
    X: np.ndarray,
    _y: object,
    s: np.ndarray | None,
    labels: np.ndarray,
    C: np.ndarray,
    c: np.ndarray,
    first: bool,
) -> tuple[int, np.ndarray, float]:
    """Return how many rows moved, by how much the masses changed, and at first Σ s‖x − c‖²."""
    from ...kernels.kmeans.small import small_assign

    X, k, before = np.ascontiguousarray(X), len(C), labels.copy()
    small_assign(X, np.empty(0) if s is None else s, C, labels)
    moved, mass = int(np.count_nonzero(before != labels)), np.bincount(labels, s, k).astype(float)
    if not first:
        return moved, mass - np.bincount(before, s, k), 0.0
    Z = X - c
    d2 = np.einsum("ij,ij->i", Z, Z)
    return moved, mass, float(d2.sum() if s is None else s @ d2)


def exceeds_float32_range(rows: Rows) -> bool:
    """Whether some rows are too far out for float32 to hold them and the others; one pass."""
    if not rows.stored:
        return False  # lazy rows are costly to make
    c, scale = origin_and_scale(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        typical = _typical_distance(rows.sample_block(FIRST_SAMPLE_ROWS)[0]) or _typical_distance(
            rows.sample_block(SAMPLE_ROWS)[0]
        )
        # 1/scale is about the largest deviation in the sample
        if 1.0 > MAX_RELATIVE_DISTANCE * typical * scale > 0.0:
            return True
        if np.sqrt(sum_of_squares(rows)) * scale <= MAX_RELATIVE_DISTANCE:
            return False
        (largest,) = rows.reduce(_largest_deviation, c, combine=_larger)
    return bool(not largest * scale <= MAX_RELATIVE_DISTANCE)


def _typical_distance(X: np.ndarray) -> float:
    """Return the median distance (largest coordinate) between rows, 0 if all are equal.

    Measured from three rows, so that one outlier among them does not matter.
    """
    X = np.asarray(X, dtype=float)
    sizes = np.median([np.abs(X - X[r]).max(axis=1) for r in (0, len(X) // 2, -1)], axis=0)
    return float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 0.0


def _largest_deviation(
    X: np.ndarray, _y: np.ndarray, _s: np.ndarray, c: np.ndarray
) -> tuple[float]:
    return (float(np.abs(X - c).max(initial=0.0)),)


def _larger(a: tuple[float], b: tuple[float]) -> tuple[float]:
    return (max(a[0], b[0]),)
