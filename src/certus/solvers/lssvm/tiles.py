"""Matrices and products of kernels, by tiles, on threads.

    H = RKR + ridge·I, R = diag r          GᵀΩG + ridge·I          K(new, fit) B

A tile is used as soon as it is made: no other n × n matrix is held.
"""

import math

import numpy as np

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .kernel import Kernel, Pairs, over_tiles

BAND = 128  # rows of a product at a time


def weighted_gram(
    pairs: Pairs,
    diagonal: np.ndarray,
    r: np.ndarray,
    ridge: float,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """RKR + ridge·I in Fortran order, its upper triangle; what is below is not to be read."""
    n = len(r)
    H = np.empty((n, n), order="F") if out is None else out
    lines = H.T  # line j is column j of H
    weighted = bool(np.any(r != 1))

    def fill(rows: slice, columns: slice, tile: np.ndarray) -> None:
        pairs.require_symmetric(rows, columns, tile)
        if weighted:
            tile *= r[rows, None]
            tile *= r[columns]
        lines[rows, columns] = tile

    over_tiles(pairs, fill, threads, below=True)
    H[np.diag_indices(n)] = diagonal * r**2 + ridge
    return H


def normal_matrix(
    G: np.ndarray, omega: np.ndarray, ridge: float, threads: int | None = None
) -> np.ndarray:
    """GᵀΩG + ridge·I in Fortran order, its upper triangle."""
    p = G.shape[1]
    A = np.empty((p, p), order="F")
    lines, starts = A.T, list(range(0, p, BAND))[::-1]  # the longest lines first

    def band(k: int) -> None:
        rows = slice(starts[k], min(starts[k] + BAND, p))
        lines[rows, : rows.stop] = np.dot(omega * G[:, rows].T, G[:, : rows.stop])

    with blas_limiter.for_work(G.shape):
        run_on_threads(band, len(starts), threads or effective_threads())
    A[np.diag_indices(p)] += ridge
    return A


def times(pairs: Pairs, B: np.ndarray, threads: int | None = None) -> np.ndarray:
    """K B, (m, q)."""
    found = np.zeros((pairs.shape[0], B.shape[1]))

    def add(rows: slice, columns: slice, tile: np.ndarray) -> None:
        found[rows] += np.dot(tile, B[columns])

    over_tiles(pairs, add, threads)
    return found


def predict(
    X_new: np.ndarray,
    X_fit: np.ndarray,
    beta: np.ndarray,
    b: np.ndarray,
    kernel: Kernel,
    threads: int | None = None,
) -> np.ndarray:
    """f(x) = Σ β_j K(x_j, x) + b of new rows, (m, q); precomputed: ``X_new`` is K(new, fit).

    m n kernel values, a tile of them for each thread at a time; rows of β = 0 cost nothing.
    """
    used = np.any(beta != 0, axis=1)
    if kernel.name != "precomputed" and not used.all():
        X_fit, beta = X_fit[used], beta[used]
    if kernel.name == "linear":
        return np.asarray(X_new, dtype=np.float64) @ slopes(X_fit, beta) + b
    return times(kernel.between(X_new, X_fit), beta, threads) + b


def slopes(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """w = Xᵀβ of a linear kernel, (p, q).

    Far rows multiply what rounding leaves of Σβ = 0, so this sum is exact.
    """
    origin = X.mean(axis=0, dtype=np.float64) if len(X) else np.zeros(X.shape[1])
    total = np.array([math.fsum(column) for column in beta.T])
    return (X - origin).T @ beta + np.outer(origin, total)
