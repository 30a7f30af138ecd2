"""Clusters by splitting: DivisiveClustering."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.memory import available_memory
from ..data.types import Metric
from ..runtime.config import effective_threads
from ..runtime.progress import monitored
from ..solvers.linkage.diana import divide
from ..text.format import count, number
from ._build_tree import MIN_CHECKED_BYTES, dtype_of, require_range, rows_for_distance
from ._linkage_problem import LinkageProblem, read_problem
from ._tree_clusterer import TreeClusterer
from ._units import Scale, emit_warnings


class DivisiveClustering(TreeClusterer):
    """Split the widest cluster in two until every row is alone, and cut that tree: DIANA.

    The next cluster to be split is the one with the largest diameter, max d(a, b). The row with the
    largest mean distance to the others starts a new cluster; then, as long as some row is nearer on
    average to the new cluster than to the rest, the row with the largest difference follows.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters. None: see ``distance_threshold``.
    metric : str, callable or Distance, default="euclidean"
        As in ``certus.distances.get_distance``, or "precomputed": X holds distances.
    distance_threshold : float, default=None
        Clusters of this diameter or more are split. With n_clusters=None.
    metric_params : dict, default=None
        Further parameters of the metric, e.g. ``{"V": covariance}``.
    scale : {"standard", "range"}, array-like of shape (n_features,), False or None
        Divisors of the columns: their standard deviations, their ranges, or given numbers. None:
        no scaling, with a ``UnitsWarning`` if spreads differ by a factor of more than 100; False:
        no scaling, no warning.
    dtype : {"float64", "float32"}, default=None
        Type of the distances. float32 halves the memory and gives seven digits.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,) of int
        The cluster of each row: 0, 1, … in the order of their first rows.
    n_clusters_ : int
    tree_ : Tree
        All splits, as merges from the last to the first. The height of a cluster is its diameter.
    n_leaves_ : int
    scale_ : ndarray of shape (n_features,) or None
        The divisors of the columns.
    divisive_coefficient_ : float
        The mean over rows i of 1 − (diameter of the smallest cluster with row i and others) /
        (diameter of all rows): near 1 if there are clusters, and increasing with the number of
        rows. NaN if all rows are equal.
    certificate_ : Certificate
        Which splits were recomputed from the rows, and that they agree with the definition.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Set if X has column names.

    Notes
    -----
    n² distances in memory, checked before they are allocated. O(n²) time for each level of the
    tree: O(n² log n) if splits are even, O(n³) if single rows leave one by one. Splits are greedy:
    the best of all 2ⁿ⁻¹ − 1 is not searched for.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import DivisiveClustering
    >>> X = np.array([[0, 0], [1, 0], [0, 2], [8, 8], [9, 8], [8, 10.5]])
    >>> model = DivisiveClustering(n_clusters=2).fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.tree_
    Tree(diana, 6 leaves, heights 1 to 13.2)
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Metric = "euclidean",
        distance_threshold: float | None = None,
        metric_params: dict[str, Any] | None = None,
        scale: Scale = None,
        dtype: npt.DTypeLike | None = None,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.metric_params = metric_params
        self.scale = scale
        self.dtype = dtype

    @monitored
    def fit(self, X: object, y: object = None) -> "DivisiveClustering":
        """Split until every row is alone, and cut the tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            If precomputed: distances, (n_samples, n_samples).
        y : ignored

        Returns
        -------
        self
        """
        self._check_cut()
        dtype = dtype_of(self.dtype)
        problem = read_problem(self, X, "diana", self.scale)
        self._require(problem.n, "n_samples")
        self._monitor.begin(None)
        merges = divide(_all_distances(problem, dtype), self._on_merge)
        pending = problem.pending_warnings + self._set_tree(problem, merges, "diana")
        self.divisive_coefficient_ = _coefficient(merges)
        self._certify_tree(problem.rows)
        emit_warnings(pending)
        return self


def _all_distances(problem: LinkageProblem, dtype: type[np.floating]) -> np.ndarray:
    n = problem.n
    if problem.distance is None:
        given: np.ndarray = problem.X.astype(dtype, copy=False)
        return given
    needed = n * n * (np.dtype(dtype).itemsize + 8 * (dtype is not np.float64))
    free = None if needed < MIN_CHECKED_BYTES else available_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"the distances of {count(n, 'row')} need {number(needed / 2**30, 3)} GiB and "
            f"{number(free / 2**30, 3)} GiB are free. Use BisectingKMeans, which needs none of "
            "them, or fewer rows"
        )
    rows = rows_for_distance(problem)
    with np.errstate(over="ignore"):
        D = problem.distance.compare(rows, rows, effective_threads())
    require_range(float(D.max(initial=0.0)), dtype, False)
    return D.astype(dtype, copy=False)


def _coefficient(merges: np.ndarray) -> float:
    n, pairs = len(merges) + 1, merges[:, :2].astype(np.intp)
    if n == 1 or merges[-1, 2] == 0:
        return float("nan")
    n_single = (pairs < n).sum(axis=1)  # rows that become single when this cluster is split
    return 1.0 - float((n_single * merges[:, 2]).sum()) / (n * float(merges[-1, 2]))
