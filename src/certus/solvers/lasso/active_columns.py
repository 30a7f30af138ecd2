"""A few columns of X, copied side by side, with what a quadratic model needs of them.

    x̂ = (x − c)∘q,   z = x̂ᵀu + β,   w = q∘u,   b = β − cᵀw

c is the columns' weighted mean and q a power of two (``solvers/glm/coordinates.py``). Sparse
columns stay as they are, c = 0, unless one of them lies so far from 0 that the intercept could not
be told from it: then all are copied with their zeros.

A coordinate is a pair: a column and a class. The curvature of row i is T_i∘(I − 1P_iᵀ), and with
one class T_i alone, so that for columns a, b of classes k, l

    H_ab = Σ_i T_ik ([k = l] − P_il) x̂_ia x̂_ib
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...data.csr import Block, SparseMatrix
from ...data.rows import Rows
from ..linalg.gram import power_of_two

# deviations from 0 beyond which a sparse column is copied with its zeros (one class, several) …
FAR = 1e5, 10.0
DENSE_ELEMENTS = 1 << 27  # … if the copies have no more than this
TILE = 512  # columns that are cast and multiplied at a time
NOISE = 64 * np.finfo(float).eps  # of a column's size: a deviation below this is rounding


class Pairs(NamedTuple):
    """Coordinates, ordered by class."""

    features: np.ndarray  # (f,): columns of X, ascending
    column: np.ndarray  # (m,): which of the features
    of_class: np.ndarray  # (m,)
    K: int

    @classmethod
    def of(cls, flat: np.ndarray, K: int) -> "Pairs":
        """Of places in w.ravel()."""
        feature, k = flat // K, flat % K
        features = np.unique(feature)
        order = np.lexsort((feature, k))
        column = np.searchsorted(features, feature[order])
        return cls(features, column, k[order].astype(np.intp), K)

    @property
    def flat(self) -> np.ndarray:
        places: np.ndarray = self.features[self.column] * self.K + self.of_class
        return places

    def take(self, which: np.ndarray) -> "Pairs":
        """Some of the coordinates, of the same columns."""
        return Pairs(self.features, self.column[which], self.of_class[which], self.K)

    def spread(self, v: np.ndarray) -> np.ndarray:
        """v (m,) as a matrix (f, K)."""
        V = np.zeros((len(self.features), self.K))
        V[self.column, self.of_class] = v
        return V

    def of_each_class(self) -> list[np.ndarray]:
        return [np.flatnonzero(self.of_class == k) for k in range(self.K)]


class Curvature(NamedTuple):
    """Of all rows at one point."""

    R: np.ndarray  # (K, n): slopes
    T: np.ndarray  # (K, n)
    P: np.ndarray  # (K, n); 0 for one class

    def of(self, k: int, l: int) -> np.ndarray:
        d: np.ndarray = self.T[k] * ((k == l) - self.P[l])
        return d

    def of_intercepts(self) -> np.ndarray:
        K = len(self.R)
        return np.array([[self.of(k, l).sum() for l in range(K)] for k in range(K)])


class DenseColumns:
    """X̂ᵀ (f, n): a column of X is a row here, in one piece."""

    def __init__(self, X: np.ndarray, s: np.ndarray | None, centre: bool, threads: int):
        self.threads, self.X = threads, X
        f, n = X.shape
        weight = np.full(n, 1.0 / n) if s is None else s / s.sum()
        size = np.abs(X).max(axis=1, initial=0.0)
        q = power_of_two(size)
        self.q = np.ones(f) if q is None else q
        self.c = X @ weight if centre else np.zeros(f)
        X -= self.c[:, None]
        if q is not None:
            X *= q[:, None]
        if centre:  # what is left of a constant column is rounding
            left = np.abs(X).max(axis=1, initial=0.0)
            X[left <= NOISE * size * self.q] = 0.0

    @property
    def entries(self) -> int:
        return self.X.size

    def product(self, V: np.ndarray) -> np.ndarray:
        return self.X.T @ V

    def gradient(self, R: np.ndarray) -> np.ndarray:
        """(f, K)."""
        return self.X @ R.T

    def squares(self, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ d x̂² and Σ d x̂, column by column."""
        return np.einsum("fi,fi,i->f", self.X, self.X, d), self.X @ d

    def gram(self, pairs: Pairs, at: Curvature, intercept: bool) -> np.ndarray:
        """H of the pairs, and of the intercepts after them."""
        rows = Rows(self.X.T, threads=self.threads)
        block_rows = max(256, len(pairs.column) // 2, rows.block_rows())
        beside = (at.T.T, at.P.T)
        (H,) = rows.reduce(
            _gram_block, pairs, intercept, beside=beside, block_rows=block_rows, square=True
        )
        whole: np.ndarray = H
        return whole

    def epoch(self, *args: Any) -> float:
        from ...kernels.lasso.coordinate_descent import dense_epoch

        return dense_epoch(self.X, *args)


def _gram_block(
    X: np.ndarray,
    _y: object,
    _s: object,
    T: np.ndarray,
    P: np.ndarray,
    pairs: Pairs,
    intercept: bool,
) -> tuple[np.ndarray]:
    A, K, m = X.T, pairs.K, len(pairs.column)
    at = Curvature(T.T, T.T, P.T)
    if K == 1:
        root = _weighted(A, pairs.column, np.sqrt(at.of(0, 0)), intercept)
        return (np.dot(root, root.T),)
    H = np.empty((m + K * intercept, m + K * intercept))
    classes = pairs.of_each_class()
    own = [np.append(where, m + k) if intercept else where for k, where in enumerate(classes)]
    for k in range(K):
        root = _weighted(A, pairs.column[classes[k]], np.sqrt(at.of(k, k)), intercept)
        H[np.ix_(own[k], own[k])] = np.dot(root, root.T)
        plain = _weighted(A, pairs.column[classes[k]], np.ones(A.shape[1]), intercept)
        for l in range(k):
            side = _weighted(A, pairs.column[classes[l]], at.of(k, l), intercept)
            block = np.dot(plain, side.T)
            H[np.ix_(own[k], own[l])] = block
            H[np.ix_(own[l], own[k])] = block.T
    return (H,)


def _weighted(A: np.ndarray, rows: np.ndarray, d: np.ndarray, intercept: bool) -> np.ndarray:
    """These rows of A, and for an intercept one of ones, times d."""
    B = np.empty((len(rows) + intercept, len(d)))
    np.multiply(A[rows], d, out=B[: len(rows)])
    B[len(rows) :] = d
    return B


class SparseColumns:
    """X (n, f) in CSC, about 0."""

    def __init__(self, X: SparseMatrix):
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        self.X = X
        self.c, self.q = np.zeros(X.shape[1]), np.ones(X.shape[1])

    @property
    def entries(self) -> int:
        return int(self.X.nnz)

    def product(self, V: np.ndarray) -> np.ndarray:
        return self.X @ V

    def gradient(self, R: np.ndarray) -> np.ndarray:
        return self.X.T @ R.T

    def squares(self, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.X.power(2).T @ d, self.X.T @ d

    def gram(self, pairs: Pairs, at: Curvature, intercept: bool) -> np.ndarray:
        K, m = pairs.K, len(pairs.column)
        H = np.empty((m + K * intercept, m + K * intercept))
        ones = sp.csc_array(np.ones((self.X.shape[0], 1)))
        own: list[np.ndarray] = []
        columns: list[SparseMatrix] = []
        for k, where in enumerate(pairs.of_each_class()):
            B = self.X[:, pairs.column[where]]
            own.append(np.append(where, m + k) if intercept else where)
            columns.append(sp.hstack([B, ones], format="csc") if intercept else B)
            for l in range(k + 1):
                weighted = columns[l].copy()
                weighted.data *= at.of(k, l)[weighted.indices]
                block = (columns[k].T @ weighted).toarray()
                H[np.ix_(own[k], own[l])] = block
                H[np.ix_(own[l], own[k])] = block.T
        return H

    def epoch(self, *args: Any) -> float:
        from ...kernels.lasso.coordinate_descent import sparse_epoch

        return sparse_epoch(self.X, *args)


def gradient_of_columns(rows: Rows, slope: np.ndarray) -> np.ndarray:
    """Xᵀ slope, (p, K): one pass."""
    (g,) = rows.with_targets(slope).reduce(_gradient_block)
    found: np.ndarray = g
    return found


def _gradient_block(X: Block, slope: np.ndarray, _s: object) -> tuple[np.ndarray]:
    if not isinstance(X, np.ndarray):
        return (X.T @ slope,)
    g = np.empty((X.shape[1], slope.shape[1]))
    for start in range(0, len(g), TILE):
        part = slice(start, start + TILE)
        g[part] = X[:, part].T.astype(float, copy=False) @ slope
    return (g,)


def _copied(rows: Rows, features: np.ndarray) -> np.ndarray:
    """Columns of X as rows, in float64."""
    X = rows.X
    if isinstance(X, np.ndarray) and X.flags.f_contiguous:  # each lies in one piece
        return X.T.take(features, axis=0).astype(float, copy=False)
    copy = np.empty((len(features), rows.shape[0]))
    rows.map(lambda X, y, s: X[:, features], copy.T)
    return copy


def gather(
    rows: Rows, features: np.ndarray, centre: bool, K: int, by_columns: SparseMatrix | None
) -> DenseColumns | SparseColumns:
    """The features' columns. ``by_columns``: X in CSC, if it is sparse."""
    n, f = rows.shape[0], len(features)
    if rows.sparse:
        assert by_columns is not None
        X = by_columns[:, features].astype(float)
        weight = np.full(n, 1.0 / n) if rows.s is None else rows.s / rows.S
        mean, square = X.T @ weight, X.power(2).T @ weight
        near = mean**2 <= FAR[K > 1] ** 2 * (square - mean**2)
        if not centre or near.all() or n * f > DENSE_ELEMENTS:
            return SparseColumns(X)
        copy = np.ascontiguousarray(X.toarray().T)
    else:
        copy = _copied(rows, features)
    return DenseColumns(copy, rows.s, centre, rows.threads)
