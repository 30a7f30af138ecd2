"""A unit in which float64 can hold squares of differences between the rows; one cheap pass.

Σ x² is finite and not tiny        ⇒  1
otherwise the range of X decides:     p·S·(max − min)² must not overflow, nor (max − min)² underflow
if they do:                           2^e, for which 2^e ≤ max − min < 2^(e + 1)
"""

from collections.abc import Sequence

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import blas_limiter
from ...text.format import name_of

# Of the values of a column. Squares of smaller ones lose digits to underflow: at 1e-154 the
# objective of 300 rows did, at 1e-152 not.
MIN_DIFFERENCE = 1e-152
SAFE_DIFFERENCE = 1e-140  # larger sums of squares need no look at the columns
MIN_WIDTH = 1e-305  # centres of rows that differ by less lose digits, in any unit of the fit
MAX_EXPONENT = 1023  # of a power of two


class SquaresError(ValueError):
    """The values of X differ too little, or their columns too much, for any unit."""


def unit_of_squares(rows: Rows, names: Sequence[str] | None = None) -> float | None:
    """Return a power of two such that squares of X/unit are held: 1 where those of X are.

    None if X is not finite; ``SquaresError`` if no unit will do. ``names``: of the columns.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        total = sum_of_squares(rows)
        if np.isfinite(total) and total > SAFE_DIFFERENCE**2:
            return 1.0
        low, high = rows.reduce(_range, combine=_wider)
        half = high / 2 - low / 2  # of the range, which could overflow
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return None
        widest = int(half.argmax())
        width = np.float64(2 * half[widest])
        held = np.isfinite(width**2 * rows.shape[1] * rows.S)
        if held and (width >= MIN_DIFFERENCE or width == 0):
            return 1.0
        unit = float(np.ldexp(1.0, min(int(np.frexp(half[widest])[1]), MAX_EXPONENT)))
        reach = np.maximum(np.abs(low), np.abs(high))
        farthest = int(reach.argmax())
        fits = np.isfinite(reach[farthest] / unit)
    if not np.isfinite(4 * rows.shape[1] * rows.S):
        raise SquaresError("the sum of the weights overflows: divide them by a power of 10")
    if width < MIN_WIDTH:
        raise SquaresError(
            f"the values of {name_of(widest, names)} differ by {_tens(width)} at most, of which "
            "float64 holds few digits: multiply X by 1e300"
        )
    if not fits:
        raise SquaresError(
            f"the values of {name_of(farthest, names)} reach {_tens(reach[farthest])}, and those "
            f"of the widest column, {name_of(widest, names)}, differ by {_tens(width)}: subtract "
            "the mean of each column"
        )
    return unit


def _tens(x: float) -> str:
    """Return a power of ten near x, 1e160."""
    return f"1e{round(float(np.log10(x)))}"


def sum_of_squares(rows: Rows) -> float:
    """Return Σ x² over all values, which may overflow; computed once for the rows of a fit."""
    if "squares" not in rows.found_in_X:
        with blas_limiter:
            rows.found_in_X["squares"] = float(rows.reduce(_squares)[0])
    return rows.found_in_X["squares"]


def _squares(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> tuple[float]:
    x = (X if isinstance(X, np.ndarray) else X.data).ravel(order="K")
    return (float(np.dot(x, x)),)


def _range(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X = X if isinstance(X, np.ndarray) else X.toarray()
    return X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)


def _wider(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])
