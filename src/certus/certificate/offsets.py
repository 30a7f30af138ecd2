"""Offsets of a log link, and exposures e, whose offset is log e."""

import numpy as np

from ..data.finite import require_finite
from ..data.rows import Rows
from ..data.streamed import StreamedTable, StreamedX
from ..data.validation import as_numbers
from ..text.format import count, listed

UNEXPOSED = "a row that was exposed for no time tells nothing. Drop it"
SEARCHED_ROWS = 1 << 20  # of targets, read at a time


def offsets(offset: object, exposure: object, n: int) -> np.ndarray | None:
    """(n,) float64, finite; None where neither is given."""
    if offset is not None and exposure is not None:
        raise ValueError("offset and exposure say the same twice (offset = log exposure): give one")
    if offset is None and exposure is None:
        return None
    name, given = ("offset", offset) if exposure is None else ("exposure", exposure)
    values = np.array(as_numbers(given, name), dtype=float)
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.shape != (n,):
        raise ValueError(
            f"{name} has shape {values.shape}, expected {(n,)}: a number for each of X's "
            f"{count(n, 'row')}"
        )
    if not np.isfinite(values).all():
        require_finite(values[:, None], None, name)
    if exposure is None:
        return values
    low = np.flatnonzero(values <= 0)
    if len(low):
        raise ValueError(
            f"exposure has {count(len(low), 'value')} not above 0 (first: row {low[0]}, "
            f"{values[low[0]]:g}): {UNEXPOSED}"
        )
    return np.asarray(np.log(values))


def with_offsets(rows: Rows, offset: object, exposure: object) -> Rows:
    """Rows whose targets (n, 2) have the offsets beside them; without any, the rows as given.

    Of a table, offsets are one of its targets, which is given by its name.
    """
    if rows.streamed:
        return _from_table(rows, offset, exposure)
    if offset is None and exposure is None:
        return rows
    o = offsets(offset, exposure, rows.shape[0])
    assert o is not None
    assert rows.y is not None
    return rows.with_targets(np.column_stack([rows.y, o]), rows.s)


def offsets_for(X: object, offset: object, exposure: object, n: int) -> np.ndarray | None:
    """Offsets of n rows to predict for; names are columns of a table."""
    given = offset if exposure is None else exposure
    if not (isinstance(X, StreamedTable) and isinstance(given, str)):
        return offsets(offset, exposure, n)
    rows = _from_table(Rows(X.X, X.y, None), offset, exposure, needs_target=False)
    column: np.ndarray = rows.reduce_targets(_last_target, combine=_joined)[0]
    return column


# --- columns of a table ---------------------------------------------------------------------------


def _from_table(rows: Rows, offset: object, exposure: object, needs_target: bool = True) -> Rows:
    assert isinstance(rows.X, StreamedX)
    table = rows.X.table
    if offset is not None and exposure is not None:
        raise ValueError("offset and exposure say the same twice (offset = log exposure): give one")
    role, name = ("offset", offset) if exposure is None else ("exposure", exposure)
    k = table.n_targets
    if name is None:
        if k > 1:
            raise ValueError(
                f"{table.description} has {k} targets: say which of them is the exposure or the "
                f"offset, exposure={table.target_names[-1]!r}, or open it with one target"
            )
        return rows
    names = list(table.target_names)
    if not isinstance(name, str) or names.count(name) != 1:
        given = f"{role}={name!r}" if isinstance(name, str) else f"{role} as numbers"
        raise ValueError(
            f"{given}: of rows that are read block by block give the name of a column, which "
            "open_rows reads as a second target: open_rows(…, target=['claims', 'years']), "
            f"exposure='years'. The targets of {table.description}: {listed(names) or 'none'}"
        )
    if k > 2 or (k < 2 and needs_target):
        raise ValueError(
            f"{table.description} has {count(k, 'target')} ({listed(names)}), and {role}={name!r} "
            "is one of them: open it with two, that of the model and this"
        )
    at = names.index(name)
    is_exposure = exposure is not None
    if is_exposure:
        _require_positive(rows, at, name)
    return rows.recoded(_target_and_offset, 1 - at if k > 1 else 0, at, is_exposure)


def _target_and_offset(
    y: np.ndarray, s: np.ndarray | None, target: int, at: int, is_exposure: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    o = np.log(y[:, at]) if is_exposure else y[:, at]
    return np.column_stack([y[:, target], o]), s


def _require_positive(rows: Rows, at: int, name: str) -> None:
    """Refuse exposures that are not above 0, with the first row."""
    (n_low,) = rows.reduce_targets(_count_low, at)
    if not n_low:
        return
    assert rows.y is not None
    for start in range(0, rows.shape[0], SEARCHED_ROWS):
        values = np.asarray(rows.y[start : start + SEARCHED_ROWS])[:, at]
        low = np.flatnonzero(values <= 0)
        if len(low):
            raise ValueError(
                f"exposure '{name}' has {count(int(n_low), 'value')} not above 0 (first: row "
                f"{start + low[0]}, {values[low[0]]:g}): {UNEXPOSED}"
            )


def _count_low(y: np.ndarray, _s: object, at: int) -> tuple[int]:
    return (int(np.count_nonzero(y[:, at] <= 0)),)


def _last_target(y: np.ndarray, _s: object) -> tuple[np.ndarray]:
    return (y[:, -1],)


def _joined(a: tuple[np.ndarray], b: tuple[np.ndarray]) -> tuple[np.ndarray]:
    return (np.concatenate([a[0], b[0]]),)
