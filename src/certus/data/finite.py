"""Missing and infinite values in X, named by column and row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..text.format import count, listed
from .csr import CSR
from .lazy import LazyRows
from .streamed import StreamedX


def require_finite(X: Any, names: Sequence[str] | None, what: str = "X") -> None:
    """Raise with the columns and rows that hold NaN or infinity, if there are any."""
    if X.dtype.kind != "f" or isinstance(X, (LazyRows, StreamedX)):  # finite by contract
        return
    if isinstance(X, CSR):
        _require_finite_entries(X, names)
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    columns = np.flatnonzero(bad.any(axis=0))
    _refuse_columns(
        columns, [_bad_column(X[:, j], column_name(j, names, what)) for j in columns[:3]]
    )


def _refuse_columns(columns: np.ndarray, messages: list[str]) -> None:
    more = f"; and {len(columns) - 3} more columns" if len(columns) > 3 else ""
    raise ValueError(f"{'; '.join(messages)}{more}: impute them or drop the rows")


def _require_finite_entries(X: CSR, names: Sequence[str] | None) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.values.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(X.data)
    if bad.any():
        columns = X.where(bad)
        messages = [_bad_column(X.column(j), column_name(j, names, "X")) for j in columns[:3]]
        _refuse_columns(columns, messages)


def column_name(j: int, names: Sequence[str] | None, what: str = "X") -> str:
    if what != "X":
        return what
    return f"column {str(names[j])!r}" if names is not None else f"column {j} of X"


def _bad_column(x: np.ndarray, name: str) -> str:
    messages = []
    for kind, where in (("missing value", np.isnan(x)), ("infinite value", np.isinf(x))):
        rows = np.flatnonzero(where)
        if len(rows):
            short = "NaN" if kind == "missing value" else "inf"
            which = listed([str(i) for i in rows[:6]], 5)
            if len(rows) > 5:
                which = f"{', '.join(map(str, rows[:5]))}, …"
            noun = "row" if len(rows) == 1 else "rows"
            messages.append(f"{count(len(rows), kind)} ({short}; {noun} {which})")
    return f"{name} has {' and '.join(messages)}"
