"""Whether float64 can represent the squares of differences between the rows; one cheap pass.

Σ x² is finite and not tiny        ⇒  it can
otherwise the range of X decides:     p·S·(max − min)² must not overflow, nor (max − min)² underflow
"""

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import blas_limiter

MIN_DIFFERENCE = 1e-140  # squares of smaller differences lose digits to underflow


class SquaresError(ValueError):
    """Squares of differences between the rows overflow or underflow."""


def squares_are_representable(rows: Rows) -> bool:
    """Return False if X is not finite; raise ``SquaresError`` if squares overflow or underflow."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        total = sum_of_squares(rows)
        if np.isfinite(total) and total > MIN_DIFFERENCE**2:
            return True
        low, high = rows.reduce(_range, combine=_wider)
        width = np.float64(2 * (high / 2 - low / 2).max())  # infinite, where it overflows
        most = width**2 * rows.shape[1] * rows.S
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return False
    if not np.isfinite(most):
        raise SquaresError(
            f"X reaches {max(-low.min(), high.max()):.3g}, and squares of its differences "
            "overflow: divide it by a power of 10"
        )
    if 0 < width < MIN_DIFFERENCE:
        raise SquaresError(
            f"the values of X differ by {width:.3g} at most, and squares of that underflow: "
            "multiply it by a power of 10"
        )
    return True


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
