"""Distances between clusters, from the distances of their rows.

    single     min d(a, b)                  a in A, b in B
    complete   max d(a, b)
    average    Σ u_a v_b d(a, b)            u_a = 1/|A|, v_b = 1/|B|
    weighted   the same                     u_a = 2^−(joins of a inside A): equal parts
    centroid   d² = Σ u_a v_b d²(a, b) − ½ W(A) − ½ W(B)        W(A) = Σ u_a u_a' d²(a, a')
    median     the same, with the weights of weighted
    ward       d² of centroid times 2|A||B|/(|A| + |B|)

For Euclidean distances the last three are distances between centres (``_centers.py``); for others
they are what Lance and Williams' recurrence on squared distances gives.
"""

from typing import Any

import numpy as np

from certus.proofs.linkage._row_distances import TILE_ELEMENTS, LeafRows
from certus.proofs.linkage._tree import Hierarchy
from certus.proofs.types import Numbers

EXTREME_REDUCTIONS = {"single": np.minimum, "complete": np.maximum}
HALVING_METHODS = ("weighted", "median")
SQUARED_METHODS = ("centroid", "median", "ward")
MAX_SMALL_MERGE_PAIRS = 128  # merges with fewer pairs of rows are computed together


# --- the definition, plain ------------------------------------------------------------------------


def cluster_distance(
    D: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    method: str,
    u: np.ndarray | None = None,
    v: np.ndarray | None = None,
) -> float:
    """Return the distance between clusters A and B (row numbers), from all distances D.

    ``u``, ``v``: weights of the rows in their clusters, needed for weighted and median.
    """
    A, B = np.asarray(A), np.asarray(B)
    between = D[np.ix_(A, B)]
    if method in EXTREME_REDUCTIONS:
        return float(EXTREME_REDUCTIONS[method].reduce(between, axis=None))
    u = np.full(len(A), 1 / len(A)) if u is None else u
    v = np.full(len(B), 1 / len(B)) if v is None else v
    if method not in SQUARED_METHODS:
        return float(u @ between @ v)
    W_A, W_B = u @ D[np.ix_(A, A)] ** 2 @ u, v @ D[np.ix_(B, B)] ** 2 @ v
    d2 = u @ between**2 @ v - (W_A + W_B) / 2
    return float(np.sqrt(ward_factor(len(A), len(B)) * d2 if method == "ward" else d2))


def ward_factor(a: Numbers, b: Numbers) -> Numbers:
    return 2.0 * a * b / (a + b)


# --- over a tree ----------------------------------------------------------------------------------


