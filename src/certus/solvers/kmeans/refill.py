"""Give empty clusters the rows that are farthest from their centres."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...data.rows import Rows, RowState
from .distinct_rows import cluster_differs
from .label_sums import counts

if TYPE_CHECKING:
    from .assigner import Assigner

# Share of |x| + |c|: a row nearer than this to its centre may equal all other rows of its cluster,
# so these are compared one by one.
SAME_POINT_TOLERANCE = 2.0**-20
MIN_CANDIDATES = 256  # farthest rows that are looked for at once
# Share of all weight: a larger sum is not what rounding has left of a cluster without rows.
MAX_LOST_WEIGHT = 1e-6


def refill(engine: "Assigner", rows: Rows, sums: np.ndarray, mass: np.ndarray) -> int:
    """Give each empty cluster one row, and return how many were filled.

    A row may leave its cluster only if another row of that cluster differs from it.
    ``engine.labels``, ``sums`` (Σ s(x − c)) and ``mass`` (Σ s) are updated. J falls by at least
    the row's own term.
    """
    if rows.s is not None and mass.min() <= MAX_LOST_WEIGHT * mass.sum():
        # subtracted weights leave rounding where a sum should be 0
        n_weighted = counts(rows, engine.labels, len(mass))
        mass[n_weighted == 0] = 0.0
        sums[n_weighted == 0] = 0.0
    empty = np.flatnonzero(mass <= 0)
    if not len(empty):
        return 0
    candidates = _Candidates(engine, rows, len(empty))
    filled = 0
    for k in empty:
        row = candidates.next_row()
        if row is None:
            break
        z = row.x - engine.c
        sums[row.label] -= row.weight * z
        mass[row.label] -= row.weight
        sums[k], mass[k] = row.weight * z, row.weight
        engine.labels[row.number : row.number + 1] = k
        engine.invalidate(row.number)
        filled += 1
    return filled


class _Row(NamedTuple):
    number: int
    label: int
    x: np.ndarray
    weight: float


class _Candidates:
    """Rows that may leave their cluster, the farthest first."""

    def __init__(self, engine: "Assigner", rows: Rows, wanted: int):
        self.engine, self.rows = engine, rows
        self.d2 = engine.distances_to_own_center().d2
        self.labels = engine.labels.copy()  # as they are before any row leaves
        self.count = max(MIN_CANDIDATES, 2 * wanted)
        self.left: set[int] = set()
        self.single: set[int] = set()  # clusters whose rows are one point
        self._search()

    def _search(self) -> None:
        assert self.d2 is not None
        self.found = farthest_rows(self.rows, self.labels, self.d2, self.count)
        self.at = 0

    def next_row(self) -> _Row | None:
        """Return the next row, which then counts as gone; None if there is none."""
        while True:
            while self.at < len(self.found.rows):
                i, label = int(self.found.rows[self.at]), int(self.found.labels[self.at])
                self.at += 1
                if i in self.left or label in self.single:
                    continue
                X, _, s = self.rows.take(np.array([i])).block(0, 1)
                x = np.asarray(X.toarray() if self.rows.sparse else X, dtype=float)[0]
                if self._may_leave(x, label, X):
                    self.left.add(i)
                    return _Row(i, label, x, 1.0 if s is None else float(s[0]))
                self.single.add(label)
            if self.found.complete:
                return None
            self.count *= 8
            self._search()

    def _may_leave(self, x: np.ndarray, label: int, stored: np.ndarray) -> bool:
        engine = self.engine
        tolerance = SAME_POINT_TOLERANCE * (np.abs(x) + np.abs(engine.c))
        assert engine.C is not None
        if (np.abs(x - engine.C[label]) > tolerance).any():
            return True
        return cluster_differs(self.rows, engine.labels, label, stored)


# --- the farthest rows, without sorting all of them -----------------------------------------------


class FarthestRows(NamedTuple):
    """Rows in descending order of their distance; of equally far ones the first comes first."""

    rows: np.ndarray
    labels: np.ndarray
    d2: np.ndarray
    among: int  # rows that were looked at
    complete: bool  # no other row of positive weight is away from its centre


def farthest_rows(rows: Rows, labels: RowState, d2: RowState, count: int) -> FarthestRows:
    """Return at most ``count`` rows of positive weight that are away from their centre."""
    found: FarthestRows = rows.reduce(
        _farthest_of_block, count, combine=_JoinedFarthest(count), beside=(labels, d2)
    )
    return found


def _farthest_of_block(
    _X: object,
    _y: object,
    s: np.ndarray | None,
    labels: np.ndarray,
    d2: np.ndarray,
    count: int,
) -> FarthestRows:
    away = np.flatnonzero(d2 > 0 if s is None else (d2 > 0) & (s > 0))
    return _first(FarthestRows(away, labels[away], d2[away], len(d2), True), count)


class _JoinedFarthest:
    """Combines the farthest rows of neighbouring blocks."""

    def __init__(self, count: int):
        self.count = count

    def __call__(self, left: FarthestRows, right: FarthestRows) -> FarthestRows:
        both = FarthestRows(
            np.concatenate([left.rows, right.rows + left.among]),
            np.concatenate([left.labels, right.labels]),
            np.concatenate([left.d2, right.d2]),
            left.among + right.among,
            left.complete and right.complete,
        )
        return _first(both, self.count)


def _first(found: FarthestRows, count: int) -> FarthestRows:
    order = np.argsort(-found.d2, kind="stable")[:count]
    return FarthestRows(
        found.rows[order], found.labels[order], found.d2[order], found.among,
        found.complete and len(order) == len(found.rows),
    )  # fmt: skip
