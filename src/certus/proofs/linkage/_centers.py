"""Centres of all clusters of a tree, each as the way from a row of its own.

    c_A = x_o + δ_A        c_AB = c_A + β (c_B − c_A)        β = |B|/(|A| + |B|), median: ½

    centroid, median   d = ‖c_A − c_B‖        ward   d = √(2|A||B|/(|A| + |B|)) ‖c_A − c_B‖

o is a row of A, so δ is no longer than A is wide, and c_A − c_B = (x_o − x_o') + δ_A − δ_B loses no
digits that the distance needs, however far from the origin or from other clusters the rows lie.
"""

import numpy as np

from certus.proofs.linkage._row_distances import Vectors
from certus.proofs.linkage._tree import Hierarchy

AT_ONCE = 2**17  # elements worked on at a time


class Centers:
    """O(n·p) operations and memory for all of them."""

    def __init__(self, rows: Vectors, tree: Hierarchy, method: str):
        self.rows, self.tree, self.method = rows, tree, method
        n, X = tree.n, rows.X
        # that of the cluster's first leaf; X stands in the order of the leaves
        self.o = tree.start
        self.delta = np.zeros((2 * n - 1, X.shape[1]))
        self.d = np.empty(n - 1)
        for merges in _by_level(tree):
            for first in range(0, len(merges), max(1, AT_ONCE // X.shape[1])):
                t = merges[first : first + max(1, AT_ONCE // X.shape[1])]
                A, B = tree.pairs[t].T
                way = self._way(A, B)
                self.d[t] = self._length(way, A, B)
                beta = (
                    tree.size[B] / tree.size[n + t] if method != "median" else np.full(len(t), 0.5)
                )
                self.delta[n + t] = self.delta[A] + beta[:, None] * way

    def cost(self) -> np.ndarray:
        """Distances of centres that a look at each merge needs."""
        return 2 * (self.tree.n - np.arange(self.tree.n - 1))

    def heights(self, merges: np.ndarray) -> np.ndarray:
        return np.asarray(self.d[merges])

    def to(self, cluster: int, others: np.ndarray) -> np.ndarray:
        """From a cluster to others. O(p) each."""
        step = max(1, AT_ONCE // self.delta.shape[1])
        parts = [others[i : i + step] for i in range(0, len(others), step)]
        return np.concatenate([self._length(self._way(cluster, B), cluster, B) for B in parts])

    def _way(self, A: int | np.ndarray, B: np.ndarray) -> np.ndarray:
        """c_B − c_A."""
        X, o = self.rows.X, self.o
        return np.asarray((X[o[B]] - X[o[A]]) + (self.delta[B] - self.delta[A]))

    def _length(self, way: np.ndarray, A: int | np.ndarray, B: np.ndarray) -> np.ndarray:
        over = self.rows.over
        way = way if over is None else way / over
        with np.errstate(over="ignore", under="ignore"):
            d = np.sqrt(np.einsum("ij,ij->i", way, way))
        odd = np.flatnonzero(~((d > 1e-120) & (d < 1e120)))
        if len(odd):  # squares out of reach
            largest = np.abs(way[odd]).max(axis=1)
            unit = np.where(largest > 0, largest, 1.0)
            d[odd] = unit * np.sqrt(((way[odd] / unit[:, None]) ** 2).sum(axis=1))
        if self.method == "ward":
            a, b = self.tree.size[A], self.tree.size[B]
            d = d * np.sqrt(2.0 * a * b / (a + b))
        return np.asarray(d)


def _by_level(tree: Hierarchy) -> list[np.ndarray]:
    """Merges whose clusters are made on earlier levels, level by level."""
    level = [0] * (2 * tree.n - 1)
    for t, (a, b) in enumerate(tree.pairs.tolist()):
        level[tree.n + t] = 1 + max(level[a], level[b])
    of = np.array(level[tree.n :], dtype=np.intp)
    by_level = np.argsort(of, kind="stable")
    return np.split(by_level, np.flatnonzero(np.diff(of[by_level])) + 1) if tree.n > 1 else []
