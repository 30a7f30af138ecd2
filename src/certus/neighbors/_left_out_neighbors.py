"""The nearest training rows of rows that are left out, for every way of leaving rows out.

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
from ..runtime.config import effective_threads
from ..solvers.neighbors.index import DenseIndex
from ..solvers.neighbors.lists import Index
from ..solvers.neighbors.precomputed import Precomputed
from ._base import WITH_MISSING
from ._input import distances_given, rows_given
from ._metric import distance_of, effective_metric
from ._search import in_order


def asking(name: str) -> BaseEstimator:
    """Who asks for rows, as messages name it; it remembers the columns of the first."""
    return type(name, (BaseEstimator,), {"fit": None})()


def checked_threads(threads: int | None) -> int:
    """As many as the settings allow, and at most ``threads``."""
    return effective_threads(None if threads is None else positive_whole("threads", threads))


def points(X: object, metric: object, asker: BaseEstimator) -> np.ndarray:
    """X as an array; every value is finite, or missing where the metric knows what to do."""
    reset = "n_features_in_" not in vars(asker)
    named = metric if isinstance(metric, str) else ""
    if named == "precomputed":
        X = distances_given(asker, X, reset=reset)
    else:
        X = rows_given(asker, X, reset=reset, missing=named in WITH_MISSING)
    if not isinstance(X, np.ndarray):
        raise TypeError(
            f"Sparse data was passed, but {type(asker).__name__} needs a dense array: use "
            "X.toarray()"
        )
    return X


class Searching:
    """Training rows, as an index that is built once.

    Parameters
    ----------
    X : (n, p) array
        Rows, or the distances between them.
    metric, metric_params
        As ``certus.distances.get_distance`` takes them, or "precomputed".
    rows : (m,) array of int, optional
        The training rows; all of them if not given.
    threads : int
        What the search may use.
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
            self.index = Precomputed(X)
        else:
            train = X if rows is None else X[rows]
            p = None if "p" in (metric_params or {}) else 2
            distance = distance_of(*effective_metric(metric, p, metric_params)).prepare(train)
            self.index = DenseIndex(train, distance, threads=threads)

    def nearest(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(distances, rows): of the training rows the k nearest to each of some rows of X."""
        Q = self.X[queries]
        return self.at(Q[:, self.rows] if self.given and self.rows is not None else Q, k)

    def at(self, Q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The same for points that are no rows of X. Row −1, at infinity: none can be compared."""
        d, j = in_order(*self.index.kneighbors(Q, k))
        return d, j if self.rows is None else np.where(j < 0, j, self.rows[j])

    def others(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The same of all rows but the query itself.

        Of the k + 1 nearest rows without the query, the first k: with many rows at distance 0 and
        ties to the smallest index, the query need not be among them.
        """
        d, j = self.nearest(queries, k + 1)
        other = j != queries[:, None]
        other[other.all(axis=1), -1] = False
        return d[other].reshape(-1, k), j[other].reshape(-1, k)


def blocks(rows: np.ndarray, elements_a_row: int, elements: int = 1 << 20) -> list[np.ndarray]:
    """Rows in pieces of about ``elements``: memory does not grow with their number."""
    size = max(1, elements // max(1, elements_a_row))
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def generator(random_state: Seed) -> np.random.RandomState:
    """As scikit-learn's ``check_random_state``, which does not know Generators."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    rng: np.random.RandomState = check_random_state(random_state)
    return rng


# --- the bootstrap --------------------------------------------------------------------------------


def resamples(n: int, count: int, random_state: Seed) -> np.ndarray:
    """(count, n): how often each row was drawn; n draws each."""
    rng = generator(random_state)
    drawn = np.empty((count, n), dtype=np.int32)
    for b in range(count):
        drawn[b] = np.bincount(rng.randint(n, size=n), minlength=n)
    return drawn


def probable_length(k: int, n: int) -> int:
    """How many neighbours hold k draws, but for one row in some ten thousand: k + 4√k."""
    return min(n - 1, k + 4 * math.isqrt(k) + 8)


def nearest_draws(
    d: np.ndarray, j: np.ndarray, drawn: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(queries, distances, rows): the k nearest draws, for queries whose lists hold as many.

    ``d, j`` (m, length) are the nearest rows of queries that were not drawn.
    """
    times = np.where(j < 0, k, drawn[j])  # beyond the rows that can be compared there is nothing
    total = times.sum(axis=1)
    enough = np.flatnonzero(total >= k)
    repeated = np.repeat(np.arange(len(enough) * j.shape[1]), times[enough].ravel())
    starts = np.cumsum(total[enough]) - total[enough]
    first = repeated[starts[:, None] + np.arange(k)]
    row, place = enough[first // j.shape[1]], first % j.shape[1]
    return enough, d[row, place], j[row, place]
