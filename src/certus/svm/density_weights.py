r"""How densely the rows around a row lie, as a weight.

    d_i = 1 − r_i / max_j r_j,     r_i the distance of row i to its k-th nearest other row

0 ≤ d_i ≤ 1. The sparsest row has exactly 0. Where all r are equal, d = 1: none is denser.
"""

import numpy as np
from sklearn.base import BaseEstimator

from ..data.labels import encode, read_labels
from ..data.types import Metric
from ..data.validation import data_for_transform, positive_whole
from ..distances import get_distance
from ..runtime.config import effective_threads
from ..solvers.neighbors.index import DenseIndex
from ..text.format import count

SAME = 1e-12  # relative: distances that rounding alone tells apart


def density_weights(
    X: object, k: int = 5, *, y: object = None, metric: Metric = "euclidean"
) -> np.ndarray:
    r"""Weights d_i = 1 − r_i/max r, r_i the distance of row i to its k-th nearest other row.

    Rows in crowded places weigh near 1, those far from all others near 0, and the sparsest row
    weighs 0: it then counts for nothing. Where all r are equal, all weigh 1.
    ``DensityWeightedLSSVC`` multiplies each row's loss by d_i², ``DensityWeightedSVC`` by d_i.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Distances are those of the columns as they are given: bring them to one scale first.
    k : int, default=5
        Which neighbour; the row itself is not counted.
    y : array-like of shape (n_samples,), default=None
        Where labels are given, neighbours and the largest r are those of the row's own class.
        Without, a small class among a large one is sparse, and weighs little.
    metric : str or certus.distances.Distance, default="euclidean"
        As ``certus.distances.get_distance`` takes it.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from certus.svm import density_weights
    >>> density_weights([[0.0], [1.0], [2.0], [4.0]], k=1)
    array([0.5, 0.5, 0.5, 0. ])
    >>> density_weights([[0.0], [1.0], [2.0], [4.0]], k=1, y=["a", "a", "b", "b"])
    array([1., 1., 1., 1.])
    """
    asker = type("density_weights", (BaseEstimator,), {"fit": None})()  # as messages name it
    X = data_for_transform(asker, X, reset=True)
    if y is None:
        return of_rows(X, k, None, metric)
    classes, codes = encode(read_labels(y, len(X))[0])
    return of_rows(X, k, (classes, codes), metric, "k")


def of_rows(
    X: np.ndarray,
    k: object,
    labels: tuple[np.ndarray, np.ndarray] | None = None,
    metric: Metric = "euclidean",
    name: str = "k",
) -> np.ndarray:
    """d of rows that have been looked at; ``labels``: (classes, index), for each class by itself.
    ``name``: what k is called where people set it."""
    k = positive_whole(name, k)
    if labels is None:
        _require_others(k, len(X), name)
        return _shares(X, k, metric)
    d = np.empty(len(X))
    classes, codes = labels
    for c, label in enumerate(classes.tolist()):
        own = np.flatnonzero(codes == c)
        _require_others(k, len(own), name, f" of class {label!r}")
        d[own] = _shares(X[own], k, metric)
    return d


def _require_others(k: int, n: int, name: str, which: str = "") -> None:
    if k < n:
        return
    least = f"{name}={k}: {count(n, 'row')}{which} {'has' if n == 1 else 'have'} "
    if which:
        raise ValueError(
            f"{least}no {k} others{which}: give {name} at most {max(n - 1, 0)}, or take the "
            "density of all rows (density='global', or no y)"
        )
    raise ValueError(f"{least}no {k} others each: give {name} at most {max(n - 1, 0)}")


def _shares(X: np.ndarray, k: int, metric: object) -> np.ndarray:
    distance = get_distance(metric).prepare(X)
    distances, _ = DenseIndex(X, distance, threads=effective_threads()).kneighbors(None, k)
    r = distances[:, -1]
    largest = r.max()
    if r.min() >= (1 - SAME) * largest:  # no row lies denser than another
        return np.ones(len(X))
    return np.asarray(1.0 - r / largest)
