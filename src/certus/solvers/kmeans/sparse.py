"""Labels of sparse rows: products of their entries with all centres, in float64.

    ‖x − μ‖² = ‖μ‖² − 2xᵀμ + ‖x‖²,   off by at most E = 2⁻⁵³((2m + 8)‖x‖M + (p + 4)M²)

for a row with m entries, M = max‖μ‖. Where the two smallest are not 2E apart, differences decide;
of equally near centres the first is taken.
"""

import numpy as np
from scipy.sparse import csr_array

from ...data.csr import SparseMatrix
from ...data.rows import Rows
from .bounds import block_rows
from .fit import AssignmentChange, OwnDistances

UNIT = 2.0**-53  # unit roundoff of float64
TILE_DISTANCES = 1 << 20  # distances of a tile: 8 MB a thread
DENSE_ROWS = 64  # rows that are made dense at a time


class SparseAssigner:
    """Assigner of sparse rows: O(entries·k) a step, and memory for one tile a thread."""

    tracks_sums = True

    def __init__(self, rows: Rows, k: int):
        (n, p), self.rows, self.k = rows.shape, rows, k
        self.c = np.zeros(p)
        self.labels = np.zeros(n, dtype=np.int32)
        self.C: np.ndarray | None = None
        self.block = block_rows(n, k, 1, 1)

    def move_to(self, C: np.ndarray) -> AssignmentChange:
        first, self.C = self.C is None, np.array(C, dtype=float, order="C")
        columns = np.asfortranarray(-2 * self.C.T)
        square = np.einsum("ij,ij->i", self.C, self.C)
        change: AssignmentChange = self.rows.reduce(
            self._block, columns, square, first,
            beside=(self.labels,), block_rows=self.block, times=self.k,
        )  # fmt: skip
        return change

    def _block(
        self,
        given: SparseMatrix,
        _y: object,
        s: np.ndarray | None,
        labels: np.ndarray,
        columns: np.ndarray,
        square: np.ndarray,
        first: bool,
    ) -> AssignmentChange:
        X = csr_array(given, dtype=float)
        n, step, now = (
            X.shape[0],
            max(16, TILE_DISTANCES // self.k),
            np.empty(len(labels), dtype=np.int32),
        )
        lengths = np.sqrt(X.multiply(X).sum(axis=1))
        far = np.sqrt(square.max())
        E = (
            1.02
            * UNIT
            * ((2 * np.diff(X.indptr) + 8) * lengths * far + (len(columns) + 4) * far**2)
        )
        for a in range(0, n, step):
            part = slice(a, min(a + step, n))
            V = X[part] @ columns + square
            now[part] = V.argmin(axis=1)
            least = np.take_along_axis(V, now[part, None].astype(np.intp), 1)
            close = (least + 2 * E[part, None] >= V).sum(axis=1) > 1
            for i in a + np.flatnonzero(close):
                D = X[[i]].toarray() - self.C
                now[i] = np.einsum("ij,ij->i", D, D).argmin()
        moved = np.flatnonzero(now != labels) if not first else np.arange(n)
        w = np.ones(len(moved)) if s is None else s[moved]
        came = _sums(X[moved], w, now[moved], self.k)
        mass = _masses(w, now[moved], self.k)
        if not first:
            came -= _sums(X[moved], w, labels[moved], self.k)
            mass -= _masses(w, labels[moved], self.k)
        labels[:] = now
        weights = np.ones(n) if s is None else s
        total = float((weights * lengths**2).sum()) if first else 0.0
        return AssignmentChange(came, mass, len(moved), n, n, total)

    def distances_to_own_center(self, keep: bool = True) -> OwnDistances:
        C, d2 = self.C, np.empty(len(self.labels))
        assert C is not None

        def block(
            given: SparseMatrix,
            _y: object,
            s: np.ndarray | None,
            labels: np.ndarray,
            d2: np.ndarray,
        ) -> tuple[float, np.ndarray]:
            X, residual_sums = csr_array(given, dtype=float), np.zeros(C.shape)
            weights = np.ones(len(d2)) if s is None else s
            for first in range(0, X.shape[0], DENSE_ROWS):
                part = slice(first, first + DENSE_ROWS)
                D = X[part].toarray() - C[labels[part]]
                d2[part] = np.einsum("ij,ij->i", D, D)
                np.add.at(residual_sums, labels[part], weights[part, None] * D)
            return float(weights @ d2), residual_sums

        total, residual_sums = self.rows.reduce(
            block, beside=(self.labels, d2), block_rows=self.block
        )
        return OwnDistances(float(total), d2, residual_sums)

    def invalidate(self, i: int) -> None:
        """Do nothing: this assigner holds no bounds."""


def _masses(w: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Σ s of each label, (k,), as floats: bincount of no rows would return integers."""
    return np.bincount(labels, w, k).astype(float)


def _sums(X: np.ndarray, w: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Σ s x of each label, (k, p)."""
    member = csr_array((w, (labels, np.arange(len(labels)))), shape=(k, len(labels)))
    return np.asarray((member @ X).toarray())
