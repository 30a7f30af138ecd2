"""Agglomerative trees: from n rows, the two nearest clusters are joined until one is left.

    merge t = argmin d(A, B) over the clusters alive        height h_t = d(A, B)

d is one of seven: single, complete, average, weighted, centroid, median, ward (from the rows in
``_cluster_distances.py``, from centres in ``_centers.py``).

``check`` is given the merges. For all of them it checks that they form a tree, its sizes, the order
of heights and the labels of the cut. It recomputes heights, and shows that the two clusters of a
merge were the nearest (``_nearest_pairs.py``): for all merges if n is small, else for a sample.
"""

from typing import Any

import numpy as np

from certus.proofs.linkage._centers import LinkageCenters
from certus.proofs.linkage._cluster_distances import SQUARED_METHODS, ClusterMembers
from certus.proofs.linkage._nearest_pairs import (
    MergeCheck,
    all_merges,
    sample_merges,
    sampled_merges,
)
from certus.proofs.linkage._row_distances import (
    GivenDistances,
    LeafRows,
    RowVectors,
    asymmetry_errors,
)
from certus.proofs.linkage._tree import (
    Hierarchy,
    height_errors,
    hierarchy,
    highest_inside,
    inversions,
    label_errors,
    order_errors,
    size_errors,
    tree_errors,
)
from certus.proofs.types import RowData

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
EPSILON = 2.0**-52
MAX_SAMPLED_MERGES = 200  # merges that are checked, if not all are
MIN_SQUARED, MAX_SQUARED = 1e-140, 1e140  # distances whose squares can be summed
MAX_EXHAUSTIVE_WORK = 2**25  # n²(p + 16), up to which all merges are checked: 0.1 to 0.3 s
MAX_EXHAUSTIVE_ROWS = 2048  # rows whose distances are all held: 34 MB
SAMPLE_WORK = 2.0**26  # elements compared to check a sample, and again for heights: 0.1 to 0.2 s
PAIR_LOOKUP_WORK = 8  # cost of looking up the two rows of a pair, in elements compared
MAX_REPORTED = 20  # contradictions that are reported; further ones are only counted


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
    every: float = MAX_EXHAUSTIVE_WORK,
    budget: float = SAMPLE_WORK,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Check that ``merges`` is the tree of these rows.

    ``merges``: two clusters, height and size each; columns that are missing are not claimed.
    ``metric``: a name of ``proofs/distances.py``, "precomputed" (the data are distances: square,
    or those above the diagonal in one column), or None for one without a definition. ``scale``
    divides the columns. ``columns``: the leaves are columns. ``absolute``: distances are
    1 − |1 − d|. ``labels`` are the cut into ``n_clusters``, or at ``threshold``;
    ``representatives`` is, for each label, the leaf with the least sum of distances to the others.
    ``precision``: ε of the floats that the model used.

    A height may be off by tol·d plus rounding (``_height_tolerance``), and no cluster may be nearer
    by more than that than the one that was joined, so ties may go either way.

    O(n²p) operations if n²(p + 16) ≤ ``every``; else at most ``budget`` for heights and as much for
    the sample. Memory O(n·p); O(n²) if n ≤ MAX_EXHAUSTIVE_ROWS.
    """
    merges = np.asarray(merges, dtype=float)
    n = _leaves(data, merges, metric, columns)
    result: dict[str, Any] = {
        "objective": 0.0, "bound": 0.0, "gap": 0.0, "residual": 0.0, "kind": "exact", "wrong": [],
        "merges": n - 1, "sampled": 0, "heights": 0, "inversions": [], "far": 0.0, "top": 0.0,
    }  # fmt: skip
    wrong = tree_errors(merges, n)
    h = merges[:, 2] if merges.shape[1] > 2 else None
    wrong += [] if wrong or h is None else height_errors(h)
    if wrong:
        return _with_count(result, wrong)
    tree = hierarchy(merges, n)
    wrong += size_errors(tree, merges[:, 3]) if merges.shape[1] > 3 else []
    known, is_squared = h is not None, method in SQUARED_METHODS
    if metric is None:
        result["unproven"] = "a distance of your own has no definition to compare with"
        wrong += order_errors(tree, h, method, 1e-9 * h) if h is not None else []
    elif n > 1:
        unit = _unit_of_squares(data) if metric == "precomputed" and is_squared else 1.0
        rows = _rows(data, tree, metric, metric_params or {}, scale, columns, absolute, unit)
        wrong += asymmetry_errors(rows.D, n, tol) if isinstance(rows, GivenDistances) else []
        h, compared = _compare_merges(
            rows, tree, method, h, unit, precision, ours, every, budget, tol
        )
        result |= {
            name: compared[name]
            for name in ("residual", "sampled", "heights", "inversions", "equal_below")
        }
        wrong += compared["wrong"]
        if representatives is not None:
            wrong += _representative_errors(rows, tree, labels, representatives, tol)
        result["top"] = float(np.nanmax(h, initial=0.0))
        result["far"] = _distance_from_origin(rows, result["top"])
    if labels is not None and (known or threshold is None):
        wrong += label_errors(tree, h, labels, n_clusters, threshold)
    return _with_count(result, wrong)


def _with_count(result: dict[str, Any], wrong: list[str]) -> dict[str, Any]:
    count = float(len(wrong))
    return {**result, "objective": count, "gap": count, "wrong": wrong[:MAX_REPORTED]}


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
    unit: float,
) -> LeafRows:
    X = data.all_rows()
    if metric == "precomputed":
        return GivenDistances(X, tree.order, unit)
    X = X.T if columns else X
    return RowVectors(X, tree.order, metric, params, scale, absolute)


def _unit_of_squares(data: RowData) -> float:
    """Return 2^k to divide given distances by so that squares can be summed; 1 where they can."""
    most = float(data.all_rows().max(initial=0.0))
    if most == 0 or MIN_SQUARED < most < MAX_SQUARED:
        return 1.0
    return float(2.0 ** (int(np.frexp(most)[1]) - 1))


def _compare_merges(
    rows: LeafRows,
    tree: Hierarchy,
    method: str,
    h: np.ndarray | None,
    unit: float,
    precision: float,
    ours: bool,
    every: float,
    budget: float,
    tol: float,
) -> tuple[Any, dict[str, Any]]:
    """Compare heights and nearest clusters with the rows, which are in units of ``unit``.

    Returns the claimed heights (without a claim the recomputed ones, NaN where not recomputed), and
    the results by name.
    """
    n, wrong = tree.n, []
    h = None if h is None else h / unit
    link: LinkageCenters | ClusterMembers
    if method in SQUARED_METHODS and isinstance(rows, RowVectors) and rows.power == 2:
        link = LinkageCenters(rows, tree, method)
    else:
        link = ClusterMembers(rows, tree, method, h)
    if n <= MAX_EXHAUSTIVE_ROWS and n * n * (rows.p + 16) <= every:
        checks = all_merges(link, tree, method)
    else:
        sampled = sample_merges(link.cost() * (rows.p + 4), method, MAX_SAMPLED_MERGES, budget)
        checks = sampled_merges(link, tree, method, sampled)
    true = np.full(n - 1, np.nan)
    true[[merge.t for merge in checks]] = [merge.d for merge in checks]
    if isinstance(link, LinkageCenters):
        true = link.d
    elif len(checks) < n - 1:
        count = tree.size[tree.pairs].prod(axis=1)
        cheap = np.argsort(count, kind="stable")
        cheap = np.sort(cheap[np.cumsum(count[cheap]) * (rows.p + PAIR_LOOKUP_WORK) <= budget])
        true[cheap] = link.heights(cheap)
    claimed = true if h is None else h
    known_at = np.flatnonzero(~np.isnan(true))
    tolerance = _height_tolerance(
        rows, tree, method, np.where(np.isnan(true), claimed, true), precision, tol, ours
    )
    with np.errstate(over="ignore"):
        claimed, true, tolerance = claimed * unit, true * unit, tolerance * unit
        checks = [merge._replace(d=merge.d * unit, least=merge.least * unit) for merge in checks]
    off = np.abs(claimed - true)
    for t in known_at[off[known_at] > tolerance[known_at]]:
        a, b = (tree.name(c) for c in tree.pairs[t])
        stated, is_at = f"{claimed[t]:.6g}", f"{true[t]:.6g}"
        wrong.append(f"merge {t} joins {a} and {b} at {stated}, but they are {is_at} apart")
    wrong += [
        _nearer_message(merge, tree)
        for merge in checks
        if merge.least < merge.d - tolerance[merge.t]
    ]
    # other libraries may sort heights that differ by rounding only
    wrong += order_errors(tree, claimed, method, tolerance * (not ours))
    size = np.where(true > 0, true, 1.0)[known_at]
    return claimed, {
        "wrong": wrong, "sampled": len(checks), "heights": 0 if h is None else len(known_at),
        "residual": float(np.max(off[known_at] / size, initial=0.0)),
        "inversions": inversions(tree, claimed, tolerance).tolist(),
        "equal_below": float(rows.rounding(0.0)) if ours else _dot_product_rounding(rows),
    }  # fmt: skip


def _height_tolerance(
    rows: LeafRows,
    tree: Hierarchy,
    method: str,
    d: np.ndarray,
    precision: float,
    tol: float,
    ours: bool,
) -> np.ndarray:
    """Return by how much the height of each merge may be off.

    Relative to d: tol, and 4ε for each nested mean. In addition, if d² is a difference of larger
    squares (Lance and Williams), 8ε(p + 8 + joins) of the largest of these; if d is 1 minus a
    cosine, the rounding of d = ½‖u − v‖² (``RowVectors.rounding``). Other libraries compute
    1 − uᵀv, for which (p + 64)·2⁻⁵² is allowed, but at most tol of the largest height.
    """
    joins = int(tree.depth.max())
    means = 0 if method in ("single", "complete") else joins
    d = np.nan_to_num(d)
    share = (tol + 4 * precision * (1 + means)) * d
    if method in SQUARED_METHODS:
        high = highest_inside(tree, d)
        rounding = 8 * precision * (rows.p + 8 + joins)
        # an error of rounding·high² in d² is at most √rounding·high in d, and rounding·high²/d
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            times = np.fmin(rounding * (high / d), np.sqrt(rounding))
        return np.maximum(share, times * high)
    if ours:
        return np.asarray(share + np.minimum(rows.rounding(d), tol * float(d.max())))
    return np.asarray(share + min(_dot_product_rounding(rows), tol * float(d.max())))


def _dot_product_rounding(rows: LeafRows) -> float:
    """Return the rounding of distances computed as 1 − uᵀv, 0 for other metrics."""
    return 0.0 if rows.exact else (rows.p + 64) * EPSILON


def _nearer_message(merge: MergeCheck, tree: Hierarchy) -> str:
    a, b = tree.pairs[merge.t]
    merge = merge._replace(c=merge.c2, c2=merge.c) if merge.c2 in (a, b) else merge
    stated = f"merge {merge.t} joins {tree.name(a)} and {tree.name(b)}, {merge.d:.6g} apart, but "
    if merge.c in (a, b):
        return stated + f"{tree.name(merge.c2)} is {merge.least:.6g} from {tree.name(merge.c)}"
    return stated + f"{tree.name(merge.c)} and {tree.name(merge.c2)} are {merge.least:.6g} apart"


def _representative_errors(
    rows: LeafRows,
    tree: Hierarchy,
    labels: np.ndarray | None,
    representatives: np.ndarray,
    tol: float,
) -> list[str]:
    wrong, place = [], np.argsort(tree.order)
    for label, claimed in enumerate(np.asarray(representatives).tolist()):
        members = np.flatnonzero(np.asarray(labels) == label)
        if claimed not in members:
            wrong.append(f"representative {claimed} is none of the leaves labelled {label}")
            continue
        each = [rows.pairs(np.full(len(members), i), place[members]) for i in place[members]]
        total = np.array([d.sum() for d in each])
        best, stated = int(total.argmin()), total[members == claimed][0]
        if stated > total[best] * (1 + tol) + float(np.sum(rows.rounding(each[best]))):
            wrong.append(
                f"representative {claimed} of label {label} is {stated:.6g} from the others in "
                f"total, leaf {members[best]} only {total[best]:.6g}"
            )
    return wrong


def _distance_from_origin(rows: LeafRows, top: float) -> float:
    """Return the largest coordinate relative to the largest height."""
    if not (isinstance(rows, RowVectors) and rows.X.dtype.kind == "f" and rows.exact and top > 0):
        return 0.0
    return float(np.nanmax(np.abs(rows.X), initial=0.0)) / top
