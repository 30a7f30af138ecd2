"""Assign new rows x to the cluster of a cut with the least linkage distance.

    single    min_{i∈A} d(x, xᵢ)        average    Σ_{i∈A} d(x, xᵢ)/|A|
    complete  max_{i∈A} d(x, xᵢ)        weighted   Σ_{i∈A} ωᵢ d(x, xᵢ),  ω: ½ a merge above i in A
    centroid  ‖x − c_A‖                 ward       √(2|A|/(|A|+1)) ‖x − c_A‖
    median    ‖x − Σ ωᵢ xᵢ‖

Where there are no centres (ward, centroid and median of distances that are not Euclidean),
distances suffice: ‖x − Σωᵢxᵢ‖² = Σ ωᵢ d(x, xᵢ)² − ½ ΣΣ ωᵢ ωⱼ d(xᵢ, xⱼ)². Of equally near
clusters the first is taken.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..distances import Distance, SquaredEuclidean, get_distance
from ..solvers.linkage import CENTER_METHODS
from ..text.format import count

if TYPE_CHECKING:
    from .tree import Tree

BLOCK_DISTANCES = 1 << 21  # distances computed at a time: 16 MiB

WithinDistances = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rows i, rows j → distances
NewRowDistances = Callable[[int, int], np.ndarray]  # new rows a … b → distances to all rows


class SortedClusters:
    """The rows of a cut, sorted by cluster."""

    def __init__(self, labels: np.ndarray):
        self.rows = np.argsort(labels, kind="stable")
        self.sizes = np.bincount(labels)
        self.start = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum over the rows of each cluster, along the last axis."""
        total: np.ndarray = np.add.reduceat(values, self.start, axis=-1)
        return total


