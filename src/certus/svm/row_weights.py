r"""Weights of rows by the density of the rows around them.

    d_i = 1 − r_i / max_j r_j,     r_i the distance of row i to its k-th nearest other row

0 ≤ d_i ≤ 1. The row in the sparsest place has d = 0. Where all r are equal, d = 1 for all rows.
"""

import numpy as np
from sklearn.base import BaseEstimator

from ..data.labels import encode, read_labels
from ..data.types import Metric
from ..data.validation import data_for_transform, positive_whole
from ..distances import get_distance
from ..runtime.config import effective_threads
from ..runtime.refusals import refuses_in_one_frame
from ..solvers.neighbors.index import DenseIndex
from ..text.format import count

EQUALITY_TOLERANCE = 1e-12  # relative: distances that differ by rounding only


@refuses_in_one_frame
def density_weights(
    X: object, k: int = 5, *, y: object = None, metric: Metric = "euclidean"
) -> np.ndarray:
    r"""Return d_i = 1 − r_i/max r, r_i the distance of row i to its k-th nearest other row.

    Rows in dense regions have weights near 1, those far from all others near 0; the row with the
    largest r has weight 0, hence no influence. Where all r are equal, all weights are 1.
    ``DensityWeightedLSSVC`` multiplies each row's loss by d_i², ``DensityWeightedSVC`` by d_i.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Columns are not scaled: bring them to a common scale first.
    k : int, default=5
        The number of the neighbour; the row itself does not count.
    y : array-like of shape (n_samples,), default=None
        With labels, neighbours and the largest r are those of the row's class. Without, a small
        class among a large one is sparse and gets small weights.
    metric : str or certus.distances.Distance, default="euclidean"
        As in ``certus.distances.get_distance``.

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
    caller = type("density_weights", (BaseEstimator,), {"fit": None})()  # for messages
    X = data_for_transform(caller, X, reset=True)
    if y is None:
        return weights_of_rows(X, k, None, metric)
    classes, codes = encode(read_labels(y, len(X))[0])
    return weights_of_rows(X, k, (classes, codes), metric, "k")


def weights_of_rows(
    X: np.ndarray,
    k: object,
    labels: tuple[np.ndarray, np.ndarray] | None = None,
    metric: Metric = "euclidean",
    name: str = "k",
) -> np.ndarray:
    """Return d of validated rows; with ``labels`` (classes, codes), within each class.

    ``name``: the user's name of k, for messages.
    """
    k = positive_whole(name, k)
    if labels is None:
        _require_others(k, len(X), name)
        return _relative_density(X, k, metric)
    d = np.empty(len(X))
    classes, codes = labels
    for c, label in enumerate(classes.tolist()):
        members = np.flatnonzero(codes == c)
        _require_others(k, len(members), name, f" of class {label!r}")
        d[members] = _relative_density(X[members], k, metric)
    return d


def _require_others(k: int, n: int, name: str, which: str = "") -> None:
    if k < n:
        return
    start = f"{name}={k} is too large for {count(n, 'row')}{which}: give at most {max(n - 1, 0)}"
    if which:
        raise ValueError(f"{start}, or use the density of all rows (density='global', or no y)")
    raise ValueError(start)


def _relative_density(X: np.ndarray, k: int, metric: object) -> np.ndarray:
    distance = get_distance(metric).prepare(X)
    distances, _ = DenseIndex(X, distance, threads=effective_threads()).kneighbors(None, k)
    r = distances[:, -1]
    largest = r.max()
    if r.min() >= (1 - EQUALITY_TOLERANCE) * largest:  # all rows are equally dense
        return np.ones(len(X))
    return np.asarray(1.0 - r / largest)
