"""The rows that are farthest from their centres, without sorting all of them."""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows, RowState


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
        _farthest_of_block, count, combine=_Joined(count), beside=(labels, d2)
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


class _Joined:
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
