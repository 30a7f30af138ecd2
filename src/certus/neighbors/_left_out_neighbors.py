"""Nearest training rows of left-out rows, for every method of leaving rows out.

    leave-one-out   the k nearest of the other n − 1 rows
    folds           the k nearest of the fold's training rows
    bootstrap       the k nearest of n draws, for a row that was not drawn; a row drawn twice counts
                    twice

All are exact. Leave-one-out and the bootstrap need one index of all rows.
"""

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..data.types import Metric, Seed
from ..data.validation import positive_whole
from ..distances import Gower
from ..runtime.config import effective_threads
from ..solvers.neighbors.index import DenseIndex
from ..solvers.neighbors.lists import Index
from ..solvers.neighbors.precomputed import PrecomputedIndex
from ._base import METRICS_WITH_MISSING
from ._input import read_distances, read_mixed_for_fit, read_rows
from ._metric import EncodedGower, distance_of, effective_metric
from ._search import in_order


def dummy_estimator(name: str) -> BaseEstimator:
    """Return an estimator named like the calling function, for validation and its messages."""
    return type(name, (BaseEstimator,), {"fit": None})()


def checked_threads(threads: int | None) -> int:
    """Return the number of threads that the settings allow, at most ``threads``."""
    return effective_threads(None if threads is None else positive_whole("threads", threads))


def read_points(X: object, metric: object, caller: BaseEstimator) -> np.ndarray:
    """Return X as an array with finite values, or NaN where the metric is defined for it.

    ``caller`` remembers the columns of the first X that is read for it.
    """
    reset = "n_features_in_" not in vars(caller)
    name = getattr(metric, "name", metric)
    named = name if isinstance(name, str) else ""
    if named == "precomputed":
        X = read_distances(caller, X, reset=reset)
    else:
        X = read_rows(caller, X, reset=reset, missing=named in METRICS_WITH_MISSING)
    if not isinstance(X, np.ndarray):
        raise TypeError(
            f"Sparse data was passed, but {type(caller).__name__} needs a dense array: use "
            "X.toarray()"
        )
    return X


def read_mixed_points(
    X: object, metric: Any, metric_params: dict[str, Any] | None, caller: BaseEstimator
) -> tuple[np.ndarray, Any, dict[str, Any] | None]:
    """Return X as an array, with the metric and its parameters for it.

    Gower's columns of text, categories and booleans are encoded as numbers.
    """
    if getattr(metric, "name", metric) == "gower":
        given = distance_of(*effective_metric(metric, 2, metric_params))
        rows, prepared = read_mixed_for_fit(caller, X, given)
        if rows is not None:
            kinds = prepared.parameters() | {"ranges": vars(given)["ranges"]}
            return rows, EncodedGower(Gower(**kinds)), None
    return read_points(X, metric, caller), metric, metric_params


class NeighborSearch:
    """Search among training rows, with an index that is built once.

    Parameters
    ----------
    X : (n, p) array
        Rows, or the distances between them.
    metric, metric_params
        As ``certus.distances.get_distance`` takes them, or "precomputed".
    rows : (m,) array of int, optional
        The training rows; all of them if not given.
    threads : int
        Threads of the search.
    """

    def __init__(
        self,
        X: np.ndarray,
        metric: Metric,
        metric_params: dict[str, Any] | None,
        threads: int,
        rows: np.ndarray | None = None,
    ):
        self.X, self.rows = X, rows
        self.given = isinstance(metric, str) and metric == "precomputed"
        self.index: Index
        if self.given:
            self.index = PrecomputedIndex(X)
        else:
            train = X if rows is None else X[rows]
            p = None if "p" in (metric_params or {}) else 2
            distance = distance_of(*effective_metric(metric, p, metric_params)).prepare(train)
            self.index = DenseIndex(train, distance, threads=threads)

    def nearest(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distances, rows) of the k training rows nearest to each row ``queries`` of X."""
        Q = self.X[queries]
        return self.at(Q[:, self.rows] if self.given and self.rows is not None else Q, k)

    def at(self, Q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distances, rows) of the k training rows nearest to each point of Q.

        Row −1, at infinity, where fewer than k are comparable.
        """
        d, j = in_order(*self.index.kneighbors(Q, k))
        return d, j if self.rows is None else np.where(j < 0, j, self.rows[j])

    def others(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distances, rows) of the k nearest rows without the query itself.

        These are the first k of the k + 1 nearest without the query. With many rows at distance 0
        and ties to the smallest index, the query need not be among the k + 1.
        """
        d, j = self.nearest(queries, k + 1)
        other = j != queries[:, None]
        other[other.all(axis=1), -1] = False
        return d[other].reshape(-1, k), j[other].reshape(-1, k)


def blocks(rows: np.ndarray, elements_a_row: int, elements: int = 1 << 20) -> list[np.ndarray]:
    """Split rows into blocks of about ``elements``, so that memory does not grow with n."""
    size = max(1, elements // max(1, elements_a_row))
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def generator(random_state: Seed) -> np.random.RandomState:
    """Return a RandomState; unlike scikit-learn's ``check_random_state`` also of a Generator."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    rng: np.random.RandomState = check_random_state(random_state)
    return rng


# --- the bootstrap --------------------------------------------------------------------------------


def resamples(n: int, count: int, random_state: Seed) -> np.ndarray:
    """Return (count, n): how often each row is in each resample of n draws."""
    rng = generator(random_state)
    drawn = np.empty((count, n), dtype=np.int32)
    for b in range(count):
        drawn[b] = np.bincount(rng.randint(n, size=n), minlength=n)
    return drawn


def probable_length(k: int, n: int) -> int:
    """Return about k + 4√k: that many neighbours contain k draws for all but 1 row in 10,000."""
    return min(n - 1, k + 4 * math.isqrt(k) + 8)


def nearest_draws(
    d: np.ndarray, j: np.ndarray, drawn: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (queries, distances, rows): the k nearest draws, for queries whose lists hold k.

    ``d, j`` (m, length) are the nearest rows of queries that were not drawn.
    """
    times = np.where(j < 0, k, drawn[j])  # −1 ends a list: no further row is comparable
    total = times.sum(axis=1)
    enough = np.flatnonzero(total >= k)
    repeated = np.repeat(np.arange(len(enough) * j.shape[1]), times[enough].ravel())
    starts = np.cumsum(total[enough]) - total[enough]
    first = repeated[starts[:, None] + np.arange(k)]
    row, place = enough[first // j.shape[1]], first % j.shape[1]
    return enough, d[row, place], j[row, place]
