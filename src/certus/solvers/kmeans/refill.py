"""Give empty clusters the rows that are farthest from their centres."""

from typing import TYPE_CHECKING

import numpy as np

from ...data.rows import Rows
from .distinct_rows import cluster_differs

if TYPE_CHECKING:
    from .assigner import Assigner

# Share of |x| + |c|: a row nearer than this to its centre may equal all other rows of its cluster,
# so these are compared one by one.
SAME_POINT_TOLERANCE = 2.0**-20


def refill(engine: "Assigner", rows: Rows, sums: np.ndarray, mass: np.ndarray) -> int:
    """Give each empty cluster one row, and return how many were filled.

    A row may leave its cluster only if another row of that cluster differs from it.
    ``engine.labels``, ``sums`` (Σ s(x − c)) and ``mass`` (Σ s) are updated. J falls by at least
    the row's own term.
    """
    s, labels = rows.s, engine.labels
    if s is not None:  # subtracted weights leave rounding where a sum should be 0
        n_weighted = np.bincount(labels[s > 0], minlength=len(mass))
        mass[n_weighted == 0] = 0.0
        sums[n_weighted == 0] = 0.0
    empty = np.flatnonzero(mass <= 0)
    if not len(empty):
        return 0
    d2 = engine.distances_to_own_center().d2
    if s is not None:
        d2 = np.where(s > 0, d2, 0.0)
    farthest = np.argsort(-d2, kind="stable")
    farthest = farthest[d2[farthest] > 0]
    filled = 0
    for k in empty:
        farthest = _without_points(engine, rows, farthest)
        if not len(farthest):
            break
        i, farthest = int(farthest[0]), farthest[1:]
        weight, z, old = 1.0 if s is None else float(s[i]), _row(rows, i) - engine.c, labels[i]
        sums[old] -= weight * z
        mass[old] -= weight
        sums[k], mass[k] = weight * z, weight
        labels[i] = k
        engine.invalidate(i)
        filled += 1
    return filled


def _without_points(engine: "Assigner", rows: Rows, farthest: np.ndarray) -> np.ndarray:
    """Drop rows of single-point clusters until the first row may leave its cluster."""
    while len(farthest):
        i = int(farthest[0])
        x, label = _row(rows, i), int(engine.labels[i])
        tolerance = SAME_POINT_TOLERANCE * (np.abs(x) + np.abs(engine.c))
        assert engine.C is not None
        if (np.abs(x - engine.C[label]) > tolerance).any():
            break
        if cluster_differs(rows, engine.labels, label, i):
            break
        farthest = farthest[engine.labels[farthest] != label]
    return farthest


def _row(rows: Rows, i: int) -> np.ndarray:
    X, _, _ = rows.take(np.array([i])).block(0, 1)
    return np.asarray(X.toarray() if rows.sparse else X, dtype=float)[0]
