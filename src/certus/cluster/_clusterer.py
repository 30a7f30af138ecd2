"""Clusterers with a variable number of clusters k, which also assign other rows.

k ─► labels of the rows        other rows ─► ``predict``, or the nearest mean of a cluster
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..data.rows import Rows
from ..distances import SquaredEuclidean
from ..solvers.kmeans import lloyd, nearest_centers
from ..solvers.kmeans.starts import plus_plus

N_CLUSTERS_PARAMETERS = ("n_clusters", "n_components")  # names of k in clusterers and mixtures
KMEANS_TOL = 1e-4  # the default of KMeans
N_RESTARTS = 10  # so that objectives are compared, not the luck of single starts
# Of more rows fewer starts: fits of 10,000 rows take ten times as long as those of 1,000.
MANY_ROWS, N_RESTARTS_OF_MANY_ROWS = 4096, 4


class Clustering(NamedTuple):
    """The clusters of some rows, and a function that assigns others."""

    labels: np.ndarray  # (n,) int: 0, 1, … without gaps
    assign: Callable[[np.ndarray], np.ndarray]  # rows → labels


class RestartedKMeans:
    """k-means, the best of ten starts (of many rows four), without the overhead of an estimator."""

    def fit(self, X: np.ndarray, k: int, s: np.ndarray | None, seed: int) -> Clustering:
        if k == 1:
            return Clustering(_single_cluster(X), _single_cluster)
        rows, draw = Rows(X, None, s, threads=1), np.random.RandomState(seed)
        starts = N_RESTARTS if len(X) <= MANY_ROWS else N_RESTARTS_OF_MANY_ROWS
        fits = [lloyd(rows, plus_plus(rows, k, draw)[0], tol=KMEANS_TOL) for _ in range(starts)]
        best = min(fits, key=lambda fit: fit.objective)
        return Clustering(
            without_gaps(best.labels),
            lambda Z: without_gaps(nearest_centers(Rows(Z, threads=1), best.centers)[0]),
        )


def clusterer(estimator: object, weighted: bool) -> Any:
    """Return a clusterer with variable k around ``estimator``; None: k-means."""
    return RestartedKMeans() if estimator is None else Clusterer(estimator, weighted)


class Clusterer:
    """An estimator that is cloned and fitted with a given number of clusters."""

    def __init__(self, estimator: Any, weighted: bool):
        self.estimator = estimator
        if isinstance(self.estimator, type) or not callable(getattr(self.estimator, "fit", None)):
            raise TypeError(f"estimator={estimator!r}: give a clusterer, such as KMeans(n_init=10)")
        name, parameters = type(self.estimator).__name__, self.estimator.get_params()
        parameter_names = [count for count in N_CLUSTERS_PARAMETERS if count in parameters]
        if not parameter_names:
            raise TypeError(
                f"{name} has no parameter n_clusters (or n_components): how many clusters it finds "
                "cannot be set"
            )
        if weighted and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"{name} takes no sample_weight: leave the weights out")
        self.count, self.seeded = parameter_names[0], "random_state" in parameters

    def fit(self, X: np.ndarray, k: int, s: np.ndarray | None, seed: int) -> Clustering:
        if k == 1:
            return Clustering(_single_cluster(X), _single_cluster)
        model = clone(self.estimator).set_params(**{self.count: k})
        if self.seeded:
            model.set_params(random_state=seed)
        model.fit(X, **({} if s is None else {"sample_weight": s}))
        predict = getattr(model, "predict", None)
        fitted_labels = vars(model).get("labels_")
        if fitted_labels is None:
            fitted_labels = model.predict(X)
        labels = without_gaps(fitted_labels)
        if predict is None:
            return Clustering(labels, _nearest_mean(X, labels, s))
        return Clustering(labels, lambda Z: without_gaps(predict(Z)))


def _single_cluster(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X), dtype=np.intp)


def without_gaps(labels: npt.ArrayLike) -> np.ndarray:
    """Renumber clusters as 0, 1, …"""
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _nearest_mean(
    X: np.ndarray, labels: np.ndarray, s: np.ndarray | None
) -> Callable[[np.ndarray], np.ndarray]:
    each = range(int(labels.max()) + 1)
    means = np.array(
        [
            np.average(X[labels == c], axis=0, weights=None if s is None else s[labels == c])
            for c in each
        ]
    )

    def assign(Z: np.ndarray) -> np.ndarray:
        nearest: np.ndarray = SquaredEuclidean().pairwise(Z, means, threads=1).argmin(axis=1)
        return without_gaps(nearest)

    return assign
