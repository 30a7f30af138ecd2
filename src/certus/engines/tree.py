"""The fixed tree in which the results of blocks are combined.

    ((0+1)+(2+3)) + ((4+5)+(6+7)) + …

Node (level, i) combines nodes 2i and 2i + 1 of the level below; the last node of a level without a
sibling moves up as it is. The tree depends on the number of blocks alone, so whoever combines a
pair, and when, does not change a bit of the result.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

Node = tuple[int, int, Any]  # level, index in the level, value


class CombiningTree:
    """Results of ``leaves`` blocks, combined as they come in, from several threads.

    The tree owns what it is given: ``combine(left, right)`` may overwrite ``left``.
    """

    def __init__(self, leaves: int, combine: Callable[[Any, Any], Any]):
        self.combine = combine
        self.widths = [leaves]
        while self.widths[-1] > 1:
            self.widths.append(-(-self.widths[-1] // 2))
        self.waiting: dict[tuple[int, int], Any] = {}
        self.lock = threading.Lock()
        self.root: Any = None

    def put(self, i: int, value: Any, level: int = 0) -> None:
        """Add the result of block i, or of node i of a higher level."""
        for at, width in enumerate(self.widths[level:-1], level):
            sibling = i ^ 1
            if sibling < width:  # the last node of an odd level has no sibling
                with self.lock:
                    other = self.waiting.pop((at, sibling), None)
                    if other is None:
                        self.waiting[at, i] = value
                        return
                value = self.combine(value, other) if i < sibling else self.combine(other, value)
            i >>= 1
        self.root = value

    def nodes(self) -> list[Node]:
        """Return what has been combined so far, as nodes for another tree of as many leaves."""
        if self.root is not None:
            return [(len(self.widths) - 1, 0, self.root)]
        return [(level, i, value) for (level, i), value in sorted_items(self.waiting)]

    def add(self, nodes: Iterable[Node]) -> None:
        """Add the nodes of another tree of as many leaves."""
        for level, i, value in nodes:
            self.put(i, value, level)


def sorted_items(waiting: dict[tuple[int, int], Any]) -> list[tuple[tuple[int, int], Any]]:
    return sorted(waiting.items(), key=lambda item: item[0][1] << item[0][0])
