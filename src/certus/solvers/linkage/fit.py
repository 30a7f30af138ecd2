"""Merge the two nearest clusters, n − 1 times: the choice of the algorithm.

    single                    minimum spanning tree            O(n²p), memory O(n·p)   prim.py
                              few columns: k-d tree            about O(n log n)        boruvka.py
    complete, average,        nearest-neighbour chain          O(n²), n² numbers       chain.py
    weighted
    ward, centroid, median    nearest pair of centres          O(n²p), memory O(n·p)   centers.py
    the same for distances    chain (ward), nearest pair       n² numbers              matrix.py

All are exact: they give the tree of the definition, up to rounding and the choice among ties.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..progress import OnStep, ignore
from . import boruvka, centers, chain, matrix, merging, prim

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
CENTER_METHODS = ("centroid", "median", "ward")  # defined by squared distances between centres
MIN_SAFE_MAGNITUDE = 1e-100  # squares of numbers between this and its inverse are representable
PROGRESS_PARTS = 100  # number of progress reports, about
# A k-d tree is used for up to so many columns, and from so many rows times 2^p (measured with one
# thread, uniform and grouped rows: break-even at 25,000 rows for p = 8, at 2,000 for p = 5).
MAX_TREE_COLUMNS, MIN_TREE_ROWS_FACTOR = 8, 100


def agglomerate(
    X: np.ndarray,
    method: str,
    distance: Any = None,
    *,
    dtype: DTypeLike = np.float64,
    threads: int = 1,
    on_step: OnStep = ignore,
) -> np.ndarray:
    """Return the merges of rows.

    Parameters
    ----------
    X : ndarray of shape (n, p), in C order
        float64, or float32, whose distances are computed in float64.
    method : one of METHODS
    distance : Distance, optional
        Prepared with these rows; None: Euclidean.
    dtype : numpy.float64 or numpy.float32
        Type of the matrix of distances, if one is needed.
    threads : int
    on_step : OnStep
        Called about a hundred times; if it returns True, the merges so far are returned.

    Returns
    -------
    merges : ndarray of shape (n − 1, 4)
        Two clusters, the smaller number first (n + t: made by merge t), their height, and the
        number of their rows. Sorted by height; for centroid and median in the order of merging.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.solvers.linkage import agglomerate
    >>> agglomerate(np.array([[0.0], [1.0], [5.0]]), "average")
    array([[0. , 1. , 1. , 2. ],
           [2. , 3. , 4.5, 3. ]])
    """
    n, like = len(X), "euclidean" if distance is None else distance.euclidean_like
    if n < 2:
        return np.empty((0, 4))
    if rows_suffice(method, like):
        rows = X if distance is None else distance.embed(X)
        return _merges_of_rows(rows, method, like == "sqeuclidean", threads, on_step)
    from ...distances import Euclidean

    distance = distance or Euclidean()
    squares = method in CENTER_METHODS
    D = matrix.compared(distance.read(X), distance, dtype, squares, threads)
    return _merges_of_matrix(D, method, threads, on_step)


def agglomerate_distances(
    D: np.ndarray,
    method: str,
    *,
    unit: float = 1.0,
    dtype: DTypeLike = np.float64,
    threads: int = 1,
    on_step: OnStep = ignore,
) -> np.ndarray:
    """Return the merges of given distances, square (n, n) or condensed n(n − 1)/2.

    D is not changed. ``unit``: what distances are divided by before they are squared; heights are
    in this unit. Other arguments as in ``agglomerate``. Centroid, median and ward use squared
    distances, as if they were Euclidean.
    """
    if matrix.number_of_rows(D) < 2:
        return np.empty((0, 4))
    if method == "single":
        return _merges_of_matrix(np.ascontiguousarray(D), method, threads, on_step)
    S = matrix.square(D, dtype, method in CENTER_METHODS, threads, unit)
    return _merges_of_matrix(S, method, threads, on_step)


def rows_suffice(method: str, euclidean_like: str | None) -> bool:
    """Whether the merges can be computed from rows, without a matrix of distances.

    ``euclidean_like`` is the attribute of the distance, whose ``embed`` then gives the rows.
    """
    if euclidean_like == "euclidean":
        return method in (*CENTER_METHODS, "single")
    return euclidean_like == "sqeuclidean" and method == "single"


def bytes_needed(n: int, p: int, method: str, vectors: bool, dtype: Any = np.float64) -> int:
    """Return the peak memory in bytes, besides X or the given distances.

    p: columns; 0 for given distances, which single linkage does not copy. vectors: the merges are
    computed from rows. A matrix is square although half of it would suffice: the chain is several
    times as fast on whole rows.
    """
    merges = (4 + 4 + 4) * 8 * n
    if method == "single" and (vectors or p == 0):
        return merges + (8 * p + 6 * 8) * n
    if vectors and method in CENTER_METHODS:
        panels, parts = int((1 + centers.MAX_DEAD_SHARE) * 8 * p * n), 4 * p * n
        return merges + panels + parts + 12 * 8 * n
    work = 12 * 8 * n + 2 * matrix.BLOCK_SIDE * n * 8
    return merges + work + n * n * np.dtype(dtype).itemsize


def tree_is_faster(n: int, p: int) -> bool:
    """Whether a k-d tree is faster than comparing all pairs."""
    return p <= MAX_TREE_COLUMNS and n >= MIN_TREE_ROWS_FACTOR * 2**p


def _merges_of_rows(
    X: np.ndarray, method: str, squared: bool, threads: int, on_step: OnStep
) -> Any:
    n = len(X)
    most = max(-float(X.min()), float(X.max()))
    if (
        most > 0 and not MIN_SAFE_MAGNITUDE < most < 1 / MIN_SAFE_MAGNITUDE
    ):  # squares would over- or underflow
        unit = 2.0 ** np.floor(np.log2(most))
        merges = _merges_of_rows(X / unit, method, squared, threads, on_step)
        merges[:, 2] *= unit * unit if squared else unit
        return merges
    steps = -(-n // PROGRESS_PARTS)
    if method == "single":
        parts = (
            boruvka.edges_by_rounds(X, threads)
            if tree_is_faster(*X.shape)
            else prim.edges_of_rows(X, steps)
        )
        tree = merging.sort_by_height
    else:
        parts = centers.merges_of_rows(X, method, steps, threads)
        tree = merging.in_merge_order
    return merging.collect_merges(parts if squared else _roots(parts), tree, n, on_step)


def _merges_of_matrix(D: np.ndarray, method: str, threads: int, on_step: OnStep) -> np.ndarray:
    n = matrix.number_of_rows(D)
    steps = -(-n // PROGRESS_PARTS)
    tree = merging.sort_by_height
    if method == "single":
        return merging.collect_merges(prim.edges_of_distances(D, steps), tree, n, on_step)
    if method in chain.CODES:
        parts = chain.merges_of_matrix(D, method, steps, threads)
    else:
        parts = matrix.least_pairs(D, method, steps, threads)
        tree = merging.in_merge_order
    return merging.collect_merges(
        _roots(parts) if method in CENTER_METHODS else parts, tree, n, on_step
    )


def _roots(parts: Iterator[merging.Merges]) -> Iterator[merging.Merges]:
    for pairs, squares in parts:
        yield pairs, np.sqrt(squares)
