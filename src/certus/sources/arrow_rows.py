"""The parts of a source one after another, as stored rows; later passes are held to the first.

The first pass notes how many rows a part has; a later one that finds more, fewer, or other sampled
rows stops with ``SourceChangedError``, which names the part and the row.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..data.streamed import RowBlock
from ..exceptions import SourceChangedError
from .changes import SampledHashes
from .encoding import BatchEncoder
from .parts import SourcePart, Stamp, require_stamp, stamp_of
from .read_ahead import ahead

BATCH_BYTES = 1 << 22  # of rows decoded at a time; 8 MB was as fast, 1 MB took a fifth more CPU
MIN_BATCH_ROWS = 256


class PlacedBlock(NamedTuple):
    """Stored rows, and where they come from."""

    part: int
    row: int  # the first one, within the part
    rows: RowBlock


class ArrowRows:
    """Stored rows of Arrow parts."""

    def __init__(self, parts: Sequence[SourcePart], encoder: BatchEncoder):
        self.parts, self.encoder = list(parts), encoder
        columns = encoder.columns.read
        self.row_bytes = stored_bytes(encoder)
        self.batch_rows = max(MIN_BATCH_ROWS, BATCH_BYTES // self.row_bytes)
        self._columns = columns
        self.part_rows: list[int] = []  # found in the first pass
        self.stamps: list[Stamp | None] = [stamp_of(part.path) for part in self.parts]
        self.hashes = SampledHashes(self.row_bytes)

    @property
    def once(self) -> bool:
        """Whether there is only one pass, since a stream is gone when it was read."""
        return any(getattr(part, "once", False) for part in self.parts)

    @property
    def known_rows(self) -> int | None:
        """The number of rows, if all parts say it before they are read."""
        rows = [part.n_rows for part in self.parts]
        return None if None in rows else sum(r for r in rows if r is not None)

    def first_pass(self) -> Generator[PlacedBlock, None, None]:
        """Yield all rows in order, and note rows and hashes of each part."""
        done = 0
        for number, part in enumerate(self.parts):
            count = 0
            batches = part.batches(self._columns, 0, self.batch_rows)
            for row, batch in ahead(batches) if part.path is not None else batches:
                block = self.encoder.encode(batch)
                self.hashes.note(done, block)
                yield PlacedBlock(number, row, block)
                count += batch.num_rows
                done += batch.num_rows
            require_stamp(part.path, part.name, self.stamps[number])
            self.part_rows.append(count)
        self._ends = np.cumsum(self.part_rows)
        for vocabulary in self.encoder.vocabularies:
            vocabulary.complete = True

    def require_unchanged(self, start: int, stop: int) -> None:
        """Raise ``SourceChangedError`` if a file of these rows was written since."""
        first, last = np.searchsorted(self._ends, [start, max(start, stop - 1)], side="right")
        for part in range(int(first), min(int(last) + 1, len(self.parts))):
            require_stamp(self.parts[part].path, self.parts[part].name, self.stamps[part])

    def rows_from(self, start: int) -> Iterator[RowBlock]:
        """Yield the rows from ``start`` on, in blocks of any size, compared with the first pass."""
        offset = 0
        for number, part in enumerate(self.parts):
            n = self.part_rows[number]
            if offset + n > start:
                require_stamp(part.path, part.name, self.stamps[number])
                yield from self._part_from(number, max(0, start - offset), offset)
            offset += n

    def _part_from(self, number: int, begin: int, offset: int) -> Iterator[RowBlock]:
        part, n = self.parts[number], self.part_rows[number]
        end = begin
        for row, batch in part.batches(self._columns, begin, self.batch_rows):
            skipped = max(0, begin - row)
            if skipped >= batch.num_rows:
                continue
            end = row + batch.num_rows
            if end > n:
                raise self._changed(part, f"has more than the {n:,} rows that it had")
            block = self.encoder.encode(batch.slice(skipped))
            first = offset + row + skipped
            change = self.hashes.first_change(first, block)
            if change is not None:
                raise self._changed(part, f"has other values in row {change - offset:,} than")
            yield block
        if end < n:
            raise self._changed(part, f"gives {end:,} rows, and gave {n:,}")

    def _changed(self, part: SourcePart, what: str) -> SourceChangedError:
        remedy = "open it again, and fit again"
        if part.path is None:
            remedy = (
                "a source must give the same rows in the same order in every pass. Order them, or "
                "open it with cache=True, which keeps the rows of the first pass"
            )
        return SourceChangedError(
            f"{part.name} {what} when open_rows read it first (rows counted from 0): {remedy}"
        )

    def close(self) -> None:
        """Release the source."""


def stored_bytes(encoder: BatchEncoder) -> int:
    """Return the size of a stored row."""
    columns = encoder.columns
    beside = len(columns.targets) + (columns.weights is not None)
    return len(columns.features) * encoder.dtype.itemsize + 8 * beside
