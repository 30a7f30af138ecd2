"""Lists of the nearest rows of each query, and the interfaces that all searches share."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike

LANE_QUERIES = 128  # queries that a kernel compares with one row at a time


class Index(Protocol):
    """A searchable data set. Neighbours are ordered by (distance, row number)."""

    @property
    def algorithm(self) -> str:
        """Name of the algorithm that ran last, or will run."""
        ...

    def kneighbors(self, Q: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distances, rows) of the k nearest of each query.

        Q None: the queries are the rows themselves, each without itself.
        """
        ...

    def radius(self, Q: Any, r: float) -> "RadiusLists":
        """Return all rows within r of each query."""
        ...


class Engine(Protocol):
    """One search algorithm for dense rows. Values are distances before any root is taken."""

    def nearest(self, Q: np.ndarray, k: int) -> "NearestLists":
        """Return the k nearest rows of each query."""
        ...

    def within(self, Q: np.ndarray, radius: float) -> "RadiusLists":
        """Return all rows within a radius of each query."""
        ...


class NearestLists(NamedTuple):
    """The k nearest rows of each query, ascending by (value, row).

    A value is the sum over columns, before any root is taken.
    """

    values: np.ndarray  # (queries, k)
    rows: np.ndarray  # (queries, k)


class RadiusLists(NamedTuple):
    """All rows within a radius; those of query i are rows[edges[i]:edges[i + 1]], ascending."""

    values: np.ndarray
    rows: np.ndarray
    edges: np.ndarray


def empty_lists(queries: int, k: int, dtype: DTypeLike = float) -> NearestLists:
    """Return lists that hold no row yet: value inf, row −1."""
    return NearestLists(
        np.full((queries, k), np.inf, dtype), np.full((queries, k), -1, dtype=np.intp)
    )


def even_slices(m: int, size: int = LANE_QUERIES) -> list[slice]:
    """Split m rows or queries into slices of nearly equal length, about ``size`` each."""
    count = max(1, -(-m // size))
    return [slice(i * m // count, (i + 1) * m // count) for i in range(count)]


def join_groups(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> RadiusLists:
    """Join groups of queries, each given as (values, rows, number of rows of each query)."""
    counts = np.concatenate([part[2] for part in parts]) if parts else np.empty(0, dtype=np.intp)
    return RadiusLists(
        np.concatenate([part[0] for part in parts]) if parts else np.empty(0),
        np.concatenate([part[1] for part in parts]) if parts else np.empty(0, dtype=np.intp),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
    )


def without_self(distances: np.ndarray, rows: np.ndarray) -> NearestLists:
    """Drop each row from its own list of the k + 1 nearest, which leaves the k nearest others."""
    m, k = rows.shape[0], rows.shape[1] - 1
    keep = rows != np.arange(m)[:, None]
    keep[keep.all(axis=1), k] = False  # row not in its list: k + 1 others are as near as itself
    return NearestLists(distances[keep].reshape(m, k), rows[keep].reshape(m, k))


def within_radius(
    lists: RadiusLists, distances: np.ndarray, r: float, is_self: bool
) -> RadiusLists:
    """Keep the rows within r of lists that were made with a slightly larger radius.

    ``is_self``: query i is row i, and is left out.
    """
    query = np.repeat(np.arange(len(lists.edges) - 1), np.diff(lists.edges))
    keep = distances <= r
    if is_self:
        keep &= lists.rows != query
    counts = np.bincount(query[keep], minlength=len(lists.edges) - 1)
    edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    return RadiusLists(distances[keep], lists.rows[keep], edges)
