"""Agglomerative trees: heights and nearness at every merge, in high precision."""

from itertools import combinations
from typing import Any

import numpy as np
from flint import arb

from ..precise.balls import ZERO, balls, total
from ..precise.metrics import distances
from .linear_problems import Rows
from .verdict import Fault, NotJudged

SQUARED = ("ward", "centroid", "median")
MOST_ROWS = 26


def judge(c: Any, _model: Any, rows: Rows) -> list[Fault]:
    if not c.certified:
        return []
    P = c.parameters
    X = rows.X if P.get("scale") is None else rows.X / np.asarray(P["scale"])
    X = X.T if P.get("columns") else X
    n = len(X)
    merges = np.asarray(P["merges"], dtype=float)
    if n > MOST_ROWS or len(merges) != n - 1 or P["metric"] == "precomputed":
        raise NotJudged("a tree of many rows, or of given distances")
    if P.get("scale") is not None:
        raise NotJudged("a tree of scaled columns")
    link = Links(X, P)
    faults = []
    for t, merge in enumerate(merges):
        a, b = int(merge[0]), int(merge[1])
        d = link.between(a, b)
        lost = link.forgiven(c.tol, P.get("precision", 2.0**-52), d)
        if len(merge) > 2 and abs(d - arb(float(merge[2]))) > lost:
            faults.append(Fault(f"height of merge {t}", float(merge[2]), float(d.mid())))
        near = link.nearest(a, b)
        if near is not None and near < d - lost:
            faults.append(
                Fault(f"a nearer cluster at merge {t}", float(d.mid()), float(near.mid()))
            )
        link.join(a, b, d)
    return faults[:3]


class Links:
    """The clusters alive, and how far they are from each other."""

    def __init__(self, X: np.ndarray, P: dict[str, Any]):
        self.method, self.n = P["method"], len(X)
        self.D = distances(X, X, P["metric"], P.get("metric_params"))
        if P.get("absolute"):
            self.D = [[1 - abs(1 - v) for v in row] for row in self.D]
        if any(
            not v.is_finite() for i, row in enumerate(self.D) for j, v in enumerate(row) if i < j
        ):
            raise NotJudged("distances that are not defined")
        self.flat = P["metric"] in ("cosine", "correlation")
        self.vectors = self.method in SQUARED and P["metric"] in ("euclidean", "l2")
        if self.method in SQUARED and not self.vectors:
            raise NotJudged("squared linkage of a distance that is not Euclidean")
        self.p = X.shape[1]
        self.members = {i: [i] for i in range(self.n)}
        self.centers = {i: balls(X[i]) for i in range(self.n)}
        self.weights = {i: {i: arb(1)} for i in range(self.n)}  # of leaves, in WPGMA
        self.next, self.highest = self.n, ZERO

    def between(self, a: int, b: int) -> arb:
        if self.vectors:
            square = total(
                (u - v) ** 2 for u, v in zip(self.centers[a], self.centers[b], strict=True)
            )
            if self.method == "ward":
                na, nb = len(self.members[a]), len(self.members[b])
                square = square * 2 * na * nb / (na + nb)
            return square.sqrt()
        if self.method == "weighted":
            return total(
                u * v * self.D[i][j]
                for i, u in self.weights[a].items() for j, v in self.weights[b].items()
            )  # fmt: skip
        pairs = [self.D[i][j] for i in self.members[a] for j in self.members[b]]
        if self.method == "average":
            return total(pairs) / len(pairs)
        pick = min if self.method == "single" else max
        return pick(pairs, key=lambda v: v.mid())

    def nearest(self, a: int, b: int) -> arb | None:
        """The least distance of the two (centroid and median: of any two) to another cluster."""
        if self.method in ("centroid", "median"):
            pairs = list(combinations(self.members, 2))
        elif self.method == "single":
            inside = min((a, b), key=lambda k: len(self.members[k]))
            pairs = [(inside, k) for k in self.members if k not in (a, b)]
        else:
            pairs = [(i, k) for i in (a, b) for k in self.members if k not in (a, b)]
        found = [self.between(i, k) for i, k in pairs if {i, k} != {a, b}]
        return min(found, key=lambda v: v.mid(), default=None)

    def forgiven(self, tol: float, precision: float, d: arb) -> arb:
        """tol·d and 4ε for each mean of means; of squares, what cancels; of angles, last digits."""
        joins = self.next - self.n + 1
        share = (arb(tol) + 4 * precision * (1 + joins)) * d
        if self.vectors:
            lost = arb(8 * precision * (self.p + 8 + joins))
            high = max(self.highest, d, key=lambda v: v.mid())
            return max(share, lost.sqrt() * high, key=lambda v: v.mid())
        return share + (arb((self.p + 64) * 2.0**-52) if self.flat else ZERO)

    def join(self, a: int, b: int, d: arb) -> None:
        na, nb, new = len(self.members[a]), len(self.members[b]), self.next
        half = self.method == "median"
        u, v = (arb(1) / 2,) * 2 if half else (arb(na) / (na + nb), arb(nb) / (na + nb))
        self.centers[new] = [
            u * x + v * z for x, z in zip(self.centers[a], self.centers[b], strict=True)
        ]  # fmt: skip
        self.weights[new] = {i: w / 2 for k in (a, b) for i, w in self.weights[k].items()}
        self.members[new] = self.members.pop(a) + self.members.pop(b)
        self.highest = max(self.highest, d, key=lambda w: w.mid())
        self.next += 1
