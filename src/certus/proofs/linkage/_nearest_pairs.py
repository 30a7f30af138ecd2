"""A look at a merge: were the two clusters the nearest of those alive then?

    d(A, B) ≤ d(A, C), d(B, C)        for every cluster C that was alive

That is enough where heights cannot fall (single, complete, average, weighted, ward: two clusters
that are nearest to each other stay so, whatever is joined elsewhere). Of centroid and median the
two must be the least pair of all, d(A, B) ≤ d(C, C'). Of single linkage the smaller of the two is
enough: its least distance to any other row is an edge of the least spanning tree.

``every_merge`` follows the tree from its leaves with all distances at hand; ``some_merges`` makes
those that each look needs.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linkage._centers import Centers
from certus.proofs.linkage._cluster_distances import (
    EXTREME,
    SQUARED,
    Members,
    joined_inner,
    share,
)
from certus.proofs.linkage._tree import MONOTONE, Hierarchy

OTHERS = 14  # clusters besides the two whose nearest is looked for, where the least pair is claimed


class Look(NamedTuple):
    """At merge t: d(A, B), and the least distance seen, between clusters c and c'."""

    t: int
    d: float
    least: float
    c: int
    c2: int


# --- all merges -----------------------------------------------------------------------------------


class Alive:
    """Distances of all clusters alive, in a matrix; a cluster has the place of its first leaf."""

    def __init__(self, link: Centers | Members):
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
        """From the centre of cluster n + t."""
        new = np.full(self.tree.n, np.inf)
        new[self.alive] = self.link.to(self.tree.n + t, self.at[self.alive])
        return new


class FromMembers(Alive):
    """Least, largest and mean distances of AB follow from those of A and B."""

    link: Members

    def _joined(self, t: int, i: int, j: int) -> np.ndarray:
        a, b = self.tree.pairs[t]
        if self.link.method in EXTREME:
            return np.asarray(EXTREME[self.link.method](self.D[i], self.D[j]))
        alpha = share(self.tree.size[a], self.tree.size[b], self.link.method)
        return np.asarray(alpha * self.D[i] + (1 - alpha) * self.D[j])


class FromSquares(FromMembers):
    """So do mean squares; distances are these less what the clusters have inside."""

    def __init__(self, link: Members):
        super().__init__(link)
        self.D *= self.D

    def row(self, place: int) -> np.ndarray:
        return self.link._of(self.D[place], self.at[place], self.at)

    def _joined(self, t: int, i: int, j: int) -> np.ndarray:
        a, b = self.tree.pairs[t]
        alpha, W = share(self.tree.size[a], self.tree.size[b], self.link.method), self.link.W
        assert W is not None
        W[self.tree.n + t] = joined_inner(W[a], W[b], self.D[i, j], alpha)
        return super()._joined(t, i, j)


def every_merge(link: Centers | Members, tree: Hierarchy, method: str) -> list[Look]:
    """O(n²) distances, and as much memory."""
    if isinstance(link, Members):
        now: Alive = (FromSquares if method in SQUARED else FromMembers)(link)
    else:
        now = Alive(link)
    nearest = None if method in MONOTONE else Nearest(now, tree.n)
    looks = []
    for t, (a, b) in enumerate(tree.pairs):
        i, j = int(tree.start[a]), int(tree.start[b])
        rows = [(i, now.row(i)), (j, now.row(j))]
        seen = [(float(row.min()), c, int(row.argmin())) for c, row in rows]
        if nearest is not None:
            seen.append(nearest.least())
        least, c, c2 = min(seen)
        looks.append(Look(t, float(rows[0][1][j]), least, int(now.at[c]), int(now.at[c2])))
        now.join(t, i, j)
        if nearest is not None:
            nearest.join(now, i, j)
    return looks


class Nearest:
    """The nearest of every cluster, kept from merge to merge."""

    def __init__(self, now: Alive, n: int):
        self.d, self.of = np.full(n, np.inf), np.zeros(n, dtype=np.intp)
        for i in range(n):
            self._look(now, i)

    def _look(self, now: Alive, i: int) -> None:
        row = now.row(i)
        self.of[i] = row.argmin()
        self.d[i] = row[self.of[i]]

    def least(self) -> tuple[float, int, int]:
        i = int(self.d.argmin())
        return float(self.d[i]), i, int(self.of[i])

    def join(self, now: Alive, i: int, j: int) -> None:
        stale = ((self.of == i) | (self.of == j)) & np.isfinite(self.d)
        self.d[j], stale[i], stale[j] = np.inf, True, False
        new = now.row(i)
        nearer = new < self.d
        self.d[nearer], self.of[nearer] = new[nearer], i
        for k in np.flatnonzero(stale & ~nearer):
            self._look(now, int(k))


# --- some -----------------------------------------------------------------------------------------


def chosen(cost: np.ndarray, method: str, most: int, budget: float) -> np.ndarray:
    """Merges to look at: spread over all, in step with no pattern, as many as can be paid for."""
    count, spent = len(cost), 0.0
    taken: list[int] = []
    cost = cost * (1.0 if method in MONOTONE else (2 + OTHERS) / 2)
    for t in dict.fromkeys(
        (np.arange(4 * most) * 0.6180339887498949 % 1.0 * count).astype(int).tolist()
    ):
        if len(taken) < most and cost[t] <= (budget - spent) / 4:
            spent += cost[t]
            taken.append(t)
    if not taken and count:
        taken = [int(np.argmin(cost))]
    return np.sort(np.array(taken, dtype=np.intp))


def some_merges(
    link: Centers | Members, tree: Hierarchy, method: str, merges: np.ndarray
) -> list[Look]:
    return [_look_at(link, tree, method, int(t)) for t in merges]


def _look_at(link: Centers | Members, tree: Hierarchy, method: str, t: int) -> Look:
    alive = tree.alive(t)
    a, b = tree.pairs[t]
    if method == "single" and tree.size[b] < tree.size[a]:
        a, b = b, a
    asked = [a] if method == "single" else [a, b]
    if method not in MONOTONE:
        places = (np.arange(OTHERS) * 0.6180339887498949 % 1.0 * len(alive)).astype(int)
        asked += alive[np.unique(places)].tolist()
    d, seen = np.inf, []
    for c in asked:
        row = link.to(c, alive)
        if c == a:
            d = float(row[alive == b][0])
        row[alive == c] = np.inf
        seen.append((float(row.min()), int(c), int(alive[row.argmin()])))
    return Look(t, d, *min(seen))
