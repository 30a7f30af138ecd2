"""To which cluster of a cut a new row x belongs: to the one with the least linkage distance to it.

    single    min_{i∈A} d(x, xᵢ)        average    Σ_{i∈A} d(x, xᵢ)/|A|
    complete  max_{i∈A} d(x, xᵢ)        weighted   Σ_{i∈A} ωᵢ d(x, xᵢ),  ω: ½ a merge above i in A
    centroid  ‖x − c_A‖                 ward       √(2|A|/(|A|+1)) ‖x − c_A‖
    median    ‖x − Σ ωᵢ xᵢ‖

Where rows have no centre (ward, centroid and median of distances that are not Euclidean) the same
follows from distances alone: ‖x − Σωᵢxᵢ‖² = Σ ωᵢ d(x, xᵢ)² − ½ ΣΣ ωᵢ ωⱼ d(xᵢ, xⱼ)². Of equally
near clusters the first.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..distances import Distance, SquaredEuclidean, get_distance
from ..solvers.linkage import OF_CENTERS
from ..text.format import count

if TYPE_CHECKING:
    from .tree import Tree

BLOCK = 1 << 21  # distances at once: 16 MiB, as much as a core's share of cache and then some

Inside = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rows i, rows j → their distances
Block = Callable[[int, int], np.ndarray]  # new rows a … b → distances to all rows, by cluster


class Members:
    """Rows of a cut, those of each cluster side by side."""

    def __init__(self, labels: np.ndarray):
        self.rows = np.argsort(labels, kind="stable")
        self.sizes = np.bincount(labels)
        self.start = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Σ over the rows of each cluster, along the last axis."""
        total: np.ndarray = np.add.reduceat(values, self.start, axis=-1)
        return total


