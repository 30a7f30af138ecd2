"""Clusters of columns, each represented by one column: VariableClustering."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..data.validation import boolean, one_of
from ..distances import get_distance
from ..exceptions import DegenerateWarning
from ..runtime.config import effective_threads
from ..runtime.progress import monitored
from ..solvers.linkage import agglomerate_distances
from ..text.format import count, listed, name_of
from ._linkage_problem import rows_of
from ._tree_estimator import CutTree
from ._units import PendingWarning, emit_warnings
from .tree import Tree

LINKAGES = ("single", "complete", "average", "weighted")
METRICS = ("correlation", "cosine")


class VariableClustering(TransformerMixin, CutTree):
    """Cluster similar columns by a tree, and represent each cluster by one column.

    Columns i and j are at distance 1 − c, or 1 − |c| with ``absolute``: c is their correlation,
    Σ (x_i − m_i)(x_j − m_j)/‖x_i − m_i‖‖x_j − m_j‖, or their cosine, which omits the means m. Both
    are independent of units. The representative of a cluster is the column with the largest mean
    similarity to the others in it.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters. None: see ``distance_threshold``.
    metric : {"correlation", "cosine"}, default="correlation"
    absolute : bool, default=True
        Whether negatively correlated columns count as similar. True: 1 − |c|; False: 1 − c.
    linkage : {"average", "complete", "single", "weighted"}, default="average"
    distance_threshold : float, default=None
        Clusters at this distance or more are not merged. With n_clusters=None.
    representation : {"column", "mean"}, default="column"
        What ``transform`` returns for a cluster: its representative, unchanged; or the mean of its
        columns, each divided by its spread (for correlation also centred), and with the sign
        reversed where c < 0 with the representative.

    Attributes
    ----------
    labels_ : ndarray of shape (n_features,) of int
        The cluster of each column: 0, 1, … in the order of their first columns.
    n_clusters_ : int
    representatives_ : ndarray of shape (n_clusters_,) of int
        The column of each cluster; of equally similar ones the first.
    signs_ : ndarray of shape (n_features,)
        −1 for columns negatively related to their representative, else 1.
    center_, spread_ : ndarrays of shape (n_features,)
        Means (0 for cosine) and root mean squares about them, with which "mean" standardises.
    tree_ : Tree
        All merges of columns: other cuts and a dendrogram.
    certificate_ : Certificate
        Which merges were recomputed from the columns, and that they agree with the definition.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Set if X has column names.

    Notes
    -----
    O(p²·n) time and memory for p² numbers, p columns. A constant column has no correlation (a
    column of zeros no cosine): it is at distance 1 from all others, at 0 from other constant ones,
    and a warning names it.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import VariableClustering
    >>> a, b = np.random.default_rng(0).normal(size=(2, 100))
    >>> X = np.column_stack([a, b, -a + 0.1 * b, 2 * a])
    >>> model = VariableClustering(n_clusters=2).fit(X)
    >>> model.labels_, model.representatives_
    (array([0, 1, 0, 0]), array([0, 1]))
    >>> model.transform(X).shape, model.get_feature_names_out()
    ((100, 2), array(['x0', 'x1'], dtype=object))
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: str = "correlation",
        absolute: bool = True,
        linkage: str = "average",
        distance_threshold: float | None = None,
        representation: str = "column",
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.absolute = absolute
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.representation = representation

    @monitored
    def fit(self, X: object, y: object = None) -> "VariableClustering":
        """Build the tree of columns, and cut it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        X = rows_of(self, X, reset=True, missing=False)
        n, p = X.shape
        if n < 2:
            raise ValueError(f"n_samples={n}: columns are compared over two rows or more")
        self._require(p, "n_features")
        self._monitor.begin(None)
        distance, columns = get_distance(self.metric), np.ascontiguousarray(X.T)
        signed = distance.compare(columns, columns, effective_threads())
        D = signed
        if self.absolute:  # 2 − d would lose digits where d is near 2
            D = np.minimum(signed, distance.compare(columns, -columns, effective_threads()))
        merges = agglomerate_distances(
            D, self.linkage, threads=effective_threads(), on_step=self._on_merge
        )
        names = vars(self).get("feature_names_in_", [f"x{j}" for j in range(p)])
        pending = self._set_cut(Tree(merges, self.linkage, "precomputed", X=D, names=names))
        self._represent(X, D, signed)
        self._certify_tree(X)
        emit_warnings(pending + self._undirected_warnings(X))
        return self

    def _check_parameters(self) -> None:
        self._check_cut()
        one_of("metric", self.metric, METRICS)
        boolean("absolute", self.absolute)
        one_of("linkage", self.linkage, LINKAGES)
        one_of("representation", self.representation, ("column", "mean"))

    def _represent(self, X: np.ndarray, D: np.ndarray, signed: np.ndarray) -> None:
        members = [np.flatnonzero(self.labels_ == c) for c in range(self.n_clusters_)]
        first = [int(j[D[np.ix_(j, j)].sum(axis=1).argmin()]) for j in members]
        self.representatives_ = np.array(first, dtype=np.intp)
        to_representative = signed[np.arange(len(D)), self.representatives_[self.labels_]]
        self.signs_ = np.where(self.absolute & (to_representative > 1), -1.0, 1.0)
        self.center_ = X.mean(axis=0) if self.metric == "correlation" else np.zeros(X.shape[1])
        about = X - self.center_
        self.spread_ = np.sqrt(np.einsum("ij,ij->j", about, about) / len(X))

    def _undirected_warnings(self, X: np.ndarray) -> list[PendingWarning]:
        constant = self.metric == "correlation"
        spread = np.ptp(X, axis=0) if constant else np.abs(X).max(axis=0)
        undirected = np.flatnonzero(spread == 0)
        if not len(undirected):
            return []
        names = vars(self).get("feature_names_in_")
        which = listed([name_of(j, names) for j in undirected.tolist()])
        what = "constant" if constant else "of zeros"
        columns = count(len(undirected), "column")
        return [(
            f"{columns} {what} ({which}): at {self.metric} distance 1 from "
            "every column that has a direction. Drop what does not vary", DegenerateWarning,
        )]  # fmt: skip

    def transform(self, X: object) -> np.ndarray:
        """Return one column for each cluster.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters_)
        """
        check_is_fitted(self)
        X = rows_of(self, X, reset=False, missing=False)
        if self.representation == "column":
            return X[:, self.representatives_]
        standardized = (X - self.center_) * (
            self.signs_ / np.where(self.spread_ > 0, self.spread_, 1.0)
        )
        out = np.zeros((len(X), self.n_clusters_))
        for c in range(self.n_clusters_):
            out[:, c] = standardized[:, self.labels_ == c].mean(axis=1)
        return out

    def get_feature_names_out(
        self, input_features: Sequence[str] | np.ndarray | None = None
    ) -> np.ndarray:
        """Return the names of the representatives, or "variableclustering0", … for means.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns, where X had none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if self.representation == "mean":
            prefix = type(self).__name__.lower()
            return np.array([f"{prefix}{c}" for c in range(self.n_clusters_)], dtype=object)
        known = vars(self).get("feature_names_in_")
        if input_features is None:
            p = self.n_features_in_
            names: Sequence[str] | np.ndarray = (
                [f"x{j}" for j in range(p)] if known is None else known
            )
        else:
            names = input_features
            if known is not None and list(known) != list(names):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(names) != self.n_features_in_:
                raise ValueError(
                    f"input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(names)}"
                )
        return np.asarray(names, dtype=object)[self.representatives_]
