"""Votes of the neighbours of a query, and the predictions that follow from them.

    T_c = Σ_j v_j [y_j = c],   P(c) = T_c / Σ_c T_c           classes
    ŷ   = y_1 + Σ_j v_j (y_j − y_1) / Σ_j v_j                  numbers (y_1: the first neighbour's)
    v_j = s_j · 1,  s_j / d_j  or  s_j · weights(d)_j

s_j is the sample weight of row j. A row with s_j = 0, or whose distance to the query is not finite
(not comparable), has no vote. Where voters are at distance 0, they alone vote.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

VOTE_ROUNDING = 4 * np.finfo(float).eps  # relative error of a total, for each vote in it
MAX_TOTALS_HELD = 1 << 22  # at a time: 32 MB


class NeighborLists(NamedTuple):
    """Neighbours of m queries, concatenated."""

    distance: np.ndarray  # (t,)
    rows: np.ndarray  # (t,) row numbers of the fit
    start: np.ndarray  # (m + 1,): query i has the entries start[i]:start[i + 1]
    k: int | None  # number of neighbours, where it is the same for all queries

    @classmethod
    def from_arrays(cls, distance: np.ndarray, rows: np.ndarray) -> "NeighborLists":
        """Make lists of k neighbours each from (m, k) arrays."""
        m, k = distance.shape
        return cls(distance.ravel(), rows.ravel(), np.arange(m + 1) * k, k)

    @property
    def m(self) -> int:
        """Number of queries."""
        return len(self.start) - 1

    @property
    def query(self) -> np.ndarray:
        """The query that each entry belongs to, (t,)."""
        return np.repeat(np.arange(self.m), np.diff(self.start))

    def by_distance(self) -> "NeighborLists":
        """Sort the neighbours of each query by (distance, row)."""
        order = np.lexsort((self.rows, self.distance, self.query))
        return self._replace(distance=self.distance[order], rows=self.rows[order])

    def within(self, radius: np.ndarray) -> "NeighborLists":
        """Keep the neighbours at most ``radius[i]`` from query i."""
        keep = self.distance <= radius[self.query]
        counts = np.bincount(self.query[keep], minlength=self.m)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        return NeighborLists(self.distance[keep], self.rows[keep], start, None)

    def lists(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return (distances, rows), each a list with an array for each query."""
        if self.m == 0:
            return [], []
        edges = self.start[1:-1]
        return np.split(self.distance, edges), np.split(self.rows, edges)

    def part(self, first: int, last: int) -> tuple["NeighborLists", slice]:
        """Return queries first … last − 1, and the slice of their entries."""
        entries = slice(self.start[first], self.start[last])
        start = self.start[first : last + 1] - self.start[first]
        return NeighborLists(self.distance[entries], self.rows[entries], start, self.k), entries


# --- the votes ------------------------------------------------------------------------------------


def votes(
    neighbors: NeighborLists,
    weights: str | Callable[..., Any] | None,
    s: np.ndarray | None,
    *,
    signed: bool,
) -> np.ndarray:
    """Return v, (t,), up to a factor for each query. ``signed``: votes may be negative."""
    d = neighbors.distance
    voter = np.isfinite(d)
    if s is not None:
        voter &= s[neighbors.rows] > 0
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        v = voter.astype(float)
    elif isinstance(weights, str):
        v = _by_distance(neighbors, voter)
    else:
        v = _from_function(weights, neighbors, voter, signed)
    return v if s is None else v * s[neighbors.rows]


def _by_distance(neighbors: NeighborLists, voter: np.ndarray) -> np.ndarray:
    """Return d_1 / d_j with d_1 the nearest voter's: 1/d_j, scaled so that nothing overflows."""
    d = np.where(voter, neighbors.distance, np.inf)
    nearest = np.full(neighbors.m, np.inf)
    np.minimum.at(nearest, neighbors.query, d)
    nearest = nearest[neighbors.query]
    with np.errstate(invalid="ignore", divide="ignore"):
        v = np.where(nearest > 0, nearest / d, d == 0)
    return np.where(voter, v, 0.0)


