"""Distances of all pairs, computed in blocks of rows on threads.

    D = (d(a_i, b_j)),  a block of rows of A against all of B at a time

No array is larger than D and a transposed copy of B. Blocks depend on the shapes only, and each
pair is summed in the same order at any position: the same bits on any number of threads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.config import effective_threads
from ..runtime.pool import blas_limiter, run_on_threads

BLOCK_ROWS = 64  # of A at a time: their sums stay in L2
MIN_MIRRORED_FEATURES = 16  # with fewer, computing d(b, a) again is faster than transposing
MIRROR_COLUMNS = 512  # transposed at a time: they stay in L2
VJP_ROWS = 512  # rows of A in one matrix product of ``squared_vjp``
BLOCK_ELEMENTS = 1 << 18  # of D in one NumPy block

# terms of the compiled loops (kernels/distances.py)
ABSOLUTE, SQUARED, WEIGHTED_SQUARED, MAXIMUM, POWER, MISMATCH, CANBERRA, PRODUCT = range(8)

Finish = Callable[[np.ndarray], Any]


def sums_of_pairs(
    kind: int,
    A: np.ndarray,
    B: np.ndarray,
    w: np.ndarray | None = None,
    p: float = 1.0,
    finish: Finish | None = None,
    threads: int | None = None,
) -> np.ndarray:
    """Return the sums ``kind``, (n, m); ``finish`` transforms each block in place while cached."""
    n, m = len(A), len(B)
    D = np.empty((n, m))
    if n == 0 or m == 0:
        return D
    from ..kernels.distances import LANES, all_pairs, panels_of

    weights = np.ones(A.shape[1]) if w is None else np.ascontiguousarray(w, dtype=np.float64)
    panels = panels_of(B)
    symmetric = (
        A is B and A.shape[1] >= MIN_MIRRORED_FEATURES
    )  # then d(a, b) = d(b, a) is computed once
    assert BLOCK_ROWS == LANES  # blocks of rows and of columns have the same edges

    def task(k: int) -> None:
        rows = slice(k * BLOCK_ROWS, min((k + 1) * BLOCK_ROWS, n))
        first = rows.start if symmetric else 0
        block = D[rows, first:]
        all_pairs(A[rows], panels[first // LANES :], weights, kind, p, block)
        if finish is not None:
            finish(block)
        if symmetric:
            for start in range(rows.stop, m, MIRROR_COLUMNS):
                columns = slice(start, start + MIRROR_COLUMNS)
                D[columns, rows] = D[rows, columns].T

    run_on_threads(task, -(-n // BLOCK_ROWS), effective_threads(threads))
    return D


def shared_features(
    A: np.ndarray,
    B: np.ndarray,
    w: np.ndarray,
    scale: np.ndarray,
    kinds: np.ndarray,
    finish: Callable[[np.ndarray, np.ndarray], Any],
    threads: int | None = None,
) -> np.ndarray:
    """Return finish(Σ w·difference, Σ w), (n, m), over the features that are known in both rows."""
    from ..kernels.distances import panels_of, shared_features

    D = np.empty((len(A), len(B)))
    if not D.size:
        return D
    panels = panels_of(B)

    def task(k: int) -> None:
        rows = slice(k * BLOCK_ROWS, min((k + 1) * BLOCK_ROWS, len(A)))
        shared = np.empty((rows.stop - rows.start, len(B)))
        shared_features(A[rows], panels, w, scale, kinds, D[rows], shared)
        D[rows] = finish(D[rows], shared)

    run_on_threads(task, -(-len(A) // BLOCK_ROWS), effective_threads(threads))
    return D


def by_row_blocks(
    block: Callable[[slice], Any], n: int, m: int, width: int, threads: int | None = None
) -> np.ndarray:
    """Return (n, m) from ``block(rows)``, which may hold ``width`` numbers for each pair."""
    D = np.empty((n, m))
    size = max(1, BLOCK_ELEMENTS // max(1, m * width))

    def task(k: int) -> None:
        rows = slice(k * size, min((k + 1) * size, n))
        D[rows] = block(rows)

    if n and m:
        run_on_threads(task, -(-n // size), effective_threads(threads))
    return D


def absolute_vjp(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, threads: int | None = None
) -> np.ndarray:
    """Return Σ_ij C_ij |a_il − b_jl| for every feature l."""
    n, m = len(A), len(B)
    if n == 0 or m == 0:
        return np.zeros(A.shape[1])
    from ..kernels.distances import LANES, absolute_vjp, panels_of

    panels = panels_of(B)
    parts = np.empty((-(-n // BLOCK_ROWS), A.shape[1]))

    def task(k: int) -> None:
        rows = slice(k * BLOCK_ROWS, min((k + 1) * BLOCK_ROWS, n))
        padded = np.zeros((rows.stop - rows.start, len(panels) * LANES))
        padded[:, :m] = C[rows]
        parts[k] = absolute_vjp(A[rows], panels, padded)

    run_on_threads(task, len(parts), effective_threads(threads))
    return parts.sum(axis=0)


def squared_vjp(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, sign: int, threads: int | None
) -> np.ndarray:
    """Return Σ_ij C_ij (a_il ± b_jl)² for every feature l, by one product of matrices.

    Σ_i (Σ_j C_ij) a_il² + Σ_j (Σ_i C_ij) b_jl² ± 2 Σ_i a_il (C B)_il
    """
    parts = np.zeros((-(-len(A) // VJP_ROWS), A.shape[1]))
    B2 = B**2

    def task(k: int) -> None:
        rows = slice(k * VJP_ROWS, (k + 1) * VJP_ROWS)
        c, a = C[rows], A[rows]
        cross = np.einsum("il,il->l", a, np.dot(c, B))
        parts[k] = np.dot(c.sum(axis=1), a**2) + np.dot(c.sum(axis=0), B2) + sign * 2 * cross

    with blas_limiter:  # the bits of a BLAS product depend on its threads
        run_on_threads(task, len(parts), effective_threads(threads))
    return parts.sum(axis=0)
