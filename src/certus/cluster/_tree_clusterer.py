"""Base class of the clusterers of rows that build a tree."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.types import Metric
from ..distances import Distance
from ._given_distances import read_distances_to_fit
from ._linkage_problem import LinkageProblem, params_of, rows_of
from ._tree_estimator import CutTree
from ._units import PendingWarning, Scale
from .tree import Tree

METRICS_WITH_MISSING = ("nan_euclidean", "gower")  # metrics defined for missing values


class TreeClusterer(ClusterMixin, CutTree):
    """Base of clusterers with a tree of rows: reading rows, setting the tree, ``predict``."""

    metric: Metric
    metric_params: dict[str, Any] | None
    scale: Scale
    dtype: npt.DTypeLike | None
    _distance: Distance | None
    _mixed = False

    def _set_tree(
        self, problem: LinkageProblem, merges: np.ndarray, method: str
    ) -> list[PendingWarning]:
        """Set the tree and its cut, and return the warnings about them."""
        self._distance, self._mixed, self.scale_ = problem.distance, problem.mixed, problem.scale
        is_prepared = problem.metric is not self.metric
        tree = Tree(
            merges, method=method, metric=problem.metric,
            metric_params=None if is_prepared else params_of(self.metric_params) or None,
            scale=problem.scale, X=problem.X, dtype=self.dtype,
        )  # fmt: skip
        self.n_leaves_ = tree.n_leaves
        return self._set_cut(tree)

    def _read(self, X: object, *, reset: bool) -> Any:
        """Read new rows in the form that the distance takes, not divided by scale."""
        check_is_fitted(self)
        if self._distance is None:
            return read_distances_to_fit(self, X, self.n_leaves_)
        if self._mixed:
            return self._distance.read(X)
        return rows_of(self, X, reset=reset, missing=self._distance.missing)

    def predict(self, X: object) -> np.ndarray:
        """Return the cluster with the least linkage distance to each new row (``Tree.predict``).

        Parameters
        ----------
        X : array-like or frame of shape (n_new, n_features)
            If precomputed: distances to all rows of the fit, (n_new, n_samples).

        Returns
        -------
        ndarray of shape (n_new,) of int
            For rows of the fit this need not be ``labels_``: a row can be nearer to another
            cluster than to the one it was merged into.
        """
        if self._mixed:
            validate_data(self, X, reset=False, skip_check_array=True)  # checks the columns
        new = X if self._mixed else self._read(X, reset=False)
        k, height = self._cut_arguments
        return self.tree_.predict(new, k, height=height)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed
        named = isinstance(self.metric, str) and self.metric in METRICS_WITH_MISSING
        tags.input_tags.allow_nan = named or bool(getattr(self.metric, "missing", False))
        return tags
