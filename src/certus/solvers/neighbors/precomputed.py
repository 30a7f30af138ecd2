"""Search where the distances are given, as a matrix or as a sparse graph.

D_ij = distance of query i to row j of the fit; of a graph, only stored entries are neighbours
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .lists import Best, Within, without_own
from .smallest import side_by_side, smallest, within

BLOCK = 1 << 20  # distances looked at in one go


class Precomputed:
    """The rows of a fit as a square matrix D of their distances. The interface is ``Index``'s."""

    algorithm = "precomputed"

    def __init__(self, D: Any):
        self.D = D

    def kneighbors(self, Q: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Q: (m, n) distances, or None for D, whose rows are not their own neighbours."""
        own = Q is None
        D = self.D if own else Q
        if issparse(D):
            return _nearest_stored(D, k, own)
        best = [smallest(D[rows], k + own) for rows in _blocks(D)]
        values = np.concatenate([part.values for part in best])
        rows = np.concatenate([part.rows for part in best])
        return without_own(values, rows) if own else Best(values, rows)

    def radius(self, Q: Any, r: float) -> Within:
        """Of each query the distances of at most r and whose they are."""
        own = Q is None
        D = self.D if own else Q
        if issparse(D):
            parts = []
            for d, j in _stored(D, own):
                near = r >= d
                edges = np.array([0, np.count_nonzero(near)], dtype=np.intp)
                parts.append(Within(d[near], j[near], edges))
            return side_by_side(parts)
        return side_by_side(
            [within(D[rows], r, rows.start if own else None) for rows in _blocks(D)]
        )


def _blocks(D: np.ndarray) -> list[slice]:
    m, n = D.shape
    step = max(1, BLOCK // max(1, n))
    return [slice(first, min(m, first + step)) for first in range(0, m, step)]


def _stored(graph: Any, own: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each row its stored distances and their columns, ascending by column; ``own``: without
    the diagonal."""
    for i in range(graph.shape[0]):
        entries = slice(graph.indptr[i], graph.indptr[i + 1])
        j = graph.indices[entries].astype(np.intp)
        d = graph.data[entries].astype(float)
        order = np.argsort(j, kind="stable")
        if own:
            order = order[j[order] != i]
        yield d[order], j[order]


def _nearest_stored(graph: Any, k: int, own: bool) -> Best:
    values = np.empty((graph.shape[0], k))
    rows = np.empty((graph.shape[0], k), dtype=np.intp)
    for i, (d, j) in enumerate(_stored(graph, own)):
        if len(d) < k:
            raise ValueError(
                f"{k} neighbors per samples are required, but some samples have only {len(d)} "
                f"neighbors in precomputed graph matrix (first: row {i}). Decrease number of "
                "neighbors used or recompute the graph with more neighbors."
            )
        order = np.argsort(d, kind="stable")[:k]
        values[i], rows[i] = d[order], j[order]
    return Best(values, rows)