def equal_weights(merges: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights ωᵢ = 1/|A|."""
    return 1.0 / np.bincount(labels)[labels]


def halving_weights(merges: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights ωᵢ with a factor ½ for each merge above row i inside its cluster."""
    n = len(merges) + 1
    first_label = labels.tolist() + [0] * (n - 1)  # the cluster of a part's first leaf
    pairs = merges[:, :2].astype(np.intp).tolist()
    is_whole = [True] * (2 * n - 1)  # whether all leaves of a part are in one cluster
    for t, (a, b) in enumerate(pairs):
        first_label[n + t] = first_label[a]
        is_whole[n + t] = is_whole[a] and is_whole[b] and first_label[a] == first_label[b]
    weights = [1.0] * (2 * n - 1)
    for t in range(n - 2, -1, -1):
        if is_whole[n + t]:
            a, b = pairs[t]
            weights[a] = weights[b] = weights[n + t] / 2
    return np.array(weights[:n])


MEMBER_WEIGHTS = {
    "average": equal_weights, "diana": equal_weights, "weighted": halving_weights,
    "centroid": equal_weights, "median": halving_weights, "ward": equal_weights,
}  # fmt: skip
RULES = ("single", "complete", *MEMBER_WEIGHTS)


def _single(D: np.ndarray, members: SortedClusters, w: np.ndarray) -> np.ndarray:
    least: np.ndarray = np.minimum.reduceat(D, members.start, axis=1)
    return least


def _complete(D: np.ndarray, members: SortedClusters, w: np.ndarray) -> np.ndarray:
    most: np.ndarray = np.maximum.reduceat(D, members.start, axis=1)
    return most


def _mean(D: np.ndarray, members: SortedClusters, w: np.ndarray) -> np.ndarray:
    return members.sums(D * w)


DISTANCE_RULES = {
    "single": _single, "complete": _complete, "average": _mean, "diana": _mean, "weighted": _mean,
}  # fmt: skip


def squared_factor(method: str, sizes: np.ndarray) -> np.ndarray:
    """Return the factor of the squared distance to each centre."""
    return 2 * sizes / (sizes + 1.0) if method == "ward" else np.ones(len(sizes))


def nearest_of(
    m: int,
    block: NewRowDistances,
    method: str,
    merges: np.ndarray,
    labels: np.ndarray,
    within: WithinDistances | None = None,
) -> np.ndarray:
    """Return the labels of m new rows, from their distances to all rows of the tree.

    ``within(i, j)``: distances between rows i and rows j of the tree, for methods with centres.
    """
    members = SortedClusters(labels)
    w = (
        MEMBER_WEIGHTS[method](merges, labels)[members.rows]
        if method in MEMBER_WEIGHTS
        else np.empty(0)
    )
    spread = None
    if method in CENTER_METHODS:
        assert within is not None
        spread = _spread(members, w, within)
    step = max(1, BLOCK_DISTANCES // len(labels))
    labels_new = np.empty(m, dtype=np.intp)
    for a in range(0, m, step):
        D = block(a, min(a + step, m))[:, members.rows]
        if spread is None:
            distances = DISTANCE_RULES[method](D, members, w)
        else:
            distances = (members.sums(D**2 * w) - spread) * squared_factor(method, members.sizes)
        labels_new[a : a + step] = distances.argmin(axis=1)
    return labels_new


def _spread(members: SortedClusters, w: np.ndarray, within: WithinDistances) -> np.ndarray:
    """Return ½ ΣΣ ωᵢ ωⱼ d(xᵢ, xⱼ)² of every cluster."""
    spread = np.zeros(len(members.sizes))
    for c, (start, size) in enumerate(zip(members.start, members.sizes, strict=True)):
        rows, weights = members.rows[start : start + size], w[start : start + size]
        step = max(1, BLOCK_DISTANCES // size)
        for a in range(0, size, step):
            D = within(rows[a : a + step], rows)
            spread[c] += 0.5 * float(weights[a : a + step] @ (D**2 @ weights))
    return spread


def centers_of(
    X: np.ndarray, method: str, merges: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres (k, p) and the factors of squared distances to them."""
    members = SortedClusters(labels)
    w = MEMBER_WEIGHTS[method](merges, labels)[members.rows]
    # relative to the first row, which is accurate far from the origin
    centers = np.add.reduceat((X[members.rows] - X[0]) * w[:, None], members.start, axis=0) + X[0]
    return centers, squared_factor(method, members.sizes)


def power_of_two(most: float) -> float:
    """Return the power of two at or below ``most``: dividing by it is exact, and squares fit."""
    return float(np.ldexp(0.5, np.frexp(most)[1]))


# --- for a tree -----------------------------------------------------------------------------------


def nearest_clusters(tree: "Tree", X: object, labels: np.ndarray) -> np.ndarray:
    """Return the cluster, among those of ``labels``, of each row of X."""
    method = tree.method
    if method == "bisecting":
        raise ValueError("a tree of bisecting k-means has centres: use the model's own predict")
    if method not in RULES:
        raise ValueError(
            f"method={method!r} has no rule for new rows: make the tree with Tree(…, method=), one "
            f"of {', '.join(map(repr, RULES))}"
        )
    if tree.X is None:
        raise ValueError("the tree does not hold its rows: make it with Tree(…, X=X)")
    if _precomputed(tree):
        return _predict_from_distances(tree, np.asarray(X, dtype=np.float64), labels)
    distance, rows = _read(tree, tree.X)
    new = distance.read(_scaled(tree, X))
    if new.shape[1] != rows.shape[1]:
        raise ValueError(
            f"X has {count(new.shape[1], 'column')}, the rows of the tree have {rows.shape[1]:,}"
        )
    if method in CENTER_METHODS and distance.embedded_metric == "euclidean":
        return _predict_from_centers(tree, distance.embed(rows), distance.embed(new), labels)
    return nearest_of(
        len(new), lambda a, b: distance.compare(new[a:b], rows), method, tree.merges, labels,
        lambda i, j: distance.compare(rows[i], rows[j]),
    )  # fmt: skip


def _precomputed(tree: "Tree") -> bool:
    return isinstance(tree.metric, str) and tree.metric == "precomputed"


def _read(tree: "Tree", X: object) -> tuple[Distance, np.ndarray]:
    """Return the distance, prepared with the rows, and the rows as it reads them."""
    X = _scaled(tree, X)
    distance = get_distance(tree.metric, **(tree.metric_params or {})).prepare(X)
    return distance, distance.read(X)


def _scaled(tree: "Tree", X: object) -> Any:
    return X if tree.scale is None else np.asarray(X, dtype=np.float64) / tree.scale


def _predict_from_distances(tree: "Tree", D: np.ndarray, labels: np.ndarray) -> np.ndarray:
    n = len(labels)
    if D.ndim != 2 or D.shape[1] != n:
        raise ValueError(
            f"X has shape {D.shape}: give the distances to all {count(n, 'row')} of the tree"
        )
    assert tree.method is not None
    within = np.asarray(tree.X)
    unit = power_of_two(D.max(initial=0.0))
    return nearest_of(
        len(D), lambda a, b: D[a:b] / unit, tree.method, tree.merges, labels,
        lambda i, j: within[np.ix_(i, j)] / unit,
    )  # fmt: skip


def _predict_from_centers(
    tree: "Tree", rows: np.ndarray, new: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    assert tree.method is not None
    unit = power_of_two(max(np.abs(rows).max(initial=0.0), np.abs(new).max(initial=0.0)))
    rows, new = rows / unit, new / unit  # the nearest centre is the same in any unit
    centers, factors = centers_of(rows, tree.method, tree.merges, labels)
    labels_new, step = np.empty(len(new), dtype=np.intp), max(1, BLOCK_DISTANCES // len(centers))
    for a in range(0, len(new), step):
        d2 = SquaredEuclidean().compare(np.ascontiguousarray(new[a : a + step]), centers)
        labels_new[a : a + step] = (d2 * factors).argmin(axis=1)
    return labels_new


def distances_given(tree: "Tree", X: npt.ArrayLike | None) -> np.ndarray:
    """Return condensed distances: given, or computed from rows."""
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
