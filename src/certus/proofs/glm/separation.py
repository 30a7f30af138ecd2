r"""Data that a direction separates have no finite optimum without a penalty.

    m_i = y_i(x_iᵀu + c) ≥ 0 for all rows of weight > 0, and m_i > 0 for some

(softmax: z_{i,y_i} − z_ik ≥ 0 for all other classes k). Then F(w + tu, b + tc) falls for all t > 0,
for any (w, b). *Complete*: all m_i > 0; *quasi-complete*: some are 0.

A margin above the rounding error of its sum is positive. One within it is computed exactly: floats
are integers times powers of two, and Python's integers are exact.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import dense, gamma
from certus.proofs.types import RowData

MAX_EXACT_ROWS = 2**14  # distinct rows of a block whose margins are summed exactly
MAX_EXACT_NUMBERS = 2**22  # in the rows of a block that are compared for that


def separates(
    data: RowData,
    u: np.ndarray,
    c: np.ndarray,
    weight: np.ndarray | None = None,
    against_rest: int | None = None,
) -> dict[str, Any] | None:
    """Return a proof that (u, c), u (p, K) and c (K,), separates the rows; None where it does not.

    ``weight``: of the classes; rows of a class of weight 0 are ignored. ``against_rest``: separate
    this class from the rest. ``rows`` of the result: how many have a positive margin.
    """
    c = np.atleast_1d(np.asarray(c, dtype=float))
    u = np.asarray(u, dtype=float).reshape(-1, len(c))
    if not (np.isfinite(u).all() and np.isfinite(c).all()):
        return None
    direction = (u, c)
    if len(c) == 1:  # the scores of two classes are 0 and z
        u, c = np.hstack([0 * u, u]), np.array([0.0, c[0]])
    correct, boundary, wrong = data.reduce(sides, u, c, weight, against_rest)
    if wrong or not correct:
        return None
    kind = "quasi-complete" if boundary else "complete"
    return {"kind": kind, "rows": int(correct), "direction": direction}


def sides(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    u: np.ndarray,
    c: np.ndarray,
    weight: np.ndarray | None,
    against_rest: int | None,
) -> tuple[float, float, float]:
    """Count the rows of one block by their margins.

    Returns the rows with a positive and no negative margin, those with a margin of 0, and those
    with a negative margin or undecided.
    """
    y_class = y[:, 0].astype(np.intp)
    if against_rest is not None:
        y_class = (y_class == against_rest).astype(np.intp)
    rows = np.ones(len(y), dtype=bool) if s is None else s > 0
    if weight is not None:
        rows &= np.asarray(weight)[y_class] > 0
    X = X.astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        z, size = X @ u + c, abs(X) @ np.abs(u) + np.abs(c)
        error = gamma(len(u) + 4) * size + np.finfo(float).tiny
        at = np.arange(len(z)), y_class
        m, error = z[at][:, None] - z, error[at][:, None] + error
        above, below = m > error, m < -error
    # classes with identical coefficients: the margin is exactly 0; a row's own class has none
    same_score = ((u[:, :, None] == u[:, None, :]).all(axis=0) & (c[:, None] == c))[y_class]
    above[same_score] = below[same_score] = False
    is_decided = (above | same_score).all(axis=1) & rows
    correct = is_decided & above.any(axis=1)
    same_score[at] = False
    below = below.any(axis=1) & rows
    undecided_rows = np.flatnonzero(rows & ~is_decided & ~below)
    undecided = float(len(undecided_rows))
    used = np.flatnonzero(u.any(axis=1))
    sign_counts = {1: 0.0, 0: 0.0, -1: 0.0}
    touching = float((is_decided & same_score.any(axis=1)).sum())
    if below.any() or len(undecided_rows) * len(used) > MAX_EXACT_NUMBERS:
        return float(correct.sum()), 0.0, float(below.sum() + undecided)
    if len(undecided_rows):
        exact = np.column_stack([y_class[undecided_rows], dense(X[undecided_rows])[:, used]])
        distinct, copies = np.unique(exact, axis=0, return_counts=True)
        if len(distinct) > MAX_EXACT_ROWS:
            return float(correct.sum()), 0.0, undecided
        for row, count in zip(distinct, copies, strict=True):
            signs = exact_signs(row[1:], int(row[0]), u[used], c)
            sign_counts[-1 if min(signs) < 0 else max(signs)] += count
            touching += count * (min(signs) == 0)
    return float(correct.sum() + sign_counts[1]), touching, sign_counts[-1]


def exact_signs(x: np.ndarray, y_class: int, u: np.ndarray, c: np.ndarray) -> list[int]:
    """Return the exact signs of the margins against the other classes."""
    signs = []
    for k in range(len(c)):
        if k != y_class:
            products = [(1.0, c[y_class]), (-1.0, c[k])]
            products += [(a, b) for a, b in zip(x, u[:, y_class], strict=True)]
            products += [(-a, b) for a, b in zip(x, u[:, k], strict=True)]
            signs.append(exact_sign(products))
    return signs


def exact_sign(products: list[tuple[float, float]] | np.ndarray) -> int:
    """Return the exact sign of Σ a·b: floats are fractions whose denominators are powers of two."""
    total, scale = 0, 1
    for a, b in products:
        (p, q), (r, t) = float(a).as_integer_ratio(), float(b).as_integer_ratio()
        top, bottom = p * r, q * t
        if bottom > scale:
            total, scale = total * (bottom // scale), bottom
        total += top * (scale // bottom)
    return (total > 0) - (total < 0)
