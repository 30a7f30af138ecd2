"""Merges in SciPy's layout: two clusters (smaller number first), height, number of rows."""

from collections.abc import Callable, Iterable

import numpy as np

from ..progress import OnStep, Step

Merges = tuple[np.ndarray, np.ndarray]  # pairs (count, 2) and heights (count,) of some merges


def sort_by_height(n: int, merges: np.ndarray) -> np.ndarray:
    """Return merges that are given by one row of either side, numbered and sorted by height.

    The sort is stable, so that no cluster is merged before it is made; a cluster must not be higher
    than one that contains it.
    """
    from ...kernels.linkage.trees import number

    merges = merges[np.argsort(merges[:, 2], kind="stable")]
    number(n, merges)
    return merges


def in_merge_order(n: int, merges: np.ndarray) -> np.ndarray:
    """Return merges that are given by cluster numbers, in their order, with sizes filled in."""
    from ...kernels.linkage.trees import sizes

    sizes(n, merges)
    return merges


def collect_merges(
    parts: Iterable[Merges], tree: Callable[[int, np.ndarray], np.ndarray], n: int, on_step: OnStep
) -> np.ndarray:
    """Return the tree of all parts, or of those before ``on_step`` returned True.

    The objective of a step is the largest height so far.
    """
    merges = np.empty((n - 1, 4))
    done, highest = 0, 0.0

    def so_far() -> np.ndarray:
        return tree(n, merges[:done])

    for pairs, heights in parts:
        part = merges[done : done + len(pairs)]
        part[:, :2], part[:, 2] = pairs, heights
        done += len(pairs)
        highest = max(highest, float(heights.max()))
        if on_step(Step(done, highest, None, so_far)):
            break
    return so_far()
