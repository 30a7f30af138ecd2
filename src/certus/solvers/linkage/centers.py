"""Ward, centroid and median of rows: the least pair of centres, again and again.

    d(A, B)² = w‖c_A − c_B‖²         c_AB = c_A + (c_B − c_A)·g_B/(g_A + g_B)

    centroid   w = 1                      g = |A|
    median     w = 1                      g = 1
    ward       w = 2/(1/|A| + 1/|B|)      g = |A|

Müllner's generic algorithm (kernels/linkage/vectors.py): every merge is of a least pair of all, so
inversions are found as they come. O(n²p) time where few slots search again, O(n³p) at worst; memory
O(n·p): centres of what was merged (at most n/2 at a time) and panels in float32.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from ...runtime.pool import run_on_threads
from .merging import Merges
from .panels import LANES, error_of, panels_of, scale_of, too_coarse

GROW = {"centroid": (0.0, 1.0), "median": (0.0, 0.0), "ward": (1.0, 1.0)}  # of 1/w and of g
ROOM = 1 / 16  # of the slots may be dead before the living move together
GROUP = 64  # slots that search at a time
DEAD = -1e30  # as in the kernel


class Centers:
    """What the kernel works on; slots in order of age."""

    def __init__(self, X: np.ndarray, method: str):
        n, p = X.shape
        self.X, self.of = X, scale_of(X)
        self.middle, self.scale = self.of.middle, self.of.scale
        self.slots = -(-(n + room(n)) // LANES) * LANES
        chunks = self.slots // LANES
        self.C = np.empty((n // 2 + 1, p))
        self.number = np.arange(self.slots, dtype=np.int32)
        self.at = np.full(self.slots, -1, dtype=np.int32)
        self.mass, self.weight = np.ones(self.slots), np.ones(self.slots)
        self.value, self.nn = np.full(self.slots, np.inf), np.full(self.slots, -1, dtype=np.int32)
        self.least = np.full(chunks, np.inf)
        self.free = np.arange(len(self.C), dtype=np.int32)[::-1].copy()
        self.state = np.array([n, len(self.C), n])
        self.grow, self.seen = np.array(GROW[method]), np.zeros(2, dtype=np.intp)
        self.part = np.where(np.arange(self.slots) < n, 1.0, DEAD)
        self.use(np.float32)

    def use(self, dtype: DTypeLike) -> None:
        """Panels of that type."""
        used, p = int(self.state[0]), self.X.shape[1]
        self.e, self.kappa = error_of(self.of, p, dtype)
        self.part = np.where(self.part > 0, 1 / self.mass, DEAD).astype(dtype)
        self.panels = np.empty(0, dtype=dtype)  # the old ones make room
        self.panels = panels_of(self._scaled, used, p, self.slots // LANES, dtype)

    def _scaled(self, slots: slice) -> np.ndarray:
        at = self.at[slots]
        rows = np.where(at < 0, self.number[slots], 0)
        x = self.X[rows] - self.middle
        return np.where((at < 0)[:, None], x, self.C[np.maximum(at, 0)]) * self.scale


def room(alive: int) -> int:
    return max(LANES, int(ROOM * alive))


def merges_of_rows(X: np.ndarray, method: str, steps: int, threads: int) -> Iterator[Merges]:
    """Pairs of clusters' numbers and squared heights, in the order of merging."""
    from ...kernels.linkage import vectors as kernel

    n = len(X)
    c = Centers(X, method)
    groups = -(-n // GROUP)
    seen = np.zeros((groups, 2), dtype=np.intp)

    def search(i: int) -> None:  # the longest first
        g = groups - 1 - i
        kernel.first(c, g * GROUP, min((g + 1) * GROUP, n), seen[g])

    search(0)
    if too_coarse(seen[-1], GROUP):
        c.use(np.float64)
    run_on_threads(lambda i: search(i + 1), groups - 1, threads)
    c.seen += seen.sum(axis=0)
    c.least[:] = c.value.reshape(-1, LANES).min(axis=1)
    searches, left, dead, highest = n, n - 1, 0, 0.0
    while left > 0:
        alive = left + 1
        count = min(steps, left, room(alive) - dead)
        pairs, heights = np.empty((count, 2), dtype=np.intp), np.empty(count)
        kernel.generic(c, count, pairs, heights)
        if method == "ward":  # never below the height of what merged before, but for rounding
            heights = np.maximum.accumulate(np.maximum(heights, highest))
            highest = heights[-1]
        yield pairs, heights
        left -= count
        dead += count
        searches += 2 * count
        if dead >= room(alive - count) or c.state[0] + 1 >= c.slots:
            kernel.compact(c)
            dead = 0
        if c.panels.dtype == np.float32 and too_coarse(c.seen, searches):
            c.use(np.float64)
