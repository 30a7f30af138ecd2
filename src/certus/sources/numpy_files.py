"""``.npy`` files as rows: read where they are, without a copy of the file in memory.

    X       a file of shape (n, columns), or several with the same columns
    target, weights     columns of X by their numbers, or files of their own with n rows

Rows are read by position, so that the pages of the file never count as memory of the process. Files
in Fortran's order are read column by column.
"""

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..data.streamed import RowBlock, read_into
from ..exceptions import SourceChangedError, TableError
from .arrow_rows import BATCH_BYTES, PlacedBlock
from .changes import SampledHashes
from .encoding import MAX_CLASSES
from .parts import Place, cannot_be_read, require_stamp, stamp_of
from .read_ahead import joined_blocks


class NumpyFile:
    """One ``.npy`` file of one or two dimensions."""

    def __init__(self, path: str, name: str):
        self.path, self.name = path, name
        self.stamp = stamp_of(path)
        try:
            with open(path, "rb") as file:
                version = np.lib.format.read_magic(file)
                header = np.lib.format.read_array_header_1_0
                if version != (1, 0):  # 3.0 differs from 2.0 in the encoding of names alone
                    header = np.lib.format.read_array_header_2_0
                self.shape, self._fortran, self.dtype = header(file)
                self._offset = file.tell()
                size = file.seek(0, os.SEEK_END)
        except Exception as error:  # a damaged file may raise nearly anything
            raise cannot_be_read(name, ".npy", error) from error
        if self.dtype.hasobject:
            raise TableError(f"{name} holds Python objects: save numbers, or text of a fixed width")
        if len(self.shape) not in (1, 2) or self.dtype.kind not in "fiubU":
            raise TableError(
                f"{name} holds an array of shape {self.shape} and type {self.dtype}: give numbers, "
                "a row each"
            )
        if min(self.shape) < 0:
            raise TableError(f"{name} is damaged: its header states the shape {self.shape}")
        stated = self._offset + math.prod(self.shape) * self.dtype.itemsize
        if size < stated:
            raise TableError(
                f"{name} is cut off: its header states {stated:,} bytes, and it has {size:,}. "
                "Write it again"
            )
        self.n_rows = self.shape[0]
        self.n_columns = 1 if len(self.shape) == 1 else self.shape[1]
        self.kind = "bU".find(self.dtype.kind)  # truth, text, or numbers

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows start:stop in the type of the file."""
        k, size = self.n_columns, self.dtype.itemsize
        by_column = self._fortran and k > 1
        values = np.empty((k, stop - start) if by_column else (stop - start, k), self.dtype)
        if values.size:
            try:
                with open(self.path, "rb", buffering=0) as file:
                    if by_column:
                        for j in range(k):
                            at = self._offset + (j * self.n_rows + start) * size
                            read_into(file.fileno(), values[j], at)
                    else:
                        read_into(file.fileno(), values, self._offset + start * k * size)
            except (EOFError, FileNotFoundError) as error:
                raise SourceChangedError(
                    f"{self.name} was cut off or removed since open_rows read it: open it again"
                ) from error
        if by_column:
            values = np.ascontiguousarray(values.T)
        return values.astype(self.dtype.newbyteorder("="), copy=False)


class NumpyColumns:
    """Files of the same columns, one after another."""

    def __init__(self, files: Sequence[NumpyFile]):
        self.files = list(files)
        first = self.files[0]
        for file in self.files[1:]:
            if file.n_columns != first.n_columns:
                raise TableError(
                    f"{file.name} has {file.n_columns} columns, and {first.name} has "
                    f"{first.n_columns}: give files with the same columns"
                )
            if file.kind != first.kind:
                raise TableError(
                    f"{file.name} holds {file.dtype}, and {first.name} {first.dtype}: give files "
                    "of the same type"
                )
        self.ends = np.cumsum([file.n_rows for file in self.files])
        self.shape = (int(self.ends[-1]), first.n_columns)
        self.name = first.name if len(self.files) == 1 else f"{first.name}, …"

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return rows start:stop."""
        parts = [file.read(a, b) for file, a, b in self._ranges(start, stop)]
        if not parts:
            return self.files[0].read(0, 0)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _ranges(self, start: int, stop: int) -> Iterator[tuple[NumpyFile, int, int]]:
        """Yield the files that hold rows start:stop, each with the range of its own rows."""
        at = int(np.searchsorted(self.ends, start, side="right"))
        while start < stop and at < len(self.files):
            file, end = self.files[at], int(self.ends[at])
            first = end - file.n_rows
            if end > start:
                yield file, start - first, min(stop, end) - first
                start = end
            at += 1

    def require_unchanged(self, start: int, stop: int) -> None:
        """Raise ``SourceChangedError`` if a file of these rows was written since."""
        for file, _, _ in self._ranges(start, stop):
            require_stamp(file.path, file.name, file.stamp)

    def place(self, row: int) -> Place:
        """Return the file of a row, and its number within the file."""
        part = int(np.searchsorted(self.ends, row, side="right"))
        return Place(self.files[part].name, row - int(self.ends[part]) + self.files[part].n_rows)


