"""The class ``Tree``: merges of clusters, with cuts, predictions and plots."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.types import Metric
from ..exceptions import DegenerateWarning
from ..runtime.user_frame import warn_user
from ..text.box import box
from ..text.files import write_whole
from ..text.format import count, number
from ..text.table import ResultTable
from ._newick import newick
from ._tree_nearest import distances_given, nearest_clusters
from ._tree_shape import (
    TreeLayout,
    checked_merges,
    cophenetic_distances,
    count_leaves,
    formed_at,
    largest_of_parts,
    layout_of,
    leaf_labels,
    relabel_by_first_row,
    tie_message,
)

if TYPE_CHECKING:
    from ..plotting.dendrogram import DendrogramDisplay

HTML_MERGES = 10  # the last ones, in a notebook
DIVISIVE_METHODS = ("diana", "bisecting")


class Tree:
    """A tree of clusters: n leaves and n − 1 merges of two clusters each, in SciPy's layout.

    ``AgglomerativeClustering``, ``DivisiveClustering``, ``BisectingKMeans`` and
    ``VariableClustering`` have one as ``tree_``; ``Tree(Z, method=…)`` wraps a matrix of
    ``certus.cluster.linkage`` or of ``scipy.cluster.hierarchy``.

    Parameters
    ----------
    merges : array-like of shape (n - 1, 4)
        Row t holds the two clusters that merge t joins into cluster n + t, their distance and the
        number of rows in it. Leaves are 0 … n − 1.
    method : str, optional
        The linkage: "single", "complete", "average", "weighted", "centroid", "median" or "ward";
        for divisive trees "diana" or "bisecting". Needed by ``predict`` and ``certus.verify``.
    metric : str, callable or Distance, default="euclidean"
        Or "precomputed".
    metric_params : dict, optional
    scale : array-like of shape (n_features,), optional
        The divisors of the columns.
    X : array-like or frame of shape (n_samples, n_features), optional
        The rows (distances, if precomputed), for ``predict``. Not copied.
    names : array-like of str, optional
        Names of the leaves, for plots and files.
    rows : array-like of shape (n_samples,) of int, optional
        The leaf of every row, where leaves hold several. None: row i is leaf i.
    dtype : {"float64", "float32"}, optional
        Type of the distances from which heights were computed; a check expects its precision.

    Attributes
    ----------
    merges, method, metric, metric_params, scale, X, names, rows, dtype
        As given; merges in float64.

    Notes
    -----
    O(n) memory and, except for ``cophenetic``, O(n) time beside the result. Nothing is recursive,
    so chains of any length can be cut, written and drawn.

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
                f"names has shape {self.names.shape}: give one for each of {count_leaves(n)}"
            )

    # --- shape ---

    @property
    def n_leaves(self) -> int:
        """The number of leaves, n."""
        return len(self.merges) + 1

    @property
    def heights(self) -> np.ndarray:
        """The distance at which each merge joined its two clusters, (n − 1,)."""
        return self.merges[:, 2]

    @property
    def sizes(self) -> np.ndarray:
        """The number of rows of every cluster, leaves first, (2n − 1,)."""
        one_each = np.ones(self.n_leaves) if self.rows is None else self._leaf_sizes
        return np.concatenate([one_each, self.merges[:, 3]]).astype(np.intp)

    @property
    def order(self) -> np.ndarray:
        """The leaves from left to right; the first cluster of every merge is on the left."""
        return self._shape.order

    @property
    def inversions(self) -> list[int]:
        """The merges whose height is below that of one of the two clusters they join.

        They occur with centroid and median linkage: the centre of two near clusters can be nearer
        to a third cluster than the two are to each other.
        """
        parts = largest_of_parts(self.merges, self.heights)
        return [int(t) for t in np.flatnonzero(self.heights < parts)]

    def members(self, cluster: int) -> np.ndarray:
        """Return the rows of a cluster, in the order of the dendrogram.

        Parameters
        ----------
        cluster : int
            A leaf 0 … n − 1, or n + t for the cluster that merge t made.

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
        inside = self.order[start : start + self._shape.n_leaves[cluster]]
        if self.rows is None:
            return inside.copy()
        by_leaf = np.argsort(self.rows, kind="stable")
        ends = np.cumsum(self._leaf_sizes)
        return np.concatenate([by_leaf[ends[i] - self._leaf_sizes[i] : ends[i]] for i in inside])

    @cached_property
    def _shape(self) -> TreeLayout:
        return layout_of(self.merges)

    @cached_property
    def _leaf_sizes(self) -> np.ndarray:
        assert self.rows is not None
        return np.bincount(self.rows, minlength=self.n_leaves)

    # --- cuts ---

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> np.ndarray:
        """Cut the tree into clusters by undoing its last merges.

        ``n_clusters=k`` undoes the last k − 1 merges, which gives exactly k clusters even with ties
        and inversions. If the last merge that is kept and the first that is undone have the same
        height, the choice between them is arbitrary, and a ``DegenerateWarning`` says so.

        ``height=h`` gives the largest clusters in which every merge is at height h or below.

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
        """Return the labels of rows, and why they are arbitrary or None."""
        undone, arbitrary = self._undone(n_clusters, height)
        return self._labels(undone), arbitrary

    def _labels(self, undone: np.ndarray) -> np.ndarray:
        labels = leaf_labels(self._shape, undone)
        return relabel_by_first_row(labels if self.rows is None else labels[self.rows])

    def _undone(self, n_clusters: Any, height: object) -> tuple[np.ndarray, str | None]:
        """Return whether each merge is undone, and why that is arbitrary or None."""
        if (n_clusters is None) == (height is None):
            raise ValueError("give either n_clusters or height")
        if n_clusters is None:
            if not isinstance(height, (int, float, np.number)) or np.isnan(height):
                raise ValueError(f"height={height!r}: give a number")
            return formed_at(self.merges) > height, None
        whole = isinstance(n_clusters, (int, np.integer)) and not isinstance(n_clusters, bool)
        if not whole or not 1 <= n_clusters <= self.n_leaves:
            raise ValueError(
                f"n_clusters={n_clusters!r}: the tree has {count_leaves(self.n_leaves)}, so give a "
                f"whole number from 1 to {self.n_leaves}"
            )
        undone = np.arange(self.n_leaves - 1) >= self.n_leaves - n_clusters
        return undone, tie_message(self.merges, int(n_clusters), self.method in DIVISIVE_METHODS)

    # --- new rows ---

    def predict(
        self, X: object, n_clusters: int | None = None, *, height: float | None = None
    ) -> np.ndarray:
        """Return the cluster of a cut with the least linkage distance to each new row.

        The distance is that to the nearest member (single), to the farthest (complete), the mean
        (average, diana), the mean in which both parts of every merge have equal weight (weighted),
        or the distance to the centre (centroid, median, and ward, times √(2|A|/(|A| + 1))). Of
        equally near clusters the first. The rule is for new rows: a row of the tree itself may be
        nearer to another cluster than to its own.

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
        """Return the height of the merge that joins rows i and j, for all i < j.

        Returns
        -------
        ndarray of shape (n (n - 1) / 2,)
            SciPy's condensed layout. Rows of one leaf are at 0.
        """
        return cophenetic_distances(self._shape, self.heights, self.rows)

    def cophenetic_correlation(self, X: npt.ArrayLike | None = None) -> float:
        """Return the correlation of the distances with ``cophenetic()``.

        Parameters
        ----------
        X : array-like, optional
            Distances: a square matrix if ``metric="precomputed"``, or condensed; else rows. None:
            the rows of the tree.

        Returns
        -------
        float
            1 if the tree reproduces the distances; NaN if one of the two does not vary.
        """
        D, C = distances_given(self, self.X if X is None else X), self.cophenetic()
        if D.shape != C.shape:
            raise ValueError(f"X has {len(D):,} pairs of rows, the tree {len(C):,}")
        d, c = D - D.mean() if len(D) else D, C - C.mean() if len(C) else C
        size = float(np.sqrt((d @ d) * (c @ c)))
        return float(d @ c) / size if size > 0 else float("nan")

    # --- for people ---

    def to_newick(self, path: object = None) -> str:
        """Return the tree in the Newick format, which phylogenetics software reads.

        Parameters
        ----------
        path : str or Path, optional
            A file to write, atomically.

        Returns
        -------
        str
            Branch lengths are differences of heights, negative at inversions.

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

    def plot(self, **options: Any) -> "DendrogramDisplay":
        """Draw the dendrogram.

        Parameters
        ----------
        **options
            Arguments of ``certus.plotting.plot_dendrogram``: ``n_clusters``, ``height``,
            ``labels``, ``max_leaves``, ``orientation``, ``ax``, ``svg``.

        Returns
        -------
        DendrogramDisplay
        """
        from ..plotting import plot_dendrogram

        return plot_dendrogram(self, **options)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self) -> str:
        n = self.n_leaves
        parts = [count_leaves(n)]
        if self.method is not None:
            parts.insert(0, self.method)
        if self.rows is not None:
            parts[-1] += f" of {count(len(self.rows), 'row')}"
        if n > 1:
            low, high = number(float(self.heights.min()), 4), number(float(self.heights.max()), 4)
            parts.append(f"heights {low} to {high}")
        n_inversions = len(self.inversions)
        if n_inversions:
            parts.append(count(n_inversions, "inversion"))
        return f"Tree({', '.join(parts)})"

    def _repr_html_(self) -> str:
        n = self.n_leaves
        leaves = np.ones(n) if self.rows is None else self._leaf_sizes
        sizes = np.concatenate([leaves, self.merges[:, 3]]).astype(np.intp)
        parts = np.sort(sizes[self.merges[:, :2].astype(np.intp)], axis=1)
        last = range(n - 2, max(-1, n - 2 - HTML_MERGES), -1)
        table = ResultTable(
            {
                "clusters": [n - t for t in last],
                "until height": [float(self.heights[t]) for t in last],
                "then join, of rows": [f"{parts[t, 1]:,} and {parts[t, 0]:,}" for t in last],
            },
            notes=["tree.cut(n_clusters=…) gives labels, tree.plot() draws it."],
        )
        details = table._repr_html_() if n > 1 else ""
        return box("tree of clusters", "", "Tree", repr(self)[5:-1], details)


def _leaves_of_rows(rows: npt.ArrayLike, n: int) -> np.ndarray:
    leaf = np.asarray(rows)
    if leaf.ndim != 1 or leaf.dtype.kind not in "iu":
        raise ValueError(f"rows is {leaf.dtype} of shape {leaf.shape}: give the leaf of every row")
    wrong = np.flatnonzero((leaf < 0) | (leaf >= n))
    if len(wrong):
        i = int(wrong[0])
        raise ValueError(f"row {i} has leaf {leaf[i]}: leaves are 0 … {n - 1}")
    return leaf.astype(np.intp)
