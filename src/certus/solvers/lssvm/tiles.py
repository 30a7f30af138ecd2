"""Kernel matrices and products with them, computed in tiles on threads.

    H = RKR + ridge·I, R = diag r          GᵀΩG + ridge·I          K(new, fit) B

A tile is used as soon as it is computed: no other n × n matrix is held.
"""

import math

import numpy as np

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .kernel import Kernel, KernelTiles, over_tiles

BAND_ROWS = 128  # rows of GᵀΩG computed at a time


def weighted_gram(
    pairs: KernelTiles,
    diagonal: np.ndarray,
    r: np.ndarray,
    ridge: float,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return the upper triangle of RKR + ridge·I in Fortran order; the lower one is undefined."""
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
    """Return the upper triangle of GᵀΩG + ridge·I in Fortran order."""
    p = G.shape[1]
    A = np.empty((p, p), order="F")
    lines, starts = A.T, list(range(0, p, BAND_ROWS))[::-1]  # the longest lines first

    def band(k: int) -> None:
        rows = slice(starts[k], min(starts[k] + BAND_ROWS, p))
        lines[rows, : rows.stop] = np.dot(omega * G[:, rows].T, G[:, : rows.stop])

    with blas_limiter.for_work(G.shape):
        run_on_threads(band, len(starts), threads or effective_threads())
    A[np.diag_indices(p)] += ridge
    return A


def kernel_product(pairs: KernelTiles, B: np.ndarray, threads: int | None = None) -> np.ndarray:
    """Return K B, (m, q)."""
    product = np.zeros((pairs.shape[0], B.shape[1]))

    def add(rows: slice, columns: slice, tile: np.ndarray) -> None:
        product[rows] += np.dot(tile, B[columns])

    over_tiles(pairs, add, threads)
    return product


def predict(
    X_new: np.ndarray,
    X_fit: np.ndarray,
    beta: np.ndarray,
    b: np.ndarray,
    kernel: Kernel,
    threads: int | None = None,
) -> np.ndarray:
    """Return f(x) = Σ β_j K(x_j, x) + b of new rows, (m, q); precomputed: ``X_new`` is K(new, fit).

    Computes m·n kernel values, one tile for each thread at a time; rows with β = 0 are skipped.
    """
    used = np.any(beta != 0, axis=1)
    if kernel.name != "precomputed" and not used.all():
        X_fit, beta = X_fit[used], beta[used]
    if kernel.name == "linear":
        return np.asarray(X_new, dtype=np.float64) @ slopes(X_fit, beta) + b
    return kernel_product(kernel.between(X_new, X_fit), beta, threads) + b


def slopes(X: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return w = Xᵀβ of a linear kernel, (p, q).

    Rows far from 0 would multiply the rounding error of Σβ = 0, so this sum is exact.
    """
    origin = X.mean(axis=0, dtype=np.float64) if len(X) else np.zeros(X.shape[1])
    total = np.array([math.fsum(column) for column in beta.T])
    return (X - origin).T @ beta + np.outer(origin, total)
