"""What clusterers of all pairs of rows share: their rows, their tree, new rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.types import Metric
from ..distances import Distance
from ._given_distances import distances_to
from ._linkage_problem import Problem, params_of, rows_of
from ._tree_estimator import CutTree
from ._units import Scale, Told
from .tree import Tree

WITH_MISSING = ("nan_euclidean", "gower")  # metrics that say what a missing value means


class TreeClusterer(ClusterMixin, CutTree):
    """What clusterers of all pairs of rows share: rows, a tree, a cut, new rows."""

    metric: Metric
    metric_params: dict[str, Any] | None
    scale: Scale
    dtype: npt.DTypeLike | None
    _distance: Distance | None
    _mixed = False

    def _plant(self, problem: Problem, merges: np.ndarray, method: str) -> list[Told]:
        """Set the tree and its cut; what is to be told of them."""
        self._distance, self._mixed, self.scale_ = problem.distance, problem.mixed, problem.scale
        learnt = problem.metric is not self.metric
        tree = Tree(
            merges, method=method, metric=problem.metric,
            metric_params=None if learnt else params_of(self.metric_params) or None,
            scale=problem.scale, X=problem.kept, dtype=self.dtype,
        )  # fmt: skip
        self.n_leaves_ = tree.n_leaves
        return self._set_cut(tree)

    def _read(self, X: object, *, reset: bool) -> Any:
        """New rows as the distance takes them, not divided by scale."""
        check_is_fitted(self)
        if self._distance is None:
            return distances_to(self, X, self.n_leaves_)
        if self._mixed:
            return self._distance.read(X)
        return rows_of(self, X, reset=reset, missing=self._distance.missing)

    def predict(self, X: object) -> np.ndarray:
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
        if self._mixed:
            validate_data(self, X, reset=False, skip_check_array=True)  # its columns
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
