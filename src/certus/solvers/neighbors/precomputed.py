"""Search where the distances are given, as a matrix or as a sparse graph.

D_ij = distance of query i to row j of the fit; of a graph, only stored entries are neighbours
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .smallest import smallest, with_itself, within, without_itself

BLOCK = 1 << 20  # distances looked at in one go


class Precomputed:
    """The rows of a fit as a square matrix D of their distances. The interface is ``Index``'s."""

    algorithm = "precomputed"

    def __init__(self, D: Any):
        self.D = D

    def kneighbors(
        self, Q: Any, k: int, *, threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Q: (m, n) distances, or None for D without its diagonal."""
        D = self.D if Q is None else Q
        distances = np.empty((D.shape[0], k))
        indices = np.empty((D.shape[0], k), dtype=np.intp)
        if issparse(D):
            for i, (d, j) in enumerate(self._stored(D, Q is None)):
                _require_stored(i, len(d), k)
                order = np.argsort(d, kind="stable")[:k]
                distances[i], indices[i] = d[order], j[order]
            return distances, indices
        for rows in _blocks(D):
            block = without_itself(D[rows], rows.start) if Q is None else D[rows]
            distances[rows], columns = smallest(block, k)
            if Q is None:
                columns = with_itself(columns, np.arange(rows.start, rows.stop)[:, None])
            indices[rows] = columns
        return distances, indices

    def radius(
        self, Q: Any, r: float, *, sort: bool = False, threads: int | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Of each query the distances of at most r and whose they are."""
        D = self.D if Q is None else Q
        distances: list[np.ndarray] = []
        indices: list[np.ndarray] = []
        if issparse(D):
            for d, j in self._stored(D, Q is None):
                near = np.flatnonzero(d <= r)
                order = near[np.argsort(d[near], kind="stable")] if sort else near
                distances.append(d[order])
                indices.append(j[order])
            return distances, indices
        for rows in _blocks(D):
            block = without_itself(D[rows], rows.start) if Q is None else D[rows]
            found, columns = within(block, r, sort=sort)
            if Q is None:
                columns = [with_itself(j, rows.start + i) for i, j in enumerate(columns)]
            distances += found
            indices += columns
        return distances, indices

    @staticmethod
    def _stored(graph: Any, without_diagonal: bool) -> Any:
        """Of each row its stored distances and their columns, ascending by column."""
        for i in range(graph.shape[0]):
            entries = slice(graph.indptr[i], graph.indptr[i + 1])
            j = graph.indices[entries].astype(np.intp)
            d = graph.data[entries].astype(float)
            order = np.argsort(j, kind="stable")
            if without_diagonal:
                order = order[j[order] != i]
            yield d[order], j[order]


def _blocks(D: np.ndarray) -> list[slice]:
    m, n = D.shape
    step = max(1, BLOCK // max(1, n))
    return [slice(first, min(m, first + step)) for first in range(0, m, step)]


def _require_stored(i: int, stored: int, k: int) -> None:
    if stored < k:
        raise ValueError(
            f"{k} neighbors per samples are required, but some samples have only {stored} "
            f"neighbors in precomputed graph matrix (first: row {i}). Decrease number of neighbors "
            "used or recompute the graph with more neighbors."
        )
