"""DIANA: from one cluster of all rows, the widest is split until each row is alone.

    height of a cluster = its diameter, max d(i, j)        the next to be split has the largest

Kaufman and Rousseeuw's split of a cluster C: the row with the largest mean distance to the others
starts a splinter S; then, as long as one gains by it, the row that gains most follows it,

    gain(i) = mean d(i, C∖S∖i) − mean d(i, S) > 0        of equals, the row of smaller number

``check`` is given the tree as merges, the splits from the last to the first. Diameters are
recomputed and splits repeated: for all clusters if that is affordable, else for the smallest and a
sample. Rows may follow in another order if their gains differ by rounding only.
"""

from typing import Any

import numpy as np

from certus.proofs.linkage._row_distances import (
    TILE_ELEMENTS,
    GivenDistances,
    LeafRows,
    RowVectors,
    asymmetry_errors,
)
from certus.proofs.linkage._tree import (
    Hierarchy,
    height_errors,
    hierarchy,
    label_errors,
    order_errors,
    size_errors,
    tree_errors,
)
from certus.proofs.types import RowData

SPLIT_WORK = 2.0**27  # elements compared and sums updated for splits: about 0.3 s
MAX_SPLIT_ROWS = 4096  # rows of a cluster whose distances are all held: 134 MB
MAX_REPORTED = 20  # contradictions that are reported; further ones are only counted


# --- the definition, plain ------------------------------------------------------------------------


