"""What clusterers of all pairs of rows share: parameters, a tree, its cut, new rows."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from .._validation import positive_whole
from .._watching import CALLER, Watching
from .._words import count, printable
from ..exceptions import DegenerateWarning
from ..solvers.steps import Step
from ._given_distances import distances_to
from ._linkage_problem import Problem, params_of, rows_of
from ._units import Told
from .tree import Tree

WITH_MISSING = ("nan_euclidean", "gower")  # metrics that say what a missing value means


class TreeClusterer(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """What clusterers of all pairs of rows share: rows, a tree, a cut, new rows."""

    n_clusters: Any
    distance_threshold: Any
    metric: Any
    metric_params: Any
    scale: Any
    dtype: Any
    tree_: Tree
    labels_: np.ndarray
    _watching: Watching  # during fit
    _distance: Any
    _mixed = False

    def _check_cut(self) -> None:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "Exactly one of n_clusters and distance_threshold has to be set, and the other "
                "needs to be None."
            )
        if self.n_clusters is not None:
            positive_whole("n_clusters", self.n_clusters)
            return
        threshold = self.distance_threshold
        real = isinstance(threshold, Real) and not isinstance(threshold, bool)
        if not real or not threshold >= 0:
            raise ValueError(f"distance_threshold={threshold!r}: give a number of at least 0")

    def _require_rows(self, n: int) -> None:
        if self.n_clusters is not None and n < self.n_clusters:
            raise ValueError(
                f"n_samples={n} should be >= n_clusters={self.n_clusters}: ask for at most "
                f"{count(n, 'cluster')}"
            )

    @property
    def _asked(self) -> tuple[Any, Any]:
        """(n_clusters, height). A merge at the threshold is not made, as scikit-learn has it."""
        if self.n_clusters is not None:
            return self.n_clusters, None
        return None, np.nextafter(float(self.distance_threshold), -np.inf)

    def _merge_heard(self, step: Step) -> bool:
        """Part of a tree is no model: callbacks hear of it, and cannot stop there."""
        self._watching.part_done("merges")
        return False

    def _plant(self, problem: Problem, merges: np.ndarray, method: str) -> list[Told]:
        """Set the tree and its cut; what is to be told of them."""
        self._distance, self._mixed, self.scale_ = problem.distance, problem.mixed, problem.scale
        self.tree_ = Tree(
            merges, method=method, metric=self.metric,
            metric_params=params_of(self.metric_params) or None, scale=problem.scale,
            X=problem.kept,
        )  # fmt: skip
        self.n_leaves_ = self.tree_.n_leaves
        self.labels_, arbitrary = self.tree_._cut(*self._asked)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return [] if arbitrary is None else [(arbitrary, DegenerateWarning)]

    def _tell(self, told: list[Told]) -> None:
        """``fit`` calls it, and no helper between them: warnings count their way up."""
        for said, kind in told:
            warnings.warn(printable(said), kind, stacklevel=CALLER)

    def _read(self, X: Any, *, reset: bool) -> Any:
        """New rows as the distance takes them, not divided by scale."""
        check_is_fitted(self)
        if self._distance is None:
            return distances_to(self, X, self.n_leaves_)
        if self._mixed:
            return self._distance.read(X)
        return rows_of(self, X, reset=reset, missing=self._distance.missing)

    def predict(self, X: Any) -> np.ndarray:
        """The cluster to which each new row has the least linkage distance: ``Tree.predict``.

        Parameters
        ----------
        X : array-like or frame of shape (n_new, n_features)
            If precomputed: distances to all rows of the fit, (n_new, n_samples).

        Returns
        -------
        ndarray of shape (n_new,) of int
            Rows of the fit need not get ``labels_`` again: one can be nearer to another cluster
            than the one it was merged into.
        """
        new = X if self._mixed else self._read(X, reset=False)
        k, height = self._asked
        return self.tree_.predict(new, k, height=height)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed
        named = isinstance(self.metric, str) and self.metric in WITH_MISSING
        tags.input_tags.allow_nan = named or bool(getattr(self.metric, "missing", False))
        return tags

    def _html_repr(self) -> str:
        shown: str = estimator_html_repr(self)
        certificate = vars(self).get("certificate_")
        return shown if certificate is None else shown + certificate._repr_html_()
