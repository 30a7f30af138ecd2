"""Euclidean neighbours of sparse rows: products choose the candidates, differences decide.

    s_ij = ‖q_i‖² + ‖x_j‖² − 2 q_iᵀx_j,   |s_ij − d_ij²| ≤ e_ij = c·ε (‖q_i‖² + ‖x_j‖²)

A row j with s_ij − e_ij above the k-th smallest s_ij + e_ij is not among the k nearest. Of the few
others d_ij² is summed from differences, so the answer is exact however far the rows lie from 0.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from ...data.csr import CSR, SparseMatrix
from ...runtime.pool import run_on_threads
from .lists import Best, Within, joined

BLOCK = 1 << 21  # products held at a time, on each thread
PAIRS = 1 << 14  # differences of rows held at a time
HALF = np.sqrt(0.5)
EPSILON = np.finfo(float).eps


def embedded(X: CSR | SparseMatrix, name: str) -> SparseMatrix:
    """CSR in float64 whose squared Euclidean distance d² is the distance, or its square."""
    Z = csr_array((X.data.astype(float), X.indices, X.indptr), shape=X.shape)
    if name != "cosine":
        return Z
    most = np.maximum(abs(Z).max(axis=1).toarray().ravel(), np.finfo(float).tiny)
    Z = diags_array(1 / most).tocsr() @ Z  # squares of 1e200 would be infinite
    length = np.sqrt(Z.multiply(Z).sum(axis=1))
    return diags_array(np.divide(HALF, length, out=np.zeros_like(length), where=length > 0)) @ Z


class SparseProducts:
    """Rows of a fit, ``embedded``."""

    def __init__(self, X: SparseMatrix, threads: int):
        self.X, self.threads = X, threads
        self.T = X.T.tocsr()
        self.square = X.multiply(X).sum(axis=1)
        self.most = int(np.diff(X.indptr).max(initial=0))

    def nearest(self, Q: SparseMatrix, k: int) -> Best:
        """Squared distances and rows, (m, k), k at most as many as there are rows."""
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
            first = np.searchsorted(query, np.arange(part.shape[0]))  # sorted by query before too
            at = order[first[:, None] + np.arange(k)]
            values[blocks[b]], rows[blocks[b]] = square[at], row[at]

        run_on_threads(search, len(blocks), self.threads)
        return Best(values, rows)

    def within(self, Q: SparseMatrix, square: float) -> Within:
        """All rows with d² of at most ``square``."""
        blocks = self._blocks(Q.shape[0])
        parts: list[Any] = [None] * len(blocks)

        def search(b: int) -> None:
            part = Q[blocks[b]]
            s, e = self._sums(part)
            query, row = np.nonzero(s - e <= square)
            d = self._squares(part, query, row)
            near = d <= square
            counts = np.bincount(query[near], minlength=part.shape[0])
            parts[b] = d[near], row[near], counts

        run_on_threads(search, len(blocks), self.threads)
        return joined(parts)

    def _blocks(self, m: int) -> list[slice]:
        step = max(1, BLOCK // max(1, self.X.shape[0]))
        return [slice(a, min(m, a + step)) for a in range(0, m, step)]

    def _sums(self, Q: SparseMatrix) -> tuple[np.ndarray, np.ndarray]:
        """s and e, (m, n)."""
        size = Q.multiply(Q).sum(axis=1)[:, None] + self.square
        s = size - 2 * (Q @ self.T).toarray()
        return s, 4 * (self.most + 8) * EPSILON * size

    def _squares(self, Q: SparseMatrix, query: np.ndarray, row: np.ndarray) -> np.ndarray:
        """d² of pairs, from differences."""
        out = np.empty(len(query))
        for a in range(0, len(query), PAIRS):
            pairs = slice(a, a + PAIRS)
            D = Q[query[pairs]] - self.X[row[pairs]]
            out[pairs] = D.multiply(D).sum(axis=1)
        return out
