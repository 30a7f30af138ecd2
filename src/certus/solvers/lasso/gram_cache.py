"""Columns x̂ = √(s/D)·(x − x̄)·q of X that are kept, with their sums of products H = X̂ᵀX̂.

Dense columns are copied, about their mean. Sparse ones stay as they are, and the mean is taken out
of what they are multiplied with: H = Σ (s/D) x xᵀ − W x̄x̄ᵀ, W = Σ s/D.
"""

import numpy as np
import scipy.sparse as sp

from ...data.csr import SparseMatrix
from ...data.rows import Rows
from .active_columns import DenseColumns as GatheredColumns
from .active_columns import gather

SHARED_WORK = 1 << 24  # multiplications that threads share


class DenseColumns:
    def __init__(self, rows: Rows, root: np.ndarray, fit_intercept: bool):
        self.rows, self.root, self.fit_intercept = rows, root, fit_intercept
        self.c, self.q = np.empty(0), np.empty(0)
        self.X = np.empty((0, len(root)))  # a column of X̂ is a row here
        self.H = np.empty((0, 0))

    def add(self, features: np.ndarray) -> None:
        columns = gather(self.rows, features, self.fit_intercept, 1, None)
        assert isinstance(columns, GatheredColumns)
        old = len(self.c)
        self.c, self.q = np.append(self.c, columns.c), np.append(self.q, columns.q)
        self.X = _grown(self.X, len(self.c), len(self.root))
        np.multiply(columns.X, self.root, out=self.X[old : len(self.c)])
        X = self.X[: len(self.c)]
        if X.size * len(features) < SHARED_WORK:
            new = np.dot(X[old:], X.T)
        else:
            (new,) = Rows(X.T, threads=self.rows.threads).reduce(_products, old, square=True)
        self.H = _with_rows(self.H, new, old)

    def times(self, at: np.ndarray, u: np.ndarray) -> np.ndarray:
        """X̂u of some of them."""
        found: np.ndarray = u @ self.X[at]
        return found

    def transposed(self, r: np.ndarray) -> np.ndarray:
        """X̂ᵀr of all that are kept."""
        found: np.ndarray = self.X[: len(self.c)] @ r
        return found


class SparseColumns:
    """``by_columns``: X in CSC."""

    def __init__(self, by_columns: SparseMatrix, root: np.ndarray, fit_intercept: bool):
        self.source, self.root, self.fit_intercept = by_columns, root, fit_intercept
        self.c, self.q = np.empty(0), np.empty(0)
        self.X: SparseMatrix | None = None  # (n, kept): √(s/D)·x
        self.H = np.empty((0, 0))

    def add(self, features: np.ndarray) -> None:
        old, W = len(self.c), float(self.root @ self.root)
        X = self.source[:, features].astype(float)
        X.data *= self.root[X.indices]
        mean = X.T @ self.root / W if self.fit_intercept else np.zeros(len(features))
        self.c, self.q = np.append(self.c, mean), np.ones(old + len(features))
        self.X = X if self.X is None else sp.hstack([self.X, X], format="csc")
        new = (X.T @ self.X).toarray() - W * np.multiply.outer(mean, self.c)
        self.H = _with_rows(self.H, new, old)

    def times(self, at: np.ndarray, u: np.ndarray) -> np.ndarray:
        assert self.X is not None
        found: np.ndarray = self.X[:, at] @ u - float(self.c[at] @ u) * self.root
        return found

    def transposed(self, r: np.ndarray) -> np.ndarray:
        assert self.X is not None
        found: np.ndarray = self.X.T @ r - float(self.root @ r) * self.c
        return found


def _products(X: np.ndarray, _y: np.ndarray, _s: object, old: int) -> tuple[np.ndarray]:
    return (np.dot(X[:, old:].T, X),)


def _with_rows(H: np.ndarray, new: np.ndarray, old: int) -> np.ndarray:
    """H with its new rows (m − old, m), and what mirrors them."""
    m = new.shape[1]
    H = _grown(H, m, None)
    H[old:m, :m] = new
    H[:old, old:m] = new[:, :old].T
    return H


def _grown(A: np.ndarray, rows: int, columns: int | None) -> np.ndarray:
    """A with room for more rows: half as much again, so that growing costs little in all.
    ``columns``: of A; None: as many as rows."""
    if A.shape[0] >= rows:
        return A
    rows = max(rows, A.shape[0] * 3 // 2)
    room = np.empty((rows, rows if columns is None else columns))
    room[: A.shape[0], : A.shape[1]] = A
    return room
