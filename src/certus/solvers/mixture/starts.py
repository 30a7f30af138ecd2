"""Starts of EM: a partition of the rows, or responsibilities drawn at random.

kmeans             labels of k-means from one k-means++ start
k-means++          each row to the nearest of k rows drawn by k-means++
random_from_data   each row to the nearest of k rows drawn at random
random             r_ik drawn uniformly, then normalised for each row
"""

from collections.abc import Callable

import numpy as np

from ...data.rows import Rows
from ..kmeans import lloyd, nearest_centers
from ..kmeans.starts import plus_plus, random_rows

KMEANS_MAX_ITER, KMEANS_TOL = 300, 1e-4  # the defaults of KMeans

StartFunction = Callable[[Rows, int, np.random.RandomState], np.ndarray]


def by_kmeans(rows: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Labels of k-means."""
    return lloyd(rows, plus_plus(rows, k, rng)[0], max_iter=KMEANS_MAX_ITER, tol=KMEANS_TOL).labels


def by_plus_plus(rows: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Labels of the nearest of k rows drawn by k-means++."""
    return nearest_centers(rows, plus_plus(rows, k, rng)[0])[0]


def from_rows(rows: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Labels of the nearest of k rows drawn at random."""
    return nearest_centers(rows, random_rows(rows, k, rng)[0])[0]


def at_random(rows: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Responsibilities drawn uniformly and normalised."""
    R = rng.uniform(size=(rows.shape[0], k))
    R /= R.sum(axis=1, keepdims=True)
    return R


STARTS: dict[str, StartFunction] = {
    "kmeans": by_kmeans,
    "k-means++": by_plus_plus,
    "random": at_random,
    "random_from_data": from_rows,
}


def fill_missing(rows: Rows, mean: np.ndarray) -> Rows:
    """Return rows with missing entries replaced by the columns' means."""
    X = np.asarray(rows.X[: rows.shape[0]], dtype=float)
    return Rows(np.where(np.isnan(X), mean, X), None, rows.s, threads=rows.threads)
