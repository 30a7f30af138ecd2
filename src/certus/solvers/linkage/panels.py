"""Rows in panels: centred, scaled by a power of two to norms of at most 1, column by column.

Distances in panels are off by at most e = 2uR absolutely and κ = (p + 8)u relatively
(kernels/linkage/vectors.py), with u the unit roundoff of float32 or float64 and R the largest norm.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

LANES = 64  # as in the kernel
BLOCK_ROWS = 8 * LANES  # rows whose norms are computed at a time
# If more than this share of the filtered rows, besides so many in each search, must be measured
# exactly, float32 is too coarse (tight groups far apart) and panels become float64. Measuring a row
# costs as much as filtering ten.
MAX_MEASURED_SHARE, FREE_MEASURED_ROWS = 1 / 16, 256


class Scale(NamedTuple):
    """Origin and scale of the panels."""

    middle: np.ndarray  # (p,)
    scale: float
    R: float  # largest ‖x − middle‖ · scale


def scale_of(X: np.ndarray) -> Scale:
    """Return the middle of the columns' ranges, and the scale that brings norms below 1."""
    middle = X.min(axis=0) * 0.5 + X.max(axis=0) * 0.5
    middle = middle.astype(float)
    most = 0.0
    for start in range(0, len(X), BLOCK_ROWS):
        d = X[start : start + BLOCK_ROWS] - middle
        most = max(most, float(np.einsum("ij,ij->i", d, d).max()))
    R = float(np.sqrt(most))
    scale = float(2.0 ** -np.ceil(np.log2(R))) if R > 0 else 1.0
    return Scale(middle, scale, R * scale)


def panels_of(
    take: Callable[[slice], np.ndarray], n: int, p: int, chunks: int, dtype: DTypeLike
) -> np.ndarray:
    """Return panels (chunks, p, LANES), flat, of n rows; ``take`` gives them centred and scaled."""
    panels = np.zeros((chunks, p, LANES), dtype=dtype)
    for start in range(0, n, LANES):
        rows = take(slice(start, min(start + LANES, n)))
        panels[start // LANES, :, : len(rows)] = rows.T
    return panels.reshape(-1)


def error_of(of: Scale, p: int, dtype: DTypeLike) -> tuple[float, float]:
    """Return (e, κ), slightly larger than necessary."""
    u = float(np.finfo(dtype).eps)  # twice the unit roundoff
    return 1.25 * u * of.R, (p + 16) * u


def too_coarse(counts: np.ndarray, searches: int) -> bool:
    """Whether too many rows pass the filter; counts: rows measured, rows filtered."""
    return bool(counts[0] - FREE_MEASURED_ROWS * searches > MAX_MEASURED_SHARE * counts[1])
