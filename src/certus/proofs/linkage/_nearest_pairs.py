"""Whether the two clusters of a merge were the nearest of those alive.

    d(A, B) ≤ d(A, C), d(B, C)        for every cluster C that was alive

This suffices if heights cannot fall (single, complete, average, weighted, ward: two clusters that
are nearest to each other remain so, whatever is joined elsewhere). For centroid and median the two
must be the nearest pair of all, d(A, B) ≤ d(C, C'). For single linkage the smaller of the two
suffices: its least distance to any other row is an edge of the minimum spanning tree.

``all_merges`` follows the tree from its leaves with all distances in memory; ``sampled_merges``
computes those that each check needs.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linkage._centers import LinkageCenters
from certus.proofs.linkage._cluster_distances import (
    EXTREME_REDUCTIONS,
    SQUARED_METHODS,
    ClusterMembers,
    joined_inner,
    share,
)
from certus.proofs.linkage._tree import MONOTONE_METHODS, Hierarchy

# Clusters, besides A and B, whose nearest is computed in a sampled check of a nearest pair.
EXTRA_CLUSTERS = 14


class MergeCheck(NamedTuple):
    """Result for one merge: its distance, and the least distance between clusters then alive."""

    t: int  # the merge
    d: float  # d(A, B)
    least: float  # the least distance that was computed, between clusters c and c2
    c: int
    c2: int


# --- all merges -----------------------------------------------------------------------------------


class ClusterDistances:
    """Matrix of distances between all clusters alive; a cluster has the place of its first leaf.

    This class takes the distances of a new cluster from its centre; subclasses update them.
    """

    def __init__(self, link: LinkageCenters | ClusterMembers):
        self.link, self.tree = link, link.tree
        self.D = link.rows.block(0, self.tree.n)
        np.fill_diagonal(self.D, np.inf)
        self.at = self.tree.order.copy()  # the cluster at each place
        self.alive = np.ones(self.tree.n, dtype=bool)

    def row(self, place: int) -> np.ndarray:
        return np.asarray(self.D[place])

    def join(self, t: int, i: int, j: int) -> None:
        new = self._joined(t, i, j)
        new[[i, j]] = np.inf
        self.D[i] = self.D[:, i] = new
        self.D[j] = self.D[:, j] = np.inf
        self.at[i], self.alive[j] = self.tree.n + t, False

    def _joined(self, t: int, i: int, j: int) -> np.ndarray:
        """Return the distances of cluster n + t, computed from its centre."""
        new = np.full(self.tree.n, np.inf)
        new[self.alive] = self.link.distances_to(self.tree.n + t, self.at[self.alive])
        return new


class MemberDistances(ClusterDistances):
    """Matrix of least, largest or mean distances, in which those of AB follow from A and B."""

    link: ClusterMembers

    def _joined(self, t: int, i: int, j: int) -> np.ndarray:
        a, b = self.tree.pairs[t]
        if self.link.method in EXTREME_REDUCTIONS:
            return np.asarray(EXTREME_REDUCTIONS[self.link.method](self.D[i], self.D[j]))
        alpha = share(self.tree.size[a], self.tree.size[b], self.link.method)
        return np.asarray(alpha * self.D[i] + (1 - alpha) * self.D[j])


class SquaredMemberDistances(MemberDistances):
    """Matrix of mean squared distances; distances are these minus the scatter within clusters."""

    def __init__(self, link: ClusterMembers):
        super().__init__(link)
        self.D *= self.D

    def row(self, place: int) -> np.ndarray:
        return self.link._linkage_distance(self.D[place], self.at[place], self.at)

    def _joined(self, t: int, i: int, j: int) -> np.ndarray:
        a, b = self.tree.pairs[t]
        alpha, W = share(self.tree.size[a], self.tree.size[b], self.link.method), self.link.W
        assert W is not None
        W[self.tree.n + t] = joined_inner(W[a], W[b], self.D[i, j], alpha)
        return super()._joined(t, i, j)


def all_merges(
    link: LinkageCenters | ClusterMembers, tree: Hierarchy, method: str
) -> list[MergeCheck]:
    """Check every merge, with O(n²) distances and memory."""
    if isinstance(link, ClusterMembers):
        state: ClusterDistances = (
            SquaredMemberDistances if method in SQUARED_METHODS else MemberDistances
        )(link)
    else:
        state = ClusterDistances(link)
    nearest = None if method in MONOTONE_METHODS else NearestClusters(state, tree.n)
    checks = []
    for t, (a, b) in enumerate(tree.pairs):
        i, j = int(tree.start[a]), int(tree.start[b])
        rows = [(i, state.row(i)), (j, state.row(j))]
        candidates = [(float(row.min()), c, int(row.argmin())) for c, row in rows]
        if nearest is not None:
            candidates.append(nearest.least())
        least, c, c2 = min(candidates)
        checks.append(
            MergeCheck(t, float(rows[0][1][j]), least, int(state.at[c]), int(state.at[c2]))
        )
        state.join(t, i, j)
        if nearest is not None:
            nearest.join(state, i, j)
    return checks


class NearestClusters:
    """The nearest neighbour of every cluster, updated from merge to merge."""

    def __init__(self, state: ClusterDistances, n: int):
        self.d, self.of = np.full(n, np.inf), np.zeros(n, dtype=np.intp)
        for i in range(n):
            self._update(state, i)

    def _update(self, state: ClusterDistances, i: int) -> None:
        row = state.row(i)
        self.of[i] = row.argmin()
        self.d[i] = row[self.of[i]]

    def least(self) -> tuple[float, int, int]:
        i = int(self.d.argmin())
        return float(self.d[i]), i, int(self.of[i])

    def join(self, state: ClusterDistances, i: int, j: int) -> None:
        stale = ((self.of == i) | (self.of == j)) & np.isfinite(self.d)
        self.d[j], stale[i], stale[j] = np.inf, True, False
        new = state.row(i)
        nearer = new < self.d
        self.d[nearer], self.of[nearer] = new[nearer], i
        for k in np.flatnonzero(stale & ~nearer):
            self._update(state, int(k))


# --- a sample -------------------------------------------------------------------------------------


def sample_merges(cost: np.ndarray, method: str, max_count: int, budget: float) -> np.ndarray:
    """Choose merges to check: spread quasi-randomly over all, as many as the budget allows."""
    count, spent = len(cost), 0.0
    sampled: list[int] = []
    cost = cost * (1.0 if method in MONOTONE_METHODS else (2 + EXTRA_CLUSTERS) / 2)
    for t in dict.fromkeys(
        (np.arange(4 * max_count) * 0.6180339887498949 % 1.0 * count).astype(int).tolist()
    ):
        if len(sampled) < max_count and cost[t] <= (budget - spent) / 4:
            spent += cost[t]
            sampled.append(t)
    if not sampled and count:
        sampled = [int(np.argmin(cost))]
    return np.sort(np.array(sampled, dtype=np.intp))


def sampled_merges(
    link: LinkageCenters | ClusterMembers, tree: Hierarchy, method: str, merges: np.ndarray
) -> list[MergeCheck]:
    return [_check_merge(link, tree, method, int(t)) for t in merges]


def _check_merge(
    link: LinkageCenters | ClusterMembers, tree: Hierarchy, method: str, t: int
) -> MergeCheck:
    alive = tree.alive(t)
    a, b = tree.pairs[t]
    if method == "single" and tree.size[b] < tree.size[a]:
        a, b = b, a
    queried = [a] if method == "single" else [a, b]
    if method not in MONOTONE_METHODS:
        places = (np.arange(EXTRA_CLUSTERS) * 0.6180339887498949 % 1.0 * len(alive)).astype(int)
        queried += alive[np.unique(places)].tolist()
    d, candidates = np.inf, []
    for c in queried:
        row = link.distances_to(c, alive)
        if c == a:
            d = float(row[alive == b][0])
        row[alive == c] = np.inf
        candidates.append((float(row.min()), int(c), int(alive[row.argmin()])))
    return MergeCheck(t, d, *min(candidates))
