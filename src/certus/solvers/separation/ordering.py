r"""Linear scores that order all rows by class: where one exists, unpenalised ordinal fits have no
optimum.

    γ_{y−1} ≤ xᵀu ≤ γ_y   for all rows, and not all of them equalities

Candidates are tried in this order: single columns, which are easiest to understand; the solver's
own score; then the linear programs of ``direction``, since this is the separation of two classes by
c_k − xᵀw: above 0 for k = y, below for k = y − 1. Given u, thresholds are midpoints between the
scores of neighbouring classes.
"""

from typing import Any

import numpy as np

from ...data.csr import Block
from ...data.rows import Rows, spread
from .direction import separating_direction
from .single_column import class_ranges

MAX_PROGRAM_ENTRIES = 1 << 27  # of the rows of a linear program: a gigabyte
MAX_LOADED_ENTRIES = 1 << 23  # of rows that are read block by block: a sample beyond


def ordering_direction(
    rows: Rows,
    n_classes: int,
    solver_parameters: tuple[np.ndarray, np.ndarray],
    thorough: bool = True,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (u (p, 1), γ (K − 1,)) with γ_{y−1} ≤ xᵀu ≤ γ_y in floats for all weighted rows.

    u has a single column where one suffices. None: no direction was found.
    ``solver_parameters``: (w, b) of the solver. ``thorough``: use linear programs if needed.
    """
    low, high = class_ranges(rows, n_classes)
    for sign in (1.0, -1.0):
        bottom, top = (low, high) if sign > 0 else (-high, -low)
        ordered = (top[:-1] <= bottom[1:]).all(axis=0) & (bottom.min(axis=0) < top.max(axis=0))
        if ordered.any():
            u = np.zeros((rows.shape[1], 1))
            u[int(ordered.argmax())] = sign
            return _with_thresholds(rows, n_classes, u)
    result = _with_thresholds(rows, n_classes, solver_parameters[0])
    if result is not None or not thorough:
        return result
    n, per_row = rows.shape[0], 2 * (rows.shape[1] + n_classes)
    loaded = rows
    if rows.streamed:  # a sample, whose direction must then order all rows
        few = MAX_LOADED_ENTRIES // per_row
        loaded = rows.take(np.arange(n) if n <= few else spread(n, few))
        n = loaded.shape[0]
    if n * per_row <= MAX_PROGRAM_ENTRIES:
        two = _as_two_classes(loaded, n_classes)
        hint = np.vstack([solver_parameters[0], -solver_parameters[1][:, None]])
        by_program = separating_direction(two, 2, False, (hint, np.zeros(1)))
        if by_program.u is not None:
            result = _with_thresholds(rows, n_classes, by_program.u[: rows.shape[1]])
    return result


def _as_two_classes(rows: Rows, n_classes: int) -> Rows:
    """Return the rows (−x, e_k) of the scores c_k − z: above 0 for k = y, below for k = y − 1."""
    assert rows.y is not None
    counted = np.arange(rows.shape[0]) if rows.s is None else np.flatnonzero(rows.s)
    y = rows.y[counted, 0].astype(np.intp)
    X = rows.dense().X[counted].astype(float)
    X -= X.mean(axis=0)
    parts, labels = [], []
    for above, side in ((0, 1.0), (1, 0.0)):
        kept_rows = np.flatnonzero((y < n_classes - 1) if not above else (y > 0))
        parts.append(np.hstack([-X[kept_rows], np.eye(n_classes - 1)[y[kept_rows] - above]]))
        labels.append(np.full(len(kept_rows), side))
    return Rows(np.vstack(parts), np.concatenate(labels)[:, None], threads=rows.threads)


def _with_thresholds(
    rows: Rows, n_classes: int, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return u and γ midway between the classes' scores; None where these are not in order."""
    if not u.any():
        return None
    for direction in (*_rounded(u), u):
        low, high = rows.reduce(_score_ranges, direction, n_classes, combine=_merge_ranges)
        top, bottom = np.maximum.accumulate(high)[:-1], np.minimum.accumulate(low[::-1])[::-1][1:]
        if (top <= bottom).all() and low.min() < high.max():
            return direction, top / 2 + bottom / 2
    return None


def _rounded(u: np.ndarray) -> list[np.ndarray]:
    """Return integer vectors near multiples of u: fewer columns, and exact ties at thresholds."""
    return [np.round(u / np.abs(u).max() * multiple) for multiple in (1, 2, 3, 4, 6, 12, 60)]


def _score_ranges(
    X: Block, y: np.ndarray, s: np.ndarray | None, u: np.ndarray, n_classes: int
) -> tuple[Any, Any]:
    z, y = (X @ u)[:, 0], y[:, 0]
    low, high = np.full(n_classes, np.inf), np.full(n_classes, -np.inf)
    for k in range(n_classes):
        in_class = z[(y == k) & (True if s is None else s > 0)]
        low[k], high[k] = in_class.min(initial=np.inf), in_class.max(initial=-np.inf)
    return low, high


def _merge_ranges(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])
