"""Search in precomputed distances, given as a matrix or as a sparse graph.

D_ij is the distance of query i to row j of the fit; in a graph only stored entries are neighbours.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .lists import NearestLists, RadiusLists, without_self
from .smallest import join_queries, smallest, within

BLOCK_DISTANCES = 1 << 20  # entries of D that are sorted at a time


class PrecomputedIndex:
    """An ``Index`` of the square matrix D of distances between the rows of a fit."""

    algorithm = "precomputed"

    def __init__(self, D: Any):
        self.D = D

    def kneighbors(self, Q: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distances, rows) of the k nearest, each (m, k).

        Q: distances (m, n), or None for D, whose rows are not their own neighbours.
        """
        is_self = Q is None
        D = self.D if is_self else Q
        if issparse(D):
            return _nearest_stored(D, k, is_self)
        best = [smallest(D[rows], k + is_self) for rows in _blocks(D)]
        values = np.concatenate([part.values for part in best])
        rows = np.concatenate([part.rows for part in best])
        return without_self(values, rows) if is_self else NearestLists(values, rows)

    def radius(self, Q: Any, r: float) -> RadiusLists:
        """Return all rows at a distance of at most r from each query."""
        is_self = Q is None
        D = self.D if is_self else Q
        if issparse(D):
            parts = []
            for d, j in _stored(D, is_self):
                inside = r >= d
                edges = np.array([0, np.count_nonzero(inside)], dtype=np.intp)
                parts.append(RadiusLists(d[inside], j[inside], edges))
            return join_queries(parts)
        return join_queries(
            [within(D[rows], r, rows.start if is_self else None) for rows in _blocks(D)]
        )


def _blocks(D: np.ndarray) -> list[slice]:
    m, n = D.shape
    step = max(1, BLOCK_DISTANCES // max(1, n))
    return [slice(first, min(m, first + step)) for first in range(0, m, step)]


def _stored(graph: Any, is_self: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the stored distances of each row and their columns, ascending by column.

    ``is_self``: without the diagonal.
    """
    for i in range(graph.shape[0]):
        entries = slice(graph.indptr[i], graph.indptr[i + 1])
        j = graph.indices[entries].astype(np.intp)
        d = graph.data[entries].astype(float)
        order = np.argsort(j, kind="stable")
        if is_self:
            order = order[j[order] != i]
        yield d[order], j[order]


def _nearest_stored(graph: Any, k: int, is_self: bool) -> NearestLists:
    values = np.empty((graph.shape[0], k))
    rows = np.empty((graph.shape[0], k), dtype=np.intp)
    for i, (d, j) in enumerate(_stored(graph, is_self)):
        if len(d) < k:
            raise ValueError(
                f"{k} neighbors per samples are required, but some samples have only {len(d)} "
                f"neighbors in precomputed graph matrix (first: row {i}). Decrease number of "
                "neighbors used or recompute the graph with more neighbors."
            )
        order = np.argsort(d, kind="stable")[:k]
        values[i], rows[i] = d[order], j[order]
    return NearestLists(values, rows)
