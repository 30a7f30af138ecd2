"""Rows in random order, gathered into contiguous windows ahead of the steps that use them.

Each stochastic step needs the w of the one before it, so steps cannot overlap the memory latency of
their rows. While one thread works on a window, another gathers the next. The windows do not depend
on the number of threads.
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

WINDOW_BYTES = 1 << 21  # 1 and 4 MB took as long, 256 kB longer
WINDOWS_IN_MEMORY = 3  # one in use, one ready, one being filled


class Entries(NamedTuple):
    """CSR arrays of sparse rows, as the kernels read them."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]


class Window(NamedTuple):
    X: Block  # C order, or Entries
    y: np.ndarray
    s: np.ndarray | None
    rows: np.ndarray  # row indices
    first: int  # position of the first row in the order


def over_windows(
    rows: Rows, order: np.ndarray, multiple: int, work: Callable[[Window], None]
) -> None:
    """Call ``work(window)`` for each window, in order.

    ``multiple``: the number of rows of a window is a multiple of it.
    """
    n = len(order)
    gather = _SparseRows(rows) if rows.sparse else _DenseRows(rows)
    size = max(1, WINDOW_BYTES // max(1, gather.row_bytes))
    size = max(multiple, size // multiple * multiple)
    starts = range(0, n, size)
    assert rows.y is not None
    targets = np.ascontiguousarray(rows.y[:, 0], dtype=float)

    def window(k: int) -> Window:
        part = order[starts[k] : starts[k] + size].astype(np.intp)
        s = None if rows.s is None else rows.s[part]
        return Window(gather(part, k % WINDOWS_IN_MEMORY), targets[part], s, part, starts[k])

    if rows.threads == 1 or len(starts) == 1:
        for k in range(len(starts)):
            work(window(k))
        return
    with _Ahead(window, len(starts)) as ready:
        for _ in starts:
            work(ready.next())


class _Ahead:
    """A thread that gathers the next windows while one is worked on.

    It does not come from the pool, whose threads may all be busy.
    """

    def __init__(self, window: Callable[[int], Window], count: int):
        self.window, self.count = window, count
        # SimpleQueue is written in C: Ctrl-C cannot leave its lock held
        self.ready: SimpleQueue[Window | BaseException] = SimpleQueue()
        self.free_slots: SimpleQueue[bool] = (
            SimpleQueue()
        )  # an entry for each window that may be filled
        for _ in range(WINDOWS_IN_MEMORY - 1):
            self.free_slots.put(True)
        self.thread = Thread(target=self._gather, name="certus windows", daemon=True)

    def _gather(self) -> None:
        try:
            for k in range(self.count):
                if not self.free_slots.get():
                    return
                self.ready.put(self.window(k))
        except BaseException as error:  # raised again in ``next``, in the thread that waits
            self.ready.put(error)

    def next(self) -> Window:
        """Return the next window; the memory of the previous one is reused."""
        self.free_slots.put(True)
        while True:
            with suppress(Empty):
                result = self.ready.get(timeout=INTERRUPT_POLL_SECONDS)
                break
        if isinstance(result, BaseException):
            raise result
        return result

    def __enter__(self) -> "_Ahead":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        while not self.free_slots.empty():  # withdraw windows that are not begun
            with suppress(Empty):
                self.free_slots.get_nowait()
        self.free_slots.put(False)
        self.thread.join()  # no write may follow once the caller goes on


class _DenseRows:
    """Gathers dense rows into a ring of reused buffers."""

    def __init__(self, rows: Rows):
        # one thread: this runs in the gathering thread already
        self.rows, (_, p) = Rows(rows.X, threads=1), rows.shape
        X = rows.X
        self.plain = isinstance(X, np.ndarray) and X.flags.c_contiguous and as_floats(X) is X
        self.row_bytes = p * (X.dtype.itemsize if self.plain else 8)
        self.free_slots: list[Any] = [None] * WINDOWS_IN_MEMORY

    def __call__(self, part: np.ndarray, which: int) -> np.ndarray:
        if not self.plain:
            X, _, _ = self.rows.take(part).block(0, len(part))
            return np.ascontiguousarray(X)
        X = self.rows.X
        if self.free_slots[which] is None:
            self.free_slots[which] = np.empty((len(part), X.shape[1]), dtype=X.dtype)
        out: np.ndarray = self.free_slots[which][: len(part)]
        # "raise" would buffer; row numbers are all below n
        return np.take(X, part, axis=0, out=out, mode="clip")


class _SparseRows:
    """Gathers sparse rows into a ring of reused buffers."""

    def __init__(self, rows: Rows):
        self.X, (n, self.p) = rows.X, rows.shape
        each = self.X.entries // max(1, n) + 1
        self.row_bytes = each * (self.X.data.itemsize + self.X.indices.itemsize)
        self.plain = as_floats(self.X.data) is self.X.data
        self.free_slots: list[Any] = [[] for _ in range(WINDOWS_IN_MEMORY)]

    def __call__(self, part: np.ndarray, which: int) -> Any:
        from ...kernels.glm.csr import take

        if not self.plain:
            return as_floats(self.X[part])
        data, indices, indptr = take(self.X, part, self.free_slots[which])
        return Entries(data, indices, indptr, (len(part), self.p))
