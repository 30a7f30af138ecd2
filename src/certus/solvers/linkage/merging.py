"""Merges as a tree in SciPy's layout: two clusters (smaller number first), height, rows in both."""

from collections.abc import Callable, Iterable

import numpy as np

from ..steps import OnStep, Step

Merges = tuple[np.ndarray, np.ndarray]  # pairs (count, 2) and heights (count,) of some merges


def by_height(n: int, pairs: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Merges known by one row of either side, in order of height.

    Of equal heights that which came first stays first, so that no cluster is merged before it is
    made: heights must not fall from a cluster to one that holds it.
    """
    from ...kernels.linkage_trees import number

    order = np.argsort(heights, kind="stable")
    merges = np.empty((len(heights), 4))
    merges[:, 2] = heights[order]
    number(n, np.ascontiguousarray(pairs[order]), merges)
    return merges


def as_they_came(n: int, pairs: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Merges known by the numbers of clusters, in their order."""
    size = [1.0] * n
    for a, b in pairs.tolist():
        size.append(size[a] + size[b])
    return np.column_stack([pairs, heights, size[n:]])


def gathered(
    parts: Iterable[Merges],
    tree: Callable[[np.ndarray, np.ndarray], np.ndarray],
    n: int,
    on_step: OnStep,
) -> np.ndarray:
    """The tree of all parts, or of those until a listener said stop.

    The objective of a step is the largest height so far.
    """
    pairs, heights = np.empty((n - 1, 2), dtype=np.intp), np.empty(n - 1)
    done, highest = 0, 0.0

    def so_far() -> np.ndarray:
        return tree(pairs[:done], heights[:done])

    for some, their in parts:
        pairs[done : done + len(some)], heights[done : done + len(some)] = some, their
        done += len(some)
        highest = max(highest, float(their.max()))
        if on_step(Step(done, highest, None, so_far)):
            break
    return so_far()
