"""Search among the rows of positive weight, reported under their row numbers in the fit.

    N_k(q) = the k rows of least d(x_j, q) among those with s_j > 0

A row of weight 0 is nobody's neighbour, but may be a query.
"""

from typing import Any

import numpy as np

from .lists import Index, NearestLists, RadiusLists
from .smallest import join_queries


class PresentRows:
    """An ``Index`` that searches only the rows ``present`` of a fit.

    ``index`` holds these rows; ``absent`` are all other rows, in the form that ``index`` takes
    queries.
    """

    def __init__(self, index: Index, present: np.ndarray, absent: Any):
        self.index, self.present, self.absent = index, present, absent
        n = len(present) + absent.shape[0]
        is_present = np.zeros(n, dtype=bool)
        is_present[present] = True
        # row numbers in the fit: those of the present rows, then those of the absent ones
        self.order = np.concatenate([present, np.flatnonzero(~is_present)])

    @property
    def algorithm(self) -> str:
        name: str = self.index.algorithm
        return name

    def kneighbors(self, Q: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distances, rows), each (queries, k). Q None: all rows, each without itself."""
        if Q is not None:
            return self._numbered(*self.index.kneighbors(Q, k))
        parts = [self.index.kneighbors(None, k), self.index.kneighbors(self.absent, k)]
        distances = np.concatenate([part[0] for part in parts])
        rows = np.concatenate([part[1] for part in parts])
        inverse = np.argsort(self.order)
        return self._numbered(distances[inverse], rows[inverse])

    def radius(self, Q: np.ndarray | None, r: Any) -> RadiusLists:
        """Return all present rows at a distance of at most r, ascending by row for each query."""
        if Q is not None:
            lists = self.index.radius(Q, r)
            return lists._replace(rows=self.present[lists.rows])
        both = join_queries([self.index.radius(None, r), self.index.radius(self.absent, r)])
        counts = np.diff(both.edges)
        inverse = np.argsort(self.order)
        first = both.edges[:-1][inverse]
        edges = np.concatenate([[0], np.cumsum(counts[inverse])]).astype(np.intp)
        at = np.arange(edges[-1]) + np.repeat(first - edges[:-1], counts[inverse])
        return RadiusLists(both.values[at], self.present[both.rows[at]], edges)

    def _numbered(self, distances: np.ndarray, rows: np.ndarray) -> NearestLists:
        """Translate positions among the present rows into row numbers of the fit."""
        return NearestLists(distances, np.where(rows < 0, -1, self.present[rows]))
