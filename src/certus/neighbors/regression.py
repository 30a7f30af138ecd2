"""Regression by the mean of neighbours."""

from collections.abc import Callable
from typing import Any

from ..runtime.progress import monitored
from ._prediction import NeighborsRegressor
from ._search import NearestMixin, WithinRadiusMixin


class KNeighborsRegressor(NearestMixin, NeighborsRegressor):
    """The mean of the k nearest rows' targets: ŷ = Σⱼ vⱼ yⱼ / Σⱼ vⱼ.

    A drop-in replacement for scikit-learn's class, with exact neighbours; of equally near rows the
    first in the fit is taken.

    Parameters
    ----------
    n_neighbors : int, default=5
        k.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        The votes: 1 each; 1/d, where rows at distance 0 outvote all others; or the values that a
        function returns for an array of distances (infinite votes outvote all others).
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        The algorithm to prefer; ``algorithm_`` is the one that runs. All are exact and give the
        same answer.
    leaf_size : int, default=30
        Rows in a leaf of a tree. Changes the time, not the answer.
    p : float, default=2
        The exponent of "minkowski": (Σ |Δ|ᵖ)^(1/p).
    metric : str or callable, default="minkowski"
        As in ``NearestNeighbors``.
    metric_params : dict, default=None
        Further parameters of the metric, e.g. ``{"V": covariance}``.
    n_jobs : int, default=None
        Maximal number of threads; None and −1 mean as many as ``certus.get_config()`` allows. The
        answer is the same bit for bit on any number.
    abstain : None, "prior", "raise" or float, default=None
        The prediction for a row without votes: no neighbour is comparable (all its values are
        missing), or all have weight 0.
        None: NaN, with a warning; "prior": the mean of y; a number (or one for each target): that
        number; "raise": an error that names the rows.

    Attributes
    ----------
    effective_metric_ : str or callable
        "euclidean" for "minkowski" with p = 2, and the like.
    effective_metric_params_ : dict
    n_samples_fit_ : int
    algorithm_ : str
        The algorithm that runs.
    certificate_ : Certificate
        Neighbours and predictions of sampled rows, recomputed from all rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Examples
    --------
    >>> from certus.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0.0], [1], [2], [3]], [0.0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0.5])
    """

    _no_voters = "none of the nearest is comparable, or all have weight 0"
    _remedy = "Give abstain='prior' or a number for such rows"

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str | Callable[..., Any] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str | Callable[..., Any] = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        abstain: object = None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.abstain = abstain

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "KNeighborsRegressor":
        """Store the rows and their targets, and index the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            With ``metric="precomputed"`` a square matrix of distances, or a sparse graph of them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies a row's vote. It does not change which rows are the k nearest, except that a
            row of weight 0 is absent.

        Returns
        -------
        self
        """
        self._fit_regressor(X, y, sample_weight)
        return self


class RadiusNeighborsRegressor(WithinRadiusMixin, NeighborsRegressor):
    """The mean of the targets of all rows within a radius: ŷ = Σⱼ vⱼ yⱼ / Σⱼ vⱼ.

    A drop-in replacement for scikit-learn's class, with exact neighbours.

    Parameters
    ----------
    radius : float, default=1.0
        The largest distance of a voter.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        The votes: 1 each; 1/d, where rows at distance 0 outvote all others; or the values that a
        function returns for an array of distances (infinite votes outvote all others).
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        The algorithm to prefer; ``algorithm_`` is the one that runs. All are exact and give the
        same answer.
    leaf_size : int, default=30
        Rows in a leaf of a tree. Changes the time, not the answer.
    p : float, default=2
        The exponent of "minkowski": (Σ |Δ|ᵖ)^(1/p).
    metric : str or callable, default="minkowski"
        As in ``NearestNeighbors``.
    metric_params : dict, default=None
        Further parameters of the metric, e.g. ``{"V": covariance}``.
    n_jobs : int, default=None
        Maximal number of threads; None and −1 mean as many as ``certus.get_config()`` allows. The
        answer is the same bit for bit on any number.
    abstain : None, "prior", "raise" or float, default=None
        The prediction for a row without votes: no row is in the radius, or all have weight 0.
        None: NaN, with a warning; "prior": the mean of y; a number (or one for each target): that
        number; "raise": an error that names the rows.

    Attributes
    ----------
    effective_metric_ : str or callable
        "euclidean" for "minkowski" with p = 2, and the like.
    effective_metric_params_ : dict
    n_samples_fit_ : int
    algorithm_ : str
        The algorithm that runs.
    certificate_ : Certificate
        Neighbours and predictions of sampled rows, recomputed from all rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Examples
    --------
    >>> from certus.neighbors import RadiusNeighborsRegressor
    >>> model = RadiusNeighborsRegressor(radius=1.0).fit([[0.0], [1], [2], [3]], [0.0, 0, 1, 1])
    >>> model.predict([[1.5], [2.5]])
    array([0.5, 1. ])
    """

    _no_voters = "none within the radius, or all have weight 0"
    _remedy = "Try a larger radius, give abstain='prior' or a number for such rows"

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: str | Callable[..., Any] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str | Callable[..., Any] = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        abstain: object = None,
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.abstain = abstain

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "RadiusNeighborsRegressor":
        """Store the rows and their targets, and index the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            With ``metric="precomputed"`` a square matrix of distances, or a sparse graph of them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies a row's vote: a weight of 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._fit_regressor(X, y, sample_weight)
        return self