class ClusterMembers:
    """Distances between clusters of a tree, computed from the rows in them."""

    def __init__(self, rows: LeafRows, tree: Hierarchy, method: str, h: np.ndarray | None = None):
        self.rows, self.tree, self.method = rows, tree, method
        self.W = _inner(tree, method, h) if method in SQUARED_METHODS else None

    def cost(self) -> np.ndarray:
        """Return how many distances between rows the check of each merge needs."""
        sizes = self.tree.size[self.tree.pairs]
        return self.tree.n * (sizes.min(axis=1) if self.method == "single" else sizes.sum(axis=1))

    def weights(self, cluster: int) -> Any:
        """Return the weights u of a cluster's rows, in the order of the leaves."""
        tree = self.tree
        if self.method in HALVING_METHODS:
            return np.exp2(tree.depth[cluster] - tree.depth[tree.members(cluster)])
        return np.full(tree.size[cluster], 1 / tree.size[cluster])

    def distances_to(self, cluster: int, others: np.ndarray) -> np.ndarray:
        """Return the distances from a cluster to others, which together contain all rows, in the
        order of their places. O(|cluster|·n)."""
        tree = self.tree
        by_row, starts = self._reduced_to_rows(cluster), tree.start[others]
        if self.method in EXTREME_REDUCTIONS:
            return np.asarray(EXTREME_REDUCTIONS[self.method].reduceat(by_row, starts))
        if self.method in HALVING_METHODS:
            merge_of = np.repeat(tree.depth[others], tree.size[others])
            by_row = by_row * np.exp2(merge_of - tree.depth[tree.order])
        total = np.add.reduceat(by_row, starts)
        if self.method not in HALVING_METHODS:
            total /= tree.size[others]
        return self._linkage_distance(total, cluster, others)

    def _linkage_distance(
        self, mean: np.ndarray, cluster: int | np.ndarray, others: np.ndarray
    ) -> np.ndarray:
        """Return distances of clusters, from Σ u v d or Σ u v d²."""
        if self.method not in SQUARED_METHODS:
            return np.asarray(mean)
        assert self.W is not None
        d2 = mean - (self.W[cluster] + self.W[others]) / 2
        if self.method == "ward":
            d2 = d2 * ward_factor(self.tree.size[cluster], self.tree.size[others])
        return np.sqrt(np.maximum(d2, 0.0))

    def _reduced_to_rows(self, cluster: int) -> np.ndarray:
        """Return min, max or Σ u d over a cluster's rows, for every row."""
        first, size = int(self.tree.start[cluster]), int(self.tree.size[cluster])
        u, step = self.weights(cluster), max(1, TILE_ELEMENTS // self.rows.n)
        total = None
        for i in range(0, size, step):
            D = self.rows.block(first + i, first + min(i + step, size))
            if self.method in EXTREME_REDUCTIONS:
                part = EXTREME_REDUCTIONS[self.method].reduce(D, axis=0)
                total = part if total is None else EXTREME_REDUCTIONS[self.method](total, part)
            else:
                part = u[i : i + step] @ (D * D if self.method in SQUARED_METHODS else D)
                total = part if total is None else total + part
        return np.asarray(total)

    def heights(self, merges: np.ndarray) -> np.ndarray:
        """Recompute heights of merges, from all pairs of rows between their two clusters."""
        tree, step = self.tree, max(1, TILE_ELEMENTS // self.rows.p)
        A, B = tree.pairs[merges].T
        count = tree.size[A] * tree.size[B]
        mean = np.empty(len(merges))
        for m in np.flatnonzero(count > MAX_SMALL_MERGE_PAIRS):
            mean[m] = self._large_merge(int(A[m]), int(B[m]), step)
        small = np.flatnonzero(count <= MAX_SMALL_MERGE_PAIRS)
        for part in np.split(small, np.flatnonzero(np.diff(np.cumsum(count[small]) // step)) + 1):
            mean[part] = self._small_merges(A[part], B[part])
        return self._linkage_distance(mean, A, B)

    def _small_merges(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Reduce the distances of many small merges at once."""
        tree = self.tree
        count = tree.size[A] * tree.size[B]
        start = np.cumsum(count) - count
        merge_of = np.repeat(np.arange(len(A)), count)
        k = np.arange(len(merge_of)) - start[merge_of]
        width = tree.size[B][merge_of]
        i, j = tree.start[A][merge_of] + k // width, tree.start[B][merge_of] + k % width
        d = self.rows.pairs(i, j)
        if not len(A):
            return d
        if self.method in EXTREME_REDUCTIONS:
            return np.asarray(EXTREME_REDUCTIONS[self.method].reduceat(d, start))
        d = d * d if self.method in SQUARED_METHODS else d
        if self.method in HALVING_METHODS:
            joins = tree.depth[A][merge_of] + tree.depth[B][merge_of]
            joins = joins - tree.depth[tree.order[i]] - tree.depth[tree.order[j]]
            return np.asarray(np.add.reduceat(d * np.exp2(joins), start))
        return np.asarray(np.add.reduceat(d, start) / count)

    def _large_merge(self, a: int, b: int, step: int) -> float:
        tree = self.tree
        first, size = tree.start[a], int(tree.size[a])
        columns = slice(tree.start[b], tree.start[b] + tree.size[b])
        u, v, rows = self.weights(a), self.weights(b), max(1, step // int(tree.size[b]))
        parts = []
        for i in range(0, size, rows):
            D = self.rows.block(first + i, first + min(i + rows, size), columns.start, columns.stop)
            if self.method in EXTREME_REDUCTIONS:
                parts.append(EXTREME_REDUCTIONS[self.method].reduce(D, axis=None))
            else:
                parts.append(u[i : i + rows] @ (D * D if self.method in SQUARED_METHODS else D) @ v)
        return float(EXTREME_REDUCTIONS.get(self.method, np.add).reduce(parts))


def _inner(tree: Hierarchy, method: str, h: np.ndarray | None) -> np.ndarray:
    """Return W of every cluster, from heights: W(AB) = α² W(A) + β² W(B) + 2αβ Σ u v d²."""
    W = [0.0] * (2 * tree.n - 1)
    size = tree.size.tolist()
    heights = [0.0] * (tree.n - 1) if h is None else np.asarray(h).tolist()
    for t, ((a, b), height) in enumerate(zip(tree.pairs.tolist(), heights, strict=True)):
        alpha = share(size[a], size[b], method)
        d2 = height**2 / (ward_factor(size[a], size[b]) if method == "ward" else 1.0)
        W[tree.n + t] = joined_inner(W[a], W[b], d2 + (W[a] + W[b]) / 2, alpha)
    return np.array(W)


def share(a: np.ndarray, b: np.ndarray, method: str) -> Any:
    """Return α, the weight of A's rows in AB."""
    return 0.5 if method in HALVING_METHODS else a / (a + b)


def joined_inner(W_A: float, W_B: float, between: float, alpha: float) -> float:
    beta = 1 - alpha
    return alpha**2 * W_A + beta**2 * W_B + 2 * alpha * beta * between
