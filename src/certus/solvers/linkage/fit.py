"""Merge the two nearest clusters, n − 1 times: which algorithm does it.

    single                    minimum spanning tree            O(n²p), memory O(n·p)   prim.py
                              of few columns, by a k-d tree    about O(n log n)        boruvka.py
    complete, average,        nearest-neighbour chain          O(n²), n² numbers       chain.py
    weighted
    ward, centroid, median    least pair, by centres           O(n²p), memory O(n·p)   centers.py
    the same of distances     chain (ward), least pair         n² numbers              matrix.py

All are exact: they give the tree of the definition, up to rounding and to the choice among ties.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..progress import OnStep, ignore
from . import boruvka, centers, chain, matrix, merging, prim

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
CENTER_METHODS = ("centroid", "median", "ward")  # their rule is about squared distances
IN_RANGE = 1e-100
PARTS = 100  # in which a listener hears of the merges
# Columns up to which a tree is thought of, and rows, times 2^p, from which it is faster (measured
# with one thread, uniform and in groups: at p = 8 level from 25,000 rows, at p = 5 from 2,000)
TREE_COLUMNS, TREE_ROWS = 8, 100


def agglomerate(
    X: np.ndarray,
    method: str,
    distance: Any = None,
    *,
    dtype: DTypeLike = np.float64,
    threads: int = 1,
    on_step: OnStep = ignore,
) -> np.ndarray:
    """The merges of rows.

    Parameters
    ----------
    X : ndarray of shape (n, p), in C order; float64, or float32 that is computed with in float64
    method : one of METHODS
    distance : Distance, optional
        Prepared with these rows; None: Euclidean.
    dtype : numpy.float64 or numpy.float32
        Of the matrix of distances, where there is one.
    threads : int
    on_step : OnStep
        Hears of about a hundred parts of the merges; True stops, with the merges so far.

    Returns
    -------
    merges : ndarray of shape (n − 1, 4)
        Two clusters, the smaller number first (n + t: made by merge t), their height, their rows.
        In order of height; of centroid and median, in that of merging.

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
        return _of_rows(rows, method, like == "sqeuclidean", threads, on_step)
    from ...distances import Euclidean

    distance = distance or Euclidean()
    squares = method in CENTER_METHODS
    D = matrix.compared(distance.read(X), distance, dtype, squares, threads)
    return _of_matrix(D, method, threads, on_step)


def agglomerate_distances(
    D: np.ndarray,
    method: str,
    *,
    dtype: DTypeLike = np.float64,
    threads: int = 1,
    on_step: OnStep = ignore,
) -> np.ndarray:
    """The merges of given distances, square (n, n) or condensed n(n − 1)/2, which are not changed.

    The rest as in ``agglomerate``. Centroid, median and ward work on squares, as for Euclidean
    distances.
    """
    if matrix.rows_of(D) < 2:
        return np.empty((0, 4))
    if method == "single":
        return _of_matrix(np.ascontiguousarray(D), method, threads, on_step)
    S = matrix.square(D, dtype, method in CENTER_METHODS, threads)
    return _of_matrix(S, method, threads, on_step)


def rows_suffice(method: str, euclidean_like: str | None) -> bool:
    """Can the merges be found from rows, without a matrix of distances?

    ``euclidean_like``: that of the distance, whose ``embed``-ed rows then take its place.
    """
    if euclidean_like == "euclidean":
        return method in (*CENTER_METHODS, "single")
    return euclidean_like == "sqeuclidean" and method == "single"


def bytes_needed(n: int, p: int, method: str, vectors: bool, dtype: Any = np.float64) -> int:
    """Bytes at the peak, besides X or the given distances.

    p: columns; 0 where distances are given, of which single linkage makes no copy. vectors: rows
    with Euclidean distances are at hand. Where a matrix is needed it is square: half of it would
    do, but the chain is several times as fast on whole rows.
    """
    merges = (4 + 4 + 4) * 8 * n
    if method == "single" and (vectors or p == 0):
        return merges + (8 * p + 6 * 8) * n
    if vectors and method in CENTER_METHODS:
        panels, found = int((1 + centers.ROOM) * 8 * p * n), 4 * p * n
        return merges + panels + found + 12 * 8 * n
    work = 12 * 8 * n + 2 * matrix.SIDE * n * 8
    return merges + work + n * n * np.dtype(dtype).itemsize


def few(n: int, p: int) -> bool:
    """Columns, so that a k-d tree is faster than all pairs."""
    return p <= TREE_COLUMNS and n >= TREE_ROWS * 2**p


def _of_rows(X: np.ndarray, method: str, squared: bool, threads: int, on_step: OnStep) -> Any:
    n = len(X)
    most = max(-float(X.min()), float(X.max()))
    if most > 0 and not IN_RANGE < most < 1 / IN_RANGE:  # squares would over- or underflow
        unit = 2.0 ** np.floor(np.log2(most))
        merges = _of_rows(X / unit, method, squared, threads, on_step)
        merges[:, 2] *= unit * unit if squared else unit
        return merges
    steps = -(-n // PARTS)
    if method == "single":
        found = (
            boruvka.edges_by_rounds(X, threads) if few(*X.shape) else prim.edges_of_rows(X, steps)
        )
        tree = merging.by_height
    else:
        found = centers.merges_of_rows(X, method, steps, threads)
        tree = merging.as_they_came
    return merging.gathered(found if squared else _roots(found), tree, n, on_step)


def _of_matrix(D: np.ndarray, method: str, threads: int, on_step: OnStep) -> np.ndarray:
    n = matrix.rows_of(D)
    steps = -(-n // PARTS)
    tree = merging.by_height
    if method == "single":
        return merging.gathered(prim.edges_of_distances(D, steps), tree, n, on_step)
    if method in chain.CODES:
        found = chain.merges_of_matrix(D, method, steps, threads)
    else:
        found = matrix.least_pairs(D, method, steps, threads)
        tree = merging.as_they_came
    return merging.gathered(_roots(found) if method in CENTER_METHODS else found, tree, n, on_step)


def _roots(parts: Iterator[merging.Merges]) -> Iterator[merging.Merges]:
    for pairs, squares in parts:
        yield pairs, np.sqrt(squares)
