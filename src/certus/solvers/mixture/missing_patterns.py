r"""Rows of a block grouped by their missing entries, so that each pattern is factored once.

    rows ─► patterns (same columns missing) ─► batches (as many columns missing, rows padded)

The patterns of a batch are worked on together: one call of NumPy for all of them.
"""

from typing import Any, NamedTuple

import numpy as np

# numbers of one component and batch, factors and rows; 2^13 and 2^17 took 5 % longer at p=10
MAX_BATCH_NUMBERS = 1 << 15
# of the rows of a batch's patterns: fewer rows are padded to the most
MAX_PADDING = 4
MAX_CACHED_BLOCKS = 256  # 10 MB of row numbers for blocks of 4,096 rows


class PatternBatch(NamedTuple):
    """g patterns with q of p columns missing, of at most w rows each."""

    patterns: slice  # their numbers
    observed: np.ndarray  # (g, p − q)
    missing: np.ndarray  # (g, q)
    rows: np.ndarray  # (g, w), the last row of a pattern repeated
    entries: np.ndarray  # (g, w, q): numbers of the missing entries


class Patterns(NamedTuple):
    """Missing entries of a block Z of shape (p, rows), grouped."""

    is_missing: np.ndarray  # (p, rows)
    entries: np.ndarray  # flat positions of the missing entries
    order: np.ndarray  # rows sorted by pattern
    starts: np.ndarray  # of the patterns in ``order``
    of_row: np.ndarray  # number of each row's pattern
    batches: list[PatternBatch]  # of patterns with a missing entry

    def sums(self, R: np.ndarray) -> Any:
        """Sums of R (k, rows) over the rows of each pattern, (k, patterns)."""
        return np.add.reduceat(R[:, self.order], self.starts, axis=1)


class PatternCache:
    """Patterns of the blocks seen so far, by their missing entries: they are the same in each
    step."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, bytes], Patterns] = {}

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return PatternCache, ()  # elsewhere, other blocks are seen

    def patterns(self, is_missing: np.ndarray) -> Patterns:
        """Return the patterns of a block; ``is_missing``: (p, rows)."""
        key = is_missing.shape[1], np.packbits(is_missing).tobytes()
        found = self.found.get(key)
        if found is None:
            found = group(is_missing)
            if len(self.found) < MAX_CACHED_BLOCKS:
                self.found[key] = found
        return found


def group(is_missing: np.ndarray) -> Patterns:
    """Group the rows of a block; patterns are sorted by missing columns, then by rows."""
    p, n = is_missing.shape
    by_code, cuts = _sorted_by_code(is_missing)
    first, sizes = by_code[cuts], np.diff(np.append(cuts, n))
    which = np.empty(n, dtype=np.intp)
    which[by_code] = np.repeat(np.arange(len(cuts)), sizes)
    masks = is_missing[:, first].T  # (patterns, p)
    n_missing = masks.sum(axis=1)
    by_size = np.lexsort((-sizes, n_missing))
    number = np.empty_like(by_size)
    number[by_size] = np.arange(len(by_size))
    masks, sizes, n_missing = masks[by_size], sizes[by_size], n_missing[by_size]
    of_row = number[which]
    order = np.argsort(of_row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    entries = np.zeros((p, n), dtype=np.intp)
    entries[is_missing] = np.arange(np.count_nonzero(is_missing))
    batches = []
    for chunk in _chunks(sizes, n_missing, p):
        w, q = int(sizes[chunk.start]), int(n_missing[chunk.start])
        g = chunk.stop - chunk.start
        missing = np.nonzero(masks[chunk])[1].reshape(g, q)
        observed = np.nonzero(~masks[chunk])[1].reshape(g, p - q)
        places = np.minimum(np.arange(w), sizes[chunk, None] - 1)
        rows = order[starts[chunk, None] + places]
        batches.append(
            PatternBatch(
                chunk, observed, missing, rows, entries[missing[:, None, :], rows[:, :, None]]
            )
        )
    return Patterns(is_missing, np.flatnonzero(is_missing), order, starts, of_row, batches)


def _sorted_by_code(is_missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows sorted by their missing columns, and where each pattern begins."""
    p, n = is_missing.shape
    words = np.zeros((-(-p // 64), 64, n), dtype=bool)
    words.reshape(-1, n)[:p] = is_missing
    codes = np.packbits(words, axis=1).transpose(0, 2, 1).copy().view(np.uint64)[..., 0]
    order = np.lexsort(codes) if len(codes) > 1 else np.argsort(codes[0], kind="stable")
    changes = (np.diff(codes[:, order], axis=1) != 0).any(axis=0)
    return order, np.concatenate([[0], np.flatnonzero(changes) + 1])


def _chunks(sizes: np.ndarray, n_missing: np.ndarray, p: int) -> list[slice]:
    """Runs of patterns with as many missing columns and about as many rows."""
    out: list[slice] = []
    start = int(np.searchsorted(n_missing, 1))
    for i in range(start, len(sizes) + 1):
        if i > start and (
            i == len(sizes)
            or n_missing[i] != n_missing[start]
            or MAX_PADDING * sizes[i] < sizes[start]
            or (i + 1 - start) * p * (p + sizes[start]) > MAX_BATCH_NUMBERS
        ):
            out.append(slice(start, i))
            start = i
    return out
