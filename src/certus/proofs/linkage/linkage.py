"""Agglomerative trees: from n rows, the two nearest clusters are joined until one is left.

    merge t = argmin d(A, B) over the clusters alive        height h_t = d(A, B)

d is one of seven: single, complete, average, weighted, centroid, median, ward (from the rows in
``_cluster_distances.py``, from centres in ``_centers.py``).

``check`` is given the merges. That they are a tree, its sizes, the order of its heights and the
labels of its cut are checked of all; heights are recomputed, and at merges the two clusters are
shown to be the nearest (``_nearest_pairs.py``): at all where n is small, else at a sample.
"""

from typing import Any

import numpy as np

from certus.proofs.linkage._centers import Centers
from certus.proofs.linkage._cluster_distances import SQUARED, Members
from certus.proofs.linkage._nearest_pairs import Look, chosen, every_merge, some_merges
from certus.proofs.linkage._row_distances import Given, LeafRows, Vectors, not_symmetric
from certus.proofs.linkage._tree import (
    Hierarchy,
    hierarchy,
    highest_inside,
    inversions,
    what_is_no_tree,
    wrong_heights,
    wrong_labels,
    wrong_order,
    wrong_sizes,
)
from certus.proofs.types import RowData

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
EPSILON = 2.0**-52
LOOKS = 200  # merges looked at, if not all are
EVERY = 2**25  # elements: n²(p + 16) up to which all merges are looked at, .1 to .3 s
LARGEST = 2048  # rows of which all distances are held: 34 MB
BUDGET = 2.0**26  # elements compared for looks at some merges, and again for heights, .1 to .2 s
A_PAIR = 8  # elements that looking up the two rows of a pair is worth
NAMED = 20  # sentences; the rest is counted


