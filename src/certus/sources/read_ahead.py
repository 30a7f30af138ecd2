"""Reading ahead on a thread: of one pass in order, and of rows that several threads ask for.

``ahead`` is for the first pass. ``DecodedRows`` decodes rows again in every later pass: blocks are
asked for by several threads, nearly in order; one thread decodes chunk after chunk and stops when
it is AHEAD chunks beyond the last one asked for; a question elsewhere sends it there.
"""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from queue import Empty, Full, Queue
from typing import Any, Protocol, TypeVar

import numpy as np

from ..data.streamed import RowBlock

CHUNK_BYTES = 1 << 22  # 8 MB was as fast
AHEAD = 3  # chunks decoded before they are asked for; a fourth gained nothing
MAX_CHUNKS = 6  # in memory
DEPTH = 1  # items of one pass that wait; two were as fast
POLL_SECONDS = 0.1  # within which a thread whose caller has left ends, and Ctrl-C is noticed
CLOSING_SECONDS = 10.0  # that ``close`` waits for a stream that does not answer

Item = TypeVar("Item")


class _End:
    """What the thread puts last: nothing, or the error of the iterator."""

    def __init__(self, error: BaseException | None = None):
        self.error = error


def ahead(items: Iterator[Item], depth: int = DEPTH) -> Iterator[Item]:
    """Yield the items of an iterator that a thread reads, at most ``depth`` of them ahead."""
    queue: Queue[Item | _End] = Queue(depth)
    left = threading.Event()

    def put(item: Item | _End) -> bool:
        while not left.is_set():
            try:
                queue.put(item, timeout=POLL_SECONDS)
                return True
            except Full:
                continue
        return False

    def read() -> None:
        end = _End()
        try:
            for item in items:
                if not put(item):
                    break
        except BaseException as error:
            end = _End(error)
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
        put(end)

    thread = threading.Thread(target=read, name="certus read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            try:
                item = queue.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        left.set()
        thread.join()


class Decoding(Protocol):
    """A source of stored rows that is decoded from any row on."""

    row_bytes: int

    def rows_from(self, start: int) -> Iterator[RowBlock]:
        """Yield the rows from ``start`` on, in blocks of any size."""


class DecodedRows:
    """Stored rows of a source, decoded when they are read."""

    def __init__(self, source: Decoding, n: int):
        self._source, self._n = source, n
        self._chunk_rows = max(1, CHUNK_BYTES // max(1, source.row_bytes))
        self._count = -(-n // self._chunk_rows)
        self._begin()
        _in_this_process.add(self)

    def _begin(self) -> None:
        self._changed = threading.Condition()  # of what follows
        self._ready: OrderedDict[int, RowBlock] = OrderedDict()
        self._chunks: Iterator[RowBlock] | None = None
        self._next = 0  # the chunk that is decoded, or will be
        self._asked = -1  # the last one asked for
        self._target: int | None = None  # where the thread is sent
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._is_closed = False

    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop."""
        if stop <= start:
            return _rows(self._chunk(0), 0, 0)
        parts = []
        for c in range(start // self._chunk_rows, (stop - 1) // self._chunk_rows + 1):
            first = c * self._chunk_rows
            parts.append(_rows(self._chunk(c), max(0, start - first), stop - first))
        return joined_blocks(parts)

    def read_targets(self, start: int, stop: int) -> tuple[Any, Any]:
        """Return y and s of rows start:stop."""
        return self.read(start, stop)[1:]

    def _chunk(self, c: int) -> RowBlock:
        with self._changed:
            while True:
                if self._is_closed:
                    raise ValueError("the table was closed while it was read")
                self._asked = c
                if c in self._ready:
                    self._ready.move_to_end(c)
                    self._start()
                    return self._ready[c]
                if self._error is not None:  # who asks again may try again
                    error, self._error = self._error, None
                    raise error
                heading = self._next if self._target is None else self._target
                if not heading <= c <= heading + AHEAD:
                    self._target = c
                self._start()
                self._changed.wait(POLL_SECONDS)

    def _start(self) -> None:
        heading = self._next if self._target is None else self._target
        due = heading < self._count and heading <= self._asked + AHEAD
        if due and self._thread is None and self._error is None:
            self._thread = threading.Thread(
                target=self._decode, name="certus read-ahead", daemon=True
            )
            self._thread.start()

    def _decode(self) -> None:
        """Decode chunks until no more are due; what runs on the thread."""
        error: BaseException | None = None
        while True:
            with self._changed:
                if self._target is not None:
                    self._next, self._target, self._chunks = self._target, None, None
                near = self._asked - MAX_CHUNKS < self._next <= self._asked + AHEAD
                if error is not None or self._is_closed or self._next >= self._count or not near:
                    self._error, self._thread = error, None
                    if error is not None or self._is_closed or self._next >= self._count:
                        self._chunks = None  # files are closed
                    self._changed.notify_all()
                    return
                c = self._next
            try:
                if self._chunks is None:
                    self._chunks = self._chunks_from(c)
                chunk = next(self._chunks)
            except BaseException as raised:
                error = raised
                continue
            with self._changed:
                self._ready[c] = chunk
                while len(self._ready) > MAX_CHUNKS:
                    self._ready.popitem(last=False)
                self._next = c + 1
                self._changed.notify_all()
            del chunk

    def _chunks_from(self, c: int) -> Iterator[RowBlock]:
        """Yield the chunks from number ``c`` on; the last one when nothing comes after it."""
        parts: list[RowBlock] = []
        wanted = self._rows_of(c)
        for block in self._source.rows_from(c * self._chunk_rows):
            at = 0
            while at < len(block.X):
                part = _rows(block, at, at + wanted)
                at, wanted = at + len(part.X), wanted - len(part.X)
                parts.append(part)
                if wanted == 0 and c + 1 < self._count:
                    yield joined_blocks(parts)
                    c, parts = c + 1, []
                    wanted = self._rows_of(c)
        yield joined_blocks(parts)

    def _rows_of(self, c: int) -> int:
        return min(self._n, (c + 1) * self._chunk_rows) - c * self._chunk_rows

    def close(self) -> None:
        """End the thread, and forget what was decoded."""
        with self._changed:
            self._is_closed = True
            self._ready.clear()
            thread = self._thread
            if thread is None:
                self._chunks = None  # files are closed
            self._changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(CLOSING_SECONDS)


_in_this_process: "weakref.WeakSet[DecodedRows]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for rows in list(_in_this_process):
        rows._begin()  # the thread stayed in the parent


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def _rows(block: RowBlock, start: int, stop: int) -> RowBlock:
    X, y, s = block
    return RowBlock(
        X[start:stop], None if y is None else y[start:stop], None if s is None else s[start:stop]
    )


def joined_blocks(blocks: list[RowBlock]) -> RowBlock:
    """Return rows of several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    columns = zip(*blocks, strict=True)
    return RowBlock(*(None if c[0] is None else np.concatenate(c) for c in columns))  # type: ignore[arg-type]
