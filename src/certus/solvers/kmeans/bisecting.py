"""Bisecting k-means: one cluster, and k − 1 times a cluster is split in two.

    split C:  min over μ₀, μ₁ of Σ_{i∈C} s_i min(‖x_i − μ₀‖², ‖x_i − μ₁‖²)   by Lloyd's steps

A row's cluster is found by going down the tree, at every split to the nearer of two centres. The
objective falls with every split, and the splits before it stay as they are: the tree is not a local
optimum of all k centres at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..progress import OnStep, Step, ignore
from . import Fit, lloyd, nearest_centers
from .distinct_rows import two_points

NOT_YET = 1 << 62  # a split that is under way

Draw = Callable[[Rows], np.ndarray]  # rows of a cluster → start (2, p)


class Tree(NamedTuple):
    """Splits in the order they were made, one at least; leaves count from left to right."""

    pairs: np.ndarray  # (splits, 2, p) float64: the centres that a row goes to the nearer of
    children: np.ndarray  # (splits, 2): another split, or −1 − leaf


class Split(NamedTuple):
    """One split, as it was made."""

    fit: Fit  # the best of its starts
    objectives: np.ndarray  # of all its starts


OnSplit = Callable[[Rows, Split | None], None]  # None: an empty twin was made


class Bisection(NamedTuple):
    tree: Tree
    centers: np.ndarray  # (leaves, p), values rounded to X's dtype
    labels: np.ndarray  # (n,) int32
    objective: float  # Σ s d² to the centre of each row's own leaf
    effective: int  # leaves that own rows
    unfinished: int  # splits that max_iter ended
    inertias: np.ndarray  # (splits,) Σ s d² of each cluster that was split, before it was


Grown = Callable[[], Bisection]


@dataclass(eq=False)
class _Node:
    center: np.ndarray
    i: np.ndarray  # the rows of a leaf
    inertia: float
    weight: float
    split: int = NOT_YET
    children: "list[_Node]" = field(default_factory=list)
    divisible: bool = field(init=False)  # has it two distinct points, as far as is known?

    def __post_init__(self) -> None:
        self.divisible = len(self.i) > 1

    def leaves(self, splits: float = np.inf) -> "list[_Node]":
        """From left to right, as they were after so many splits of the tree."""
        found, left_to_see = [], [self]
        while left_to_see:
            node = left_to_see.pop()
            if node.children and node.split < splits:
                left_to_see += reversed(node.children)
            else:
                found.append(node)
        return found

    def rows(self) -> np.ndarray:
        return np.concatenate([leaf.i for leaf in self.leaves()])


SCORES: dict[str, Callable[[_Node], float]] = {
    "biggest_inertia": lambda leaf: leaf.inertia,
    "largest_cluster": lambda leaf: leaf.weight,
}


def bisect(
    rows: Rows,
    k: int,
    draw: Draw,
    *,
    strategy: str = "biggest_inertia",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 0.0,
    on_step: OnStep = ignore,
    on_split: OnSplit = lambda rows, split: None,
) -> Bisection:
    """Split k − 1 times the leaf with the largest score.

    A leaf of equal points cannot be split: where no other is left, it gets an empty twin, so that
    there are k centres in any case. ``on_split`` sees every split with the rows that it split;
    the parameters of a step are a function that gives the ``Bisection``.
    """
    whole = _whole(rows)
    nodes: list[_Node] = []  # those that were split
    unfinished = 0

    def so_far() -> Grown:  # a listener asks after every split, and seldom for more than this
        return partial(_finish, rows, whole, nodes[:], unfinished)

    if on_step(Step(0, whole.inertia, None, so_far)):
        return so_far()()
    for t in range(1, k):
        while True:
            leaf = _next(whole, SCORES[strategy])
            if not leaf.divisible:
                _twin(leaf)
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
        J = sum(leaf.inertia for leaf in whole.leaves())
        if on_step(Step(t, J, None, so_far)):
            break
    return so_far()()


def _whole(rows: Rows) -> _Node:
    n = rows.shape[0]
    first, _, _ = rows.take(np.array([0])).block(0, 1)
    start = (first.toarray() if rows.sparse else first).astype(float)
    fit = lloyd(rows, start, max_iter=1)  # of one centre, the mean
    return _Node(fit.centers[0], np.arange(n), fit.objective, rows.S)


def _next(whole: _Node, score: Callable[[_Node], float]) -> _Node:
    """The first leaf with the largest score, of those that can be split if there are any."""
    leaves = whole.leaves()
    divisible = [leaf for leaf in leaves if leaf.divisible]
    return max(divisible or leaves, key=score)


def _split(part: Rows, draw: Draw, n_init: int, max_iter: int, tol: float) -> Split:
    fits = [lloyd(part, draw(part), max_iter=max_iter, tol=tol) for _ in range(n_init)]
    objectives = np.array([fit.objective for fit in fits])
    return Split(fits[int(objectives.argmin())], objectives)


def _divide(leaf: _Node, part: Rows, split: Split) -> None:
    labels, d2 = nearest_centers(part, split.fit.centers)
    inertia = np.bincount(labels, d2 if part.s is None else part.s * d2, minlength=2)
    weight = np.bincount(labels, part.s, minlength=2)
    # all at once: an interrupt finds them all, or none
    leaf.children = [
        _Node(split.fit.centers[side], leaf.i[labels == side], inertia[side], weight[side])
        for side in range(2)
    ]
    leaf.i = leaf.i[:0]  # its children hold them


def _twin(leaf: _Node) -> None:
    """Split a leaf into itself and nothing: at equal distances a row goes left."""
    nothing = leaf.i[:0]
    itself = _Node(leaf.center, leaf.i, leaf.inertia, leaf.weight)
    itself.divisible = False
    leaf.children = [itself, _Node(leaf.center, nothing, 0.0, 0.0)]
    leaf.i = nothing


def _finish(rows: Rows, whole: _Node, nodes: list[_Node], unfinished: int) -> Bisection:
    """The tree as it was after the splits of ``nodes``."""
    leaves = whole.leaves(len(nodes))
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
        Tree(pairs, children),
        np.array([leaf.center for leaf in leaves]),
        labels,
        float(sum(leaf.inertia for leaf in leaves)),
        sum(bool(leaf.weight > 0) for leaf in leaves),
        unfinished,
        np.array([node.inertia for node in nodes]),
    )


def go_down(rows: Rows, tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """(labels, d²): the leaf of every row, and the squared distance to its centre."""
    n = rows.shape[0]
    labels, d2 = np.zeros(n, dtype=np.int32), np.empty(n)
    waiting = [(0, np.arange(n))]
    while waiting:
        split, i = waiting.pop()
        part = rows if len(i) == n else rows.take(i)
        sides, d2[i] = nearest_centers(part, tree.pairs[split])
        for side in range(2):
            child, its = int(tree.children[split, side]), i[sides == side]
            if child < 0:
                labels[its] = -1 - child
            elif len(its):
                waiting.append((child, its))
    return labels, d2
