"""Rows that are decoded again in every pass: a few chunks in memory, the next ones on the way.

Blocks are asked for by several threads, nearly in order. One thread decodes chunk after chunk and
stops when it is AHEAD chunks beyond the last one asked for; a question elsewhere sends it there.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data.streamed import RowBlock
from .arrow_rows import ArrowRows

CHUNK_BYTES = 1 << 23
AHEAD = 3  # chunks decoded before they are asked for; a fourth gained nothing
MAX_CHUNKS = 8  # in memory


class DecodedRows:
    """Stored rows of a source, decoded when they are read."""

    def __init__(self, source: ArrowRows, n: int):
        self._source, self._n = source, n
        self._chunk_rows = max(1, CHUNK_BYTES // max(1, source.row_bytes))
        self._count = -(-n // self._chunk_rows)
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._ready: OrderedDict[int, RowBlock] = OrderedDict()
        self._chunks: Iterator[RowBlock] | None = None
        self._next = 0  # the chunk that is decoded, or will be
        self._asked = -1  # the last one asked for
        self._target: int | None = None  # where the thread is sent
        self._runs = False
        self._error: BaseException | None = None

    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop."""
        if stop <= start:
            return _rows(self._chunk(0), 0, 0)
        parts = []
        for c in range(start // self._chunk_rows, (stop - 1) // self._chunk_rows + 1):
            first = c * self._chunk_rows
            parts.append(_rows(self._chunk(c), max(0, start - first), stop - first))
        return parts[0] if len(parts) == 1 else _joined(parts)

    def read_targets(self, start: int, stop: int) -> tuple[Any, Any]:
        """Return y and s of rows start:stop."""
        return self.read(start, stop)[1:]

    def _chunk(self, c: int) -> RowBlock:
        if self._process != os.getpid():  # the thread stayed in the parent of a fork
            self._begin()
        with self._changed:
            while True:
                self._asked = c
                if c in self._ready:
                    self._ready.move_to_end(c)
                    self._start()
                    return self._ready[c]
                if self._error is not None:
                    raise self._error
                heading = self._next if self._target is None else self._target
                if not heading <= c <= heading + AHEAD:
                    self._target = c
                self._start()
                self._changed.wait()

    def _start(self) -> None:
        heading = self._next if self._target is None else self._target
        due = heading < self._count and heading <= self._asked + AHEAD
        if due and not self._runs and self._error is None:
            self._runs = True
            threading.Thread(target=self._decode, name="certus read-ahead", daemon=True).start()

    def _decode(self) -> None:
        while True:
            with self._changed:
                if self._target is not None:
                    self._next, self._target, self._chunks = self._target, None, None
                if self._next >= self._count or not self._asked - MAX_CHUNKS < self._next <= (
                    self._asked + AHEAD
                ):
                    self._runs = False
                    self._changed.notify_all()
                    return
                c = self._next
            try:
                if self._chunks is None:
                    self._chunks = self._chunks_from(c)
                chunk = next(self._chunks)
            except BaseException as error:
                with self._changed:
                    self._error, self._runs, self._chunks = error, False, None
                    self._changed.notify_all()
                return
            with self._changed:
                self._ready[c] = chunk
                while len(self._ready) > MAX_CHUNKS:
                    self._ready.popitem(last=False)
                self._next = c + 1
                self._changed.notify_all()

    def _chunks_from(self, c: int) -> Iterator[RowBlock]:
        """Yield the chunks from number ``c`` on."""
        parts: list[RowBlock] = []
        wanted = self._rows_of(c)
        for block in self._source.rows_from(c * self._chunk_rows):
            at = 0
            while at < len(block.X):
                part = _rows(block, at, at + wanted)
                at, wanted = at + len(part.X), wanted - len(part.X)
                parts.append(part)
                if wanted == 0:
                    yield parts[0] if len(parts) == 1 else _joined(parts)
                    c, parts = c + 1, []
                    wanted = self._rows_of(c)

    def _rows_of(self, c: int) -> int:
        return min(self._n, (c + 1) * self._chunk_rows) - c * self._chunk_rows

    def close(self) -> None:
        """Forget what was decoded."""
        with self._changed:
            self._ready.clear()


def _rows(block: RowBlock, start: int, stop: int) -> RowBlock:
    X, y, s = block
    return RowBlock(
        X[start:stop], None if y is None else y[start:stop], None if s is None else s[start:stop]
    )


def _joined(blocks: list[RowBlock]) -> RowBlock:
    columns = zip(*blocks, strict=True)
    return RowBlock(*(None if c[0] is None else np.concatenate(c) for c in columns))  # type: ignore[arg-type]
