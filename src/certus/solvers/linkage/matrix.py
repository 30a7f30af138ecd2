"""Square matrices of distances, and centroid and median linkage on them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...runtime.pool import give_up_if_stopped, run_on_threads
from .merging import Merges

CODES = {"centroid": 0, "median": 1}
TASK_ROWS = 64  # rows of one task
BLOCK_SIDE = 512  # rows and columns of a block that is copied, transposed or compared at a time


def number_of_rows(D: np.ndarray) -> int:
    """Return n of a square matrix, or of a condensed one with n(n − 1)/2 numbers."""
    return len(D) if D.ndim == 2 else round((1 + (1 + 8 * len(D)) ** 0.5) / 2)


def square(
    D: np.ndarray, dtype: DTypeLike, squares: bool, threads: int, unit: float = 1.0
) -> np.ndarray:
    """Return a square copy of D/unit of the given dtype, squared elementwise if ``squares``."""
    n = number_of_rows(D)
    S = np.empty((n, n), dtype=dtype)

    def copy(k: int) -> None:
        rows = slice(k * BLOCK_SIDE, min((k + 1) * BLOCK_SIDE, n))
        if D.ndim == 2:
            S[rows] = D[rows] if unit == 1.0 else D[rows] / unit
        else:
            for i in range(rows.start, rows.stop):
                first = i * n - i * (i + 1) // 2
                d = D[first : first + n - i - 1]
                S[i, i], S[i, i + 1 :] = 0, d if unit == 1.0 else d / unit
        if squares:
            np.square(S[rows], out=S[rows])
        give_up_if_stopped()

    blocks = -(-n // BLOCK_SIDE)
    run_on_threads(copy, blocks, threads)
    if D.ndim == 1:
        run_on_threads(lambda k: _mirror(S, k), blocks, threads)
    return S


def _mirror(S: np.ndarray, k: int) -> None:
    """Copy block k of the upper triangle below the diagonal."""
    n = len(S)
    columns = slice(k * BLOCK_SIDE, min((k + 1) * BLOCK_SIDE, n))
    for start in range(columns.start, n, BLOCK_SIDE):
        rows = slice(start, min(start + BLOCK_SIDE, n))
        block = S[columns, rows].T
        if start == columns.start:
            block = np.tril(block) + np.tril(block, -1).T
        S[rows, columns] = block


def compared(
    rows: np.ndarray, distance: Any, dtype: DTypeLike, squares: bool, threads: int
) -> np.ndarray:
    """Return all distances between the rows, which are as ``distance.read`` gave them."""
    if dtype == np.float64:
        D: np.ndarray = distance.compare(rows, rows, threads)
        if squares:
            np.square(D, out=D)
        return D
    D = np.empty((len(rows), len(rows)), dtype=dtype)
    for start in range(0, len(rows), BLOCK_SIDE):
        part = slice(start, start + BLOCK_SIDE)
        d = distance.compare(rows[part], rows, threads)
        D[part] = np.square(d, out=d) if squares else d
    return D


def least_pairs(D: np.ndarray, method: str, steps: int, threads: int) -> Iterator[Merges]:
    """Yield pairs of cluster numbers and squared heights, in the order of merging.

    D, of squared distances, is overwritten. O(n²) time if few slots search again, O(n³) at worst.
    """
    from ...kernels.linkage import matrix as kernel

    n = len(D)
    least, nn, size = np.empty(n), np.empty(n, dtype=np.intp), np.ones(n)
    number, outdated = np.arange(n), np.zeros(n, dtype=bool)
    run_on_threads(
        lambda i: kernel.search(D, i * TASK_ROWS, min((i + 1) * TASK_ROWS, n), least, nn),
        -(-n // TASK_ROWS),
        threads,
    )
    for made in range(0, n - 1, steps):
        count = min(steps, n - 1 - made)
        pairs, heights = np.empty((count, 2), dtype=np.intp), np.empty(count)
        kernel.generic(D, CODES[method], size, number, outdated, least, nn, count, n + made, pairs,
                       heights)  # fmt: skip
        yield pairs, heights
