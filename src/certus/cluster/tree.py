"""A tree of clusters: what merged with what, at which height."""

from collections.abc import Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.types import Metric
from ..exceptions import DegenerateWarning
from ..runtime.user_frame import warn_user
from ..text.files import write_whole
from ..text.format import count, number
from ._newick import newick
from ._tree_nearest import distances_given, nearest_clusters
from ._tree_shape import (
    Shape,
    below,
    by_first_row,
    checked_merges,
    formed_at,
    joined_at,
    leaves,
    runs,
    shape_of,
    tie_at,
)

if TYPE_CHECKING:
    from ..plotting.dendrogram import DendrogramDisplay

FROM_ABOVE = ("diana", "bisecting")  # methods that split


class Tree:
    """A tree of clusters: n leaves and n − 1 merges of two clusters each, in SciPy's layout.

    ``AgglomerativeClustering``, ``DivisiveClustering``, ``BisectingKMeans`` and
    ``VariableClustering`` have one as ``tree_``; ``Tree(Z, method=…)`` wraps a matrix of
    ``certus.cluster.linkage`` or of ``scipy.cluster.hierarchy``.

    Parameters
    ----------
    merges : array-like of shape (n - 1, 4)
        In row t the two clusters that merge t joins into cluster n + t, their distance and the
        number of rows in it. Leaves are 0 … n − 1.
    method : str, optional
        The linkage: "single", "complete", "average", "weighted", "centroid", "median" or "ward";
        of trees made from above "diana" or "bisecting". ``predict`` and ``certus.verify`` ask
        for it.
    metric : str, callable or Distance, default="euclidean"
        Or "precomputed".
    metric_params : dict, optional
    scale : array-like of shape (n_features,), optional
        What the columns were divided by.
    X : array-like or frame of shape (n_samples, n_features), optional
        The rows (distances, if precomputed), for ``predict``. Not copied.
    names : array-like of str, optional
        Of the leaves, for pictures and files.
    rows : array-like of shape (n_samples,) of int, optional
        The leaf of every row, where leaves hold several. None: row i is leaf i.
    dtype : {"float64", "float32"}, optional
        Of the distances that heights come from: how many digits a check may expect.

    Attributes
    ----------
    merges, method, metric, metric_params, scale, X, names, rows, dtype
        As given; merges in float64.

    Notes
    -----
    O(n) memory and, but for ``cophenetic``, O(n) time beside the answer. Nothing is recursive: a
    chain of any length is cut, written and drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import Tree
    >>> tree = Tree([[0, 1, 1.0, 2], [3, 4, 1.5, 2], [2, 6, 4.0, 3], [5, 7, 9.0, 5]])
    >>> tree
    Tree(5 leaves, heights 1 to 9)
    >>> tree.cut(n_clusters=2), tree.cut(height=4)
    (array([0, 0, 1, 1, 1]), array([0, 0, 1, 1, 1]))
    >>> tree.members(7), tree.order
    (array([2, 3, 4]), array([0, 1, 2, 3, 4]))
    """

    def __init__(
        self,
        merges: Sequence[Sequence[float]] | np.ndarray,
        method: str | None = None,
        metric: Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        scale: npt.ArrayLike | None = None,
        X: Any = None,
        names: npt.ArrayLike | None = None,
        rows: npt.ArrayLike | None = None,
        dtype: npt.DTypeLike | None = None,
    ):
        n = len(merges) + 1
        self.rows = None if rows is None else _leaves_of_rows(rows, n)
        sizes = None if self.rows is None else np.bincount(self.rows, minlength=n)
        self.merges = checked_merges(np.reshape(merges, (-1, 4)) if n == 1 else merges, sizes)
        self.method, self.metric, self.metric_params = method, metric, metric_params
        self.dtype = None if dtype is None else np.dtype(dtype).name
        self.scale = None if scale is None else np.asarray(scale, dtype=np.float64)
        self.X = X
        self.names = None if names is None else np.asarray(names).astype(str)
        if self.names is not None and self.names.shape != (n,):
            raise ValueError(
                f"names has shape {self.names.shape}: give one for each of {leaves(n)}"
            )

    # --- shape ---

    @property
    def n_leaves(self) -> int:
        """n."""
        return len(self.merges) + 1

    @property
    def heights(self) -> np.ndarray:
        """At which distance each merge joined its two clusters, (n − 1,)."""
        return self.merges[:, 2]

    @property
    def sizes(self) -> np.ndarray:
        """Rows of every cluster, leaves first, (2n − 1,)."""
        one_each = np.ones(self.n_leaves) if self.rows is None else self._leaf_sizes
        return np.concatenate([one_each, self.merges[:, 3]]).astype(np.intp)

    @property
    def order(self) -> np.ndarray:
        """The leaves from left to right: of every merge the first cluster to the left."""
        return self._shape.order

    @property
    def inversions(self) -> list[int]:
        """The merges that lie lower than one of the two clusters they join.

        Centroid and median linkage make them: the centre of two near clusters can be nearer to a
        third than they are to each other.
        """
        return [int(t) for t in np.flatnonzero(self.heights < below(self.merges, self.heights))]

    def members(self, cluster: int) -> np.ndarray:
        """The rows of a cluster, in the order of the dendrogram.

        Parameters
        ----------
        cluster : int
            A leaf 0 … n − 1, or n + t for what merge t made.

        Returns
        -------
        ndarray of int
        """
        if not 0 <= cluster <= 2 * self.n_leaves - 2:
            raise ValueError(
                f"cluster={cluster!r}: give a number from 0 to {2 * self.n_leaves - 2}; merge t "
                f"makes cluster {self.n_leaves} + t"
            )
        start = self._shape.start[cluster]
        inside = self.order[start : start + self._shape.leaves[cluster]]
        if self.rows is None:
            return inside.copy()
        by_leaf = np.argsort(self.rows, kind="stable")
        ends = np.cumsum(self._leaf_sizes)
        return np.concatenate([by_leaf[ends[i] - self._leaf_sizes[i] : ends[i]] for i in inside])

    @cached_property
    def _shape(self) -> Shape:
        return shape_of(self.merges)

    @cached_property
    def _leaf_sizes(self) -> np.ndarray:
        assert self.rows is not None
        return np.bincount(self.rows, minlength=self.n_leaves)

    # --- cuts ---

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> np.ndarray:
        """Clusters: the tree without its last merges.

        ``n_clusters=k`` undoes the last k − 1 merges. That is exactly k clusters, whatever the
        heights: ties and inversions do not change it. Where the last merge that stays and the
        first that is undone have the same height, the choice between them is arbitrary, and a
        ``DegenerateWarning`` says so.

        ``height=h`` keeps the clusters in which every merge lies at h or below: one counts as
        formed at the highest merge inside it.

        Parameters
        ----------
        n_clusters : int, optional
        height : float, optional
            One of the two.

        Returns
        -------
        labels : ndarray of shape (n_samples,) of int
            0, 1, … in the order of the clusters' first rows.
        """
        labels, arbitrary = self._cut(n_clusters, height)
        if arbitrary is not None:
            warn_user(arbitrary, DegenerateWarning)
        return labels

    def _cut(self, n_clusters: object, height: object) -> tuple[np.ndarray, str | None]:
        """(labels of rows, why they are arbitrary)."""
        undone, arbitrary = self._undone(n_clusters, height)
        return self._labels(undone), arbitrary

    def _labels(self, undone: np.ndarray) -> np.ndarray:
        labels = runs(self._shape, undone)
        return by_first_row(labels if self.rows is None else labels[self.rows])

    def _undone(self, n_clusters: Any, height: object) -> tuple[np.ndarray, str | None]:
        """(is each merge undone?, why that is arbitrary)."""
        if (n_clusters is None) == (height is None):
            raise ValueError("give n_clusters or height, one of them")
        if n_clusters is None:
            if not isinstance(height, (int, float, np.number)) or np.isnan(height):
                raise ValueError(f"height={height!r}: give a number")
            return formed_at(self.merges) > height, None
        whole = isinstance(n_clusters, (int, np.integer)) and not isinstance(n_clusters, bool)
        if not whole or not 1 <= n_clusters <= self.n_leaves:
            raise ValueError(
                f"n_clusters={n_clusters!r}: the tree has {leaves(self.n_leaves)}, so give a whole "
                f"number from 1 to {self.n_leaves}"
            )
        undone = np.arange(self.n_leaves - 1) >= self.n_leaves - n_clusters
        return undone, tie_at(self.merges, int(n_clusters), self.method in FROM_ABOVE)

    # --- new rows ---

    def predict(
        self, X: object, n_clusters: int | None = None, *, height: float | None = None
    ) -> np.ndarray:
        """The cluster of a cut to which each new row has the least linkage distance.

        single: the nearest member; complete: the farthest member, where it is nearest; average
        and diana: the mean distance; weighted: the mean in which the halves of every merge count
        the same; centroid, median and ward: the centre, for ward times √(2|A|/(|A| + 1)). Of
        equally near clusters the first. A row of the tree itself may be nearer to another cluster
        than its own: the rule is about rows that the tree has not seen.

        Parameters
        ----------
        X : array-like or frame of shape (n_new, n_features)
            If precomputed: distances to all rows of the tree, (n_new, n_samples).
        n_clusters : int, optional
        height : float, optional
            One of the two, as in ``cut``.

        Returns
        -------
        labels : ndarray of shape (n_new,) of int

        Notes
        -----
        O(n·n_new·p) time, and O(k·n_new·p) with centres; memory O(n·p) beside blocks of 16 MiB.
        """
        labels, _ = self._cut(n_clusters, height)
        return nearest_clusters(self, X, labels)

    # --- distances in the tree ---

    def cophenetic(self) -> np.ndarray:
        """The height of the merge that joins rows i and j, for all i < j.

        Returns
        -------
        ndarray of shape (n (n - 1) / 2,)
            SciPy's condensed layout. Rows of one leaf are at 0.
        """
        return joined_at(self._shape, self.heights, self.rows)

    def cophenetic_correlation(self, X: npt.ArrayLike | None = None) -> float:
        """How well the tree keeps the distances: their correlation with ``cophenetic()``.

        Parameters
        ----------
        X : array-like, optional
            Distances: a square matrix if ``metric="precomputed"``, or condensed; else rows. None:
            the rows of the tree.

        Returns
        -------
        float
            1: the tree says all; NaN where one of the two does not vary.
        """
        D, C = distances_given(self, self.X if X is None else X), self.cophenetic()
        if D.shape != C.shape:
            raise ValueError(f"X has {len(D):,} pairs of rows, the tree {len(C):,}")
        d, c = D - D.mean() if len(D) else D, C - C.mean() if len(C) else C
        size = float(np.sqrt((d @ d) * (c @ c)))
        return float(d @ c) / size if size > 0 else float("nan")

    # --- for people ---

    def to_newick(self, path: object = None) -> str:
        """The tree in the Newick format, which programs for phylogenies read.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it, whole or not at all.

        Returns
        -------
        str
            Lengths of branches are differences of heights: an inversion has one below 0.

        Examples
        --------
        >>> from certus.cluster import Tree
        >>> Tree([[0, 1, 1.0, 2], [2, 3, 4.0, 3]], names=["a", "b", "a c"]).to_newick()
        "('a c':4,(a:1,b:1):3);"
        """
        names = [str(i) for i in range(self.n_leaves)] if self.names is None else self.names
        text = newick(self.merges, list(names))
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def plot(self, **how: Any) -> "DendrogramDisplay":
        """Draw the dendrogram.

        Parameters
        ----------
        **how
            As ``certus.plotting.plot_dendrogram`` takes it: ``n_clusters``, ``height``, ``labels``,
            ``max_leaves``, ``orientation``, ``ax``, ``svg``.

        Returns
        -------
        DendrogramDisplay
        """
        from ..plotting import plot_dendrogram

        return plot_dendrogram(self, **how)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self) -> str:
        n = self.n_leaves
        told = [leaves(n)]
        if self.method is not None:
            told.insert(0, self.method)
        if self.rows is not None:
            told[-1] += f" of {count(len(self.rows), 'row')}"
        if n > 1:
            low, high = number(float(self.heights.min()), 4), number(float(self.heights.max()), 4)
            told.append(f"heights {low} to {high}")
        fallen = len(self.inversions)
        if fallen:
            told.append(count(fallen, "inversion"))
        return f"Tree({', '.join(told)})"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


def _leaves_of_rows(rows: npt.ArrayLike, n: int) -> np.ndarray:
    leaf = np.asarray(rows)
    if leaf.ndim != 1 or leaf.dtype.kind not in "iu":
        raise ValueError(f"rows is {leaf.dtype} of shape {leaf.shape}: give the leaf of every row")
    wrong = np.flatnonzero((leaf < 0) | (leaf >= n))
    if len(wrong):
        i = int(wrong[0])
        raise ValueError(f"row {i} is said to be in leaf {leaf[i]}: there are 0 … {n - 1}")
    return leaf.astype(np.intp)
