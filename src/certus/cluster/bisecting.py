"""k-means by splitting clusters in two."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..certificate import Certificate, certify
from ..data.rows import Rows
from ..data.types import Seed
from ..data.validation import boolean, data_for_search, not_negative, one_of, positive_whole
from ..exceptions import NotCertifiedWarning
from ..runtime.pool import blas_limiter
from ..runtime.progress import monitored
from ..runtime.user_frame import warn_user
from ..solvers.kmeans.bisecting import SCORES, Bisection, Split, Tree, bisect, go_down
from ..solvers.kmeans.fit import stored
from ..solvers.progress import OnStep, Step
from ..text.format import count, number, printable
from ._base import CenterBased
from ._init import Init, check_init, starts
from .kmeans import KMeans, _attributes
from .tree import Tree as ClusterTree


class BisectingKMeans(CenterBased):
    """Split k − 1 times one cluster C in two: minimise Σ_{i∈C} sᵢ min(‖xᵢ − μ₀‖², ‖xᵢ − μ₁‖²).

    A drop-in for scikit-learn's class. The splits make a tree, and a row's cluster is found by
    going down it, at each split to the nearer of two centres. A later split never moves a row out
    of an earlier one, so the k centres together are usually not a local optimum of k-means: every
    split is one of its own, and the certificate says what a step with all centres would gain.

    Parameters
    ----------
    n_clusters : int, default=8
        k.
    init : {"k-means++", "k-means||", "random"} or callable, default="random"
        How the two centres of a split start, from the rows of the cluster. A function
        ``init(X, 2, random_state=…)`` returns them.
    n_init : int, default=1
        Starts of every split, of which the best is kept.
    random_state : int, RandomState instance or None, default=None
        What draws the starts.
    max_iter : int, default=300
        Steps of one start at most.
    verbose : int, default=0
        1: a line for every split.
    tol : float, default=1e-4
        A split's steps end as in :class:`KMeans`, on the rows of the cluster.
    copy_x : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Accepted for scikit-learn's sake: both give the same labels.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}, default="biggest_inertia"
        Split the cluster with the largest sum of squares, or with the largest weight (without
        weights: the most rows).

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Of the leaves, from left to right.
    labels_ : ndarray of shape (n_samples,) of int32
        The leaf of every row: ``predict`` gives the same.
    inertia_ : float
        Σ sᵢ ‖xᵢ − μ‖² to the centre of each row's own leaf. Another centre can be nearer:
        ``score`` takes the nearest.
    split_residuals_ : ndarray of shape (n_clusters - 1,)
        Of every split, the share of its objective that one more step would gain. NaN where a leaf
        of equal points was given an empty twin.
    split_certified_ : ndarray of shape (n_clusters - 1,) of bool
        Is the split a local optimum of its own two clusters, recomputed from its rows?
    tree_ : Tree
        The splits, as merges from the last to the first: ``tree_.cut(j)`` is what fewer splits
        give, ``tree_.plot()`` draws them. Its leaves are the clusters, so that members and sizes
        are rows; the height of a split is the sum of squares of the cluster that was split.
    n_clusters_effective_ : int
        Clusters that own rows. Fewer than k where there are fewer distinct points.
    certificate_ : Certificate
        The objective, recomputed from the data, how many of the splits are local optima of their
        own two clusters, and what one more step with all centres would gain.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    O(n·p) operations a step of a split, n the rows of the split; a copy of these rows is made. A
    tree that is balanced looks at a row log₂ k times, one that is not k times at most.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import BisectingKMeans
    >>> X = np.array([[1, 1], [2, 1], [3, 1], [10, 0], [10, 1], [10, 2], [10, 8], [10, 9]])
    >>> model = BisectingKMeans(n_clusters=3, init="k-means++", random_state=0).fit(X)
    >>> model.cluster_centers_[np.argsort(model.cluster_centers_.sum(axis=1))]
    array([[ 2. ,  1. ],
           [10. ,  1. ],
           [10. ,  8.5]])
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "random",
        n_init: int = 1,
        random_state: Seed = None,
        max_iter: int = 300,
        verbose: int = 0,
        tol: float = 1e-4,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        bisecting_strategy: str = "biggest_inertia",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "BisectingKMeans":
        """Split until there are k clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = self._rows_to_fit(X, sample_weight)
        unfinished = self._split(rows)
        self._set_certificate(self._certify_splits(rows))
        if self.n_clusters_effective_ < len(self.cluster_centers_):
            self._warn_of_fewer(rows)
        elif not self.split_certified_.all():
            self._warn_of_splits(unfinished)
        return self

    def _check_parameters(self) -> None:
        for name in ("n_clusters", "n_init", "max_iter"):
            positive_whole(name, getattr(self, name))
        if not (isinstance(self.init, str) or callable(self.init)):
            raise ValueError(
                f"init is of type {type(self.init).__name__}: every split starts from two centres "
                "of its own rows, so give the name of a start or a function"
            )
        check_init(self.init)
        if not_negative("tol", self.tol).ndim:
            raise ValueError(f"tol={self.tol!r}: give one number")
        if not isinstance(self.verbose, bool):
            not_negative("verbose", self.verbose)
        boolean("copy_x", self.copy_x)
        one_of("algorithm", self.algorithm, ("lloyd", "elkan"))
        one_of("bisecting_strategy", self.bisecting_strategy, SCORES)

    def _split(self, rows: Rows) -> bool:
        """Grow the tree, and set the fitted attributes. Did max_iter end a split?"""
        k, random_state = int(self.n_clusters), check_random_state(self.random_state)
        splits: list[tuple[float, bool]] = []

        def look(part: Rows, split: Split | None) -> None:
            splits.append((np.nan, True) if split is None else _claim(part, split))

        on_step: OnStep = self._monitor.iterations(
            lambda grown: _fitted(rows, grown(), splits),
            lambda: self._certify_splits(rows),
            k - 1,
        )
        if self.verbose:
            on_step = _aloud(on_step, type(self).__name__)
        with blas_limiter.for_work(rows.shape):
            found = bisect(
                rows, k, lambda part: starts(self.init, part, 2, random_state)(),
                strategy=self.bisecting_strategy, n_init=self.n_init, max_iter=self.max_iter,
                tol=float(self.tol), on_step=on_step, on_split=look,
            )  # fmt: skip
        self.__dict__.update(_fitted(rows, found, splits))
        return found.unfinished > 0

    def _certify_splits(self, rows: Rows) -> Certificate:
        """The certificate of all centres, with what is known of the splits."""
        certificate = certify(self, rows)
        made = self.split_certified_[~np.isnan(self.split_residuals_)]
        if not len(made):
            return certificate
        told = (
            "the split is a local optimum of its two clusters"
            if made.sum() == len(made) == 1
            else f"{made.sum()} of {count(len(made), 'split')} are local optima of their own two "
            "clusters"
        )
        return replace(certificate, notes=(*certificate.notes, told))

    def _warn_of_splits(self, unfinished: bool) -> None:
        bad = ~self.split_certified_
        how = f"stopped at max_iter={self.max_iter}" if unfinished else "ended"
        remedy = "Raise max_iter." if unfinished else "See split_residuals_."
        gain = number(100 * self.split_residuals_[bad].max(), 2)
        said = (
            f"{type(self).__name__} {how} in {bad.sum()} of {count(len(bad), 'split')} before a "
            f"fixed point: objective {number(self.inertia_, 4)}, and one more step lowers that of "
            f"a split by up to {gain} %. {remedy}"
        )
        warn_user(said, NotCertifiedWarning)

    def predict(self, X: object) -> np.ndarray:
        """The leaf of each row, found by going down the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows of the fit get ``labels_`` again.

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        rows = Rows(data_for_search(self, X, reset=False))
        if not len(self._children):
            return self._nearest(rows)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            labels, d2 = go_down(rows, Tree(self._pairs.astype(np.float64), self._children))
        if not np.isfinite(d2).all():
            self._name_what_is_not_finite(rows)
        return labels


