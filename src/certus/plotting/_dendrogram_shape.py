"""Coordinates of the lines of a dendrogram, computed without recursion.

    merge of a and b:  (x_a, h_a) ─ (x_a, h) ─ (x_b, h) ─ (x_b, h_b),    its own x = (x_a + x_b)/2

Only the last merges of a large tree are drawn; each cluster below them is a branch that ends at its
own height. The legs of an inversion, which is a merge lower than its parts, go up.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..cluster.tree import Tree

ABOVE_CUT = -1  # colour code of lines above the cut


class Drawing(NamedTuple):
    """Lines and colours; places 0 … L − 1 are the leaves and branches drawn, from left to right."""

    lines: np.ndarray  # (L − 1, 4, 2) place and height
    colors: np.ndarray  # (L − 1,) 0, 1, … of clusters from left to right, or ABOVE_CUT
    nodes: np.ndarray  # (L,) the cluster at every place
    heights: np.ndarray  # (L,) the height at which it ends: 0 for a leaf
    place_colors: np.ndarray  # (L,)
    n_leaves: int  # of the tree
    cut: float | None  # a height that separates kept merges from undone ones
    tops: list[tuple[int, float, float, int]]  # label, place, height and colour of each cluster

    @property
    def truncated(self) -> bool:
        return len(self.nodes) < self.n_leaves


def drawing(tree: "Tree", max_leaves: int | None, undone: np.ndarray | None) -> Drawing:
    """Lay out the top of a tree; ``undone`` marks the merges that a cut undoes (None: no cut)."""
    n = tree.n_leaves
    L = n if max_leaves is None else min(n, max_leaves)
    first = n - L  # merges from here on are drawn
    pairs = tree.merges[:, :2].astype(np.intp)
    heights = np.concatenate([np.zeros(n), tree.heights])
    leftmost = _leftmost(pairs, n)
    below = pairs[first:].ravel()
    nodes = below[below < n + first] if L > 1 else np.array([2 * n - 2])
    place = np.empty(n, dtype=np.intp)
    place[tree.order] = np.arange(n)
    nodes = nodes[np.argsort(place[leftmost[nodes]])]

    x = dict(zip(nodes.tolist(), range(L), strict=True))
    lines = np.empty((L - 1, 4, 2))
    for t, (a, b) in enumerate(pairs[first:].tolist()):
        left, right, h = x[a], x[b], heights[n + first + t]
        lines[t] = (left, heights[a]), (left, h), (right, h), (right, heights[b])
        x[n + first + t] = (left + right) / 2
    if undone is None:
        none = np.zeros(L, dtype=np.intp)
        return Drawing(lines, none[1:], nodes, heights[nodes], none, n, None, [])
    return _colored(tree, lines, nodes, x, pairs, heights, leftmost, undone, first)


def _leftmost(pairs: np.ndarray, n: int) -> np.ndarray:
    """Return the first leaf of every cluster."""
    first_leaf = list(range(n))
    for a in pairs[:, 0].tolist():
        first_leaf.append(first_leaf[a])
    return np.array(first_leaf, dtype=np.intp)


def _colored(
    tree: "Tree", lines: np.ndarray, nodes: np.ndarray, x: dict[int, float], pairs: np.ndarray,
    heights: np.ndarray, leftmost: np.ndarray, undone: np.ndarray, first: int,
) -> Drawing:  # fmt: skip
    """Give a colour to each cluster of the cut that is drawn as a whole, from left to right."""
    n = tree.n_leaves
    split = np.concatenate([np.zeros(n, dtype=bool), undone])  # whether a cluster is cut
    whole = [node for node in x if not split[node]]
    child_of_undone = set(pairs[np.flatnonzero(undone)].ravel().tolist())
    roots = [node for node in whole if node in child_of_undone or node == 2 * n - 2]
    roots.sort(key=lambda node: x[node])
    color = {root: i for i, root in enumerate(roots)}
    for node in sorted(whole, reverse=True):  # from the top, so that clusters precede their parts
        if node >= n + first:
            for part in pairs[node - n].tolist():
                color[part] = color[node]
    merges = np.array(
        [color.get(node, ABOVE_CUT) for node in range(n + first, 2 * n - 1)], dtype=int
    )
    places = np.array([color.get(node, ABOVE_CUT) for node in nodes.tolist()], dtype=int)
    labels = _labels_of(tree, undone, leftmost[roots])
    tops = [
        (label, float(x[root]), float(heights[root]), color[root])
        for label, root in zip(labels, roots, strict=True)
    ]
    kept_heights, undone_heights = tree.heights[~undone], tree.heights[undone]
    low, high = kept_heights.max(initial=0.0), undone_heights.min(initial=np.inf)
    cut = float(low + high) / 2 if low < high < np.inf else None
    return Drawing(lines, merges, nodes, heights[nodes], places, n, cut, tops)


def _labels_of(tree: "Tree", undone: np.ndarray, leaves: np.ndarray) -> list[int]:
    """Return the labels that ``cut`` gives to the clusters of these leaves; −1 without rows."""
    labels = tree._labels(undone)
    if tree.rows is None:
        return [int(label) for label in labels[leaves]]
    label_of_leaf = dict(zip(tree.rows.tolist(), labels.tolist(), strict=True))
    return [label_of_leaf.get(leaf, -1) for leaf in leaves.tolist()]
