"""Square matrices of distances, and the linkages on them that are not reducible."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...runtime.pool import give_up_if_stopped, run_on_threads
from .merging import Merges

CODES = {"centroid": 0, "median": 1}
ROWS = 64  # of a task
SIDE = 512  # of a block that is transposed, or compared in one go


def rows_of(D: np.ndarray) -> int:
    """n of a square matrix, or of a condensed one with n(n − 1)/2 numbers."""
    return len(D) if D.ndim == 2 else round((1 + (1 + 8 * len(D)) ** 0.5) / 2)


def square(D: np.ndarray, dtype: DTypeLike, squares: bool, threads: int) -> np.ndarray:
    """A square copy in that type; squares: of d²."""
    n = rows_of(D)
    S = np.empty((n, n), dtype=dtype)

    def copy(k: int) -> None:
        rows = slice(k * SIDE, min((k + 1) * SIDE, n))
        if D.ndim == 2:
            S[rows] = D[rows]
        else:
            for i in range(rows.start, rows.stop):
                first = i * n - i * (i + 1) // 2
                S[i, i], S[i, i + 1 :] = 0, D[first : first + n - i - 1]
        if squares:
            np.square(S[rows], out=S[rows])
        give_up_if_stopped()

    blocks = -(-n // SIDE)
    run_on_threads(copy, blocks, threads)
    if D.ndim == 1:
        run_on_threads(lambda k: _mirror(S, k), blocks, threads)
    return S


def _mirror(S: np.ndarray, k: int) -> None:
    """Block k of columns above the diagonal, below it."""
    n = len(S)
    columns = slice(k * SIDE, min((k + 1) * SIDE, n))
    for start in range(columns.start, n, SIDE):
        rows = slice(start, min(start + SIDE, n))
        block = S[columns, rows].T
        if start == columns.start:
            block = np.tril(block) + np.tril(block, -1).T
        S[rows, columns] = block


def compared(
    rows: np.ndarray, distance: Any, dtype: DTypeLike, squares: bool, threads: int
) -> np.ndarray:
    """All distances of the rows, as ``distance.read`` gave them."""
    if dtype == np.float64:
        D: np.ndarray = distance.compare(rows, rows, threads)
        if squares:
            np.square(D, out=D)
        return D
    D = np.empty((len(rows), len(rows)), dtype=dtype)
    for start in range(0, len(rows), SIDE):
        part = slice(start, start + SIDE)
        d = distance.compare(rows[part], rows, threads)
        D[part] = np.square(d, out=d) if squares else d
    return D


def least_pairs(D: np.ndarray, method: str, steps: int, threads: int) -> Iterator[Merges]:
    """Pairs of clusters' numbers and squared heights, in the order of merging.

    D, of squared distances, is used up. O(n²) time where few slots search again, O(n³) at worst.
    """
    from ...kernels.linkage import matrix as kernel

    n = len(D)
    least, nn, size = np.empty(n), np.empty(n, dtype=np.intp), np.ones(n)
    number, outdated = np.arange(n), np.zeros(n, dtype=bool)
    run_on_threads(
        lambda i: kernel.search(D, i * ROWS, min((i + 1) * ROWS, n), least, nn),
        -(-n // ROWS),
        threads,
    )
    for made in range(0, n - 1, steps):
        count = min(steps, n - 1 - made)
        pairs, heights = np.empty((count, 2), dtype=np.intp), np.empty(count)
        kernel.generic(D, CODES[method], size, number, outdated, least, nn, count, n + made, pairs,
                       heights)  # fmt: skip
        yield pairs, heights
