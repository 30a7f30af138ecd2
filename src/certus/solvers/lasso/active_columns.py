"""Copies of a few columns of X, and the sums of them that quadratic models need.

    x̂ = (x − c)∘q,   z = x̂ᵀu + β,   w = q∘u,   b = β − cᵀw

c is the columns' weighted mean and q a power of two (``solvers/glm/coordinates.py``). Sparse
columns stay sparse, with c = 0, unless one of them is so far from 0 that it is nearly collinear
with the intercept: then all are copied densely.

A coordinate is a pair of a column and a class. The curvature of row i is T_i∘(I − 1P_iᵀ), and with
one class T_i alone, so that for columns a, b of classes k, l

    H_ab = Σ_i T_ik ([k = l] − P_il) x̂_ia x̂_ib
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...data.csr import Block, SparseMatrix
from ...data.rows import Rows
from ..linalg.gram import power_of_two

# |mean|/deviation beyond which sparse columns are copied densely (one class, several classes) …
MAX_MEAN_TO_SPREAD = 1e5, 10.0
MAX_DENSE_ELEMENTS = 1 << 27  # … if the copies are at most this large
TILE_COLUMNS = 512  # cast to float64 and multiplied at a time
CENTRING_ROUNDING = 64 * np.finfo(float).eps  # relative to max|x|: a smaller deviation is rounding


class ColumnClassPairs(NamedTuple):
    """Coordinates as (column, class) pairs, ordered by class."""

    features: np.ndarray  # (f,): columns of X, ascending
    column: np.ndarray  # (m,): position in features
    of_class: np.ndarray  # (m,)
    K: int

    @classmethod
    def of(cls, flat: np.ndarray, K: int) -> "ColumnClassPairs":
        """Pairs of the given indices into w.ravel()."""
        feature, k = flat // K, flat % K
        features = np.unique(feature)
        order = np.lexsort((feature, k))
        column = np.searchsorted(features, feature[order])
        return cls(features, column, k[order].astype(np.intp), K)

    @property
    def flat(self) -> np.ndarray:
        places: np.ndarray = self.features[self.column] * self.K + self.of_class
        return places

    def take(self, which: np.ndarray) -> "ColumnClassPairs":
        """Return a subset of the coordinates, with the same features."""
        return ColumnClassPairs(self.features, self.column[which], self.of_class[which], self.K)

    def spread(self, v: np.ndarray) -> np.ndarray:
        """Scatter v, (m,), into a matrix (f, K)."""
        V = np.zeros((len(self.features), self.K))
        V[self.column, self.of_class] = v
        return V

    def of_each_class(self) -> list[np.ndarray]:
        return [np.flatnonzero(self.of_class == k) for k in range(self.K)]


class Curvature(NamedTuple):
    """Slopes and curvatures of all rows at one iterate."""

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
    """X̂ᵀ, (f, n): columns of X as contiguous rows."""

    def __init__(self, X: np.ndarray, s: np.ndarray | None, center: bool, threads: int):
        self.threads, self.X = threads, X
        f, n = X.shape
        weight = np.full(n, 1.0 / n) if s is None else s / s.sum()
        size = np.abs(X).max(axis=1, initial=0.0)
        q = power_of_two(size)
        self.q = np.ones(f) if q is None else q
        self.c = X @ weight if center else np.zeros(f)
        X -= self.c[:, None]
        if q is not None:
            X *= q[:, None]
        if center:  # a centred constant column is rounding
            left = np.abs(X).max(axis=1, initial=0.0)
            X[left <= CENTRING_ROUNDING * size * self.q] = 0.0

    @property
    def entries(self) -> int:
        return self.X.size

    def product(self, V: np.ndarray) -> np.ndarray:
        return self.X.T @ V

    def gradient(self, R: np.ndarray) -> np.ndarray:
        """(f, K)."""
        return self.X @ R.T

    def squares(self, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ d x̂² and Σ d x̂ of each column."""
        return np.einsum("fi,fi,i->f", self.X, self.X, d), self.X @ d

    def gram(self, pairs: ColumnClassPairs, at: Curvature, intercept: bool) -> np.ndarray:
        """H of the pairs, followed by the intercepts."""
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
    pairs: ColumnClassPairs,
    intercept: bool,
) -> tuple[np.ndarray]:
    A, K, m = X.T, pairs.K, len(pairs.column)
    at = Curvature(T.T, T.T, P.T)
    if K == 1:
        root = _weighted(A, pairs.column, np.sqrt(at.of(0, 0)), intercept)
        return (np.dot(root, root.T),)
    H = np.empty((m + K * intercept, m + K * intercept))
    classes = pairs.of_each_class()
    positions = [np.append(where, m + k) if intercept else where for k, where in enumerate(classes)]
    for k in range(K):
        root = _weighted(A, pairs.column[classes[k]], np.sqrt(at.of(k, k)), intercept)
        H[np.ix_(positions[k], positions[k])] = np.dot(root, root.T)
        plain = _weighted(A, pairs.column[classes[k]], np.ones(A.shape[1]), intercept)
        for l in range(k):
            side = _weighted(A, pairs.column[classes[l]], at.of(k, l), intercept)
            block = np.dot(plain, side.T)
            H[np.ix_(positions[k], positions[l])] = block
            H[np.ix_(positions[l], positions[k])] = block.T
    return (H,)


