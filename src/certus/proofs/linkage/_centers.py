"""Centres of all clusters of a tree, each as an offset δ from one of its rows.

    c_A = x_o + δ_A        c_AB = c_A + β (c_B − c_A)        β = |B|/(|A| + |B|), median: ½

    centroid, median   d = ‖c_A − c_B‖        ward   d = √(2|A||B|/(|A| + |B|)) ‖c_A − c_B‖

o is a row of A, so ‖δ‖ is at most the diameter of A, and c_A − c_B = (x_o − x_o') + δ_A − δ_B is
accurate however far from the origin or from other clusters the rows lie.
"""

import numpy as np

from certus.proofs.linkage._row_distances import RowVectors
from certus.proofs.linkage._tree import Hierarchy

BLOCK_ELEMENTS = 2**17  # elements processed at a time


class LinkageCenters:
    """The centres of all clusters, in O(n·p) operations and memory."""

    def __init__(self, rows: RowVectors, tree: Hierarchy, method: str):
        self.rows, self.tree, self.method = rows, tree, method
        n, X = tree.n, rows.X
        # the cluster's first leaf; rows of X are in the order of the leaves
        self.o = tree.start
        self.delta = np.zeros((2 * n - 1, X.shape[1]))
        self.d = np.empty(n - 1)
        for merges in _by_level(tree):
            for first in range(0, len(merges), max(1, BLOCK_ELEMENTS // X.shape[1])):
                t = merges[first : first + max(1, BLOCK_ELEMENTS // X.shape[1])]
                A, B = tree.pairs[t].T
                difference = self._difference(A, B)
                self.d[t] = self._length(difference, A, B)
                beta = (
                    tree.size[B] / tree.size[n + t] if method != "median" else np.full(len(t), 0.5)
                )
                self.delta[n + t] = self.delta[A] + beta[:, None] * difference

    def cost(self) -> np.ndarray:
        """Return how many distances between centres the check of each merge needs."""
        return 2 * (self.tree.n - np.arange(self.tree.n - 1))

    def heights(self, merges: np.ndarray) -> np.ndarray:
        return np.asarray(self.d[merges])

    def distances_to(self, cluster: int, others: np.ndarray) -> np.ndarray:
        """Return the distances from a cluster to others, in O(p) each."""
        step = max(1, BLOCK_ELEMENTS // self.delta.shape[1])
        parts = [others[i : i + step] for i in range(0, len(others), step)]
        return np.concatenate(
            [self._length(self._difference(cluster, B), cluster, B) for B in parts]
        )

    def _difference(self, A: int | np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return c_B − c_A."""
        X, o = self.rows.X, self.o
        return np.asarray((X[o[B]] - X[o[A]]) + (self.delta[B] - self.delta[A]))

    def _length(self, difference: np.ndarray, A: int | np.ndarray, B: np.ndarray) -> np.ndarray:
        divisor = self.rows.divisor
        difference = difference if divisor is None else difference / divisor
        with np.errstate(over="ignore", under="ignore"):
            d = np.sqrt(np.einsum("ij,ij->i", difference, difference))
        out_of_range = np.flatnonzero(~((d > 1e-120) & (d < 1e120)))
        if len(out_of_range):  # squares over- or underflow
            largest = np.abs(difference[out_of_range]).max(axis=1)
            unit = np.where(largest > 0, largest, 1.0)
            d[out_of_range] = unit * np.sqrt(
                ((difference[out_of_range] / unit[:, None]) ** 2).sum(axis=1)
            )
        if self.method == "ward":
            a, b = self.tree.size[A], self.tree.size[B]
            d = d * np.sqrt(2.0 * a * b / (a + b))
        return np.asarray(d)


def _by_level(tree: Hierarchy) -> list[np.ndarray]:
    """Group merges by level, so that the clusters of each are made on earlier levels."""
    level = [0] * (2 * tree.n - 1)
    for t, (a, b) in enumerate(tree.pairs.tolist()):
        level[tree.n + t] = 1 + max(level[a], level[b])
    of = np.array(level[tree.n :], dtype=np.intp)
    by_level = np.argsort(of, kind="stable")
    return np.split(by_level, np.flatnonzero(np.diff(of[by_level])) + 1) if tree.n > 1 else []
