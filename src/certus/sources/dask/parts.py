"""Pieces of chunks as one part (X, y, s) of a table, made on a worker."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engines.dask import Opaque


def kind_of_chunk(chunk: Any, columns: Opaque) -> tuple[int, bool]:
    """Return the number of columns of X, and whether all are float32."""
    X = _numbers(chunk, columns.value.X)
    return X.shape[1], X.dtype == np.float32


def _numbers(chunk: Any, names: Sequence[str] | None) -> np.ndarray:
    """Return X of a chunk as an array of numbers."""
    if names is not None:
        missing = [name for name in names if name not in chunk.columns]
        if missing:
            raise ValueError(f"a part of the frame has no column {missing[0]!r}")
        chunk = chunk[list(names)]
    X = np.asarray(chunk)
    if X.ndim != 2:
        raise ValueError(f"X should be a 2d array, a chunk of it has shape {X.shape}")
    if X.dtype.kind not in "fiub":
        try:
            X = X.astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"X holds something that is no number ({error}): encode text as numbers, or name "
                "the columns to use, open_rows(…, columns=[…])"
            ) from error
    return X


def part_of_chunks(
    X: list[list[Any]], y: list[list[Any]] | None, s: list[list[Any]] | None, how: Opaque
) -> tuple[Any, Any, Any]:
    """Return rows of consecutive chunks as (X, y, s): X C-contiguous, y (rows, k), s (rows,)."""
    columns, dtype, first, p = how.value
    rows = [chunk[start:stop] for chunk, start, stop in X]
    blocks = [_numbers(chunk, columns.X) for chunk in rows]
    widths = {block.shape[1] for block in blocks}
    if widths != {p}:
        raise ValueError(f"rows from {first:,} on: {sorted(widths)} columns, and others have {p}")
    block = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    block = np.ascontiguousarray(block, dtype=dtype)
    if columns.target is not None:
        targets = _concatenated([np.asarray(chunk[list(columns.target)]) for chunk in rows])
    else:
        targets = _concatenated(_values(y))
    if columns.weights is not None:
        weights = _concatenated([np.asarray(chunk[columns.weights]) for chunk in rows])
    else:
        weights = _concatenated(_values(s))
    if targets is not None:
        targets = targets.reshape(len(block), -1)
        if targets.dtype.kind in "fiub":
            targets = np.ascontiguousarray(targets, dtype=float)
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=float).reshape(-1)
    return block, targets, weights


def _values(pieces: list[list[Any]] | None) -> list[np.ndarray]:
    return [np.asarray(chunk[start:stop]) for chunk, start, stop in pieces or []]


def _concatenated(arrays: list[np.ndarray]) -> np.ndarray | None:
    if not arrays:
        return None
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
