"""Merges as a tree in SciPy's layout: two clusters (smaller number first), height, rows in both."""

from collections.abc import Callable, Iterable

import numpy as np

from ..progress import OnStep, Step

Merges = tuple[np.ndarray, np.ndarray]  # pairs (count, 2) and heights (count,) of some merges


def by_height(n: int, found: np.ndarray) -> np.ndarray:
    """The tree of merges that are known by one row of either side, in order of height.

    Of equal heights that which came first stays first, so that no cluster is merged before it is
    made: heights must not fall from a cluster to one that holds it.
    """
    from ...kernels.linkage.trees import number

    merges = found[np.argsort(found[:, 2], kind="stable")]
    number(n, merges)
    return merges


def as_they_came(n: int, found: np.ndarray) -> np.ndarray:
    """The tree of merges that are known by the numbers of clusters, in their order."""
    from ...kernels.linkage.trees import sizes

    sizes(n, found)
    return found


def gathered(
    parts: Iterable[Merges], tree: Callable[[int, np.ndarray], np.ndarray], n: int, on_step: OnStep
) -> np.ndarray:
    """The tree of all parts, or of those until a listener said stop.

    The objective of a step is the largest height so far.
    """
    merges = np.empty((n - 1, 4))
    done, highest = 0, 0.0

    def so_far() -> np.ndarray:
        return tree(n, merges[:done])

    for pairs, heights in parts:
        some = merges[done : done + len(pairs)]
        some[:, :2], some[:, 2] = pairs, heights
        done += len(pairs)
        highest = max(highest, float(heights.max()))
        if on_step(Step(done, highest, None, so_far)):
            break
    return so_far()
