"""Distances between clusters, from the distances of their rows.

    single     min d(a, b)                  a in A, b in B
    complete   max d(a, b)
    average    Σ u_a v_b d(a, b)            u_a = 1/|A|, v_b = 1/|B|
    weighted   the same                     u_a = 2^−(joins of a inside A): each half counts half
    centroid   d² = Σ u_a v_b d²(a, b) − ½ W(A) − ½ W(B)        W(A) = Σ u_a u_a' d²(a, a')
    median     the same, with the weights of weighted
    ward       d² of centroid times 2|A||B|/(|A| + |B|)

For Euclidean distances the last three are those of centres (``_centers.py``); for others
they are what Lance and Williams' recurrence on squares gives.
"""

from typing import Any

import numpy as np

from certus.proofs.linkage._row_distances import TILE, LeafRows
from certus.proofs.linkage._tree import Hierarchy
from certus.proofs.types import Numbers

EXTREME = {"single": np.minimum, "complete": np.maximum}
HALVES = ("weighted", "median")
SQUARED = ("centroid", "median", "ward")
SMALL_MERGE = 128  # pairs of a merge, up to which it costs less among others than alone


# --- the definition, plain ------------------------------------------------------------------------


def cluster_distance(
    D: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    method: str,
    u: np.ndarray | None = None,
    v: np.ndarray | None = None,
) -> float:
    """Of two lists of rows, from all distances D. ``u``, ``v``: the rows' weights in their
    clusters, which weighted and median need."""
    A, B = np.asarray(A), np.asarray(B)
    between = D[np.ix_(A, B)]
    if method in EXTREME:
        return float(EXTREME[method].reduce(between, axis=None))
    u = np.full(len(A), 1 / len(A)) if u is None else u
    v = np.full(len(B), 1 / len(B)) if v is None else v
    if method not in SQUARED:
        return float(u @ between @ v)
    W_A, W_B = u @ D[np.ix_(A, A)] ** 2 @ u, v @ D[np.ix_(B, B)] ** 2 @ v
    d2 = u @ between**2 @ v - (W_A + W_B) / 2
    return float(np.sqrt(ward_factor(len(A), len(B)) * d2 if method == "ward" else d2))


def ward_factor(a: Numbers, b: Numbers) -> Numbers:
    return 2.0 * a * b / (a + b)


# --- over a tree ----------------------------------------------------------------------------------