def equal_shares(merges: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """ωᵢ = 1/|A|."""
    return 1.0 / np.bincount(labels)[labels]


def halves(merges: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """ωᵢ = ½ for each merge above i inside its cluster."""
    n = len(merges) + 1
    first = labels.tolist() + [0] * (n - 1)  # the cluster of a part's first leaf
    pairs = merges[:, :2].astype(np.intp).tolist()
    whole = [True] * (2 * n - 1)  # are all leaves of a part in one cluster?
    for t, (a, b) in enumerate(pairs):
        first[n + t] = first[a]
        whole[n + t] = whole[a] and whole[b] and first[a] == first[b]
    share = [1.0] * (2 * n - 1)
    for t in range(n - 2, -1, -1):
        if whole[n + t]:
            a, b = pairs[t]
            share[a] = share[b] = share[n + t] / 2
    return np.array(share[:n])


SHARES = {"average": equal_shares, "diana": equal_shares, "weighted": halves,
          "centroid": equal_shares, "median": halves, "ward": equal_shares}  # fmt: skip
RULES = ("single", "complete", *SHARES)


def _single(D: np.ndarray, members: Members, w: np.ndarray) -> np.ndarray:
    least: np.ndarray = np.minimum.reduceat(D, members.start, axis=1)
    return least


def _complete(D: np.ndarray, members: Members, w: np.ndarray) -> np.ndarray:
    most: np.ndarray = np.maximum.reduceat(D, members.start, axis=1)
    return most


def _mean(D: np.ndarray, members: Members, w: np.ndarray) -> np.ndarray:
    return members.sums(D * w)


OF_DISTANCES = {
    "single": _single, "complete": _complete, "average": _mean, "diana": _mean, "weighted": _mean,
}  # fmt: skip


def factor(method: str, sizes: np.ndarray) -> np.ndarray:
    """Of the squared distance to a centre."""
    return 2 * sizes / (sizes + 1.0) if method == "ward" else np.ones(len(sizes))


def nearest_of(
    m: int,
    block: Block,
    method: str,
    merges: np.ndarray,
    labels: np.ndarray,
    inside: Inside | None = None,
) -> np.ndarray:
    """Labels of m new rows, from their distances to all rows.

    ``inside(i, j)``: distances between rows i and rows j of the tree, for centres.
    """
    members = Members(labels)
    w = SHARES[method](merges, labels)[members.rows] if method in SHARES else np.empty(0)
    spread = None
    if method in OF_CENTERS:
        assert inside is not None
        spread = _spread(members, w, inside)
    step = max(1, BLOCK // len(labels))
    found = np.empty(m, dtype=np.intp)
    for a in range(0, m, step):
        D = block(a, min(a + step, m))[:, members.rows]
        if spread is None:
            away = OF_DISTANCES[method](D, members, w)
        else:
            away = (members.sums(D**2 * w) - spread) * factor(method, members.sizes)
        found[a : a + step] = away.argmin(axis=1)
    return found


def _spread(members: Members, w: np.ndarray, inside: Inside) -> np.ndarray:
    """½ ΣΣ ωᵢ ωⱼ d(xᵢ, xⱼ)² of every cluster."""
    spread = np.zeros(len(members.sizes))
    for c, (start, size) in enumerate(zip(members.start, members.sizes, strict=True)):
        rows, share = members.rows[start : start + size], w[start : start + size]
        step = max(1, BLOCK // size)
        for a in range(0, size, step):
            D = inside(rows[a : a + step], rows)
            spread[c] += 0.5 * float(share[a : a + step] @ (D**2 @ share))
    return spread


def centers_of(
    X: np.ndarray, method: str, merges: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(centres (k, p), factor of squared distances to them)."""
    members = Members(labels)
    w = SHARES[method](merges, labels)[members.rows]
    # from the first row, whatever the distance from the origin
    centers = np.add.reduceat((X[members.rows] - X[0]) * w[:, None], members.start, axis=0) + X[0]
    return centers, factor(method, members.sizes)


# --- of a tree ------------------------------------------------------------------------------------


def nearest_clusters(tree: "Tree", X: object, labels: np.ndarray) -> np.ndarray:
    """The cluster, of those of ``labels``, that each row of X belongs to."""
    method = tree.method
    if method == "bisecting":
        raise ValueError("a tree of bisecting k-means has centres: use the model's own predict")
    if method not in RULES:
        raise ValueError(
            f"method={method!r} has no rule for new rows: make the tree with Tree(…, method=), one "
            f"of {', '.join(map(repr, RULES))}"
        )
    if tree.X is None:
        raise ValueError("the tree does not know its rows: make it with Tree(…, X=X)")
    if _precomputed(tree):
        return _of_distances(tree, np.asarray(X, dtype=np.float64), labels)
    distance, rows = _read(tree, tree.X)
    new = distance.read(_scaled(tree, X))
    if new.shape[1] != rows.shape[1]:
        raise ValueError(
            f"X has {count(new.shape[1], 'column')}, the rows of the tree have {rows.shape[1]:,}"
        )
    if method in OF_CENTERS and distance.embedded_metric == "euclidean":
        return _by_centers(tree, distance.embed(rows), distance.embed(new), labels)
    return nearest_of(
        len(new), lambda a, b: distance.compare(new[a:b], rows), method, tree.merges, labels,
        lambda i, j: distance.compare(rows[i], rows[j]),
    )  # fmt: skip


def _precomputed(tree: "Tree") -> bool:
    return isinstance(tree.metric, str) and tree.metric == "precomputed"


def _read(tree: "Tree", X: object) -> tuple[Distance, np.ndarray]:
    """The distance, prepared with rows, and these as it reads them."""
    X = _scaled(tree, X)
    distance = get_distance(tree.metric, **(tree.metric_params or {})).prepare(X)
    return distance, distance.read(X)


def _scaled(tree: "Tree", X: object) -> Any:
    return X if tree.scale is None else np.asarray(X, dtype=np.float64) / tree.scale


def _of_distances(tree: "Tree", D: np.ndarray, labels: np.ndarray) -> np.ndarray:
    n = len(labels)
    if D.ndim != 2 or D.shape[1] != n:
        raise ValueError(
            f"X has shape {D.shape}: give the distances to all {count(n, 'row')} of the tree"
        )
    assert tree.method is not None
    inside = np.asarray(tree.X)
    return nearest_of(
        len(D), lambda a, b: D[a:b], tree.method, tree.merges, labels,
        lambda i, j: inside[np.ix_(i, j)],
    )  # fmt: skip


def _by_centers(tree: "Tree", rows: np.ndarray, new: np.ndarray, labels: np.ndarray) -> np.ndarray:
    assert tree.method is not None
    centers, times = centers_of(rows, tree.method, tree.merges, labels)
    found, step = np.empty(len(new), dtype=np.intp), max(1, BLOCK // len(centers))
    for a in range(0, len(new), step):
        d2 = SquaredEuclidean().compare(np.ascontiguousarray(new[a : a + step]), centers)
        found[a : a + step] = (d2 * times).argmin(axis=1)
    return found


def distances_given(tree: "Tree", X: npt.ArrayLike | None) -> np.ndarray:
    """The distances of rows, or as they are given, condensed."""
    if X is None:
        raise ValueError("give X, or make the tree with Tree(…, X=X)")
    if np.ndim(X) == 1:
        return np.asarray(X, dtype=np.float64)
    if _precomputed(tree):
        square = np.asarray(X, dtype=np.float64)
    else:
        distance, rows = _read(tree, X)
        square = distance.compare(rows, rows)
    condensed: np.ndarray = square[np.triu_indices(len(square), 1)]
    return condensed
