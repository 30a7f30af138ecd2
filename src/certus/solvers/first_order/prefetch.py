"""Rows in an order that is drawn, a window of them at a time, each side by side in memory.

A step that needs the last one's w cannot be computed while its row is on the way from memory, so
rows are brought together before they are needed: while one thread works on a window, another
gathers the next. What is gathered does not depend on the threads.
"""

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from ...data.csr import Block
from ...data.rows import Rows, as_floats
from ...runtime.pool import INTERRUPT_POLL_SECONDS

BYTES = 1 << 21  # of a window: 1 and 4 MB took as long, 256 kB longer
AT_ONCE = 3  # windows in memory


class Entries(NamedTuple):
    """Sparse rows, as kernels read them."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]


class Window(NamedTuple):
    X: Block  # C order, or Entries
    y: np.ndarray
    s: np.ndarray | None
    rows: np.ndarray  # their numbers
    first: int  # position of the first of them in the order


def over_windows(
    rows: Rows, order: np.ndarray, multiple: int, work: Callable[[Window], None]
) -> None:
    """``work(window)`` for each window, in order. ``multiple``: windows end at multiples of it."""
    n = len(order)
    gather = _SparseRows(rows) if rows.sparse else _DenseRows(rows)
    size = max(1, BYTES // max(1, gather.row_bytes))
    size = max(multiple, size // multiple * multiple)
    starts = range(0, n, size)
    assert rows.y is not None
    targets = np.ascontiguousarray(rows.y[:, 0], dtype=float)

    def window(k: int) -> Window:
        part = order[starts[k] : starts[k] + size].astype(np.intp)
        s = None if rows.s is None else rows.s[part]
        return Window(gather(part, k % AT_ONCE), targets[part], s, part, starts[k])

    if rows.threads == 1 or len(starts) == 1:
        for k in range(len(starts)):
            work(window(k))
        return
    with _Ahead(window, len(starts)) as ready:
        for _ in starts:
            work(ready.next())


class _Ahead:
    """A thread that gathers windows while they are worked on: one is in work, one waits, one is
    being filled. A thread of its own, for the pool's may all be busy."""

    def __init__(self, window: Callable[[int], Window], count: int):
        self.window, self.count = window, count
        # queues written in C: Ctrl-C cannot leave one of their locks taken
        self.ready: SimpleQueue[Window | BaseException] = SimpleQueue()
        self.room: SimpleQueue[bool] = SimpleQueue()  # an entry for each window that may be filled
        for _ in range(AT_ONCE - 1):
            self.room.put(True)
        self.thread = Thread(target=self._gather, name="certus windows", daemon=True)

    def _gather(self) -> None:
        try:
            for k in range(self.count):
                if not self.room.get():
                    return
                self.ready.put(self.window(k))
        except BaseException as error:  # for who waits for the window
            self.ready.put(error)

    def next(self) -> Window:
        """The next window. The memory of the last one is filled again."""
        self.room.put(True)
        while True:
            with suppress(Empty):
                found = self.ready.get(timeout=INTERRUPT_POLL_SECONDS)
                break
        if isinstance(found, BaseException):
            raise found
        return found

    def __enter__(self) -> "_Ahead":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        while not self.room.empty():  # what was allowed and is not begun
            with suppress(Empty):
                self.room.get_nowait()
        self.room.put(False)
        self.thread.join()  # nobody may still write when the caller goes on


class _DenseRows:
    """Memory for the windows, filled in turn."""

    def __init__(self, rows: Rows):
        # on one thread: there is one that gathers already
        self.rows, (_, p) = Rows(rows.X, threads=1), rows.shape
        X = rows.X
        self.plain = isinstance(X, np.ndarray) and X.flags.c_contiguous and as_floats(X) is X
        self.row_bytes = p * (X.dtype.itemsize if self.plain else 8)
        self.room: list[Any] = [None] * AT_ONCE

    def __call__(self, part: np.ndarray, which: int) -> np.ndarray:
        if not self.plain:
            X, _, _ = self.rows.take(part).block(0, len(part))
            return np.ascontiguousarray(X)
        X = self.rows.X
        if self.room[which] is None:
            self.room[which] = np.empty((len(part), X.shape[1]), dtype=X.dtype)
        out: np.ndarray = self.room[which][: len(part)]
        # "raise" would buffer; row numbers are all below n
        return np.take(X, part, axis=0, out=out, mode="clip")


class _SparseRows:
    def __init__(self, rows: Rows):
        self.X, (n, self.p) = rows.X, rows.shape
        each = self.X.entries // max(1, n) + 1
        self.row_bytes = each * (self.X.data.itemsize + self.X.indices.itemsize)
        self.plain = as_floats(self.X.data) is self.X.data
        self.room: list[Any] = [[] for _ in range(AT_ONCE)]

    def __call__(self, part: np.ndarray, which: int) -> Any:
        from ...kernels.glm.csr import take

        if not self.plain:
            return as_floats(self.X[part])
        data, indices, indptr = take(self.X, part, self.room[which])
        return Entries(data, indices, indptr, (len(part), self.p))
