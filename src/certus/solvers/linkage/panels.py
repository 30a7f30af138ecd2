"""Rows in panels: centred, scaled by a power of two to norms of at most 1, column by column.

What such a filter may miss a row by is e = 2uR and κ = (p + 8)u (kernels/linkage/vectors.py), with
u the rounding of float32 or float64 and R the largest norm.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

LANES = 64  # as in the kernel
BLOCK = 8 * LANES  # rows at a time
# Of the rows that pass by, so many may be measured, and so many more for each search: beyond, the
# filter is too coarse (tight groups far apart) and goes to float64. A row measured costs as much as
# ten that pass by.
SHARE, EACH = 1 / 16, 256


class Scale(NamedTuple):
    middle: np.ndarray  # (p,)
    scale: float
    R: float  # largest ‖x − middle‖ · scale


def scale_of(X: np.ndarray) -> Scale:
    """The middle of the columns' ranges, which no sum can spoil, and what brings norms below 1."""
    middle = X.min(axis=0) * 0.5 + X.max(axis=0) * 0.5
    middle = middle.astype(float)
    most = 0.0
    for start in range(0, len(X), BLOCK):
        d = X[start : start + BLOCK] - middle
        most = max(most, float(np.einsum("ij,ij->i", d, d).max()))
    R = float(np.sqrt(most))
    scale = float(2.0 ** -np.ceil(np.log2(R))) if R > 0 else 1.0
    return Scale(middle, scale, R * scale)


def panels_of(
    take: Callable[[slice], np.ndarray], n: int, p: int, chunks: int, dtype: DTypeLike
) -> np.ndarray:
    """(chunks, p, LANES), flat, of n rows; take: some of them, centred and scaled."""
    panels = np.zeros((chunks, p, LANES), dtype=dtype)
    for start in range(0, n, LANES):
        rows = take(slice(start, min(start + LANES, n)))
        panels[start // LANES, :, : len(rows)] = rows.T
    return panels.reshape(-1)


def error_of(of: Scale, p: int, dtype: DTypeLike) -> tuple[float, float]:
    """(e, κ), a little more than they must be."""
    u = float(np.finfo(dtype).eps)  # twice the rounding
    return 1.25 * u * of.R, (p + 16) * u


def too_coarse(seen: np.ndarray, searches: int) -> bool:
    """seen: rows measured, rows that passed by."""
    return bool(seen[0] - EACH * searches > SHARE * seen[1])
