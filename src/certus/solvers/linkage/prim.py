"""Single linkage: the edges of a minimum spanning tree, by Prim's algorithm.

    start from any row; n − 1 times, the row nearest to the tree joins it

Invariant: best[t] is row t's least distance to the tree. Sorted by length, the edges are the
merges: of all paths between two rows, the one in the tree has the smallest longest edge.

O(n²p) time; O(n·p) memory, half of X for the panels in float32.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from .matrix import number_of_rows
from .merging import Merges
from .panels import LANES, error_of, panels_of, scale_of, too_coarse


def edges_of_rows(X: np.ndarray, steps: int) -> Iterator[Merges]:
    """Yield (pairs of rows, squared lengths), ``steps`` edges at a time."""
    from ...kernels.linkage import vectors as kernel

    n, p = X.shape
    of = scale_of(X)
    m = n - 1  # rows 1 … n − 1 are outside
    chunks = -(-m // LANES)
    best, link = np.full(chunks * LANES, np.inf), np.zeros(chunks * LANES, dtype=np.intp)
    row, least = np.zeros(chunks * LANES, dtype=np.intp), np.full(chunks, np.inf)
    row[:m] = np.arange(1, n)
    scale = np.concatenate([[of.scale], of.middle * of.scale])
    dtype: DTypeLike = np.float32

    def outside(rows: slice) -> np.ndarray:
        return (X[row[:m][rows]] - of.middle) * of.scale

    panels = panels_of(outside, m, p, chunks, dtype)
    limit = np.full(len(best), -1.0, dtype=dtype)
    limit[:m] = np.inf
    e, kappa = error_of(of, p, dtype)
    counts, last, searches = np.zeros(2, dtype=np.intp), 0, 0
    while m > 0:
        count = min(steps, m)
        edges, heights = np.empty((count, 2), dtype=np.intp), np.empty(count)
        last = kernel.prim(
            X, panels, scale, e, kappa, m, last, count, best, limit, link, row, least, edges,
            heights, counts,
        )  # fmt: skip
        m -= count
        searches += count
        yield edges, heights
        if dtype == np.float32 and too_coarse(counts, searches):
            dtype, panels = np.float64, panels[:0]
            e, kappa = error_of(of, p, dtype)
            panels = panels_of(outside, m, p, chunks, dtype)
            limit = np.full(len(best), -1.0)
            limit[:m] = (np.sqrt(best[:m]) * of.scale + e) ** 2 * (1 + kappa)


def edges_of_distances(D: np.ndarray, steps: int) -> Iterator[Merges]:
    """Yield (pairs of rows, lengths) for given distances, square or condensed.

    D is only read: O(n²) time, O(n) memory.
    """
    from ...kernels.linkage import matrix as kernel

    n = number_of_rows(D)
    best, link, mask = np.full(n, np.inf), np.zeros(n, dtype=np.intp), np.zeros(n)
    mask[0], last, left = np.inf, 0, n - 1
    while left > 0:
        count = min(steps, left)
        edges, lengths = np.empty((count, 2), dtype=np.intp), np.empty(count)
        last = kernel.prim(D, last, count, best, link, mask, edges, lengths)
        left -= count
        yield edges, lengths
