"""Search without a target."""

from collections.abc import Callable
from typing import Any

from ..runtime.progress import monitored
from ._search import NearestMixin, WithinRadiusMixin


class NearestNeighbors(NearestMixin, WithinRadiusMixin):
    """Exact nearest rows: of a query q the first k rows j in the order of (d(q, xⱼ), j).

    A drop-in for scikit-learn's class. The answer does not depend on the algorithm, on threads, or
    on how far from the origin the data lie, and of equally near rows the first in the fit is taken.

    Parameters
    ----------
    n_neighbors : int, default=5
        k, where ``kneighbors`` is not told another.
    radius : float, default=1.0
        Where ``radius_neighbors`` is not told another.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        A wish: with "auto" what suits the rows is taken. ``algorithm_`` says what runs; all are
        exact.
    leaf_size : int, default=30
        Rows in a leaf of a tree. Changes the time, not the answer.
    metric : str or callable, default="minkowski"
        A name that ``certus.distances.names()`` lists, "precomputed", a ``Distance``, or a
        function metric(A, B) of two blocks of rows that gives all distances between them. A
        function of two single rows, as scikit-learn takes it, is served too, slowly.
    p : float, default=2
        Of "minkowski": (Σ |Δ|ᵖ)^(1/p).
    metric_params : dict, default=None
        More for the metric, e.g. ``{"V": covariance}``.
    n_jobs : int, default=None
        Threads at most; None and −1 mean as many as ``certus.get_config()`` allows. The bits of the
        answer do not depend on it.

    Attributes
    ----------
    effective_metric_ : str or callable
        "euclidean" for "minkowski" with p = 2, and the like.
    effective_metric_params_ : dict
    n_samples_fit_ : int
    algorithm_ : str
        What runs.
    certificate_ : Certificate
        Neighbours of sampled rows, recomputed from all rows by the definition of the metric.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.neighbors import NearestNeighbors
    >>> X = np.arange(5.0)[:, None] * 0.5 + 1e8
    >>> distances, rows = NearestNeighbors(n_neighbors=2).fit(X).kneighbors([[1e8 + 0.6]])
    >>> distances.round(6), rows
    (array([[0.1, 0.4]]), array([[1, 2]]))
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str | Callable[..., Any] = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @monitored
    def fit(self, X: object, y: object = None) -> "NearestNeighbors":
        """Keep the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            With ``metric="precomputed"`` a square matrix of distances, or a sparse graph of them,
            in which only stored entries are neighbours.
        y : ignored

        Returns
        -------
        self
        """
        self._fit_search(X)
        return self

    def _fit_search(self, X: object) -> None:
        self._keep(self._take(X))
        self._certify_neighbors()
