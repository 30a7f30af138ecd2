"""Euclidean neighbours of sparse rows: products select the candidates, differences decide.

    s_ij = ‖q_i‖² + ‖x_j‖² − 2 q_iᵀx_j,   |s_ij − d_ij²| ≤ e_ij = c·ε (‖q_i‖² + ‖x_j‖²)

A row j with s_ij − e_ij above the k-th smallest s_ij + e_ij is not among the k nearest. For the few
others d_ij² is summed from differences, so the answer is exact however far the rows lie from 0.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from ...data.csr import CSR, SparseMatrix
from ...runtime.pool import run_on_threads
from .lists import NearestLists, RadiusLists, join_groups

MAX_PRODUCTS_HELD = 1 << 21  # at a time, on each thread
MAX_PAIRS_HELD = 1 << 14  # pairs of rows whose differences are held at a time
SQRT_HALF = np.sqrt(0.5)
EPSILON = np.finfo(float).eps


def embedded(X: CSR | SparseMatrix, name: str) -> SparseMatrix:
    """Return rows in float64 whose squared Euclidean distance is the distance or its square."""
    Z = csr_array((X.data.astype(float), X.indices, X.indptr), shape=X.shape)
    if name != "cosine":
        return Z
    max_row_entries = np.maximum(abs(Z).max(axis=1).toarray().ravel(), np.finfo(float).tiny)
    Z = diags_array(1 / max_row_entries).tocsr() @ Z  # squares of 1e200 would be infinite
    length = np.sqrt(Z.multiply(Z).sum(axis=1))
    return (
        diags_array(np.divide(SQRT_HALF, length, out=np.zeros_like(length), where=length > 0)) @ Z
    )


class SparseProducts:
    """Engine for ``embedded`` sparse rows."""

    def __init__(self, X: SparseMatrix, threads: int):
        self.X, self.threads = X, threads
        self.T = X.T.tocsr()
        self.square = X.multiply(X).sum(axis=1)
        self.max_row_entries = int(np.diff(X.indptr).max(initial=0))

    def nearest(self, Q: SparseMatrix, k: int) -> NearestLists:
        """Return squared distances and rows, both (m, k), for k up to the number of rows."""
        m = Q.shape[0]
        values, rows = np.empty((m, k)), np.empty((m, k), dtype=np.intp)
        blocks = self._blocks(m)

        def search(b: int) -> None:
            part = Q[blocks[b]]
            s, e = self._sums(part)
            kth = np.partition(s + e, k - 1, axis=1)[:, k - 1 : k]
            query, row = np.nonzero(s - e <= kth)
            square = self._squares(part, query, row)
            order = np.lexsort((row, square, query))
            # ``query`` was sorted already, so the order leaves the queries in place
            first = np.searchsorted(query, np.arange(part.shape[0]))
            at = order[first[:, None] + np.arange(k)]
            values[blocks[b]], rows[blocks[b]] = square[at], row[at]

        run_on_threads(search, len(blocks), self.threads)
        return NearestLists(values, rows)

    def within(self, Q: SparseMatrix, square: float) -> RadiusLists:
        """Return all rows with d² of at most ``square``."""
        blocks = self._blocks(Q.shape[0])
        parts: list[Any] = [None] * len(blocks)

        def search(b: int) -> None:
            part = Q[blocks[b]]
            s, e = self._sums(part)
            query, row = np.nonzero(s - e <= square)
            d = self._squares(part, query, row)
            inside = d <= square
            counts = np.bincount(query[inside], minlength=part.shape[0])
            parts[b] = d[inside], row[inside], counts

        run_on_threads(search, len(blocks), self.threads)
        return join_groups(parts)

    def _blocks(self, m: int) -> list[slice]:
        step = max(1, MAX_PRODUCTS_HELD // max(1, self.X.shape[0]))
        return [slice(a, min(m, a + step)) for a in range(0, m, step)]

    def _sums(self, Q: SparseMatrix) -> tuple[np.ndarray, np.ndarray]:
        """Return s and e, both (m, n)."""
        size = Q.multiply(Q).sum(axis=1)[:, None] + self.square
        s = size - 2 * (Q @ self.T).toarray()
        return s, 4 * (self.max_row_entries + 8) * EPSILON * size

    def _squares(self, Q: SparseMatrix, query: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return d² of pairs (query, row), from differences."""
        out = np.empty(len(query))
        for a in range(0, len(query), MAX_PAIRS_HELD):
            pairs = slice(a, a + MAX_PAIRS_HELD)
            D = Q[query[pairs]] - self.X[row[pairs]]
            out[pairs] = D.multiply(D).sum(axis=1)
        return out
