"""A spanning tree as a sparse matrix, as SciPy's ``minimum_spanning_tree`` returns it.

    T[i, j] = d_ij for each of the n − 1 edges, each stored once

The edges are joined from the shortest to the longest, which gives the merges of single linkage.
"""

from typing import Any

import numpy as np

from .linkage import looks_like_distances


class SpanningTree:
    """The edges of a sparse matrix, with Euclidean distances, or X itself if it looks like them."""

    def __init__(self, T: Any, X: Any):
        entries = T.tocoo()
        n, m = T.shape[0], len(entries.data)
        if T.shape != (n, n) or n < 2:
            raise ValueError(f"a sparse matrix of shape {T.shape} is no tree: those are square")
        if m != n - 1:
            few = " (SciPy drops edges of length 0, between rows that are repeated)" * (m < n - 1)
            raise ValueError(
                f"a spanning tree of {n:,} rows has {n - 1:,} edges, each stored once, and this "
                f"matrix {m:,}{few}"
            )
        length = np.asarray(entries.data, dtype=float)
        if not (np.isfinite(length) & (length >= 0)).all():
            raise ValueError("the matrix holds edges whose length is negative or not finite")
        shape = tuple(X.shape if hasattr(X, "shape") else np.shape(X))
        if len(shape) != 2 or shape[0] != n:
            raise ValueError(
                f"this is a spanning tree of {n:,} rows, and X has shape {shape}: give the rows, "
                f"or the {n:,} × {n:,} distances between them"
            )
        self.metric = "precomputed" if shape[1] == n and looks_like_distances(X) else "euclidean"
        shortest_first = np.argsort(length, kind="stable")
        self.edges = np.column_stack([*entries.coords, length])[shortest_first]
        self.merges = merges_of(self.edges)


def merges_of(edges: np.ndarray) -> np.ndarray:
    """Return (two clusters, height, size) for each edge, shortest first."""
    n = len(edges) + 1
    above, size, merges = list(range(2 * n - 1)), [1] * (2 * n - 1), []
    for t, (*ends, length) in enumerate(edges.tolist()):
        tops = []
        for end in ends:
            c = int(end)
            while above[c] != c:
                above[c] = above[above[c]]
                c = above[c]
            tops.append(c)
        if tops[0] == tops[1]:
            i, j = (int(end) for end in ends)
            raise ValueError(f"the edge of rows {i} and {j} closes a cycle: this is no tree")
        above[tops[0]] = above[tops[1]] = n + t
        size[n + t] = size[tops[0]] + size[tops[1]]
        merges.append([*tops, length, size[n + t]])
    return np.array(merges, dtype=float)


def read_spanning_tree(tree: SpanningTree) -> dict[str, Any]:
    """Read the edges of a minimum spanning tree."""
    by = "Euclidean distance" if tree.metric == "euclidean" else "the distances given"
    return {
        "definition": "spanning_tree",
        "formula": f"minimum spanning tree by {by}",
        "parameters": {
            "merges": tree.merges, "edges": tree.edges, "metric": tree.metric, "metric_params": {},
            "k": 1, "alpha": 1.0, "rounding": 0.0,
        },
    }  # fmt: skip
