"""Labels of dense rows by differences in float64 alone, where rows lie too far apart for float32.

Bounds and products in float32 hold squares up to 1e38. A few rows 1e12 times as far out as the
others put either the bulk or themselves out of that range: then all distances are recomputed in
every step.
"""

import numpy as np

from ...data.rows import Rows
from .bounds import SAMPLE_ROWS, AssignmentChange, OwnDistances, block_rows, origin_and_scale

MAX_RELATIVE_DISTANCE = 2.0**40  # of the farthest row, in typical distances: float32 holds both
FIRST_SAMPLE_ROWS = 16  # rows sampled first; more only if these are all equal


class DifferenceAssigner:
    """Assigner that computes all distances in every step: O(n·k·p), no memory besides labels."""

    tracks_sums = False

    def __init__(self, rows: Rows, k: int):
        self.rows, self.k = rows, k
        self.c, self.scale = origin_and_scale(rows)
        self.labels = np.zeros(rows.shape[0], dtype=np.int32)
        self.C: np.ndarray | None = None
        self.block = block_rows(rows.shape[0], k, rows.shape[1])

    def move_to(self, C: np.ndarray) -> AssignmentChange:
        """Assign every row to the nearest of the centres C (k, p); sums are not tracked."""
        from ...kernels.kmeans.small import small_assign

        first, C = self.C is None, np.array(C, dtype=float, order="C")
        self.C, before, c = C, self.labels.copy(), self.c

        def block(
            X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray
        ) -> tuple[float]:
            X = np.ascontiguousarray(X)
            small_assign(X, np.empty(0) if s is None else s, C, labels)
            if not first:
                return (0.0,)
            Z = X - c
            d2 = np.einsum("ij,ij->i", Z, Z)
            return (float(d2.sum() if s is None else s @ d2),)

        (total,) = self.rows.reduce(
            block, beside=(self.labels,), block_rows=self.block, times=self.k
        )
        n, moved = len(before), int(np.count_nonzero(before != self.labels))
        mass = np.bincount(self.labels, self.rows.s, self.k).astype(float)
        if not first:
            mass -= np.bincount(before, self.rows.s, self.k)
        return AssignmentChange(np.zeros(C.shape), mass, n if first else moved, n, n, total)

    def distances_to_own_center(self) -> OwnDistances:
        """Measure every row against the centre of its label."""
        from ...kernels.kmeans.means import own_distances

        C, d2 = self.C, np.empty(len(self.labels))
        assert C is not None

        def block(
            X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, d2: np.ndarray
        ) -> tuple[float, np.ndarray]:
            X, s, residual_sums = (
                np.ascontiguousarray(X),
                np.empty(0) if s is None else s,
                np.zeros(C.shape),
            )
            return own_distances(X, s, C, 1.0, labels, d2, residual_sums), residual_sums

        total, residual_sums = self.rows.reduce(
            block, beside=(self.labels, d2), block_rows=self.block
        )
        return OwnDistances(float(total), d2, residual_sums)

    def invalidate(self, i: int) -> None:
        """Do nothing: this assigner holds no bounds."""


def exceeds_float32_range(rows: Rows) -> bool:
    """Whether some rows are too far out for float32 to hold them and the others; one pass."""
    if not isinstance(rows.X, np.ndarray):
        return False  # lazy rows are costly to make
    c, scale = origin_and_scale(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        typical = _typical_distance(rows.sample_block(FIRST_SAMPLE_ROWS)[0]) or _typical_distance(
            rows.sample_block(SAMPLE_ROWS)[0]
        )
        # 1/scale is about the largest deviation in the sample
        if 1.0 > MAX_RELATIVE_DISTANCE * typical * scale > 0.0:
            return True
        (total,) = rows.reduce(_squares)
        if np.sqrt(total) * scale <= MAX_RELATIVE_DISTANCE:
            return False
        (largest,) = rows.reduce(_largest_deviation, c, combine=lambda a, b: (max(a[0], b[0]),))
    return bool(not largest * scale <= MAX_RELATIVE_DISTANCE)


def _typical_distance(X: np.ndarray) -> float:
    """Return the median distance (largest coordinate) between rows, 0 if all are equal.

    Measured from three rows, so that one outlier among them does not matter.
    """
    X = np.asarray(X, dtype=float)
    sizes = np.median([np.abs(X - X[r]).max(axis=1) for r in (0, len(X) // 2, -1)], axis=0)
    return float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 0.0


def _squares(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> tuple[float]:
    x = X.ravel(order="K")
    return (float(np.dot(x, x)),)


def _largest_deviation(
    X: np.ndarray, _y: np.ndarray, _s: np.ndarray, c: np.ndarray
) -> tuple[float]:
    return (float(np.abs(X - c).max(initial=0.0)),)
