"""Rows kept in temporary files, decoded once: X, targets and weights, each in an unnamed file.

A file without a name is gone when it is closed, and when the process ends in any way; nothing
half-written stays.
"""

import errno
import shutil
import tempfile
from typing import Any

import numpy as np

from ..data.streamed import RowBlock, read_into, write_from
from ..exceptions import TableError

FREE_BYTES = 1 << 30  # that stay free on the disk
FREE_SHARE = 0.05
CHECKED_BYTES = 1 << 28  # written between two looks at the free space


def size_in_words(n_bytes: float) -> str:
    """Return "144 kB", "1.2 MB" or "3.25 GB"."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.3g} {unit}"
    return f"{n_bytes / 1e3:.3g} kB"


class DiskFullError(TableError):
    """There is no room on the disk for the rows of a source."""


class KeptRows:
    """Stored rows in temporary files; read by several threads at once."""

    def __init__(self, p: int, dtype: Any, n_targets: int, has_weights: bool, n: int | None):
        self._widths = (p, n_targets, 1 if has_weights else 0)
        self._dtypes = (np.dtype(dtype), np.dtype(float), np.dtype(float))
        self.row_bytes = sum(
            width * t.itemsize for width, t in zip(self._widths, self._dtypes, strict=True)
        )
        self._unchecked = 0
        self._require_room(None if n is None else n * self.row_bytes)
        self._files = [
            tempfile.TemporaryFile(prefix="certus-rows-", buffering=0)  # noqa: SIM115
            if width
            else None
            for width in self._widths
        ]
        self.n_rows = 0

    def _require_room(self, needed: int | None) -> None:
        folder = tempfile.gettempdir()
        usage = shutil.disk_usage(folder)
        reserve = min(FREE_BYTES, int(FREE_SHARE * usage.total))
        if usage.free - reserve < (needed or 0):
            size = "" if needed is None else f"they take {size_in_words(needed)}, and "
            raise DiskFullError(
                f"no room in {folder} to keep the decoded rows: {size}{size_in_words(usage.free)} "
                "are free. Set TMPDIR to a folder on a larger disk, or give cache=False, which "
                "decodes the source again in every pass"
            )

    def append(self, block: RowBlock) -> None:
        """Write the next rows."""
        try:
            for file, part, width, dtype in zip(
                self._files, block, self._widths, self._dtypes, strict=True
            ):
                if file is not None and part is not None:
                    values = np.ascontiguousarray(part, dtype=dtype)
                    write_from(file.fileno(), values, self.n_rows * width * dtype.itemsize)
        except OSError as error:
            self.close()
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise DiskFullError(
                    f"the disk of {tempfile.gettempdir()} is full after {self.n_rows:,} rows were "
                    "kept there, which are deleted. Set TMPDIR to a folder on a larger disk, or "
                    "give cache=False, which decodes the source again in every pass"
                ) from error
            raise
        self.n_rows += len(block.X)
        self._unchecked += self.row_bytes * len(block.X)
        if self._unchecked > CHECKED_BYTES:
            self._unchecked = 0
            try:
                self._require_room(None)
            except DiskFullError:
                self.close()
                raise

    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop."""
        return RowBlock(self._part(0, start, stop), *self.read_targets(start, stop))

    def read_targets(self, start: int, stop: int) -> tuple[Any, Any]:
        """Return y and s of rows start:stop."""
        y = self._part(1, start, stop) if self._widths[1] else None
        s = self._part(2, start, stop).reshape(-1) if self._widths[2] else None
        return y, s

    def read_rows(self, i: np.ndarray) -> RowBlock:
        """Return the rows with ascending numbers ``i``, each by a read of its own."""
        parts = [self._rows(which, i) if self._widths[which] else None for which in range(3)]
        X, y, s = parts
        assert X is not None
        return RowBlock(X, y, None if s is None else s.reshape(-1))

    def _part(self, which: int, start: int, stop: int) -> np.ndarray:
        width, dtype, file = self._widths[which], self._dtypes[which], self._files[which]
        out = np.empty((stop - start, width), dtype)
        if stop > start:
            assert file is not None
            read_into(file.fileno(), out, start * width * dtype.itemsize)
        return out

    def _rows(self, which: int, i: np.ndarray) -> np.ndarray:
        width, dtype, file = self._widths[which], self._dtypes[which], self._files[which]
        out = np.empty((len(i), width), dtype)
        assert file is not None
        for at, row in enumerate(i.tolist()):
            read_into(file.fileno(), out[at : at + 1], row * width * dtype.itemsize)
        return out

    def close(self) -> None:
        """Delete the files."""
        for file in self._files:
            if file is not None:
                file.close()
