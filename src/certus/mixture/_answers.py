"""Answers of a mixture for each row, block by block, from log π_k p(x | θ_k).

    argmax_k log π_k p        r_k = π_k p_k / Σ_l π_l p_l        log p = log Σ_k π_k p_k

The joint log densities of a block are dropped once its answers are made.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from ..data.rows import Rows
from ._family import LogJoint

# of a block's joint log densities, if it has more components than 8 p: fewer rows then
MAX_BLOCK_ELEMENTS = 1 << 20


class DensitySums(NamedTuple):
    """Sums over rows."""

    L: float  # Σ s log p(x)
    S: float  # Σ s


def most_likely(X: np.ndarray, y: object, s: object, log_joint: LogJoint) -> np.ndarray:
    """Return the most likely component of each row of a block."""
    return np.asarray(_contiguous(X, log_joint).argmax(axis=1))


def probabilities(X: np.ndarray, y: object, s: object, log_joint: LogJoint) -> np.ndarray:
    """Return r_k(x), (rows, k)."""
    return np.asarray(softmax(_contiguous(X, log_joint), axis=1))


def log_densities(X: np.ndarray, y: object, s: object, log_joint: LogJoint) -> np.ndarray:
    """Return log p(x) of each row of a block."""
    return np.asarray(logsumexp(_contiguous(X, log_joint), axis=1))


def density_sums(
    X: np.ndarray, y: object, s: np.ndarray | None, log_joint: LogJoint
) -> DensitySums:
    """Return Σ s log p(x) and Σ s of a block."""
    each = log_densities(X, y, s, log_joint)
    if s is None:
        return DensitySums(float(each.sum()), float(len(each)))
    return DensitySums(float(np.dot(s, each)), float(s.sum()))


def block_rows(rows: Rows, k: int) -> int:
    """Return the rows of a block whose joint log densities fit in cache."""
    return min(rows.block_rows(), max(128, MAX_BLOCK_ELEMENTS // k))


def _contiguous(X: np.ndarray, log_joint: LogJoint) -> Any:
    """Return log π_k p(x | θ_k) with a row's components together: sums are in their order."""
    return np.ascontiguousarray(log_joint(X, None, None))