class NumpyRows:
    """Rows of ``.npy`` files, as the source and as the store of a table."""

    once = False

    def __init__(
        self,
        X: NumpyColumns,
        columns: Sequence[int] | None,
        y: NumpyColumns | Sequence[int] | None,
        s: NumpyColumns | int | None,
    ):
        self._X, self._y, self._s = X, y, s
        n, width = X.shape
        for beside, option in ((y, "target"), (s, "weights")):
            if isinstance(beside, NumpyColumns) and beside.shape[0] != n:
                raise TableError(
                    f"{option}: {beside.name} has {beside.shape[0]:,} rows, and {X.name} has "
                    f"{n:,}: give a value for each row"
                )
        if isinstance(s, NumpyColumns) and s.shape[1] != 1:
            raise TableError(f"weights: {s.name} has {s.shape[1]} columns: give one weight a row")
        apart = {*(y if isinstance(y, Sequence) else ()), *([s] if isinstance(s, int) else [])}
        if columns is None:
            columns = [j for j in range(width) if j not in apart]
        self.columns = list(columns)
        self._whole = self.columns == list(range(width))
        for j in (*self.columns, *apart):
            if not 0 <= j < width:
                raise TableError(f"{X.name} has no column {j}: it has columns 0 to {width - 1}")
        both = [j for j in self.columns if j in apart]
        if both:
            raise ValueError(
                f"column {both[0]} is in columns and is target or weights too: leave it out"
            )
        if not self.columns:
            raise TableError(f"{X.name} has no columns left for X")
        if X.files[0].dtype.kind == "U":
            raise TableError(f"{X.name} holds text, and X needs numbers")
        self.dtype = np.dtype(
            np.float32 if all(f.dtype == np.float32 for f in X.files) else np.float64
        )
        self.p = len(self.columns)
        self.n_targets = 0 if y is None else y.shape[1] if isinstance(y, NumpyColumns) else len(y)
        self.target_dtype = (
            None if y is None else (y if isinstance(y, NumpyColumns) else X).files[0].dtype
        )
        self.labels: dict[str, int] = {}  # of a target of text, in the order of first occurrence
        self.known_rows = n
        self.part_rows = [f.n_rows for f in X.files]
        self.row_bytes = self.p * self.dtype.itemsize + 8 * (self.n_targets + (s is not None))
        self.hashes = SampledHashes(self.row_bytes)
        self._first_pass_is_done = False

    def first_pass(self) -> Iterator[PlacedBlock]:
        """Yield all rows in order, and note hashes."""
        step = max(1, BATCH_BYTES // max(1, self.row_bytes))
        first = 0
        for number, file in enumerate(self._X.files):
            for row in range(0, file.n_rows, step):
                start = first + row
                block = self._read(start, first + min(file.n_rows, row + step))
                self.hashes.note(start, block)
                yield PlacedBlock(number, row, block)
            first += file.n_rows
        self._first_pass_is_done = True

    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop, compared with the first pass."""
        block = self._read(start, stop)
        change = self.hashes.first_change(start, block)
        if change is not None:
            place = self.place(change)
            raise SourceChangedError(
                f"{place.part} has other values in row {place.row:,} than when open_rows read it "
                "first (counted from 0): open it again, and fit again"
            )
        return block

    def read_targets(self, start: int, stop: int) -> tuple[Any, Any]:
        """Return y and s of rows start:stop."""
        inside = not (
            (self._y is None or isinstance(self._y, NumpyColumns))
            and (self._s is None or isinstance(self._s, NumpyColumns))
        )
        if inside:
            return self.read(start, stop)[1:]
        return self._targets(start, stop, None)

    def read_rows(self, i: np.ndarray) -> RowBlock:
        """Return the rows with ascending numbers ``i``, each by a read of its own."""
        blocks = [self._read(row, row + 1) for row in i.tolist()]
        return joined_blocks(blocks)

    def _read(self, start: int, stop: int) -> RowBlock:
        values = self._X.read(start, stop)
        X = values if self._whole else values[:, self.columns]
        y, s = self._targets(start, stop, values)
        return RowBlock(np.ascontiguousarray(X, dtype=self.dtype), y, s)

    def _targets(self, start: int, stop: int, values: np.ndarray | None) -> tuple[Any, Any]:
        y = s = None
        if isinstance(self._y, NumpyColumns):
            y = self._y.read(start, stop)
            y = self._coded(y) if y.dtype.kind == "U" else y.astype(float)
        elif self._y is not None and values is not None:
            y = values[:, list(self._y)].astype(float)
        if isinstance(self._s, NumpyColumns):
            s = self._s.read(start, stop).astype(float).reshape(-1)
        elif self._s is not None and values is not None:
            s = values[:, self._s].astype(float)
        return y, s

    def _coded(self, y: np.ndarray) -> np.ndarray:
        distinct, at = np.unique(y, return_inverse=True)
        for label in distinct.tolist():
            if label not in self.labels:
                if len(self.labels) == MAX_CLASSES:
                    raise TableError(
                        f"the target has more than {MAX_CLASSES:,} different texts: is it a "
                        "target? Give one with fewer classes"
                    )
                if self._first_pass_is_done:
                    raise SourceChangedError(
                        f"the target holds {label!r}, which it did not when open_rows read it "
                        "first: open it again, and fit again"
                    )
                self.labels[label] = len(self.labels)
        codes = np.array([self.labels[label] for label in distinct.tolist()], dtype=float)
        return codes[at].reshape(y.shape)

    def require_unchanged(self, start: int, stop: int) -> None:
        """Raise ``SourceChangedError`` if a file of these rows was written since."""
        for columns in (self._X, self._y, self._s):
            if isinstance(columns, NumpyColumns):
                columns.require_unchanged(start, stop)

    def place(self, row: int) -> Place:
        """Return the file of a row, and its number within the file."""
        return self._X.place(row)

    def place_in(self, part: int, row: int) -> Place:
        """Return the place of a row of a file."""
        return Place(self._X.files[part].name, row)

    def close(self) -> None:
        """Do nothing: files are open only while they are read."""
