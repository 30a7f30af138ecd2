"""Recognise the rows that a model was fitted on.

A fingerprint is the shape and a hash of at most 1,024 rows, spread over all; the objective, a sum
over every row, covers the others. It recognises other data, but is no defence against forgery: a
hash of every byte would cost more than a fit.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from ..data.rows import Rows
from .matrix import Matrix

MAX_HASHED_ROWS = 1024
MAX_HASHED_ELEMENTS = 1 << 18  # takes a millisecond or two


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """Shape and hashes by which the rows of a fit are recognised."""

    shape: tuple[int, int]
    dtype: str
    rows: str  # hash of X at the spread rows
    targets: str  # … of y
    weights: str | None  # … of the weights; None: there were none

    def differs(self, other: "Fingerprint") -> str | None:
        """Describe how ``other`` differs from the rows of the fit; None where it does not."""
        if self.shape != other.shape:
            (n, p), (m, q) = self.shape, other.shape
            return f"it was fitted on {n:,} rows × {p:,} columns, these are {m:,} × {q:,}"
        if self.weights is not None and other.weights is None:
            return "it was fitted with sample_weight: give the same weights"
        if self.weights is None and other.weights is not None:
            return "it was fitted without sample_weight"
        if self.weights != other.weights:
            return "sample_weight differs from that of the fit"
        if self.rows != other.rows:
            return "X differs from that of the fit (or its rows are in another order)"
        if self.targets != other.targets:
            return "y differs from that of the fit"
        return None


def fingerprint(rows: Rows) -> Fingerprint:
    X, y, s = rows.sample_block(max(16, min(MAX_HASHED_ROWS, MAX_HASHED_ELEMENTS // rows.shape[1])))
    return Fingerprint(
        shape=rows.shape,
        dtype=str(rows.X.dtype),
        rows=_hash(X),
        targets="" if y is None else _hash(y),
        weights=None if s is None else _hash(s),
    )


def _hash(values: Matrix) -> str:
    """Hash of the values as dense float64.

    A frame and its array, float32 and its float64 copy, sparse and dense rows have the same hash.
    """
    digest = hashlib.blake2b(digest_size=16)
    step = (
        len(values)
        if isinstance(values, np.ndarray)
        else max(1, MAX_HASHED_ELEMENTS // values.shape[1])
    )
    for start in range(0, values.shape[0], max(1, step)):
        part = values[start : start + step]
        part = part if isinstance(part, np.ndarray) else part.toarray()
        digest.update(np.ascontiguousarray(part, dtype=np.float64).data)
    return digest.hexdigest()
