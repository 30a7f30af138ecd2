"""Lists of the best rows of each query, and the verbs that every way of searching shares."""

from typing import Any, NamedTuple

import numpy as np

LANES = 128  # queries that are looked at together


class Best(NamedTuple):
    """Of each query, ascending by (value, row); value: what is added up, before any root."""

    values: np.ndarray  # (queries, k)
    rows: np.ndarray  # (queries, k)


class Within(NamedTuple):
    """Rows of query i: rows[edges[i]:edges[i + 1]], ascending."""

    values: np.ndarray
    rows: np.ndarray
    edges: np.ndarray


def empty(queries: int, k: int, dtype: Any = float) -> Best:
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
