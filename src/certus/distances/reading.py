"""Validation of rows for distances: float64, finite, in C order.

Integers and booleans are converted before anything is subtracted (in uint8, 1 − 2 = 255).
"""

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from ..data.csr import SparseMatrix
from ..data.frames import from_frame, holds_text
from ..text.format import count, listed

MISSING_REMEDY = 'impute them, drop the rows, or use metric="nan_euclidean" or metric="gower"'


def as_rows(X: object, *, missing: bool = False, what: str = "X") -> np.ndarray:
    """Return X (n, p) as float64 in C order; NaN is allowed with ``missing``, infinity never."""
    names = None
    frame = from_frame(X)
    if frame is not None:
        X, names = frame.X, frame.names
    elif is_sparse(X):
        X = X.toarray()
    given = np.asarray(X)
    if given.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} must be real")
    try:
        rows = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        _name_text(given, what, error)
        raise
    if rows.ndim != 2 or given.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {given.ndim}D array instead: {what} contains rows; reshape "
            "one row with x.reshape(1, -1)"
        )
    if rows.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required: "
            f"{what} has no columns"
        )
    if rows.size and not np.isfinite(_extreme(rows)):
        _require_finite(rows, names, missing, what)
    return rows


def two_sides(
    A: np.ndarray, B: np.ndarray | None, *, missing: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return both as rows with the same columns; the same array twice where B is None or A."""
    rows = as_rows(A, missing=missing)
    if B is None or B is A:
        return rows, rows
    others = as_rows(B, missing=missing, what="Y")
    if rows.shape[1] != others.shape[1]:
        raise ValueError(
            f"X has {count(rows.shape[1], 'column')}, Y has {others.shape[1]:,}: distances are "
            "between rows of the same columns"
        )
    return rows, others


def is_sparse(X: object) -> TypeGuard[SparseMatrix]:
    """Return whether X is a SciPy sparse matrix or array."""
    return hasattr(X, "toarray") and hasattr(X, "nnz")


def _extreme(rows: np.ndarray) -> float:
    """Return the sum: finite only if all entries are (it may overflow, then they are checked)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(rows.sum())


def _require_finite(
    rows: np.ndarray, names: Sequence[str] | None, missing: bool, what: str
) -> None:
    infinite, is_nan = np.isinf(rows), np.isnan(rows)
    for bad, kind, remedy in (
        (infinite, "infinite value", "replace them by finite numbers or drop the rows"),
        (is_nan, "missing value", MISSING_REMEDY),
    ):
        if not bad.any() or (missing and bad is is_nan):
            continue
        columns = np.flatnonzero(bad.any(axis=0))
        columns_text = [_where(bad[:, j], kind, _column(j, names, what)) for j in columns[:3]]
        more = f"; and {len(columns) - 3} more columns" if len(columns) > 3 else ""
        value = "NaN" if bad is is_nan else "infinity"
        text = "; ".join(columns_text) + more
        raise ValueError(f"Input {what} contains {value}: {text}: {remedy}")


def _where(bad: np.ndarray, kind: str, column: str) -> str:
    """Return a phrase such as "column 'a' has 2 missing values (rows 3, 4)"."""
    rows = np.flatnonzero(bad)
    noun = "row" if len(rows) == 1 else "rows"
    which = listed([str(i) for i in rows], 5)
    return f"{column} has {count(len(rows), kind)} ({noun} {which})"


def _column(j: int, names: Sequence[str] | None, what: str) -> str:
    return f"column {str(names[j])!r}" if names is not None else f"column {j} of {what}"


def _name_text(table: np.ndarray, what: str, error: Exception) -> None:
    for j in range(table.shape[1] if table.ndim == 2 else 0):
        for value in table[:, j]:
            try:
                float(value)
            except (TypeError, ValueError):
                message = holds_text(f"column {j} of {what}", str(value), j)
                raise ValueError(f'{message}, or use metric="gower"') from error


def feature_weights(w: object, *, least: int = 1) -> np.ndarray:
    """Return w (p,) as float64: finite, at least ``least`` of them not 0."""
    weights = np.array(w, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"w has shape {weights.shape}: give one weight for each column")
    if not np.isfinite(weights).all():
        j = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise ValueError(f"w[{j}] is {weights[j]}: give finite weights")
    if np.count_nonzero(weights) < least:
        needed = "a weight" if least == 1 else f"{least} weights"
        verb = "is" if least == 1 else "are"
        raise ValueError(
            f"w: {needed} other than 0 {verb} needed, or every distance is 0 or undefined"
        )
    return weights


def nonnegative_weights(w: object) -> np.ndarray:
    """Return ``feature_weights``, or raise where one is negative."""
    weights = feature_weights(w)
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        j = int(negative[0])
        raise ValueError(f"w[{j}] is {weights[j]:g}: weights of a distance must not be negative")
    return weights


def require_columns(length: int, p: int, what: str) -> None:
    """Raise where a parameter is for another number of columns than the rows have."""
    if length != p:
        raise ValueError(f"{what} is for {count(length, 'column')}, but the rows have {p:,}")