def check(
    data: RowData,
    merges: np.ndarray,
    method: str,
    metric: str | None = "euclidean",
    metric_params: dict[str, Any] | None = None,
    scale: np.ndarray | None = None,
    columns: bool = False,
    absolute: bool = False,
    labels: np.ndarray | None = None,
    n_clusters: int | None = None,
    threshold: float | None = None,
    representatives: np.ndarray | None = None,
    precision: float = EPSILON,
    ours: bool = False,
    every: float = EVERY,
    budget: float = BUDGET,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Is this the tree of these rows?

    ``merges``: two clusters, height and size each; without heights or sizes these are not claimed.
    ``metric``: a name of ``proofs/distances.py``, "precomputed" (the data are distances: square,
    or those above the diagonal in one column), or None for one that has no definition. ``scale``
    divides the columns. ``columns``: the leaves are columns. ``absolute``: distances are
    1 − |1 − d|.
    ``labels`` are the cut into ``n_clusters``, or at ``threshold``; ``representatives`` the leaf of
    each label with the least sum of distances to the others of its label. ``precision``: ε of the
    floats that the model worked in.

    A height may be off by tol·d and by what rounding does (``forgiven``), and no cluster may be
    nearer than the one that was joined by more than that, so ties may go either way.

    O(n²p) operations where n²(p + 16) ≤ ``every``; else at most ``budget`` for heights and as much
    for looks. Memory O(n·p); O(n²) where n ≤ LARGEST.
    """
    merges = np.asarray(merges, dtype=float)
    n = _leaves(data, merges, metric, columns)
    found: dict[str, Any] = {
        "objective": 0.0, "bound": 0.0, "gap": 0.0, "residual": 0.0, "kind": "exact", "wrong": [],
        "merges": n - 1, "sampled": 0, "heights": 0, "inversions": [], "far": 0.0, "top": 0.0,
    }  # fmt: skip
    wrong = what_is_no_tree(merges, n)
    h = merges[:, 2] if merges.shape[1] > 2 else None
    wrong += [] if wrong or h is None else wrong_heights(h)
    if wrong:
        return _told(found, wrong)
    tree = hierarchy(merges, n)
    wrong += wrong_sizes(tree, merges[:, 3]) if merges.shape[1] > 3 else []
    known = h is not None
    if metric is None:
        found["unproven"] = "a distance of your own has no definition to compare with"
        wrong += wrong_order(tree, h, method, 1e-9 * h) if h is not None else []
    elif n > 1:
        rows = _rows(data, tree, metric, metric_params or {}, scale, columns, absolute)
        wrong += not_symmetric(rows.D, n, tol) if isinstance(rows, Given) else []
        h, seen = _compared(rows, tree, method, h, precision, ours, every, budget, tol)
        found |= {
            name: seen[name]
            for name in ("residual", "sampled", "heights", "inversions", "equal_below")
        }
        wrong += seen["wrong"]
        if representatives is not None:
            wrong += _wrong_representatives(rows, tree, labels, representatives, tol)
        found["top"] = float(np.nanmax(h, initial=0.0))
        found["far"] = _far(rows, found["top"])
    if labels is not None and (known or threshold is None):
        wrong += wrong_labels(tree, h, labels, n_clusters, threshold)
    return _told(found, wrong)


def _told(found: dict[str, Any], wrong: list[str]) -> dict[str, Any]:
    count = float(len(wrong))
    return {**found, "objective": count, "gap": count, "wrong": wrong[:NAMED]}


def _leaves(data: RowData, merges: np.ndarray, metric: str | None, columns: bool) -> int:
    rows, width = data.shape
    condensed = metric == "precomputed" and rows != width
    return (
        len(merges) + 1
        if condensed and 2 * rows == len(merges) * (len(merges) + 1)
        else int(width if columns else rows)
    )


def _rows(
    data: RowData,
    tree: Hierarchy,
    metric: str,
    params: dict[str, Any],
    scale: np.ndarray | None,
    columns: bool,
    absolute: bool,
) -> LeafRows:
    X = data.all_rows()
    if metric == "precomputed":
        return Given(X, tree.order)
    X = X.T if columns else X
    return Vectors(X, tree.order, metric, params, scale, absolute)


def _compared(
    rows: LeafRows,
    tree: Hierarchy,
    method: str,
    h: np.ndarray | None,
    precision: float,
    ours: bool,
    every: float,
    budget: float,
    tol: float,
) -> tuple[Any, dict[str, Any]]:
    """(heights claimed, or else as found, and NaN where not looked at; what was seen)."""
    n, wrong = tree.n, []
    link: Centers | Members
    if method in SQUARED and isinstance(rows, Vectors) and rows.power == 2:
        link = Centers(rows, tree, method)
    else:
        link = Members(rows, tree, method, h)
    if n <= LARGEST and n * n * (rows.p + 16) <= every:
        looks = every_merge(link, tree, method)
    else:
        taken = chosen(link.cost() * (rows.p + 4), method, LOOKS, budget)
        looks = some_merges(link, tree, method, taken)
    true = np.full(n - 1, np.nan)
    true[[look.t for look in looks]] = [look.d for look in looks]
    if isinstance(link, Centers):
        true = link.d
    elif len(looks) < n - 1:
        count = tree.size[tree.pairs].prod(axis=1)
        cheap = np.argsort(count, kind="stable")
        cheap = np.sort(cheap[np.cumsum(count[cheap]) * (rows.p + A_PAIR) <= budget])
        true[cheap] = link.heights(cheap)
    claimed = true if h is None else h
    at = np.flatnonzero(~np.isnan(true))
    forgiven = _forgiven(
        rows, tree, method, np.where(np.isnan(true), claimed, true), precision, tol, ours
    )
    off = np.abs(claimed - true)
    for t in at[off[at] > forgiven[at]]:
        a, b = (tree.name(c) for c in tree.pairs[t])
        said, is_at = f"{claimed[t]:.6g}", f"{true[t]:.6g}"
        wrong.append(f"merge {t} joins {a} and {b} at {said}, but they are {is_at} apart")
    wrong += [_nearer(look, tree) for look in looks if look.least < look.d - forgiven[look.t]]
    # equal heights that rounding put in another order are those of other libraries
    wrong += wrong_order(tree, claimed, method, forgiven * (not ours))
    size = np.where(true > 0, true, 1.0)[at]
    return claimed, {
        "wrong": wrong, "sampled": len(looks), "heights": 0 if h is None else len(at),
        "residual": float(np.max(off[at] / size, initial=0.0)),
        "inversions": inversions(tree, claimed, forgiven).tolist(),
        "equal_below": float(rows.lost(0.0)) if ours else _flat(rows),
    }  # fmt: skip


def _forgiven(
    rows: LeafRows,
    tree: Hierarchy,
    method: str,
    d: np.ndarray,
    precision: float,
    tol: float,
    ours: bool,
) -> np.ndarray:
    """By how much the height of each merge may be off.

    A share: tol, and 4ε for each mean of means on the way to it. Besides, where d² is a difference
    of larger squares (Lance and Williams), 8ε(p + 8 + joins) of the largest of these; where d is 1
    less a cosine, what rounding does to d = ½‖u − v‖² (``Vectors.lost``). Others compute 1 − uᵀv,
    and (p + 64)·2⁻⁵² is then forgiven, as long as that is no more than tol of the largest height.
    """
    joins = int(tree.depth.max())
    means = 0 if method in ("single", "complete") else joins
    d = np.nan_to_num(d)
    share = (tol + 4 * precision * (1 + means)) * d
    if method in SQUARED:
        high = highest_inside(tree, d)
        lost = 8 * precision * (rows.p + 8 + joins)
        # of high², so √lost·high of d = √d² at most, and lost·high²/d where d is not so small
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            times = np.fmin(lost * (high / d), np.sqrt(lost))
        return np.maximum(share, times * high)
    if ours:
        return np.asarray(share + np.minimum(rows.lost(d), tol * float(d.max())))
    return np.asarray(share + min(_flat(rows), tol * float(d.max())))


def _flat(rows: LeafRows) -> float:
    """Distances of 1 − uᵀv that differ by less are equal, to those who compute them so."""
    return 0.0 if rows.exact else (rows.p + 64) * EPSILON


def _nearer(look: Look, tree: Hierarchy) -> str:
    a, b = tree.pairs[look.t]
    look = look._replace(c=look.c2, c2=look.c) if look.c2 in (a, b) else look
    said = f"merge {look.t} joins {tree.name(a)} and {tree.name(b)}, {look.d:.6g} apart, but "
    if look.c in (a, b):
        return said + f"{tree.name(look.c2)} is {look.least:.6g} from {tree.name(look.c)}"
    return said + f"{tree.name(look.c)} and {tree.name(look.c2)} are {look.least:.6g} apart"


def _wrong_representatives(
    rows: LeafRows,
    tree: Hierarchy,
    labels: np.ndarray | None,
    representatives: np.ndarray,
    tol: float,
) -> list[str]:
    wrong, at = [], np.argsort(tree.order)
    for label, claimed in enumerate(np.asarray(representatives).tolist()):
        own = np.flatnonzero(np.asarray(labels) == label)
        if claimed not in own:
            wrong.append(f"representative {claimed} is none of the leaves labelled {label}")
            continue
        each = [rows.pairs(np.full(len(own), i), at[own]) for i in at[own]]
        total = np.array([d.sum() for d in each])
        best, said = int(total.argmin()), total[own == claimed][0]
        if said > total[best] * (1 + tol) + float(np.sum(rows.lost(each[best]))):
            wrong.append(
                f"representative {claimed} of label {label} is {said:.6g} from the others in all, "
                f"leaf {own[best]} only {total[best]:.6g}"
            )
    return wrong


def _far(rows: LeafRows, top: float) -> float:
    """How many times as far from the origin as from each other the rows lie."""
    if not (isinstance(rows, Vectors) and rows.X.dtype.kind == "f" and rows.exact and top > 0):
        return 0.0
    return float(np.nanmax(np.abs(rows.X), initial=0.0)) / top
