"""Medians of columns that do not fit in memory, to the last bit.

A float64 is ordered as a whole number of 64 bits (its key). A range of keys that holds the median
is cut into 4,096 equal parts, the values in each are counted in one pass, and the part that holds
the median is the next range, until its values are few enough to be gathered:

    median  =  the mean of the values of rank ⌊(n − 1)/2⌋ and ⌊n/2⌋, which are one if n is odd
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

MAX_GATHERED = 1 << 13  # values of a column, among which its median is sorted out
BITS = 12  # of the parts of a range
SIGN = np.uint64(1 << 63)
LAST_KEY = (1 << 64) - 1

Blocks = Callable[[], Iterable[list[np.ndarray]]]


def medians(blocks: Blocks, n_columns: int) -> np.ndarray:
    """Return the median of each column, without missing values (NaN); NaN where there is none.

    ``blocks`` gives a pass over the rows: for every block the values of each column.
    """
    searches = [_MedianSearch() for _ in range(n_columns)]
    while any(not search.is_done for search in searches):
        for block in blocks():
            for search, values in zip(searches, block, strict=True):
                if not search.is_done:
                    search.add(_keys(values))
        for search in searches:
            if not search.is_done:
                search.end_pass()
    return np.array([search.median for search in searches])


def middle_ranks(n: int) -> list[int]:
    """Ranks, from 0, of the values whose mean is the median: one of an odd number, else two."""
    return [n // 2] if n % 2 else [n // 2 - 1, n // 2]


def mean_of(middle: "Sequence[float] | np.ndarray") -> float:
    """The mean of the middle values; infinite where their sum is, as NumPy's median."""
    with np.errstate(over="ignore"):
        return float(np.mean(middle))


def _keys(values: np.ndarray) -> np.ndarray:
    """Whole numbers in the order of the values, without those that are missing."""
    values = np.asarray(values, dtype=np.float64)
    bits = (values[~np.isnan(values)] + 0.0).view(np.uint64)  # + 0: of −0 and 0 one key
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def _value(key: int) -> float:
    bits = np.uint64(key)
    return float(np.array(bits ^ SIGN if bits & SIGN else ~bits).view(np.float64))


class _MedianSearch:
    """The search for the two middle values of a column."""

    def __init__(self) -> None:
        self.first, self.bits = 0, 64  # the range: keys from first to first + 2^bits − 1
        self.n = self.n_below = 0  # values in all, and before the range
        self.n_within = -1  # values in the range; −1: not known before the first pass
        self.is_done, self.median = False, float("nan")
        self._begin_pass()

    def _begin_pass(self) -> None:
        self.counts = np.zeros(1 << BITS, dtype=np.int64)
        self.gathered: list[np.ndarray] = []
        self.least, self.most = LAST_KEY, 0  # keys in the range
        self.after = LAST_KEY  # the least key behind it

    def add(self, keys: np.ndarray) -> None:
        """Include the keys of a block."""
        inside = keys
        if self.n_within >= 0:
            last = np.uint64(self.first + (1 << self.bits) - 1)
            behind = keys[keys > last]
            if len(behind):
                self.after = min(self.after, int(behind.min()))
            inside = keys[(keys >= np.uint64(self.first)) & (keys <= last)]
        if not len(inside):
            return
        self.least = min(self.least, int(inside.min()))
        self.most = max(self.most, int(inside.max()))
        if self._gathers:
            self.gathered.append(inside)
        else:
            parts = (inside - np.uint64(self.first)) >> np.uint64(self._shift)
            self.counts += np.bincount(parts.astype(np.intp), minlength=1 << BITS)

    @property
    def _gathers(self) -> bool:
        return 0 <= self.n_within <= MAX_GATHERED

    @property
    def _shift(self) -> int:
        return max(0, self.bits - BITS)

    def end_pass(self) -> None:
        """Find the median, or narrow the range."""
        if self.n_within < 0:
            self.n = self.n_within = int(self.counts.sum())
        if self.n == 0:
            self.is_done = True
        elif self.least == self.most:  # whatever there is, it is one value
            self._found(lambda rank: self.least)
        elif self.gathered:
            within = np.sort(np.concatenate(self.gathered))
            self._found(lambda rank: int(within[rank]))
        else:
            self._narrow()

    def _narrow(self) -> None:
        ends = self.n_below + np.cumsum(self.counts)
        part = int(np.searchsorted(ends, (self.n - 1) // 2, side="right"))
        self.n_within = int(self.counts[part])
        self.n_below = int(ends[part]) - self.n_within
        self.first += part << self._shift
        self.bits = self._shift
        self._begin_pass()

    def _found(self, key_of: Callable[[int], int]) -> None:
        """``key_of``: the key of a rank within the range."""
        middle = []
        for rank in middle_ranks(self.n):
            within = rank - self.n_below
            middle.append(_value(key_of(within) if within < self.n_within else self.after))
        self.median = mean_of(middle)
        self.is_done = True
