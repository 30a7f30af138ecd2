"""Ward, centroid and median linkage of rows: merge the nearest pair of centres, repeatedly.

    d(A, B)² = w‖c_A − c_B‖²         c_AB = c_A + (c_B − c_A)·g_B/(g_A + g_B)

    centroid   w = 1                      g = |A|
    median     w = 1                      g = 1
    ward       w = 2/(1/|A| + 1/|B|)      g = |A|

Müllner's generic algorithm (kernels/linkage/vectors.py): every merge is of the nearest pair of all,
so inversions appear in their order. O(n²p) time if few slots search again, O(n³p) at worst; memory
O(n·p): centres of merged clusters (at most n/2 at a time) and panels in float32.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from ...runtime.pool import run_on_threads
from .merging import Merges
from .panels import LANES, error_of, panels_of, scale_of, too_coarse

# whether the mass in w, and the weight g, grow with the size of a cluster
MASS_GROWTH = {"centroid": (0.0, 1.0), "median": (0.0, 0.0), "ward": (1.0, 1.0)}
MAX_DEAD_SHARE = 1 / 16  # of slots, above which they are compacted
TASK_SLOTS = 64  # slots whose first search is one task
DEAD_SLOT = -1e30  # as in the kernel


class CenterArrays:
    """Arrays of the kernel: centres, masses and nearest slots; slots are in order of age."""

    def __init__(self, X: np.ndarray, method: str):
        n, p = X.shape
        self.X, self.of = X, scale_of(X)
        self.middle, self.scale = self.of.middle, self.of.scale
        self.slots = -(-(n + max_dead(n)) // LANES) * LANES
        chunks = self.slots // LANES
        self.C = np.empty((n // 2 + 1, p))
        self.number = np.arange(self.slots, dtype=np.int32)
        self.at = np.full(self.slots, -1, dtype=np.int32)
        self.mass, self.weight = np.ones(self.slots), np.ones(self.slots)
        self.value, self.nn = np.full(self.slots, np.inf), np.full(self.slots, -1, dtype=np.int32)
        self.least = np.full(chunks, np.inf)
        self.free = np.arange(len(self.C), dtype=np.int32)[::-1].copy()
        self.state = np.array([n, len(self.C), n])
        self.grow, self.counts = np.array(MASS_GROWTH[method]), np.zeros(2, dtype=np.intp)
        self.part = np.where(np.arange(self.slots) < n, 1.0, DEAD_SLOT)
        self.use_dtype(np.float32)

    def use_dtype(self, dtype: DTypeLike) -> None:
        """Rebuild the panels with the given dtype."""
        used, p = int(self.state[0]), self.X.shape[1]
        self.e, self.kappa = error_of(self.of, p, dtype)
        self.part = np.where(self.part > 0, 1 / self.mass, DEAD_SLOT).astype(dtype)
        self.panels = np.empty(0, dtype=dtype)  # frees the old ones first
        self.panels = panels_of(self._scaled, used, p, self.slots // LANES, dtype)

    def _scaled(self, slots: slice) -> np.ndarray:
        at = self.at[slots]
        rows = np.where(at < 0, self.number[slots], 0)
        x = self.X[rows] - self.middle
        return np.where((at < 0)[:, None], x, self.C[np.maximum(at, 0)]) * self.scale


def max_dead(alive: int) -> int:
    return max(LANES, int(MAX_DEAD_SHARE * alive))


def merges_of_rows(X: np.ndarray, method: str, steps: int, threads: int) -> Iterator[Merges]:
    """Yield pairs of cluster numbers and squared heights, in the order of merging."""
    from ...kernels.linkage import vectors as kernel

    n = len(X)
    c = CenterArrays(X, method)
    groups = -(-n // TASK_SLOTS)
    counts = np.zeros((groups, 2), dtype=np.intp)

    def search(i: int) -> None:  # the longest searches first
        g = groups - 1 - i
        kernel.first(c, g * TASK_SLOTS, min((g + 1) * TASK_SLOTS, n), counts[g])

    search(0)
    if too_coarse(counts[-1], TASK_SLOTS):
        c.use_dtype(np.float64)
    run_on_threads(lambda i: search(i + 1), groups - 1, threads)
    c.counts += counts.sum(axis=0)
    c.least[:] = c.value.reshape(-1, LANES).min(axis=1)
    searches, left, dead, highest = n, n - 1, 0, 0.0
    while left > 0:
        alive = left + 1
        count = min(steps, left, max_dead(alive) - dead)
        pairs, heights = np.empty((count, 2), dtype=np.intp), np.empty(count)
        kernel.generic(c, count, pairs, heights)
        if method == "ward":  # Ward's heights never fall, except by rounding
            heights = np.maximum.accumulate(np.maximum(heights, highest))
            highest = heights[-1]
        yield pairs, heights
        left -= count
        dead += count
        searches += 2 * count
        if dead >= max_dead(alive - count) or c.state[0] + 1 >= c.slots:
            kernel.compact(c)
            dead = 0
        if c.panels.dtype == np.float32 and too_coarse(c.counts, searches):
            c.use_dtype(np.float64)
