"""Labels of dense rows by differences in float64 alone, where rows lie too far apart for float32.

Bounds and products in float32 hold squares up to 1e38. A few rows 1e12 times as far out as the
others leave the bulk, or themselves, beyond that: then all distances are computed each time.
"""

import numpy as np

from ...data.rows import Rows
from .bounds import SAMPLE, Change, Own, about, block_rows

MOST_APART = 2.0**40  # times the size of most rows
FEW = 16  # rows that tell it, unless they are all equal


class Differences:
    """O(n·k·p) a step, and no memory besides labels."""

    keeps_sums = False

    def __init__(self, rows: Rows, k: int):
        self.rows, self.k = rows, k
        self.c, self.scale = about(rows)
        self.labels = np.zeros(rows.shape[0], dtype=np.int32)
        self.C: np.ndarray | None = None
        self.block = block_rows(rows.shape[0], k, rows.shape[1])

    def move_to(self, C: np.ndarray) -> Change:
        """Every row to its nearest of the centres C (k, p). Sums of rows are not kept."""
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
        return Change(np.zeros(C.shape), mass, n if first else moved, n, n, total)

    def own(self) -> Own:
        """Distances of rows to their own centres."""
        from ...kernels.kmeans.means import own_distances

        C, d2 = self.C, np.empty(len(self.labels))
        assert C is not None

        def block(
            X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, d2: np.ndarray
        ) -> tuple[float, np.ndarray]:
            X, s, rest = np.ascontiguousarray(X), np.empty(0) if s is None else s, np.zeros(C.shape)
            return own_distances(X, s, C, 1.0, labels, d2, rest), rest

        total, rest = self.rows.reduce(block, beside=(self.labels, d2), block_rows=self.block)
        return Own(float(total), d2, rest)

    def forget(self, i: int) -> None:
        """Nothing is kept."""


def far_apart(rows: Rows) -> bool:
    """Are some rows so far out that float32 does not hold them and the others? One look at X."""
    if not isinstance(rows.X, np.ndarray):
        return False  # lazy rows are costly to make
    c, scale = about(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        most = _size_of_most(rows.sample_block(FEW)[0]) or _size_of_most(
            rows.sample_block(SAMPLE)[0]
        )
        if 1.0 > MOST_APART * most * scale > 0.0:  # 1/scale is the largest of the sample, about
            return True
        (total,) = rows.reduce(_squares)
        if np.sqrt(total) * scale <= MOST_APART:
            return False
        (largest,) = rows.reduce(_largest, c, combine=lambda a, b: (max(a[0], b[0]),))
    return bool(not largest * scale <= MOST_APART)


def _size_of_most(X: np.ndarray) -> float:
    """How far most rows are from each other: a median about rows of which two of three, at least,
    are no far ones. 0 where they are all equal."""
    X = np.asarray(X, dtype=float)
    sizes = np.median([np.abs(X - X[r]).max(axis=1) for r in (0, len(X) // 2, -1)], axis=0)
    return float(np.median(sizes[sizes > 0])) if (sizes > 0).any() else 0.0


def _squares(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> tuple[float]:
    x = X.ravel(order="K")
    return (float(np.dot(x, x)),)


def _largest(X: np.ndarray, _y: np.ndarray, _s: np.ndarray, c: np.ndarray) -> tuple[float]:
    return (float(np.abs(X - c).max(initial=0.0)),)
