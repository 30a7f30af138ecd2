"""Single linkage of few columns: a minimum spanning tree by Borůvka's rounds over a k-d tree.

Invariant: the shortest edge that leaves a component is in the tree. The number of components at
least halves in a round, so there are at most log₂ n rounds, and most rows keep their edge from the
round before. About O(n log n) in few dimensions, memory O(n·p). The edges do not depend on the
order of threads: an outdated bound only makes a search longer.
"""

from collections.abc import Iterator

import numpy as np

from ...runtime.pool import run_on_threads
from ..neighbors.tree import KDTree
from .merging import Merges

TASK_ROWS = 1024  # rows of one task
SQUARED_METRIC = 0  # code of squared differences in kernels/neighbors/kd_tree.py


def edges_by_rounds(X: np.ndarray, threads: int) -> Iterator[Merges]:
    """Yield (pairs of rows, squared lengths), the edges of one round at a time."""
    from ...kernels.linkage import boruvka as kernel

    n = len(X)
    tree = KDTree(X, SQUARED_METRIC, 2.0, threads)
    component, owner = np.arange(n), np.empty(len(tree.start), dtype=np.intp)
    value, near = np.zeros(n), np.full(n, -1)
    count = n
    while count > 1:
        kernel.mark(tree, component, owner)
        bound = np.full(count, np.inf)
        kernel.apply_known(component, 0, n, bound, value, near)

        def search(i: int, bound: np.ndarray = bound) -> None:
            last = min((i + 1) * TASK_ROWS, n)
            kernel.search(tree, component, owner, i * TASK_ROWS, last, bound, value, near)

        run_on_threads(search, -(-n // TASK_ROWS), threads)
        edges, lengths = np.empty((count - 1, 2), dtype=np.intp), np.empty(count - 1)
        made, count = kernel.unite(tree, component, value, near, count, edges, lengths)
        yield edges[:made], lengths[:made]
