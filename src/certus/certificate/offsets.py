"""Offsets of a log link, and exposures e, whose offset is log e."""

import numpy as np

from ..data.finite import require_finite
from ..data.rows import Rows
from ..data.streamed import StreamedTable
from ..data.validation import as_numbers
from ..text.format import count


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
            f"{values[low[0]]:g}): a row that was exposed for no time tells nothing. Drop it"
        )
    return np.asarray(np.log(values))


def with_offsets(rows: Rows, offset: object, exposure: object) -> Rows:
    """Rows whose targets (n, 2) have the offsets beside them; without any, the rows as given."""
    if offset is None and exposure is None:
        return rows
    if rows.streamed:
        raise ValueError(OFFSETS_OF_TABLES)
    o = offsets(offset, exposure, rows.shape[0])
    assert o is not None
    assert rows.y is not None
    return rows.with_targets(np.column_stack([rows.y, o]), rows.s)


def require_no_offsets_beside(X: object, offset: object, exposure: object) -> None:
    """Refuse offsets beside a table, which has none among its columns."""
    if isinstance(X, StreamedTable) and not (offset is None and exposure is None):
        raise ValueError(OFFSETS_OF_TABLES)


OFFSETS_OF_TABLES = (
    "offset and exposure are arrays, and these rows are read block by block. For counts y with "
    "exposures e the rates y/e as target with e as weights are the same model, with alpha times "
    "Σ s/Σ s e"
)
