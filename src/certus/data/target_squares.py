"""Targets whose sums of squares float64 cannot hold.

    Σ sᵢyᵢ² < ∞,   and at least 1e-270 where y is not 0

Objectives are of this size: beyond it they overflow, below it their rounding errors underflow.
"""

from typing import Any

import numpy as np

from .finite import require_finite
from .rows import Rows

MIN_TARGET_SQUARES = 1e-270  # Σ y²: squares of rounding errors of smaller ones underflow
SAMPLED_ROWS = 256  # of a table; ordinary targets among them settle it


def require_squares(y: np.ndarray, s: np.ndarray | None = None) -> None:
    """Refuse targets (n, k) whose Σ sᵢyᵢ² overflows, or is lost to underflow although y is not."""
    if in_range(_squares(y, s)):
        return
    require_finite(y, None, "y")
    refuse_squares(*_sizes(y, s), s is not None)


def require_squares_of_table(rows: Rows, whole: bool = False) -> None:
    """Refuse streamed targets as ``require_squares`` does; ``whole``: whatever a sample shows.

    Squares that overflow outside the sample show in the sums of the fit.
    """
    if not whole:
        _, y, s = rows.sample_block(SAMPLED_ROWS)
        assert y is not None
        if in_range(_squares(y, s)):
            return
    squares, are_zero, size = rows.reduce_targets(_sizes, combine=_combined)
    refuse_squares(squares, are_zero, size, rows.s is not None)


def in_range(squares: np.ndarray) -> bool:
    return bool(np.all((squares >= MIN_TARGET_SQUARES) & (squares < np.inf)))


def refuse_squares(
    squares: np.ndarray, are_zero: np.ndarray, size: np.ndarray, weighted: bool
) -> None:
    """Raise if a target's squares are out of range. ``are_zero``: all √s·y; ``size``: max|y|."""
    squared, it = ("squares times their weights", "either") if weighted else ("squares", "it")
    for square, is_zero, largest in zip(squares, are_zero, size, strict=True):
        if not np.isfinite(square):
            raise ValueError(
                f"y reaches {largest:.3g}, whose {squared} overflow: divide {it} by a power of 10"
            )
        if square < MIN_TARGET_SQUARES and not is_zero:
            raise ValueError(
                f"y reaches only {largest:.3g}, whose {squared} underflow: multiply {it} by a "
                "power of 10"
            )


def _squares(y: np.ndarray, s: np.ndarray | None) -> np.ndarray:
    """Σ s y² of each target."""
    scaled = _scaled(y, s)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.einsum("ij,ij->j", scaled, scaled)  # no BLAS threads


def _sizes(y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any, Any]:
    """Σ s y², whether all √s·y are 0, and max|y| of each target."""
    return _squares(y, s), ~_scaled(y, s).any(axis=0), np.abs(y).max(axis=0)


def _scaled(y: np.ndarray, s: np.ndarray | None) -> np.ndarray:
    return y if s is None else y * np.sqrt(s)[:, None]


def _combined(left: tuple[Any, Any, Any], right: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    with np.errstate(over="ignore"):
        return left[0] + right[0], left[1] & right[1], np.maximum(left[2], right[2])
