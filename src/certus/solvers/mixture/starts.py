"""Where EM starts: a partition of the rows, or responsibilities drawn at random.

kmeans             labels of k-means from one k-means++ start
k-means++          each row with the nearest of k rows that k-means++ draws
random_from_data   each row with the nearest of k rows drawn at random
random             r_ik drawn uniformly, each row's divided by their sum
"""

from collections.abc import Callable

import numpy as np

from ...data.rows import Rows
from ..kmeans import lloyd, nearest_centers
from ..kmeans.starts import plus_plus, random_rows

STEPS, STILL = 300, 1e-4  # max_iter and tol of k-means, as its own defaults have them

Draw = Callable[[Rows, int, np.random.RandomState], np.ndarray]


def by_kmeans(rows: Rows, k: int, draw: np.random.RandomState) -> np.ndarray:
    return lloyd(rows, plus_plus(rows, k, draw)[0], max_iter=STEPS, tol=STILL).labels


def by_plus_plus(rows: Rows, k: int, draw: np.random.RandomState) -> np.ndarray:
    return nearest_centers(rows, plus_plus(rows, k, draw)[0])[0]


def from_rows(rows: Rows, k: int, draw: np.random.RandomState) -> np.ndarray:
    return nearest_centers(rows, random_rows(rows, k, draw)[0])[0]


def at_random(rows: Rows, k: int, draw: np.random.RandomState) -> np.ndarray:
    R = draw.uniform(size=(rows.shape[0], k))
    R /= R.sum(axis=1, keepdims=True)
    return R


STARTS: dict[str, Draw] = {
    "kmeans": by_kmeans,
    "k-means++": by_plus_plus,
    "random": at_random,
    "random_from_data": from_rows,
}


def filled(rows: Rows, mean: np.ndarray) -> Rows:
    """Rows whose missing entries are the columns' means."""
    X = np.asarray(rows.X[: rows.shape[0]], dtype=float)
    return Rows(np.where(np.isnan(X), mean, X), None, rows.s, threads=rows.threads)
