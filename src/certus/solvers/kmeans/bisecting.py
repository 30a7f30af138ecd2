"""Bisecting k-means: one cluster, and k − 1 times a cluster is split in two.

    split C:  min over μ₀, μ₁ of Σ_{i∈C} s_i min(‖x_i − μ₀‖², ‖x_i − μ₁‖²)   by Lloyd's steps

A row's cluster is found by descending the tree, at every split to the nearer of two centres. The
objective falls with every split, but earlier splits are never revised: the k centres together are
usually not a local optimum.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..progress import OnStep, Step, ignore
from . import KMeansFit, lloyd, nearest_centers
from .distinct_rows import two_points

PENDING_SPLIT = 1 << 62  # index of a split that is not yet complete: above every other

DrawStart = Callable[[Rows], np.ndarray]  # rows of a cluster → start (2, p)


class SplitTree(NamedTuple):
    """The splits, at least one, in the order they were made; leaves are numbered left to right."""

    pairs: np.ndarray  # (splits, 2, p) float64: a row goes to the nearer of these two centres
    children: np.ndarray  # (splits, 2): another split, or −1 − leaf


class Split(NamedTuple):
    """One split of a cluster in two."""

    fit: KMeansFit  # the best of its starts
    objectives: np.ndarray  # J of every start


OnSplit = Callable[[Rows, Split | None], None]  # None: an indivisible leaf got an empty twin


class Bisection(NamedTuple):
    """The tree of splits, with labels and centres of its leaves."""

    tree: SplitTree
    centers: np.ndarray  # (leaves, p), values rounded to X's dtype
    labels: np.ndarray  # (n,) int32
    objective: float  # Σ s d² to the centre of each row's own leaf
    effective: int  # leaves with at least one row of positive weight
    unfinished: int  # splits that were ended by max_iter
    inertias: np.ndarray  # (splits,) Σ s d² of each cluster before it was split


Grown = Callable[[], Bisection]


@dataclass(eq=False)
class _Node:
    center: np.ndarray
    i: np.ndarray  # the rows of a leaf
    inertia: float
    weight: float
    split: int = PENDING_SPLIT
    children: "list[_Node]" = field(default_factory=list)
    divisible: bool = field(init=False)  # False once all its rows are known to be equal

    def __post_init__(self) -> None:
        self.divisible = len(self.i) > 1

    def leaves(self, splits: float = np.inf) -> "list[_Node]":
        """Return the leaves, left to right, as they were after the given number of splits."""
        leaves_found, stack = [], [self]
        while stack:
            node = stack.pop()
            if node.children and node.split < splits:
                stack += reversed(node.children)
            else:
                leaves_found.append(node)
        return leaves_found

    def rows(self) -> np.ndarray:
        return np.concatenate([leaf.i for leaf in self.leaves()])


SCORES: dict[str, Callable[[_Node], float]] = {
    "biggest_inertia": lambda leaf: leaf.inertia,
    "largest_cluster": lambda leaf: leaf.weight,
}


def bisect(
    rows: Rows,
    k: int,
    draw: DrawStart,
    *,
    strategy: str = "biggest_inertia",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 0.0,
    on_step: OnStep = ignore,
    on_split: OnSplit = lambda rows, split: None,
) -> Bisection:
    """Split the leaf with the largest score, k − 1 times.

    A leaf of equal points cannot be split: if no other is left, it gets an empty twin, so that
    there are always k centres. ``on_split`` is called with the rows of every split and its result;
    the parameters of a step are a function that returns the ``Bisection``.
    """
    root = _root_node(rows)
    nodes: list[_Node] = []  # those that were split
    unfinished = 0

    def so_far() -> Grown:  # lazy: callbacks run after every split, and few need the whole tree
        return partial(_finish, rows, root, nodes[:], unfinished)

    if on_step(Step(0, root.inertia, None, so_far)):
        return so_far()()
    for t in range(1, k):
        while True:
            leaf = _next_leaf(root, SCORES[strategy])
            if not leaf.divisible:
                _add_empty_twin(leaf)
                on_split(rows, None)
                break
            part = rows if len(leaf.i) == rows.shape[0] else rows.take(leaf.i)
            if two_points(part):
                split = _split(part, draw, n_init, max_iter, tol)
                unfinished += not split.fit.converged
                _divide(leaf, part, split)
                on_split(part, split)
                break
            leaf.divisible = False
        leaf.split = len(nodes)
        nodes.append(leaf)
        J = sum(leaf.inertia for leaf in root.leaves())
        if on_step(Step(t, J, None, so_far)):
            break
    return so_far()()


def _root_node(rows: Rows) -> _Node:
    n = rows.shape[0]
    first, _, _ = rows.take(np.array([0])).block(0, 1)
    start = (first.toarray() if rows.sparse else first).astype(float)
    fit = lloyd(rows, start, max_iter=1)  # with one centre, one step reaches the mean
    return _Node(fit.centers[0], np.arange(n), fit.objective, rows.S)


def _next_leaf(root: _Node, score: Callable[[_Node], float]) -> _Node:
    """Return the first leaf with the largest score, among divisible ones if there are any."""
    leaves = root.leaves()
    divisible = [leaf for leaf in leaves if leaf.divisible]
    return max(divisible or leaves, key=score)


def _split(part: Rows, draw: DrawStart, n_init: int, max_iter: int, tol: float) -> Split:
    fits = [lloyd(part, draw(part), max_iter=max_iter, tol=tol) for _ in range(n_init)]
    objectives = np.array([fit.objective for fit in fits])
    return Split(fits[int(objectives.argmin())], objectives)


def _divide(leaf: _Node, part: Rows, split: Split) -> None:
    labels, d2 = nearest_centers(part, split.fit.centers)
    inertia = np.bincount(labels, d2 if part.s is None else part.s * d2, minlength=2)
    weight = np.bincount(labels, part.s, minlength=2)
    # assigned in one statement, so that an interrupt never leaves a single child
    leaf.children = [
        _Node(split.fit.centers[side], leaf.i[labels == side], inertia[side], weight[side])
        for side in range(2)
    ]
    leaf.i = leaf.i[:0]  # the children hold the rows


def _add_empty_twin(leaf: _Node) -> None:
    """Split a leaf into itself and an empty one: at equal distances a row goes left."""
    no_rows = leaf.i[:0]
    occupied = _Node(leaf.center, leaf.i, leaf.inertia, leaf.weight)
    occupied.divisible = False
    leaf.children = [occupied, _Node(leaf.center, no_rows, 0.0, 0.0)]
    leaf.i = no_rows


def _finish(rows: Rows, root: _Node, nodes: list[_Node], unfinished: int) -> Bisection:
    """Return the tree as it was after the splits of ``nodes``."""
    leaves = root.leaves(len(nodes))
    number = {id(leaf): label for label, leaf in enumerate(leaves)}
    labels = np.empty(rows.shape[0], dtype=np.int32)
    for label, leaf in enumerate(leaves):
        labels[leaf.rows()] = label
    p = rows.shape[1]
    pairs, children = np.empty((len(nodes), 2, p)), np.empty((len(nodes), 2), dtype=np.intp)
    for t, node in enumerate(nodes):
        for side, child in enumerate(node.children):
            pairs[t, side] = child.center
            children[t, side] = -1 - number[id(child)] if id(child) in number else child.split
    return Bisection(
        SplitTree(pairs, children),
        np.array([leaf.center for leaf in leaves]),
        labels,
        float(sum(leaf.inertia for leaf in leaves)),
        sum(bool(leaf.weight > 0) for leaf in leaves),
        unfinished,
        np.array([node.inertia for node in nodes]),
    )


def descend(rows: Rows, tree: SplitTree) -> tuple[np.ndarray, np.ndarray]:
    """Return the leaf of every row, and the squared distance to its centre."""
    n = rows.shape[0]
    labels, d2 = np.zeros(n, dtype=np.int32), np.empty(n)
    stack = [(0, np.arange(n))]
    while stack:
        split, i = stack.pop()
        part = rows if len(i) == n else rows.take(i)
        sides, d2[i] = nearest_centers(part, tree.pairs[split])
        for side in range(2):
            child, members = int(tree.children[split, side]), i[sides == side]
            if child < 0:
                labels[members] = -1 - child
            elif len(members):
                stack.append((child, members))
    return labels, d2
