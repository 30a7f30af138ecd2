"""Classification by the votes of neighbours."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.progress import monitored
from ._abstention import Fallback, class_fallbacks
from ._prediction import NeighborsClassifier
from ._search import NearestMixin, WithinRadiusMixin


class KNeighborsClassifier(NearestMixin, NeighborsClassifier):
    """The class with most votes among the k nearest rows: P(c) = Σⱼ vⱼ [yⱼ = c] / Σⱼ vⱼ.

    A drop-in replacement for scikit-learn's class. Neighbours are exact, and ties are decided by
    distance: of classes with equally many votes the one whose nearest voter is nearer wins, and if
    these are equally near the smaller label.

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
    abstain : None, "prior", "raise" or label, default=None
        The prediction for a row without votes: no neighbour is comparable (all its values are
        missing), or all have weight 0.
        "prior": the shares of the classes in the fit; a label (or one for each output): that
        label; None and "raise": an error that names the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them for several outputs
    outputs_2d_ : bool
        Whether y has several columns.
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
    >>> from sklearn.datasets import load_iris
    >>> from certus.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KNeighborsClassifier(n_neighbors=5).fit(X, y)
    >>> model.predict_proba(X[70:71])
    array([[0. , 0.4, 0.6]])
    >>> round(model.score(None, y), 4)  # leave-one-out
    0.9667
    """

    _no_voters = "none of the nearest is comparable, or all have weight 0"
    _remedy = "Give abstain='prior' or a label for such rows"

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
    def fit(self, X: object, y: object, sample_weight: object = None) -> "KNeighborsClassifier":
        """Store the rows and their classes, and index the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            With ``metric="precomputed"`` a square matrix of distances, or a sparse graph of them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies a row's vote. It does not change which rows are the k nearest, except that a
            row of weight 0 is absent.

        Returns
        -------
        self
        """
        self._fit_classifier(X, y, sample_weight)
        return self

    def _make_fallback(
        self, classes: list[np.ndarray], prior: list[np.ndarray]
    ) -> list[Fallback] | None:
        return class_fallbacks("abstain", self.abstain, classes, prior)


class RadiusNeighborsClassifier(WithinRadiusMixin, NeighborsClassifier):
    """The class with most votes among all rows within a radius: P(c) = Σⱼ vⱼ [yⱼ = c] / Σⱼ vⱼ.

    A drop-in replacement for scikit-learn's class. Of classes with equally many votes the one whose
    nearest voter is nearer wins, and if these are equally near the smaller label.

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
    outlier_label : label, list of labels, "most_frequent" or None, default=None
        The prediction for a row without votes; None: as ``abstain`` says.
    metric_params : dict, default=None
        Further parameters of the metric, e.g. ``{"V": covariance}``.
    n_jobs : int, default=None
        Maximal number of threads; None and −1 mean as many as ``certus.get_config()`` allows. The
        answer is the same bit for bit on any number.
    abstain : None, "prior", "raise" or label, default=None
        The prediction for a row without votes: no row is in the radius, or all have weight 0.
        "prior": the shares of the classes in the fit; a label (or one for each output): that
        label; None and "raise": an error that names the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them for several outputs
    outputs_2d_ : bool
        Whether y has several columns.
    outlier_label_ : list of labels, one for each output, or None
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
    >>> from certus.neighbors import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(radius=1.0).fit([[0.0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.4]]), model.predict_proba([[1.0]]).round(2)
    (array([0]), array([[0.67, 0.33]]))
    >>> model.set_params(abstain="prior").fit([[0.0], [1], [2]], [0, 0, 1]).predict_proba([[9]])
    array([[0.66666667, 0.33333333]])
    """

    _no_voters = "none within the radius, or all have weight 0"
    _remedy = "Try a larger radius, give outlier_label or abstain='prior' for such rows"

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: str | Callable[..., Any] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str | Callable[..., Any] = "minkowski",
        outlier_label: object = None,
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
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.abstain = abstain

    @monitored
    def fit(
        self, X: object, y: object, sample_weight: object = None
    ) -> "RadiusNeighborsClassifier":
        """Store the rows and their classes, and index the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            With ``metric="precomputed"`` a square matrix of distances, or a sparse graph of them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies a row's vote: a weight of 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._fit_classifier(X, y, sample_weight)
        return self

    def _make_fallback(
        self, classes: list[np.ndarray], prior: list[np.ndarray]
    ) -> list[Fallback] | None:
        self.outlier_label_ = None
        if self.outlier_label is None:
            return class_fallbacks("abstain", self.abstain, classes, prior)
        if self.abstain is not None:
            raise ValueError(
                f"outlier_label={self.outlier_label!r} and abstain={self.abstain!r} both set the "
                "prediction for rows without votes: give one of them"
            )
        fallbacks = class_fallbacks("outlier_label", self.outlier_label, classes, prior)
        assert fallbacks is not None
        self.outlier_label_ = [fallback.label for fallback in fallbacks]
        return fallbacks
