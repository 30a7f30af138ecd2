"""Any clusterer, asked for k clusters of some rows, and where other rows would belong.

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

COUNTS = ("n_clusters", "n_components")  # what clusterers and mixtures call k
TOL = 1e-4  # as KMeans has it
RESTARTS = 10  # of the default: the k-means objective, not luck, is to be compared


class Clustering(NamedTuple):
    labels: np.ndarray  # (n,) int: 0, 1, … without gaps
    assign: Callable[[np.ndarray], np.ndarray]  # rows → labels


class BestOfTen:
    """k-means, the best of ten starts, without what else an estimator does."""

    def fit(self, X: np.ndarray, k: int, s: np.ndarray | None, seed: int) -> Clustering:
        if k == 1:
            return Clustering(_nothing(X), _nothing)
        rows, draw = Rows(X, None, s, threads=1), np.random.RandomState(seed)
        found = [lloyd(rows, plus_plus(rows, k, draw)[0], tol=TOL) for _ in range(RESTARTS)]
        best = min(found, key=lambda fit: fit.objective)
        return Clustering(
            without_gaps(best.labels),
            lambda Z: without_gaps(nearest_centers(Rows(Z, threads=1), best.centers)[0]),
        )


def clusterer(estimator: object, weighted: bool) -> Any:
    """``estimator`` with any number of clusters; None: k-means."""
    return BestOfTen() if estimator is None else Clusterer(estimator, weighted)


class Clusterer:
    """An estimator with any number of clusters."""

    def __init__(self, estimator: Any, weighted: bool):
        self.estimator = estimator
        if isinstance(self.estimator, type) or not callable(getattr(self.estimator, "fit", None)):
            raise TypeError(f"estimator={estimator!r}: give a clusterer, such as KMeans(n_init=10)")
        name, known = type(self.estimator).__name__, self.estimator.get_params()
        named = [count for count in COUNTS if count in known]
        if not named:
            raise TypeError(
                f"{name} has no parameter n_clusters (or n_components): how many clusters it finds "
                "cannot be set"
            )
        if weighted and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"{name} takes no sample_weight: leave the weights out")
        self.count, self.seeded = named[0], "random_state" in known

    def fit(self, X: np.ndarray, k: int, s: np.ndarray | None, seed: int) -> Clustering:
        if k == 1:
            return Clustering(_nothing(X), _nothing)
        model = clone(self.estimator).set_params(**{self.count: k})
        if self.seeded:
            model.set_params(random_state=seed)
        model.fit(X, **({} if s is None else {"sample_weight": s}))
        predict = getattr(model, "predict", None)
        found = vars(model).get("labels_")
        if found is None:
            found = model.predict(X)
        labels = without_gaps(found)
        if predict is None:
            return Clustering(labels, _nearest_mean(X, labels, s))
        return Clustering(labels, lambda Z: without_gaps(predict(Z)))


def _nothing(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X), dtype=np.intp)


def without_gaps(labels: npt.ArrayLike) -> np.ndarray:
    """The same clusters, called 0, 1, …"""
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