def _weighted(A: np.ndarray, rows: np.ndarray, d: np.ndarray, intercept: bool) -> np.ndarray:
    """The given rows of A, and a row of ones for an intercept, times d."""
    B = np.empty((len(rows) + intercept, len(d)))
    np.multiply(A[rows], d, out=B[: len(rows)])
    B[len(rows) :] = d
    return B


class SparseColumns:
    """X, (n, f), in CSC, not centred."""

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

    def gram(self, pairs: ColumnClassPairs, at: Curvature, intercept: bool) -> np.ndarray:
        K, m = pairs.K, len(pairs.column)
        H = np.empty((m + K * intercept, m + K * intercept))
        ones = sp.csc_array(np.ones((self.X.shape[0], 1)))
        positions: list[np.ndarray] = []
        columns: list[SparseMatrix] = []
        for k, where in enumerate(pairs.of_each_class()):
            B = self.X[:, pairs.column[where]]
            positions.append(np.append(where, m + k) if intercept else where)
            columns.append(sp.hstack([B, ones], format="csc") if intercept else B)
            for l in range(k + 1):
                weighted = columns[l].copy()
                weighted.data *= at.of(k, l)[weighted.indices]
                block = (columns[k].T @ weighted).toarray()
                H[np.ix_(positions[k], positions[l])] = block
                H[np.ix_(positions[l], positions[k])] = block.T
        return H

    def epoch(self, *args: Any) -> float:
        from ...kernels.lasso.coordinate_descent import sparse_epoch

        return sparse_epoch(self.X, *args)


def gradient_of_columns(rows: Rows, slope: np.ndarray) -> np.ndarray:
    """Xᵀ slope, (p, K), in one pass."""
    (g,) = rows.with_targets(slope).reduce(_gradient_block)
    product: np.ndarray = g
    return product


def _gradient_block(X: Block, slope: np.ndarray, _s: object) -> tuple[np.ndarray]:
    if not isinstance(X, np.ndarray):
        return (X.T @ slope,)
    g = np.empty((X.shape[1], slope.shape[1]))
    for start in range(0, len(g), TILE_COLUMNS):
        part = slice(start, start + TILE_COLUMNS)
        g[part] = X[:, part].T.astype(float, copy=False) @ slope
    return (g,)


def _copied(rows: Rows, features: np.ndarray) -> np.ndarray:
    """Copy columns of X as rows of a float64 array."""
    X = rows.X
    if isinstance(X, np.ndarray) and X.flags.f_contiguous:  # columns are contiguous
        return X.T.take(features, axis=0).astype(float, copy=False)
    copy = np.empty((len(features), rows.shape[0]))
    rows.map(_columns_of_block, copy.T, features)
    return copy


def _columns_of_block(X: np.ndarray, _y: object, _s: object, features: np.ndarray) -> np.ndarray:
    return X[:, features]


def gather(
    rows: Rows, features: np.ndarray, center: bool, K: int, by_columns: SparseMatrix | None
) -> DenseColumns | SparseColumns:
    """Copy the columns of the given features. ``by_columns``: X in CSC, if it is sparse."""
    n, f = rows.shape[0], len(features)
    if rows.sparse:
        assert by_columns is not None
        X = by_columns[:, features].astype(float)
        weight = np.full(n, 1.0 / n) if rows.s is None else rows.s / rows.S
        mean, square = X.T @ weight, X.power(2).T @ weight
        is_near_origin = mean**2 <= MAX_MEAN_TO_SPREAD[K > 1] ** 2 * (square - mean**2)
        if not center or is_near_origin.all() or n * f > MAX_DENSE_ELEMENTS:
            return SparseColumns(X)
        copy = np.ascontiguousarray(X.toarray().T)
    else:
        copy = _copied(rows, features)
    return DenseColumns(copy, rows.s, center, rows.threads)


def scores(rows: Rows, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return Xw + b, (n, K), in one pass over the columns with nonzero coefficients."""
    z = np.tile(b, (rows.shape[0], 1))
    if w.any():
        used = np.flatnonzero(w.any(axis=1))
        z += rows.map(_products, np.empty_like(z), used, w[used])
    return z


def _products(X: Block, _y: object, _s: object, used: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Xw of the columns used."""
    product: np.ndarray = X[:, used] @ w
    return product
