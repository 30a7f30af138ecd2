"""What one assignment of all rows changed, and the distances of rows to their own centre."""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows, RowState


class AssignmentChange(NamedTuple):
    """How labels and the sums of clusters changed in one assignment of all rows."""

    sums: np.ndarray  # (k, p): Σ s(x − c) over the rows that joined, minus those that left
    mass: np.ndarray  # (k,): Σ s likewise
    moved: int  # rows whose label changed
    evaluated: int  # rows that were compared with all centres
    unproven: int  # rows whose label the bounds alone did not prove
    total: float  # Σ s‖z‖² in the first assignment, else 0


class OwnDistances(NamedTuple):
    """Squared distances d² of rows to the centres of their labels."""

    objective: float  # Σ s d²
    d2: RowState | None  # (n,); None if they were not to be kept
    residual_sums: np.ndarray  # (k, p): Σ s(x − μ), which is 0 at a mean


def own_distances(
    rows: Rows, labels: RowState, C: np.ndarray | None, scale: float, block: int, keep: bool
) -> OwnDistances:
    """Measure dense rows against the centres of their labels, by differences times ``scale``.

    ``keep``: keep d² for every row.
    """
    d2 = rows.allocate() if keep else None
    total, residual_sums = rows.reduce(
        _own_distances, C, scale, beside=(labels,) if d2 is None else (labels, d2), block_rows=block
    )
    return OwnDistances(float(total / scale**2), d2, residual_sums / scale)


def _own_distances(
    X: np.ndarray, _y: object, s: np.ndarray | None, labels: np.ndarray, *given: Any
) -> tuple[float, np.ndarray]:
    """Return Σ s d² and Σ s(x − μ), both scaled, of a block; fill d², if it is given, unscaled."""
    from ...kernels.kmeans import means

    *kept, C, scale = given
    d2 = kept[0] if kept else np.empty(len(labels))
    X, s = np.ascontiguousarray(X), np.empty(0) if s is None else s
    residual_sums = np.zeros(C.shape)
    total = means.own_distances(X, s, C, scale, labels, d2, residual_sums)
    if kept:
        d2 /= scale**2
    return total, residual_sums
