"""HDBSCAN: merges of a minimum spanning tree of mutual reachability, and the clusters chosen.

    c_i = the k-th least distance of row i, its own 0 included     m_ij = max(c_i/β, c_j/β, d_ij/α)

Merge t joins A and B at the height h_t; l_t = min m_ij over i in A, j in B is computed from all n²
distances, in blocks. The pairs with these minima are a spanning tree, so that Σ l_t is at least the
total length of a minimum spanning tree. Two cases show that merges are right:

- l_t = h_t for all t, and heights do not fall. Every pair (i, j) joins the two parts of one merge,
  m_ij ≥ h_t, and no step of the tree between i and j is longer than h_t: the tree is minimal.
- l_t ≥ h_t, and the heights are the sorted steps of Prim's algorithm. By the first, components of
  the pairs with m_ij ≤ h lie within clusters; by the second there are equally many of both. Such
  merges, of rows that touch only through others of the same height, come from ties.
"""

from typing import Any

import numpy as np

from certus.proofs.linkage._excess_of_mass import choice_errors
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
    size_errors,
    tree_errors,
)
from certus.proofs.types import Numbers, RowData

BLOCK_ELEMENTS = 2**20  # distances held at a time: 8 MB, and as much again for their terms
MAX_REPORTED = 20  # contradictions that are reported; further ones are only counted


