r"""Does some score put all rows in the order of their classes? Then ordinal fits without a penalty
have no optimum.

    γ_{y−1} ≤ xᵀu ≤ γ_y   for all rows, and not all of them equalities

One column first, which people understand; the solver's own score; then by the linear programs of
``separation``, for this is the separation of two classes by c_k − xᵀw: above 0 for k = y, below for
k = y − 1. Given u, thresholds in the midst between the classes' scores are as good as any.
"""

from typing import Any

import numpy as np

from ...data.csr import Block
from ...data.rows import Rows
from .direction import separating_direction
from .single_column import ranges

MOST_ENTRIES = 1 << 27  # of the rows of linear programs: a gigabyte


def ordering_direction(
    rows: Rows, n_classes: int, reached: tuple[np.ndarray, np.ndarray], thorough: bool = True
) -> tuple[np.ndarray, np.ndarray] | None:
    """(u (p, 1), γ (K − 1,)) with γ_{y−1} ≤ xᵀu ≤ γ_y for all rows that count, as far as floats can
    tell; None where none was found. One column if one does.

    ``reached``: (w, b) of the solver. ``thorough``: by linear programs, if nothing cheaper does.
    """
    low, high = ranges(rows, n_classes)
    for sign in (1.0, -1.0):
        bottom, top = (low, high) if sign > 0 else (-high, -low)
        ordered = (top[:-1] <= bottom[1:]).all(axis=0) & (bottom.min(axis=0) < top.max(axis=0))
        if ordered.any():
            u = np.zeros((rows.shape[1], 1))
            u[int(ordered.argmax())] = sign
            return _with_thresholds(rows, n_classes, u)
    found = _with_thresholds(rows, n_classes, reached[0])
    entries = 2 * rows.shape[0] * (rows.shape[1] + n_classes)
    if found is None and thorough and entries <= MOST_ENTRIES:
        two = _as_two_classes(rows, n_classes)
        hint = np.vstack([reached[0], -reached[1][:, None]])
        by_program = separating_direction(two, 2, False, (hint, np.zeros(1)))
        if by_program.u is not None:
            found = _with_thresholds(rows, n_classes, by_program.u[: rows.shape[1]])
    return found


def _as_two_classes(rows: Rows, n_classes: int) -> Rows:
    """The rows (−x, e_k) of the scores c_k − z: above 0 for k = y, below for k = y − 1."""
    assert rows.y is not None
    counted = np.arange(rows.shape[0]) if rows.s is None else np.flatnonzero(rows.s)
    y = rows.y[counted, 0].astype(np.intp)
    X = rows.dense().X[counted].astype(float)
    X -= X.mean(axis=0)
    parts, labels = [], []
    for above, side in ((0, 1.0), (1, 0.0)):
        has = np.flatnonzero((y < n_classes - 1) if not above else (y > 0))
        parts.append(np.hstack([-X[has], np.eye(n_classes - 1)[y[has] - above]]))
        labels.append(np.full(len(has), side))
    return Rows(np.vstack(parts), np.concatenate(labels)[:, None], threads=rows.threads)


def _with_thresholds(
    rows: Rows, n_classes: int, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """γ in the midst between the classes' scores; None where these are not in order."""
    if not u.any():
        return None
    for direction in (*_rounded(u), u):
        low, high = rows.reduce(_score_ranges, direction, n_classes, combine=_wider)
        top, bottom = np.maximum.accumulate(high)[:-1], np.minimum.accumulate(low[::-1])[::-1][1:]
        if (top <= bottom).all() and low.min() < high.max():
            return direction, top / 2 + bottom / 2
    return None


def _rounded(u: np.ndarray) -> list[np.ndarray]:
    """Whole numbers near multiples of u: few columns may do, and rows touch thresholds exactly."""
    return [np.round(u / np.abs(u).max() * most) for most in (1, 2, 3, 4, 6, 12, 60)]


def _score_ranges(
    X: Block, y: np.ndarray, s: np.ndarray | None, u: np.ndarray, n_classes: int
) -> tuple[Any, Any]:
    z, y = (X @ u)[:, 0], y[:, 0]
    low, high = np.full(n_classes, np.inf), np.full(n_classes, -np.inf)
    for k in range(n_classes):
        own = z[(y == k) & (True if s is None else s > 0)]
        low[k], high[k] = own.min(initial=np.inf), own.max(initial=-np.inf)
    return low, high


def _wider(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])
