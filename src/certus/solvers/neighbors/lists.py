"""Lists of the best rows of each query, and the verbs that every way of searching shares."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike

LANES = 128  # queries that are looked at together


class Index(Protocol):
    """The rows of a data set, ready to be searched. Rows are ordered by (distance, number)."""

    @property
    def algorithm(self) -> str:
        """What runs, or ran last."""
        ...

    def kneighbors(self, Q: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(distances, rows) of the k nearest of each query; None: of each row but itself."""
        ...

    def radius(self, Q: Any, r: float) -> "Within":
        """All rows within r of each query."""
        ...


class Engine(Protocol):
    """One way of searching dense rows, by sums of differences."""

    def nearest(self, Q: np.ndarray, k: int) -> "Best":
        """The k nearest rows of each query."""
        ...

    def within(self, Q: np.ndarray, radius: float) -> "Within":
        """All rows within a radius of each query."""
        ...


class Best(NamedTuple):
    """Of each query, ascending by (value, row); value: what is added up, before any root."""

    values: np.ndarray  # (queries, k)
    rows: np.ndarray  # (queries, k)


class Within(NamedTuple):
    """Rows of query i: rows[edges[i]:edges[i + 1]], ascending."""

    values: np.ndarray
    rows: np.ndarray
    edges: np.ndarray


def empty(queries: int, k: int, dtype: DTypeLike = float) -> Best:
    return Best(np.full((queries, k), np.inf, dtype), np.full((queries, k), -1, dtype=np.intp))


def lanes(m: int, size: int = LANES) -> list[slice]:
    """Queries in near-equal groups of about ``size``."""
    count = max(1, -(-m // size))
    return [slice(i * m // count, (i + 1) * m // count) for i in range(count)]


def joined(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Within:
    """Of groups of queries, each (values, rows, how many of each query)."""
    counts = np.concatenate([part[2] for part in parts]) if parts else np.empty(0, dtype=np.intp)
    return Within(
        np.concatenate([part[0] for part in parts]) if parts else np.empty(0),
        np.concatenate([part[1] for part in parts]) if parts else np.empty(0, dtype=np.intp),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
    )


def without_own(distances: np.ndarray, rows: np.ndarray) -> Best:
    """The k + 1 nearest of each row without itself: the k nearest others."""
    m, k = rows.shape[0], rows.shape[1] - 1
    keep = rows != np.arange(m)[:, None]
    keep[keep.all(axis=1), k] = False  # the list is full of others that are as near
    return Best(distances[keep].reshape(m, k), rows[keep].reshape(m, k))


def those(found: Within, distances: np.ndarray, r: float, own: bool) -> Within:
    """Of what was found a little farther than r, what is within; ``own``: query i is row i, which
    is left out."""
    query = np.repeat(np.arange(len(found.edges) - 1), np.diff(found.edges))
    keep = distances <= r
    if own:
        keep &= found.rows != query
    counts = np.bincount(query[keep], minlength=len(found.edges) - 1)
    edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    return Within(distances[keep], found.rows[keep], edges)
