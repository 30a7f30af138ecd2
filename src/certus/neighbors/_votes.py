"""What the neighbours of a query say together.

    T_c = Σ_j v_j [y_j = c],   P(c) = T_c / Σ_c T_c           classes
    ŷ   = y_1 + Σ_j v_j (y_j − y_1) / Σ_j v_j                  numbers (y_1: the first neighbour's)
    v_j = s_j · 1,  s_j / d_j  or  s_j · weights(d)_j

s_j is the sample weight of row j. A row with s_j = 0, or that cannot be compared with the query
(its distance is no finite number), has no vote. Where voters are at distance 0, they alone vote.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

ROUNDING = 4 * np.finfo(float).eps  # of a total, for each vote in it
AT_ONCE = 1 << 22  # totals held at a time


class Neighbours(NamedTuple):
    """Neighbours j of queries i, those of one query after those of another."""

    distance: np.ndarray  # (t,)
    rows: np.ndarray  # (t,) of the fit
    start: np.ndarray  # (m + 1,): query i has the entries start[i]:start[i + 1]
    k: int | None  # as many have all of them

    @classmethod
    def of_all(cls, distance: np.ndarray, rows: np.ndarray) -> "Neighbours":
        """From (m, k) arrays."""
        m, k = distance.shape
        return cls(distance.ravel(), rows.ravel(), np.arange(m + 1) * k, k)

    @property
    def m(self) -> int:
        return len(self.start) - 1

    @property
    def query(self) -> np.ndarray:
        """(t,): whose neighbour each entry is."""
        return np.repeat(np.arange(self.m), np.diff(self.start))

    def by_distance(self) -> "Neighbours":
        """Those of each query nearest first, and of equally near ones the first row."""
        order = np.lexsort((self.rows, self.distance, self.query))
        return self._replace(distance=self.distance[order], rows=self.rows[order])

    def within(self, radius: np.ndarray) -> "Neighbours":
        """Those at most ``radius[i]`` from query i."""
        keep = self.distance <= radius[self.query]
        counts = np.bincount(self.query[keep], minlength=self.m)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        return Neighbours(self.distance[keep], self.rows[keep], start, None)

    def lists(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """(distances, rows), an array for each query."""
        if self.m == 0:
            return [], []
        edges = self.start[1:-1]
        return np.split(self.distance, edges), np.split(self.rows, edges)

    def part(self, first: int, last: int) -> tuple["Neighbours", slice]:
        """Queries first … last − 1, and the entries that are theirs."""
        entries = slice(self.start[first], self.start[last])
        start = self.start[first : last + 1] - self.start[first]
        return Neighbours(self.distance[entries], self.rows[entries], start, self.k), entries


# --- the votes ------------------------------------------------------------------------------------


def votes(
    found: Neighbours,
    weights: str | Callable[..., Any] | None,
    s: np.ndarray | None,
    *,
    signed: bool,
) -> np.ndarray:
    """v, (t,), up to a factor for each query. ``signed``: votes may be below 0."""
    d = found.distance
    voter = np.isfinite(d)
    if s is not None:
        voter &= s[found.rows] > 0
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        v = voter.astype(float)
    elif isinstance(weights, str):
        v = _by_distance(found, voter)
    else:
        v = _called(weights, found, voter, signed)
    return v if s is None else v * s[found.rows]


def _by_distance(found: Neighbours, voter: np.ndarray) -> np.ndarray:
    """d_1 / d_j, d_1 that of the nearest voter: 1/d_j times a factor that lets nothing overflow."""
    d = np.where(voter, found.distance, np.inf)
    nearest = np.full(found.m, np.inf)
    np.minimum.at(nearest, found.query, d)
    nearest = nearest[found.query]
    with np.errstate(invalid="ignore", divide="ignore"):
        v = np.where(nearest > 0, nearest / d, d == 0)
    return np.where(voter, v, 0.0)


def _called(
    weights: Callable[..., Any], found: Neighbours, voter: np.ndarray, signed: bool
) -> np.ndarray:
    if found.k is not None:
        v = _of_shape(weights, found.distance.reshape(-1, found.k)).ravel()
    else:
        v = np.zeros(len(found.distance))
        for i in range(found.m):
            entries = slice(found.start[i], found.start[i + 1])
            if entries.stop > entries.start:
                v[entries] = _of_shape(weights, found.distance[entries])
    v = np.where(voter, v, 0.0)
    bad = np.flatnonzero(np.isnan(v) if signed else ~(v >= 0))
    if len(bad):
        t = bad[0]
        raise ValueError(
            f"weights gave {v[t]:g} for the distance {found.distance[t]:g} (row "
            f"{found.query[t]}): a vote must be a number{'' if signed else ' of at least 0'}"
        )
    endless = np.isinf(v)
    if endless.any():  # 1/0, and the like: what is infinitely near decides alone
        alone = np.zeros(found.m, dtype=bool)
        alone[found.query[endless]] = True
        v = np.where(alone[found.query], np.where(endless, np.sign(v), 0.0), v)
    return v


def _of_shape(weights: Callable[..., Any], d: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        v = np.asarray(weights(d.copy()), dtype=float)
    if v.shape != d.shape:
        raise ValueError(
            f"weights gave an array of shape {v.shape} for distances of shape {d.shape}: it must "
            "give one number for each distance"
        )
    return v


# --- classes --------------------------------------------------------------------------------------


def totals(found: Neighbours, v: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    """T, (m, classes); y: (n,) class of each row of the fit."""
    place = found.query * classes + y[found.rows]
    return np.bincount(place, v, found.m * classes).reshape(found.m, classes)


def shares(T: np.ndarray) -> np.ndarray:
    """P = T / Σ T; 0 where nobody votes."""
    total = T.sum(axis=1, keepdims=True)
    return T / np.where(total > 0, total, 1.0)


def winners(found: Neighbours, v: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    """The class with the most votes, (m,); −1 where nobody votes.

    Of several the one whose nearest voter is nearer, and then the first. Totals that rounding can
    have parted are equal.
    """
    best = np.empty(found.m, dtype=np.intp)
    step = max(1, AT_ONCE // classes)
    for first in range(0, found.m, step):
        part, entries = found.part(first, min(found.m, first + step))
        best[first : first + step] = _winners(part, v[entries], y, classes)
    return best


def _winners(found: Neighbours, v: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    T = totals(found, v, y, classes)
    most = T.max(axis=1)
    best = np.where(most > 0, T.argmax(axis=1), -1)
    slack = 1 - ROUNDING * np.diff(found.start)
    level = (most * slack)[:, None] <= T
    several = np.flatnonzero((np.count_nonzero(level, axis=1) > 1) & (most > 0))
    if len(several):
        place = np.full(found.m, -1)
        place[several] = np.arange(len(several))
        row = place[found.query]
        voting = (row >= 0) & (v > 0)
        nearest = np.full((len(several), classes), np.inf)
        at = (row[voting], y[found.rows[voting]])
        np.minimum.at(nearest, at, found.distance[voting])
        nearest[~level[several]] = np.inf
        best[several] = nearest.argmin(axis=1)
    return best


# --- numbers --------------------------------------------------------------------------------------


def means(found: Neighbours, v: np.ndarray, y: np.ndarray) -> np.ndarray:
    """ŷ, (m, targets), from y (n, targets); NaN where nobody votes."""
    m, query = found.m, found.query
    total = np.bincount(query, v, m)
    anybody = np.flatnonzero(np.diff(found.start) > 0)
    first = np.zeros(m, dtype=np.intp)
    first[anybody] = found.rows[found.start[anybody]]
    out = np.empty((m, y.shape[1]))
    with np.errstate(invalid="ignore", divide="ignore"):
        for t in range(y.shape[1]):
            y_1 = y[first, t]
            sums = np.bincount(query, v * (y[found.rows, t] - y_1[query]), m)
            out[:, t] = np.where(total != 0, y_1 + sums / total, np.nan)
    return out
