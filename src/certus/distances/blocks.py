"""All pairs, block of rows by block of rows, on threads.

    D = (d(a_i, b_j)),  a block of rows of A against all of B at a time

No array is larger than D and a transposed copy of B. Blocks depend on the shapes only, and each
pair is summed in the same order wherever it stands: the same bits on any number of threads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.config import effective_threads
from ..runtime.pool import blas_limiter, run_on_threads

ROWS = 64  # of A at a time: their sums stay in the second cache
MIRRORED_FROM = 16  # features; with fewer, adding up again is faster than transposing
MIRRORED = 512  # columns at a time: what is transposed stays in the second cache
PULLED = 512  # rows whose pairs are pulled back in one product
BLOCK = 1 << 18  # numbers of D that one NumPy block holds

# what the compiled loops add up (kernels/distances.py)
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
    """(n, m) of the sums ``kind``; ``finish`` changes a block of them in place, while it is hot."""
    n, m = len(A), len(B)
    D = np.empty((n, m))
    if n == 0 or m == 0:
        return D
    from ..kernels.distances import LANES, all_pairs, panels_of

    weights = np.ones(A.shape[1]) if w is None else np.ascontiguousarray(w, dtype=np.float64)
    panels = panels_of(B)
    same = A is B and A.shape[1] >= MIRRORED_FROM  # then d(a, b) = d(b, a) is computed once
    assert ROWS == LANES  # blocks of rows and of columns have the same edges

    def task(k: int) -> None:
        rows = slice(k * ROWS, min((k + 1) * ROWS, n))
        first = rows.start if same else 0
        block = D[rows, first:]
        all_pairs(A[rows], panels[first // LANES :], weights, kind, p, block)
        if finish is not None:
            finish(block)
        if same:
            for start in range(rows.stop, m, MIRRORED):
                columns = slice(start, start + MIRRORED)
                D[columns, rows] = D[rows, columns].T

    run_on_threads(task, -(-n // ROWS), effective_threads(threads))
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
    """(n, m) of finish(Σ w·difference, Σ w) over the features that both rows have (not NaN)."""
    from ..kernels.distances import panels_of, shared_features

    D = np.empty((len(A), len(B)))
    if not D.size:
        return D
    panels = panels_of(B)

    def task(k: int) -> None:
        rows = slice(k * ROWS, min((k + 1) * ROWS, len(A)))
        shared = np.empty((rows.stop - rows.start, len(B)))
        shared_features(A[rows], panels, w, scale, kinds, D[rows], shared)
        D[rows] = finish(D[rows], shared)

    run_on_threads(task, -(-len(A) // ROWS), effective_threads(threads))
    return D


def by_row_blocks(
    block: Callable[[slice], Any], n: int, m: int, width: int, threads: int | None = None
) -> np.ndarray:
    """(n, m) from ``block(rows)``, which may hold ``width`` numbers for each pair."""
    D = np.empty((n, m))
    size = max(1, BLOCK // max(1, m * width))

    def task(k: int) -> None:
        rows = slice(k * size, min((k + 1) * size, n))
        D[rows] = block(rows)

    if n and m:
        run_on_threads(task, -(-n // size), effective_threads(threads))
    return D


def absolute_slope_sums(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, threads: int | None = None
) -> np.ndarray:
    """Σ_ij C_ij |a_il − b_jl| for every feature l."""
    n, m = len(A), len(B)
    if n == 0 or m == 0:
        return np.zeros(A.shape[1])
    from ..kernels.distances import LANES, absolute_slope_sums, panels_of

    panels = panels_of(B)
    parts = np.empty((-(-n // ROWS), A.shape[1]))

    def task(k: int) -> None:
        rows = slice(k * ROWS, min((k + 1) * ROWS, n))
        filled = np.zeros((rows.stop - rows.start, len(panels) * LANES))
        filled[:, :m] = C[rows]
        parts[k] = absolute_slope_sums(A[rows], panels, filled)

    run_on_threads(task, len(parts), effective_threads(threads))
    return parts.sum(axis=0)


def squared_pull(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, sign: int, threads: int | None
) -> np.ndarray:
    """Σ_ij C_ij (a_il ± b_jl)² for every feature l, by one product of matrices.

    Σ_i (Σ_j C_ij) a_il² + Σ_j (Σ_i C_ij) b_jl² ± 2 Σ_i a_il (C B)_il
    """
    parts = np.zeros((-(-len(A) // PULLED), A.shape[1]))
    B2 = B**2

    def task(k: int) -> None:
        rows = slice(k * PULLED, (k + 1) * PULLED)
        c, a = C[rows], A[rows]
        cross = np.einsum("il,il->l", a, np.dot(c, B))
        parts[k] = np.dot(c.sum(axis=1), a**2) + np.dot(c.sum(axis=0), B2) + sign * 2 * cross

    with blas_limiter:  # the bits of a product depend on how many threads share it
        run_on_threads(task, len(parts), effective_threads(threads))
    return parts.sum(axis=0)