def _fitted(rows: Rows, found: Bisection, splits: list[tuple[float, bool]]) -> dict[str, Any]:
    dtype, made = stored(rows), len(found.centers) - 1
    return {
        "cluster_centers_": found.centers.astype(dtype),
        "labels_": found.labels,
        "inertia_": found.objective,
        "split_residuals_": np.array([residual for residual, _ in splits[:made]]),
        "split_certified_": np.array([certified for _, certified in splits[:made]], dtype=bool),
        "n_clusters_effective_": found.effective,
        "tree_": _tree_of(found),
        "_pairs": found.tree.pairs.astype(dtype),
        "_children": found.tree.children,
    }


def _tree_of(found: Bisection) -> ClusterTree:
    """Splits undone in turn are merges; a sum of squares is not below those of its parts."""
    k, made = len(found.centers), len(found.inertias)
    sizes = np.concatenate([np.bincount(found.labels, minlength=k), np.zeros(made, dtype=int)])
    heights = np.zeros(k + made)
    merges = np.empty((made, 4))
    for t, s in enumerate(range(made - 1, -1, -1)):
        parts = [-1 - c if c < 0 else k + made - 1 - c for c in found.tree.children[s].tolist()]
        sizes[k + t] = sizes[parts].sum()
        heights[k + t] = max(float(found.inertias[s]), *heights[parts])  # but for rounding
        merges[t] = *sorted(parts), heights[k + t], sizes[k + t]
    return ClusterTree(merges, method="bisecting", rows=found.labels)


def _claim(part: Rows, split: Split) -> tuple[float, bool]:
    """(residual, certified) of one split: k-means with two centres on the rows of one cluster."""
    model = KMeans(n_clusters=2)
    model.__dict__.update(_attributes(part, split.fit, list(split.objectives)))
    certificate = certify(model, part)
    return certificate.residual, certificate.certified


def _aloud(on_step: OnStep, name: str) -> OnStep:
    def told(step: Step) -> bool:
        clusters, J = count(step.iteration + 1, "cluster"), number(step.objective, 10)
        print(printable(f"{name}: {clusters}, objective {J}"))
        return bool(on_step(step))

    return told