class Members:
    """Distances of clusters of a tree, each from the rows in it."""

    def __init__(self, rows: LeafRows, tree: Hierarchy, method: str, h: np.ndarray | None = None):
        self.rows, self.tree, self.method = rows, tree, method
        self.W = _inner(tree, method, h) if method in SQUARED else None

    def cost(self) -> np.ndarray:
        """Distances of rows that a look at each merge needs."""
        sizes = self.tree.size[self.tree.pairs]
        return self.tree.n * (sizes.min(axis=1) if self.method == "single" else sizes.sum(axis=1))

    def weights(self, cluster: int) -> Any:
        """u of its rows, in the order of the leaves."""
        tree = self.tree
        if self.method in HALVES:
            return np.exp2(tree.depth[cluster] - tree.depth[tree.members(cluster)])
        return np.full(tree.size[cluster], 1 / tree.size[cluster])

    def to(self, cluster: int, others: np.ndarray) -> np.ndarray:
        """From a cluster to others that together, by place, are all rows. O(|cluster|·n)."""
        tree = self.tree
        by_row, starts = self._to_rows(cluster), tree.start[others]
        if self.method in EXTREME:
            return np.asarray(EXTREME[self.method].reduceat(by_row, starts))
        if self.method in HALVES:
            of = np.repeat(tree.depth[others], tree.size[others])
            by_row = by_row * np.exp2(of - tree.depth[tree.order])
        total = np.add.reduceat(by_row, starts)
        if self.method not in HALVES:
            total /= tree.size[others]
        return self._of(total, cluster, others)

    def _of(self, mean: np.ndarray, cluster: int | np.ndarray, others: np.ndarray) -> np.ndarray:
        """Distances, from Σ u v d or Σ u v d²."""
        if self.method not in SQUARED:
            return np.asarray(mean)
        assert self.W is not None
        d2 = mean - (self.W[cluster] + self.W[others]) / 2
        if self.method == "ward":
            d2 = d2 * ward_factor(self.tree.size[cluster], self.tree.size[others])
        return np.sqrt(np.maximum(d2, 0.0))

    def _to_rows(self, cluster: int) -> np.ndarray:
        """Min, max or Σ u d over its rows, for every row."""
        first, size = int(self.tree.start[cluster]), int(self.tree.size[cluster])
        u, step = self.weights(cluster), max(1, TILE // self.rows.n)
        total = None
        for i in range(0, size, step):
            D = self.rows.block(first + i, first + min(i + step, size))
            if self.method in EXTREME:
                part = EXTREME[self.method].reduce(D, axis=0)
                total = part if total is None else EXTREME[self.method](total, part)
            else:
                part = u[i : i + step] @ (D * D if self.method in SQUARED else D)
                total = part if total is None else total + part
        return np.asarray(total)

    def heights(self, merges: np.ndarray) -> np.ndarray:
        """Of some merges, from all pairs of rows between the two clusters of each, in tiles."""
        tree, step = self.tree, max(1, TILE // self.rows.p)
        A, B = tree.pairs[merges].T
        count = tree.size[A] * tree.size[B]
        mean = np.empty(len(merges))
        for m in np.flatnonzero(count > SMALL_MERGE):
            mean[m] = self._of_large(int(A[m]), int(B[m]), step)
        few = np.flatnonzero(count <= SMALL_MERGE)
        for part in np.split(few, np.flatnonzero(np.diff(np.cumsum(count[few]) // step)) + 1):
            mean[part] = self._of_few(A[part], B[part])
        return self._of(mean, A, B)

    def _of_few(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Pairs of many small merges, one after another."""
        tree = self.tree
        count = tree.size[A] * tree.size[B]
        start = np.cumsum(count) - count
        of = np.repeat(np.arange(len(A)), count)
        k = np.arange(len(of)) - start[of]
        width = tree.size[B][of]
        i, j = tree.start[A][of] + k // width, tree.start[B][of] + k % width
        d = self.rows.pairs(i, j)
        if not len(A):
            return d
        if self.method in EXTREME:
            return np.asarray(EXTREME[self.method].reduceat(d, start))
        d = d * d if self.method in SQUARED else d
        if self.method in HALVES:
            joins = tree.depth[A][of] + tree.depth[B][of]
            joins = joins - tree.depth[tree.order[i]] - tree.depth[tree.order[j]]
            return np.asarray(np.add.reduceat(d * np.exp2(joins), start))
        return np.asarray(np.add.reduceat(d, start) / count)

    def _of_large(self, a: int, b: int, step: int) -> float:
        tree = self.tree
        first, size = tree.start[a], int(tree.size[a])
        columns = slice(tree.start[b], tree.start[b] + tree.size[b])
        u, v, rows = self.weights(a), self.weights(b), max(1, step // int(tree.size[b]))
        parts = []
        for i in range(0, size, rows):
            D = self.rows.block(first + i, first + min(i + rows, size), columns.start, columns.stop)
            if self.method in EXTREME:
                parts.append(EXTREME[self.method].reduce(D, axis=None))
            else:
                parts.append(u[i : i + rows] @ (D * D if self.method in SQUARED else D) @ v)
        return float(EXTREME.get(self.method, np.add).reduce(parts))


def _inner(tree: Hierarchy, method: str, h: np.ndarray | None) -> np.ndarray:
    """W of every cluster, from the heights: W(AB) = α² W(A) + β² W(B) + 2αβ Σ u v d²."""
    W = [0.0] * (2 * tree.n - 1)
    size = tree.size.tolist()
    heights = [0.0] * (tree.n - 1) if h is None else np.asarray(h).tolist()
    for t, ((a, b), height) in enumerate(zip(tree.pairs.tolist(), heights, strict=True)):
        alpha = share(size[a], size[b], method)
        d2 = height**2 / (ward_factor(size[a], size[b]) if method == "ward" else 1.0)
        W[tree.n + t] = joined_inner(W[a], W[b], d2 + (W[a] + W[b]) / 2, alpha)
    return np.array(W)


def share(a: np.ndarray, b: np.ndarray, method: str) -> Any:
    """α, the weight of A's rows in AB."""
    return 0.5 if method in HALVES else a / (a + b)


def joined_inner(W_A: float, W_B: float, between: float, alpha: float) -> float:
    beta = 1 - alpha
    return alpha**2 * W_A + beta**2 * W_B + 2 * alpha * beta * between
