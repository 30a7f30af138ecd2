"""Matrices and products of kernels, by tiles, on threads.

    H = RKR + I/C, R = diag r          K(new, fit) B

A tile is used as soon as it is made, so nothing of n × n besides H is ever held.
"""

import numpy as np

from .kernel import Kernel, Pairs, over_tiles


def weighted_gram(
    pairs: Pairs, diagonal: np.ndarray, r: np.ndarray, ridge: float, threads: int | None = None
) -> np.ndarray:
    """RKR + ridge·I in Fortran order: its upper triangle; what is below is not to be read."""
    n = len(r)
    H = np.empty((n, n), order="F")
    lines = H.T  # row j holds column j of H
    weighted = bool(np.any(r != 1))

    def fill(rows: slice, columns: slice, tile: np.ndarray) -> None:
        if weighted:
            tile *= r[rows, None]
            tile *= r[columns]
        lines[rows, columns] = tile

    over_tiles(pairs, fill, threads, below=True)
    H[np.diag_indices(n)] = diagonal * r**2 + ridge
    return H


def mirror(H: np.ndarray) -> None:
    """Fill what is below the diagonal."""
    for j in range(0, len(H), 512):
        H[j:, j : j + 512] = np.triu(H[j : j + 512, j:]).T + np.tril(H[j:, j : j + 512], -1) * 0


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
    """f(x) = Σ β_j K(x_j, x) + b of all new rows, (m, q); precomputed: ``X_new`` is K(new, fit).

    m n kernel values, of which only a tile for each thread is held at a time.
    """
    used = np.any(beta != 0, axis=1)
    if not used.all() and not callable(kernel.name):
        beta = beta[used]
        X_new, X_fit = (
            (X_new[:, used], X_fit) if kernel.name == "precomputed" else (X_new, X_fit[used])
        )
    if kernel.name == "linear":
        w = np.asarray(X_fit, dtype=np.float64).T @ beta
        return np.asarray(X_new, dtype=np.float64) @ w + b
    return times(kernel.between(X_new, X_fit), beta, threads) + b
