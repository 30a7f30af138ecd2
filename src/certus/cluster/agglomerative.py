"""Clusters by merging: AgglomerativeClustering."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_memory

from ..data.types import Metric
from ..data.validation import boolean, one_of
from ..runtime.config import effective_threads
from ..runtime.progress import monitored
from ..solvers.linkage import METHODS
from ._build_tree import build_merges, dtype_of
from ._linkage_problem import read_problem
from ._tree_clusterer import TreeClusterer
from ._units import Scale, emit_warnings


class AgglomerativeClustering(TreeClusterer):
    """Merge the two nearest clusters until all rows are one, and cut that tree.

    A drop-in for scikit-learn's class, with every linkage of SciPy and every distance of
    ``certus.distances``. Between clusters A and B, c their means,

        single min d(a, b)  ·  complete max d(a, b)  ·  average Σ d(a, b)/|A||B|
        ward √(2|A||B|/(|A|+|B|)) ‖c_A − c_B‖  ·  centroid ‖c_A − c_B‖

    weighted and median are average and centroid in which the two parts of a cluster have equal
    weight. The whole tree is stored (``tree_``): other cuts and plots need no new fit.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters. None: see ``distance_threshold``.
    metric : str, callable or Distance, default="euclidean"
        As in ``certus.distances.get_distance``, or "precomputed": X holds distances.
    memory : str or object with the joblib.Memory interface, default=None
        Accepted for compatibility with scikit-learn; ``tree_`` holds what it would cache.
    connectivity : None
        Not supported; anything but None is refused.
    compute_full_tree : "auto" or bool, default="auto"
        Accepted for compatibility with scikit-learn; the whole tree is always built.
    linkage : str, default="ward"
        "ward", "complete", "average", "single", "weighted", "centroid" or "median".
    distance_threshold : float, default=None
        Clusters at this distance or more are not merged. With n_clusters=None.
    compute_distances : bool, default=False
        Accepted for compatibility with scikit-learn: ``distances_`` is always set.
    metric_params : dict, default=None
        Further parameters of the metric, e.g. ``{"V": covariance}``.
    scale : {"standard", "range"}, array-like of shape (n_features,), False or None
        Divisors of the columns: their standard deviations, their ranges, or given numbers. None:
        no scaling, with a ``UnitsWarning`` if spreads differ by a factor of more than 100; False:
        no scaling, no warning.
    dtype : {"float64", "float32"}, default=None
        Type of the stored distances. float32 halves the memory and gives seven digits.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,) of int
        The cluster of each row: 0, 1, … in the order of their first rows.
    n_clusters_ : int
    tree_ : Tree
        All merges: ``cut``, ``predict``, ``members``, ``inversions``, ``cophenetic``, ``plot``.
    children_ : ndarray of shape (n_samples - 1, 2) of int
        The two clusters of every merge; merge t makes cluster n_samples + t.
    distances_ : ndarray of shape (n_samples - 1,)
        The distance at which they were merged.
    n_leaves_ : int
    n_connected_components_ : int
        Always 1.
    scale_ : ndarray of shape (n_features,) or None
        The divisors of the columns.
    certificate_ : Certificate
        Which merges were recomputed from the rows, and that they agree with the definition.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Set if X has column names.

    Notes
    -----
    At most O(n²·p) time. Memory: O(n·p) for single, ward, centroid and median with a Euclidean
    distance (single also with squared ones, such as cosine), else O(n²); checked before anything is
    allocated. X is stored in ``tree_``, without a copy if it is float64.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import AgglomerativeClustering
    >>> X = np.array([[0, 0], [1, 0], [0, 2], [8, 8], [9, 8], [8, 10.5]])
    >>> model = AgglomerativeClustering(linkage="average").fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[2, 2], [12, 3]])
    array([0, 1])
    >>> model.tree_
    Tree(average, 6 leaves, heights 1 to 11.51)
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Metric = "euclidean",
        memory: object = None,
        connectivity: object = None,
        compute_full_tree: bool | Literal["auto"] = "auto",
        linkage: str = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        metric_params: dict[str, Any] | None = None,
        scale: Scale = None,
        dtype: npt.DTypeLike | None = None,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.metric_params = metric_params
        self.scale = scale
        self.dtype = dtype

    @monitored
    def fit(self, X: object, y: object = None) -> "AgglomerativeClustering":
        """Build the tree, and cut it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            If precomputed: distances, (n_samples, n_samples).
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        problem = read_problem(self, X, self.linkage, self.scale)
        self._require(problem.n, "n_samples")
        self._monitor.begin(None)
        merges = build_merges(
            problem, self.linkage, dtype_of(self.dtype), effective_threads(), self._on_merge
        )
        pending = problem.pending_warnings + self._set_tree(problem, merges, self.linkage)
        self.children_ = merges[:, :2].astype(np.intp)
        self.distances_ = merges[:, 2].copy()
        self.n_connected_components_ = 1
        self._certify_tree(problem.rows)
        emit_warnings(pending)
        return self

    def _check_parameters(self) -> None:
        self._check_cut()
        one_of("linkage", self.linkage, METHODS)
        if self.connectivity is not None:
            raise ValueError(
                "connectivity: trees along a graph are not supported. Leave it out, or give "
                "metric='precomputed' with large distances between rows that must not be merged"
            )
        if self.compute_full_tree != "auto":
            full = boolean("compute_full_tree", self.compute_full_tree)
            if self.distance_threshold is not None and not full:
                raise ValueError("compute_full_tree must be True if distance_threshold is set.")
        boolean("compute_distances", self.compute_distances)
        check_memory(self.memory)
        dtype_of(self.dtype)