def _from_function(
    weights: Callable[..., Any], neighbors: NeighborLists, voter: np.ndarray, signed: bool
) -> np.ndarray:
    if neighbors.k is not None:
        v = _call_checked(weights, neighbors.distance.reshape(-1, neighbors.k)).ravel()
    else:
        v = np.zeros(len(neighbors.distance))
        for i in range(neighbors.m):
            entries = slice(neighbors.start[i], neighbors.start[i + 1])
            if entries.stop > entries.start:
                v[entries] = _call_checked(weights, neighbors.distance[entries])
    v = np.where(voter, v, 0.0)
    bad = np.flatnonzero(np.isnan(v) if signed else ~(v >= 0))
    if len(bad):
        t = bad[0]
        raise ValueError(
            f"weights returned {v[t]:g} for the distance {neighbors.distance[t]:g} (row "
            f"{neighbors.query[t]}): a vote must be a number{'' if signed else ' of at least 0'}"
        )
    is_infinite = np.isinf(v)
    if is_infinite.any():  # such as 1/0: infinite votes outweigh all others
        has_infinite = np.zeros(neighbors.m, dtype=bool)
        has_infinite[neighbors.query[is_infinite]] = True
        v = np.where(has_infinite[neighbors.query], np.where(is_infinite, np.sign(v), 0.0), v)
    return v


def _call_checked(weights: Callable[..., Any], d: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        v = np.asarray(weights(d.copy()), dtype=float)
    if v.shape != d.shape:
        raise ValueError(
            f"weights returned an array of shape {v.shape} for distances of shape {d.shape}: it "
            "must return one number for each distance"
        )
    return v


# --- classes --------------------------------------------------------------------------------------


def totals(neighbors: NeighborLists, v: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    """Return T, (m, classes), from the class y (n,) of each row of the fit."""
    place = neighbors.query * classes + y[neighbors.rows]
    return np.bincount(place, v, neighbors.m * classes).reshape(neighbors.m, classes)


def shares(T: np.ndarray) -> np.ndarray:
    """Return P = T / Σ T; 0 where there is no vote."""
    total = T.sum(axis=1, keepdims=True)
    return T / np.where(total > 0, total, 1.0)


def winners(neighbors: NeighborLists, v: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    """Return the class with the most votes, (m,); −1 where there is no vote.

    A tie goes to the class whose nearest voter is nearer, and then to the first. Totals that differ
    by no more than rounding are ties.
    """
    best = np.empty(neighbors.m, dtype=np.intp)
    step = max(1, MAX_TOTALS_HELD // classes)
    for first in range(0, neighbors.m, step):
        part, entries = neighbors.part(first, min(neighbors.m, first + step))
        best[first : first + step] = _winners(part, v[entries], y, classes)
    return best


def _winners(neighbors: NeighborLists, v: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    T = totals(neighbors, v, y, classes)
    most = T.max(axis=1)
    best = np.where(most > 0, T.argmax(axis=1), -1)
    slack = 1 - VOTE_ROUNDING * np.diff(neighbors.start)
    tied = (most * slack)[:, None] <= T
    tied_queries = np.flatnonzero((np.count_nonzero(tied, axis=1) > 1) & (most > 0))
    if len(tied_queries):
        place = np.full(neighbors.m, -1)
        place[tied_queries] = np.arange(len(tied_queries))
        row = place[neighbors.query]
        voting = (row >= 0) & (v > 0)
        nearest = np.full((len(tied_queries), classes), np.inf)
        at = (row[voting], y[neighbors.rows[voting]])
        np.minimum.at(nearest, at, neighbors.distance[voting])
        nearest[~tied[tied_queries]] = np.inf
        best[tied_queries] = nearest.argmin(axis=1)
    return best


# --- numbers --------------------------------------------------------------------------------------


def means(neighbors: NeighborLists, v: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return ŷ, (m, targets), from y (n, targets); NaN where there is no vote."""
    m, query = neighbors.m, neighbors.query
    total = np.bincount(query, v, m)
    nonempty = np.flatnonzero(np.diff(neighbors.start) > 0)
    first = np.zeros(m, dtype=np.intp)
    first[nonempty] = neighbors.rows[neighbors.start[nonempty]]
    out = np.empty((m, y.shape[1]))
    with np.errstate(invalid="ignore", divide="ignore"):
        for t in range(y.shape[1]):
            y_1 = y[first, t]
            sums = np.bincount(query, v * (y[neighbors.rows, t] - y_1[query]), m)
            out[:, t] = np.where(total != 0, y_1 + sums / total, np.nan)
    return out
