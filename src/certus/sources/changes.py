"""Whether a later pass reads what the first pass read: hashes of sampled rows.

Of every 256 kB of rows one is sampled, at a place without a period, and its hash (CRC-32 of X, the
targets and the weight) is kept: 4 bytes, 16 MB for a terabyte.
"""

import zlib
from array import array

import numpy as np

from ..data.streamed import RowBlock

HASHED_BYTES = 1 << 18  # of rows, among which one is hashed
PHI = 0.6180339887498949


class SampledHashes:
    """Hashes of some rows, noted in the first pass and compared in each later one."""

    def __init__(self, row_bytes: int):
        self._step = max(1, HASHED_BYTES // max(1, row_bytes))
        self._hashes = array("I")

    def _rows(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return (number of the hash, row) of the sampled rows from start to stop."""
        numbers = range(start // self._step, -(-stop // self._step))
        rows = ((k, k * self._step + int(k * PHI % 1.0 * self._step)) for k in numbers)
        return [(k, row) for k, row in rows if start <= row < stop]

    def note(self, start: int, block: RowBlock) -> None:
        """Keep the hashes of a block; blocks come in order."""
        for _, row in self._rows(start, start + len(block.X)):
            self._hashes.append(_hash(block, row - start))

    def first_change(self, start: int, block: RowBlock) -> int | None:
        """Return the first sampled row of a block that is another one than before."""
        for k, row in self._rows(start, start + len(block.X)):
            if k < len(self._hashes) and self._hashes[k] != _hash(block, row - start):
                return row
        return None


def _hash(block: RowBlock, row: int) -> int:
    found = 0
    for part in block:
        if part is not None:
            found = zlib.crc32(np.ascontiguousarray(part[row]).tobytes(), found)
    return found