def check(
    data: RowData,
    merges: np.ndarray,
    metric: str | None = "euclidean",
    metric_params: dict[str, Any] | None = None,
    k: int = 1,
    alpha: float = 1.0,
    core_alpha: float = 1.0,
    edges: np.ndarray | None = None,
    labels: np.ndarray | None = None,
    probabilities: np.ndarray | None = None,
    least_size: int = 2,
    most_size: float = np.inf,
    leaves: bool = False,
    rounding: float = 0.0,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Check merges (n − 1, 4) of mutual reachability, and edges (n − 1, 3) of the spanning tree.

    ``alpha`` is α, ``core_alpha`` is β. ``labels`` and ``probabilities`` are those of the clusters
    that have ``least_size`` to ``most_size`` rows and most mass (``leaves``: no others within). A
    height may be off by tol·h plus ``rounding``, the error of the model's distances where these
    are no sums of differences, but at most by tol of the largest height.

    O(n²p) operations, three times if there are ties; memory O(n·p).
    """
    merges = np.asarray(merges, dtype=float)
    n, h = data.shape[0], merges[:, 2]
    result: dict[str, Any] = {
        "bound": 0.0, "residual": 0.0, "kind": "exact", "merges": n - 1, "sampled": 0,
        "heights": 0, "inversions": [], "far": 0.0, "top": 0.0, "length": 0.0, "excess": 0.0,
        "ties": 0,
    }  # fmt: skip
    wrong = tree_errors(merges, n) or height_errors(h)
    if not wrong:
        tree = hierarchy(merges, n)
        falls = 1 + np.flatnonzero(h[1:] < h[:-1])
        wrong += size_errors(tree, merges[:, 3])
        wrong += [f"merge {t} at {h[t]:.6g} stands after one at {h[t - 1]:.6g}" for t in falls]
    if not wrong and metric is None:
        result["unproven"] = "a distance of your own has no definition to compare with"
    elif not wrong:
        X = data.all_rows()
        rows: LeafRows = (
            GivenDistances(X, tree.order)
            if metric == "precomputed"
            else RowVectors(X, tree.order, metric or "", metric_params or {}, None, False)
        )
        off = min(rounding / min(alpha, core_alpha), tol * float(h[-1]))
        reach = Reachability(rows, k, alpha, core_alpha)
        wrong += asymmetry_errors(X, n, tol) if isinstance(rows, GivenDistances) else []
        compared = _compare_heights(reach, tree, h, tol * h + off)
        wrong += compared.pop("wrong")
        if edges is not None:
            wrong += _edge_errors(reach, tree, np.asarray(edges, dtype=float), h, tol, off)
        result |= {**compared, "far": _distance_from_origin(X) if rounding else 0.0}
    if labels is not None and not wrong:
        wrong += choice_errors(
            tree, h, labels, probabilities, least_size, most_size, leaves, tol
        )  # fmt: skip
    count = float(len(wrong))
    return {**result, "objective": count, "gap": count, "wrong": wrong[:MAX_REPORTED]}


def _distance_from_origin(X: np.ndarray) -> float:
    """Return the largest coordinate relative to the widest column."""
    width = float(np.ptp(X, axis=0).max())
    return float(np.abs(X).max()) / width if width > 0 else 0.0


class Reachability:
    """Mutual reachability of rows in the order of the leaves, computed in blocks."""

    def __init__(self, rows: LeafRows, k: int, alpha: float, core_alpha: float):
        self.rows, self.n, self.alpha = rows, rows.n, alpha
        step = max(1, BLOCK_ELEMENTS // self.n)
        self.core = np.empty(self.n)
        for i in range(0, self.n, step):  # into one array: views would keep all blocks
            D = rows.block(i, min(i + step, self.n))
            D.partition(k - 1, axis=1)
            self.core[i : i + step] = D[:, k - 1] / core_alpha

    def block(self, first: int, last: int, start: int, stop: int) -> np.ndarray:
        """Return m of rows first:last to rows start:stop."""
        M = self.rows.block(first, last, start, stop)
        if self.alpha != 1:
            M /= self.alpha
        np.maximum(M, self.core[first:last, None], out=M)
        return np.maximum(M, self.core[start:stop], out=M)

    def pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return m of rows i to rows j, pair by pair."""
        return np.maximum(
            np.maximum(self.core[i], self.core[j]), self.rows.pairs(i, j) / self.alpha
        )

    def least(self, tree: Hierarchy, t: int) -> tuple[float, int, int]:
        """Return the least m between the two parts of merge t, and the rows that have it."""
        a, b = sorted(tree.pairs[t].tolist(), key=lambda c: int(tree.size[c]))
        start, stop = int(tree.start[b]), int(tree.start[b] + tree.size[b])
        first, end = int(tree.start[a]), int(tree.start[a] + tree.size[a])
        step, best = max(1, BLOCK_ELEMENTS // (stop - start)), (np.inf, first, start)
        for i in range(first, end, step):
            M = self.block(i, min(i + step, end), start, stop)
            at = int(M.argmin())
            row, column = divmod(at, stop - start)
            best = min(best, (float(M.flat[at]), i + row, start + column))
        return best

    def steps(self) -> np.ndarray:
        """Return the sorted steps of a minimum spanning tree, by Prim's algorithm."""
        near, waiting = np.full(self.n, np.inf), np.ones(self.n, dtype=bool)
        steps, i = np.empty(self.n - 1), 0
        for t in range(self.n - 1):
            waiting[i] = False
            np.minimum(near, self.block(i, i + 1, 0, self.n)[0], out=near)
            i = int(np.argmin(np.where(waiting, near, np.inf)))
            i = i if waiting[i] else int(np.flatnonzero(waiting)[0])  # all others at infinity
            steps[t] = near[i]
        return np.sort(steps)


def _compare_heights(
    reach: Reachability, tree: Hierarchy, h: np.ndarray, slack: np.ndarray
) -> dict[str, Any]:
    n, least = tree.n, np.empty(tree.n - 1)
    witness = np.empty((n - 1, 2), dtype=np.intp)
    for t in range(n - 1):
        least[t], *witness[t] = reach.least(tree, t)
    nearer = np.flatnonzero(~(least >= h - slack))
    tied = np.flatnonzero(~(least <= h + slack))
    length, excess, steps = float(h.sum()), float(h.sum() - least.sum()), least
    if len(tied) and not len(nearer):
        steps = reach.steps()
        excess = float(h.sum() - steps.sum())
    wrong = [
        f"merge {t} joins {tree.name(tree.pairs[t, 0])} and {tree.name(tree.pairs[t, 1])} at "
        f"{h[t]:.6g}, but rows {i} and {j} of them are {least[t]:.6g} apart"
        for t in nearer
        for i, j in [sorted(tree.order[witness[t]].tolist())]
    ]
    off = np.abs(h - steps)
    if not len(nearer) and not (off <= slack).all():
        wrong = [
            f"merge {t} joins {tree.name(tree.pairs[t, 0])} and {tree.name(tree.pairs[t, 1])} at "
            f"{h[t]:.6g}, but their rows are {least[t]:.6g} apart or more"
            for t in tied
        ]
    size = np.where(h > 0, h, 1.0)
    return {
        "wrong": wrong, "sampled": n - 1, "heights": n - 1, "length": length,
        "excess": max(0.0, excess) if wrong else 0.0, "ties": 0 if wrong else len(tied),
        "residual": float(np.max(off / size, initial=0.0)), "top": float(h.max(initial=0.0)),
        "equal_below": 0.0,
    }  # fmt: skip


def _edge_errors(
    reach: Reachability, tree: Hierarchy, edges: np.ndarray, h: np.ndarray, tol: float, off: float
) -> list[str]:
    """Report edges that do not have their length, a cycle, or edges that are too long in total."""
    n = tree.n
    ends = edges[:, :2]
    if edges.shape != (n - 1, 3) or not ((ends >= 0) & (ends < n) & (ends % 1 == 0)).all():
        return [f"the spanning tree is no list of {n - 1:,} edges between two of {n:,} rows each"]
    place = np.argsort(tree.order)
    i, j = place[ends.astype(np.intp)].T
    length, true = edges[:, 2], reach.pairs(i, j)
    wrong = [
        f"edge {t} joins rows {ends[t, 0]:.0f} and {ends[t, 1]:.0f} at {length[t]:.6g}, but they "
        f"are {true[t]:.6g} apart"
        for t in np.flatnonzero(~(np.abs(length - true) <= _slack(length, tol, off)))
    ]
    cycle = _first_cycle(ends.astype(np.intp), n)
    if cycle is not None:
        wrong.append(f"edge {cycle} joins rows that the edges before it had connected")
    longer = np.sort(length) - h
    if not wrong and not (np.abs(longer) <= _slack(h, tol, off)).all():
        wrong.append(
            f"the edges are {length.sum():.6g} long in total, longer than a minimum spanning tree "
            f"by {longer.sum():.6g}"
        )
    return wrong


def _slack(length: Numbers, tol: float, off: float) -> Any:
    return tol * length + off


def _first_cycle(ends: np.ndarray, n: int) -> int | None:
    """Return the first edge whose ends are connected by those before it."""
    parent = list(range(n))
    for t, (i, j) in enumerate(ends.tolist()):
        roots = []
        for row in (i, j):
            while parent[row] != row:
                parent[row] = parent[parent[row]]
                row = parent[row]
            roots.append(row)
        if roots[0] == roots[1]:
            return t
        parent[roots[0]] = roots[1]
    return None
