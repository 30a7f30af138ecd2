"""The function ``linkage``: the merges of an agglomerative tree in SciPy's layout."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator

from ..data.types import Metric
from ..data.validation import one_of
from ..runtime.config import effective_threads
from ..runtime.refusals import refuses_in_one_frame
from ..solvers.linkage import METHODS
from ._build_tree import build_merges, dtype_of
from ._linkage_problem import read_problem
from ._units import emit_warnings


class _MetricHolder(BaseEstimator):
    """Stand-in for an estimator: holds the metric, and gets the names of columns."""

    def __init__(self, metric: Metric, metric_params: dict[str, Any] | None):
        self.metric, self.metric_params = metric, metric_params


@refuses_in_one_frame
def linkage(
    X: npt.ArrayLike,
    method: str = "single",
    metric: Metric = "euclidean",
    *,
    scale: object = None,
    metric_params: dict[str, Any] | None = None,
    dtype: object = None,
    threads: int | None = None,
) -> np.ndarray:
    """Merge the two nearest clusters n − 1 times, and return SciPy's matrix of merges.

    Between clusters A and B

    - "single": min d(a, b); "complete": max d(a, b);
    - "average": the mean of all d(a, b); "weighted": the mean of the distances of A's two parts;
    - "centroid": ‖c_A − c_B‖, c means; "median": the same, c the mean of the two parts' centres;
    - "ward": √(2|A||B|/(|A|+|B|)) ‖c_A − c_B‖, half of whose square is the increase of the sum of
      squares.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features), or of shape (n (n - 1) / 2,)
        Rows, or distances in SciPy's condensed layout.
    method : str, default="single"
    metric : str, callable or Distance, default="euclidean"
        As ``certus.distances.get_distance`` takes it; "precomputed": X is a square matrix of
        distances.
    scale : {"standard", "range"}, array-like of shape (n_features,), False or None
        Divisors of the columns: their standard deviations, their ranges, or given numbers. None:
        no scaling, with a warning if spreads differ by a factor of more than 100; False: no
        scaling, no warning.
    metric_params : dict, optional
        Further parameters of the metric, e.g. ``{"p": 3}``.
    dtype : {"float64", "float32"}, optional
        Type of the stored distances. float32 halves the memory and gives seven digits.
    threads : int, optional
        Maximum number of threads; None: as set by ``certus.set_config``.

    Returns
    -------
    merges : ndarray of shape (n_samples - 1, 4)
        Row t holds the two clusters that are joined into cluster n + t, the smaller number first,
        their distance, and the number of their rows. Sorted by distance; for "centroid" and
        "median", whose distances can fall, in the order of merging.

    Notes
    -----
    At most O(n²·p) time. Memory: O(n·p) for single, ward, centroid and median of rows with a
    Euclidean distance (for single also squared ones, such as cosine); else n² distances. A call
    that would not fit in memory is refused before it starts.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import Tree, linkage
    >>> Z = linkage(np.array([[0.0], [1.0], [5.0]]), "average")
    >>> Z
    array([[0. , 1. , 1. , 2. ],
           [2. , 3. , 4.5, 3. ]])
    >>> Tree(Z, method="average").cut(2)
    array([0, 0, 1])
    """
    one_of("method", method, METHODS)
    width = dtype_of(dtype)
    if np.ndim(X) == 1 and not hasattr(X, "columns"):
        X, metric = _square(X), "precomputed"
    problem = read_problem(_MetricHolder(metric, metric_params), X, method, scale)
    emit_warnings(problem.pending_warnings)
    return build_merges(problem, method, width, effective_threads(threads))


def _square(X: npt.ArrayLike) -> np.ndarray:
    d = np.asarray(X, dtype=np.float64)
    n = round((1 + np.sqrt(1 + 8 * len(d))) / 2)
    if n * (n - 1) // 2 != len(d):
        raise ValueError(
            f"X has {len(d)} values, which are not the n(n − 1)/2 distances of n rows. One column "
            "of rows is X.reshape(-1, 1)"
        )
    square: np.ndarray = squareform(d, checks=False)
    return square
