"""Columns of a table as NumPy arrays: numbers with NaN where missing, categories as codes."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

MIN_ROWS_NAMED = 5  # a category of fewer rows is not named, and no statistic of them is shown
OTHER_LEVELS = "other levels"


class CategoryCodes(NamedTuple):
    """A column of categories: an index into ``levels`` for each row, −1 where it is missing."""

    codes: np.ndarray
    levels: tuple[str, ...]

    @property
    def counts(self) -> np.ndarray:
        """Rows of each level."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))


def numbers_of(values: "pa.ChunkedArray") -> np.ndarray:
    """Return a column of numbers as float64, NaN where it is missing."""
    import pyarrow as pa

    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def codes_of(values: "pa.ChunkedArray") -> CategoryCodes:
    """Return the codes of a column; levels are in alphabetical order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(values.cast(pa.string())).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # of no rows
        return CategoryCodes(np.zeros(0, dtype=np.intp), ())
    levels = [str(level) for level in encoded.dictionary.to_pylist()]
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.intp)
    order = sorted(range(len(levels)), key=levels.__getitem__)
    place = np.empty(len(levels) + 1, dtype=np.intp)
    place[order] = np.arange(len(levels))
    place[-1] = -1
    return CategoryCodes(place[codes], tuple(levels[i] for i in order))


def merge_rare_levels(column: CategoryCodes) -> CategoryCodes:
    """Merge levels of fewer than ``MIN_ROWS_NAMED`` rows into one, which is the last."""
    counts = column.counts
    is_named = counts >= MIN_ROWS_NAMED
    if is_named.all():
        return column
    levels = [level for level, named in zip(column.levels, is_named, strict=True) if named]
    place = np.where(is_named, np.cumsum(is_named) - 1, len(levels))
    codes = np.where(column.codes >= 0, place[column.codes], -1)
    return CategoryCodes(codes, (*levels, OTHER_LEVELS))


def sample_of_rows(n: int, most: int, seed: int = 0) -> np.ndarray:
    """Return ``most`` of n row indices in ascending order, all of them if there are no more."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
