"""Single linkage of few columns: a minimum spanning tree by Borůvka's rounds over a k-d tree.

Invariant: the least edge that leaves a component is in the tree. Components at least halve in a
round, so there are at most log₂ n rounds, and most rows know their edge from the round before.
About O(n log n) in few dimensions, memory O(n·p). The edges do not depend on which thread searched
first: a bound that is not the newest only makes a search longer.
"""

from collections.abc import Iterator

import numpy as np

from ...runtime.pool import run_on_threads
from ..neighbors.tree import Tree
from .merging import Merges

GROUP = 1024  # rows of a task
SQUARES = 0  # kernels/neighbors/kd_tree.py


def edges_by_rounds(X: np.ndarray, threads: int) -> Iterator[Merges]:
    """(pairs of rows, squared lengths), those of a round at a time."""
    from ...kernels.linkage import boruvka as kernel

    n = len(X)
    tree = Tree(X, SQUARES, 2.0, threads)
    component, owner = np.arange(n), np.empty(len(tree.start), dtype=np.intp)
    value, near = np.zeros(n), np.full(n, -1)
    count = n
    while count > 1:
        kernel.mark(tree, component, owner)
        bound = np.full(count, np.inf)
        kernel.known(component, 0, n, bound, value, near)

        def search(i: int, bound: np.ndarray = bound) -> None:
            last = min((i + 1) * GROUP, n)
            kernel.search(tree, component, owner, i * GROUP, last, bound, value, near)

        run_on_threads(search, -(-n // GROUP), threads)
        edges, lengths = np.empty((count - 1, 2), dtype=np.intp), np.empty(count - 1)
        made, count = kernel.unite(tree, component, value, near, count, edges, lengths)
        yield edges[:made], lengths[:made]
