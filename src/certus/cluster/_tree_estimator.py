"""Base class of estimators with a tree: its cut, progress reports, warnings, certificate."""

from numbers import Real
from typing import Any, cast

import numpy as np

from ..base.certified import CertifiedEstimator
from ..certificate import certify, unproven
from ..data.rows import Rows
from ..data.validation import positive_whole
from ..exceptions import CannotVerifyError, DegenerateWarning
from ..solvers.progress import Step
from ..text.format import count
from ._units import PendingWarning
from .tree import Tree


class CutTree(CertifiedEstimator):
    """Base of estimators whose tree is cut at ``n_clusters`` or ``distance_threshold``."""

    n_clusters: int | None
    distance_threshold: float | None
    tree_: Tree
    labels_: np.ndarray

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
        if threshold is None or not real or not threshold >= 0:
            raise ValueError(f"distance_threshold={threshold!r}: give a number of at least 0")

    def _require(self, n: int, what: str) -> None:
        """Raise an error if there are fewer leaves than clusters.

        ``what`` is "n_samples" or "n_features", of which there are n.
        """
        if self.n_clusters is not None and n < self.n_clusters:
            raise ValueError(
                f"{what}={n} should be >= n_clusters={self.n_clusters}: ask for at most "
                f"{count(n, 'cluster')}"
            )

    @property
    def _cut_arguments(self) -> tuple[Any, Any]:
        """(n_clusters, height) for ``Tree.cut``; as in scikit-learn, merges at the threshold are
        not made."""
        if self.n_clusters is not None:
            return self.n_clusters, None
        return None, np.nextafter(float(cast(float, self.distance_threshold)), -np.inf)

    def _on_merge(self, step: Step) -> bool:
        """Report progress; never stops the fit, since part of a tree is not a model."""
        self._monitor.part_done("merges")
        return False

    def _set_cut(self, tree: Tree) -> list[PendingWarning]:
        """Set the tree and its clusters, and return the warnings about them."""
        self.tree_ = tree
        self.labels_, arbitrary = tree._cut(*self._cut_arguments)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return [] if arbitrary is None else [(arbitrary, DegenerateWarning)]

    def _certify_tree(self, X: np.ndarray) -> None:
        """Recompute merges from the rows, and set ``certificate_``."""
        rows = Rows(X)
        try:
            certificate = certify(self, rows)
        except CannotVerifyError as error:
            certificate = unproven(self, rows, "a tree", float("nan"), str(error), kind="exact")
        self._set_certificate(certificate)
        self._warn_of_certificate(claimed=certificate.status == "contradicted")
