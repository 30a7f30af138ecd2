"""k-means by splitting clusters in two."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..certificate import Certificate, certify
from ..data.changed_rows import divided
from ..data.rows import Rows
from ..data.types import Seed
from ..data.validation import boolean, data_for_search, not_negative, one_of, positive_whole
from ..exceptions import NotCertifiedWarning
from ..runtime.pool import blas_limiter
from ..runtime.progress import monitored
from ..runtime.user_frame import warn_user
from ..solvers.kmeans.bisecting import SCORES, Bisection, Split, SplitTree, bisect, descend
from ..solvers.progress import OnStep, Step
from ..text.format import count, number, printable
from ._base import CenterBased, stored
from ._init import Init, check_init, starts
from .kmeans import KMeans, _attributes
from .tree import Tree


class BisectingKMeans(CenterBased):
    """Split a cluster C in two, k − 1 times: minimise Σ_{i∈C} sᵢ min(‖xᵢ − μ₀‖², ‖xᵢ − μ₁‖²).

    A drop-in for scikit-learn's class. The splits form a tree, and a row's cluster is found by
    descending it, at each split to the nearer of two centres. A later split never revises an
    earlier one, so every split is a local optimum of its own two clusters, but the k centres
    together usually are not: the certificate states what a Lloyd step with all centres would gain.

    Parameters
    ----------
    n_clusters : int, default=8
        k.
    init : {"k-means++", "k-means||", "random"} or callable, default="random"
        How the two centres of a split are initialised from the rows of the cluster. A function
        ``init(X, 2, random_state=…)`` returns them.
    n_init : int, default=1
        Number of starts of every split; the best is kept.
    random_state : int, RandomState instance or None, default=None
        Draws the starts.
    max_iter : int, default=300
        Maximum number of steps of one start.
    verbose : int, default=0
        Above 0, a line is printed for every split.
    tol : float, default=1e-4
        Tolerance of each split, as in :class:`KMeans`, for the rows of the cluster.
    copy_x : bool, default=True
        Accepted for compatibility with scikit-learn; X is never changed.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Accepted for compatibility with scikit-learn: both give the same labels.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}, default="biggest_inertia"
        Split the cluster with the largest sum of squares, or the one with the largest weight
        (without weights: the most rows).

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres of the leaves, from left to right.
    labels_ : ndarray of shape (n_samples,) of int32
        The leaf of every row; ``predict`` gives the same.
    inertia_ : float
        Σ sᵢ ‖xᵢ − μ‖² to the centre of each row's own leaf. Another centre can be nearer;
        ``score`` uses the nearest. In units of ``unit_``².
    unit_ : float
        1, unless squares of differences in X overflow or underflow: then the power of two by which
        X is divided, with a ``RangeWarning``. Centres and distances are in the units of X.
    split_residuals_ : ndarray of shape (n_clusters - 1,)
        For every split, the share of its objective that one more step would gain. NaN where a leaf
        of equal points was given an empty twin.
    split_certified_ : ndarray of shape (n_clusters - 1,) of bool
        Whether the split is a local optimum of its own two clusters, recomputed from its rows.
    tree_ : Tree
        The splits, as merges from the last to the first: ``tree_.cut(j)`` gives the clusters after
        j − 1 splits, ``tree_.plot()`` draws them. Its leaves are the clusters; members and sizes
        refer to rows; the height of a split is the sum of squares of the cluster that was split, in
        units of ``unit_``².
    n_clusters_effective_ : int
        Number of clusters with rows. Below k if there are fewer distinct points.
    certificate_ : Certificate
        The objective, recomputed from the data, how many of the splits are local optima of their
        own two clusters, and what one more step with all centres would gain.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Set if X has column names.

    Notes
    -----
    O(n·p) operations for a step of a split of n rows, which are copied. A row takes part in log₂ k
    splits if the tree is balanced, and in at most k − 1 otherwise.

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
        rows, unit = self._rows_to_fit(X, sample_weight)
        unfinished = self._split(rows, unit)
        self._set_certificate(self._certify_splits(rows))
        if self.n_clusters_effective_ < len(self.cluster_centers_):
            self._warn_of_empty_clusters(rows)
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

    def _split(self, given: Rows, unit: float) -> bool:
        """Build the tree of rows/unit, set the fitted attributes, and return whether max_iter ended
        a split."""
        rows = divided(given, unit)
        k, random_state = int(self.n_clusters), check_random_state(self.random_state)
        splits: list[tuple[float, bool]] = []

        def record(part: Rows, split: Split | None) -> None:
            splits.append((np.nan, True) if split is None else _claim(part, split))

        on_step: OnStep = self._monitor.iterations(
            lambda grown: _fitted(rows, grown(), splits, unit),
            lambda: self._certify_splits(given),
            k - 1,
        )
        if self.verbose:
            on_step = _print_splits(on_step, type(self).__name__)
        with blas_limiter.for_work(rows.shape):
            bisection = bisect(
                rows, k, lambda part: starts(self.init, part, 2, random_state, unit=unit)(),
                strategy=self.bisecting_strategy, n_init=self.n_init, max_iter=self.max_iter,
                tol=float(self.tol), on_step=on_step, on_split=record,
            )  # fmt: skip
        self.__dict__.update(_fitted(rows, bisection, splits, unit))
        return bisection.unfinished > 0

    def _certify_splits(self, rows: Rows) -> Certificate:
        """Certify all centres together, with a note on the splits."""
        certificate = certify(self, rows)
        certified = self.split_certified_[~np.isnan(self.split_residuals_)]
        if not len(certified):
            return certificate
        note = (
            "the split is a local optimum of its two clusters"
            if certified.sum() == len(certified) == 1
            else f"{certified.sum()} of {count(len(certified), 'split')} are local optima of their "
            "own two clusters"
        )
        return replace(certificate, notes=(*certificate.notes, note))

    def _warn_of_splits(self, unfinished: bool) -> None:
        uncertified = ~self.split_certified_
        ending = f"stopped at max_iter={self.max_iter}" if unfinished else "ended"
        remedy = "Raise max_iter." if unfinished else "See split_residuals_."
        gain = number(100 * self.split_residuals_[uncertified].max(), 2)
        splits = count(len(uncertified), "split")
        message = (
            f"{type(self).__name__} {ending} in {uncertified.sum()} of {splits} before a "
            f"fixed point: objective {number(self.inertia_, 4)}, and one more step lowers that of "
            f"a split by up to {gain} %. {remedy}"
        )
        warn_user(message, NotCertifiedWarning)

    def predict(self, X: object) -> np.ndarray:
        """Return the leaf of each row, found by descending the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            For the rows of the fit the result is ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        rows = self._in_unit(Rows(data_for_search(self, X, reset=False)))
        if not len(self._children):
            return self._nearest(rows)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            pairs = self._pairs.astype(np.float64) / self._unit
            labels, d2 = descend(rows, SplitTree(pairs, self._children))
        if not np.isfinite(d2).all():
            self._raise_not_finite(rows)
        return labels


def _fitted(
    rows: Rows, bisection: Bisection, splits: list[tuple[float, bool]], unit: float
) -> dict[str, Any]:
    """Return the attributes of a tree of rows that are in units of ``unit``."""
    n_splits = len(bisection.centers) - 1
    return {
        "cluster_centers_": stored(bisection.centers, rows, unit),
        "labels_": bisection.labels,
        "inertia_": bisection.objective,
        "unit_": unit,
        "split_residuals_": np.array([residual for residual, _ in splits[:n_splits]]),
        "split_certified_": np.array([certified for _, certified in splits[:n_splits]], dtype=bool),
        "n_clusters_effective_": bisection.effective,
        "tree_": _merge_tree(bisection),
        "_pairs": stored(bisection.tree.pairs, rows, unit),
        "_children": bisection.tree.children,
    }


def _merge_tree(bisection: Bisection) -> Tree:
    """Return the splits as merges, from the last to the first, with monotone heights."""
    k, n_splits = len(bisection.centers), len(bisection.inertias)
    sizes = np.concatenate(
        [np.bincount(bisection.labels, minlength=k), np.zeros(n_splits, dtype=int)]
    )
    heights = np.zeros(k + n_splits)
    merges = np.empty((n_splits, 4))
    for t, s in enumerate(range(n_splits - 1, -1, -1)):
        parts = [
            -1 - c if c < 0 else k + n_splits - 1 - c for c in bisection.tree.children[s].tolist()
        ]
        sizes[k + t] = sizes[parts].sum()
        # a sum of squares is not below those of its parts, except by rounding
        heights[k + t] = max(float(bisection.inertias[s]), *heights[parts])
        merges[t] = *sorted(parts), heights[k + t], sizes[k + t]
    return Tree(merges, method="bisecting", rows=bisection.labels)


def _claim(part: Rows, split: Split) -> tuple[float, bool]:
    """Return (residual, certified) of one split: k-means with two centres on one cluster's rows."""
    model = KMeans(n_clusters=2)
    model.__dict__.update(_attributes(part, split.fit, list(split.objectives)))
    certificate = certify(model, part)
    return certificate.residual, certificate.certified


def _print_splits(on_step: OnStep, name: str) -> OnStep:
    """Wrap ``on_step`` to print a line for every split."""

    def report(step: Step) -> bool:
        clusters, J = count(step.iteration + 1, "cluster"), number(step.objective, 10)
        print(printable(f"{name}: {clusters}, objective {J}"))
        return bool(on_step(step))

    return report
