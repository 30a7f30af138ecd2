"""Whether float64 can represent the squares of differences between the rows; one cheap pass.

Σ x² is finite and not tiny        ⇒  it can
otherwise the range of X decides:     p·S·(max − min)² must not overflow, nor (max − min)² underflow
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
MIN_INVERTED = 1e-300  # 1/x of smaller x overflows


class SquaresError(ValueError):
    """Squares of differences between the rows overflow or underflow."""


def squares_are_representable(rows: Rows, names: Sequence[str] | None = None) -> bool:
    """Return False if X is not finite; raise ``SquaresError`` if squares overflow or underflow.

    ``names``: of the columns, for the message.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        total = sum_of_squares(rows)
        if np.isfinite(total) and total > SAFE_DIFFERENCE**2:
            return True
        low, high = rows.reduce(_range, combine=_wider)
        half = high / 2 - low / 2  # of the range, which could overflow
        widest = int(half.argmax())
        width = np.float64(2 * half[widest])
        most = width**2 * rows.shape[1] * rows.S
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return False
    if not np.isfinite(most):
        raise SquaresError(
            f"the values of {name_of(widest, names)} differ by {_tens(half[widest])}, and squares "
            f"of that, of which the objective is a sum, overflow: divide X by {_tens(half[widest])}"
        )
    if 0 < width < MIN_DIFFERENCE:
        factor = _tens(1 / width) if width > MIN_INVERTED else "1e300"
        raise SquaresError(
            f"the values of {name_of(widest, names)} differ by {_tens(width)} at most, and "
            "squares of that, of which the objective is a sum, underflow: multiply X by "
            f"{factor}"
        )
    return True


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
