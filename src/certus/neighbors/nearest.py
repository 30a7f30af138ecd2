"""Unsupervised nearest-neighbour search."""

from collections.abc import Callable
from typing import Any

from ..runtime.progress import monitored
from ._search import NearestMixin, WithinRadiusMixin


class NearestNeighbors(NearestMixin, WithinRadiusMixin):
    """Exact nearest neighbours of a query q: the first k rows j in the order of (d(q, xⱼ), j).

    A drop-in replacement for scikit-learn's class. The answer does not depend on the algorithm, on
    the number of threads, or on how far from the origin the data lie; of equally near rows the
    first in the fit is taken.

    Parameters
    ----------
    n_neighbors : int, default=5
        k, unless ``kneighbors`` is given another.
    radius : float, default=1.0
        The radius, unless ``radius_neighbors`` is given another.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        The algorithm to prefer; "auto" chooses by the rows. ``algorithm_`` is the one that runs.
        All are exact.
    leaf_size : int, default=30
        Rows in a leaf of a tree. Changes the time, not the answer.
    metric : str or callable, default="minkowski"
        A name that ``certus.distances.names()`` lists, "precomputed", a ``Distance``, or a
        function metric(A, B) of two blocks of rows that returns all distances between them. A
        function of two single rows, as scikit-learn takes it, works too, but slowly.
    p : float, default=2
        The exponent of "minkowski": (Σ |Δ|ᵖ)^(1/p).
    metric_params : dict, default=None
        Further parameters of the metric, e.g. ``{"V": covariance}``.
    n_jobs : int, default=None
        Maximal number of threads; None and −1 mean as many as ``certus.get_config()`` allows. The
        answer is the same bit for bit on any number.

    Attributes
    ----------
    effective_metric_ : str or callable
        "euclidean" for "minkowski" with p = 2, and the like.
    effective_metric_params_ : dict
    n_samples_fit_ : int
    algorithm_ : str
        The algorithm that runs.
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
        """Store and index the rows.

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
        self._store_rows(self._read_for_fit(X))
        self._certify_neighbors()
