"""Rows of which some are absent (of weight 0): the others are searched, under their own numbers.

    N_k(q) = the k rows of least d(x_j, q) among those with s_j > 0

A row that is absent is no neighbour. It can still be a query.
"""

from typing import Any

import numpy as np

from .lists import Best, Index, Within
from .smallest import side_by_side


class Present:
    """An index of the rows ``present``, with the interface of ``Index``.

    ``absent`` are all other rows, as ``index`` takes queries.
    """

    def __init__(self, index: Index, present: np.ndarray, absent: Any):
        self.index, self.present, self.absent = index, present, absent
        n = len(present) + absent.shape[0]
        there = np.zeros(n, dtype=bool)
        there[present] = True
        # rows that are present, then those that are not: where each stands in the order of the fit
        self.place = np.concatenate([present, np.flatnonzero(~there)])

    @property
    def algorithm(self) -> str:
        name: str = self.index.algorithm
        return name

    def kneighbors(self, Q: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(distances, rows), each (queries, k). Q None: all rows, each without itself."""
        if Q is not None:
            return self._numbered(*self.index.kneighbors(Q, k))
        parts = [self.index.kneighbors(None, k), self.index.kneighbors(self.absent, k)]
        distances = np.concatenate([part[0] for part in parts])
        rows = np.concatenate([part[1] for part in parts])
        back = np.argsort(self.place)
        return self._numbered(distances[back], rows[back])

    def radius(self, Q: np.ndarray | None, r: Any) -> Within:
        """All rows at a distance of at most r, those of a query by number."""
        if Q is not None:
            found = self.index.radius(Q, r)
            return found._replace(rows=self.present[found.rows])
        both = side_by_side([self.index.radius(None, r), self.index.radius(self.absent, r)])
        counts = np.diff(both.edges)
        back = np.argsort(self.place)
        first = both.edges[:-1][back]
        edges = np.concatenate([[0], np.cumsum(counts[back])]).astype(np.intp)
        at = np.arange(edges[-1]) + np.repeat(first - edges[:-1], counts[back])
        return Within(both.values[at], self.present[both.rows[at]], edges)

    def _numbered(self, distances: np.ndarray, rows: np.ndarray) -> Best:
        return Best(distances, np.where(rows < 0, -1, self.present[rows]))