def split(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split one cluster, given all distances between its rows, into (S, C∖S)."""
    D = np.asarray(D, dtype=float)
    S, rest = [int(np.argmax(D.sum(axis=1)))], list(range(len(D)))
    rest.remove(S[0])
    while len(rest) > 1:
        gain = [
            D[i, rest].sum() / (len(rest) - 1) - D[i, S].mean()  # d(i, i) = 0
            for i in rest
        ]
        best = int(np.argmax(gain))
        if not gain[best] > 0:
            break
        S.append(rest.pop(best))
    return np.array(sorted(S)), np.array(rest)


# --- what a model claims --------------------------------------------------------------------------


def check(
    data: RowData,
    merges: np.ndarray,
    metric: str | None = "euclidean",
    metric_params: dict[str, Any] | None = None,
    scale: np.ndarray | None = None,
    labels: np.ndarray | None = None,
    n_clusters: int | None = None,
    threshold: float | None = None,
    ours: bool = False,
    budget: float = SPLIT_WORK,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Check that ``merges`` is the divisive tree of these rows; arguments as in ``linkage.check``.

    O(Σ |C|²p) operations over the clusters C that are checked, at most ``budget``. Memory O(n·p)
    and the distances of one cluster.
    """
    merges = np.asarray(merges, dtype=float)
    rows, width = data.shape
    n = len(merges) + 1 if metric == "precomputed" and rows != width else rows
    result: dict[str, Any] = {
        "bound": 0.0, "residual": 0.0, "kind": "exact", "merges": n - 1, "sampled": 0,
        "heights": 0, "inversions": [], "far": 0.0, "top": 0.0,
    }  # fmt: skip
    wrong = tree_errors(merges, n) or height_errors(merges[:, 2])
    if not wrong:
        tree, h = hierarchy(merges, n), merges[:, 2]
        wrong += size_errors(tree, merges[:, 3])
        wrong += order_errors(tree, h, "diana", tol * h * (not ours))
        if metric is None:
            result["unproven"] = "a distance of your own has no definition to compare with"
        elif n > 1:
            X = data.all_rows()
            at = (
                GivenDistances(X, tree.order)
                if metric == "precomputed"
                else RowVectors(X, tree.order, metric, metric_params or {}, scale, False)
            )
            wrong += asymmetry_errors(X, n, tol) if isinstance(at, GivenDistances) else []
            compared = _compare_splits(at, tree, h, budget, tol)
            wrong += compared.pop("wrong")
            result |= compared
        if labels is not None:
            wrong += label_errors(tree, h, labels, n_clusters, threshold)
    count = float(len(wrong))
    return {**result, "objective": count, "gap": count, "wrong": wrong[:MAX_REPORTED]}


def _compare_splits(
    rows: LeafRows, tree: Hierarchy, h: np.ndarray, budget: float, tol: float
) -> dict[str, Any]:
    n, size = tree.n, tree.size[tree.n :]
    cost = size.astype(float) ** 2 * (rows.p + 8)
    smallest = np.argsort(cost, kind="stable")
    sampled = smallest[
        (np.cumsum(cost[smallest]) <= budget / 2) & (size[smallest] <= MAX_SPLIT_ROWS)
    ]
    # a sample of the larger ones
    larger = np.setdiff1d(np.flatnonzero(size <= MAX_SPLIT_ROWS), sampled)
    spread = np.unique((np.arange(16) * 0.6180339887498949 % 1.0 * len(larger)).astype(int))
    larger_sampled, spent = [], 0.0
    for t in larger[spread] if len(larger) else []:
        if spent + cost[t] <= budget / 2:
            spent += cost[t]
            larger_sampled.append(t)
    sampled = np.sort(np.concatenate([sampled, np.array(larger_sampled, dtype=np.intp)]))
    wrong, residual = [], 0.0
    for t in sampled:
        a, b = tree.pairs[t]
        name = tree.name(n + t)
        D = _inside(rows, int(tree.start[n + t]), int(size[t]))
        diameter = float(D.max())
        tolerance = tol * diameter + float(rows.rounding(diameter))
        off = abs(h[t] - diameter)
        residual = max(residual, off / diameter if diameter > 0 else off)
        if off > tolerance:
            message = f"is split at {h[t]:.6g}, but its diameter is {diameter:.6g}"
            wrong.append(f"merge {t}: {name} {message}")
        in_a = np.arange(size[t]) < tree.size[a]
        first = tree.start[n + t]
        number = tree.order[first : first + size[t]]
        if not any(_matches_rule(D, S, tolerance, number) for S in (in_a, ~in_a)):
            into = f"{tree.name(a)} and {tree.name(b)}"
            wrong.append(
                f"merge {t}: {name} is split into {into}, which is not how DIANA splits it"
            )
    return {"wrong": wrong, "sampled": len(sampled), "heights": len(sampled), "residual": residual}


def _inside(rows: LeafRows, first: int, size: int) -> np.ndarray:
    step = max(1, TILE_ELEMENTS // size)
    parts = [
        rows.block(first + i, first + min(i + step, size), first, first + size)
        for i in range(0, size, step)
    ]
    return np.concatenate(parts)


def _matches_rule(
    D: np.ndarray, splinter: np.ndarray, tolerance: float, number: np.ndarray
) -> bool:
    """Whether the rule ends with this splinter; gains that are equal up to rounding may be resolved
    by the smallest row number or by the largest gain."""
    return any(_ends_with_splinter(D, splinter, tolerance, prefer) for prefer in (-number, None))


def _ends_with_splinter(
    D: np.ndarray, splinter: np.ndarray, tolerance: float, prefer: np.ndarray | None
) -> bool:
    m = len(D)
    to_rest, to_S, out = D.sum(axis=1), np.zeros(m), np.zeros(m, dtype=bool)
    gain, allowed = to_rest / max(1, m - 1), True
    while allowed:
        candidates = np.flatnonzero(splinter & ~out & (gain >= gain.max() - tolerance))
        if not len(candidates):
            return False
        i = int(candidates[np.argmax((gain if prefer is None else prefer)[candidates])])
        out[i] = True
        to_S += D[i]
        to_rest -= D[i]
        moved = int(out.sum())
        if m - moved <= 1:
            return bool((out == splinter).all())
        gain = np.where(out, -np.inf, to_rest / (m - moved - 1) - to_S / moved)
        if (out == splinter).all():
            return bool(gain.max() <= tolerance)
        allowed = bool(gain.max() >= -tolerance)
    return False
