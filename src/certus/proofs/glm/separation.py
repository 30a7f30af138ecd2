r"""Data that a direction separates have no finite optimum without a penalty.

    m_i = y_i(x_iᵀu + c) ≥ 0 for all rows of weight > 0, and m_i > 0 for some

(softmax: z_{i,y_i} − z_ik ≥ 0 for all other classes k). Then F(w + tu, b + tc) falls for all t > 0,
for any (w, b). *Complete*: all m_i > 0; *quasi-complete*: some are 0.

A margin above the rounding error of its sum is positive. One within it is computed exactly: floats
are integers times powers of two, and Python's integers are exact.

Counts have none either, with a Poisson loss and no penalty, where a direction has

    x_iᵀu + c ≤ 0 for every row,   = 0 where the count is above 0,   < 0 for some row

Then the loss e^z − yz of each row falls along (u, c) or stays as it is, for ever; so does F where
no coefficient of u is penalised. Rows of weight 0 do not count.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import dense, gamma
from certus.proofs.types import Matrix, RowData

MAX_EXACT_ROWS = 2**14  # distinct rows of a block whose margins are summed exactly
MAX_COLUMNS_TRIED = 8  # of those along which counts may fall: each costs a pass
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


# --- counts ---


def no_finite_optimum(
    data: RowData, fit_intercept: bool, direction: tuple[np.ndarray, np.ndarray] | None
) -> dict[str, Any] | None:
    """Return a proof that F without a penalty falls for ever: along ``direction``, or by a column
    that is constant where the count is above 0 and on one side of that elsewhere."""
    if direction is not None and (fit_intercept or not np.any(direction[1])):
        found = falls(data, direction)
        if found is not None:
            return found
    low, high = data.reduce(_ranges, combine=_wider)  # (2, p): of zeros, and of the other rows
    threshold = np.where(np.isfinite(low[1]), low[1], 0.0)  # with zeros alone, any will do
    constant = (low[1] >= high[1]) & (fit_intercept | (threshold == 0))
    for u, beyond in ((-1.0, low[0] >= threshold), (1.0, high[0] <= threshold)):
        columns = np.flatnonzero(
            constant & beyond & (low[0] < high[0]) | (constant & beyond & (low[0] != threshold))
        )
        for j in columns[:MAX_COLUMNS_TRIED]:
            one = np.zeros(data.shape[1])
            one[j] = u
            found = falls(data, (one, np.array([-u * threshold[j]])))
            if found is not None:
                return found
    return None


def _ranges(X: Matrix, y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any]:
    """Smallest and largest entries of each column, over rows with count 0 and over the others."""
    low = np.full((2, X.shape[1]), np.inf)
    high = -low
    for k, rows in enumerate((y[:, 0] == 0, y[:, 0] > 0)):
        part = dense(X[np.flatnonzero(rows if s is None else rows & (s > 0))])
        low[k] = part.min(axis=0, initial=np.inf)
        high[k] = part.max(axis=0, initial=-np.inf)
    return low, high


def _wider(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])


def falls(data: RowData, direction: tuple[np.ndarray, np.ndarray]) -> dict[str, Any] | None:
    """Return a proof that F falls along (u, c), or None; ``rows``: whose score falls."""
    u, c = (np.asarray(part, dtype=float).ravel() for part in direction)
    if not (np.isfinite(u).all() and np.isfinite(c).all()) or len(c) != 1:
        return None
    falling, wrong = data.reduce(_falling_rows, u, float(c[0]))
    if wrong or not falling:
        return None
    return {"rows": int(falling), "direction": (u[:, None], c)}


def _falling_rows(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, u: np.ndarray, c: float
) -> tuple[float, float]:
    """Count the rows of a block whose score falls, and those that are wrong or undecided."""
    counted = np.ones(len(y), dtype=bool) if s is None else s > 0
    positive, used = y[:, 0] > 0, np.flatnonzero(u)
    X = X.astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.asarray(X @ u) + c
        error = gamma(len(u) + 4) * (np.asarray(abs(X) @ np.abs(u)) + abs(c))
        error = error + np.finfo(float).tiny
    falls = z < -error
    wrong = counted & ((z > error) | (falls & positive) | ~np.isfinite(z))
    if wrong.any():
        return 0.0, float(wrong.sum())
    falling = float((falls & counted).sum())
    undecided = np.flatnonzero(counted & ~falls)
    if len(undecided) * max(len(used), 1) > MAX_EXACT_NUMBERS:
        return falling, float(len(undecided))
    rows = np.column_stack([positive[undecided], dense(X[undecided])[:, used]])
    distinct, copies = np.unique(rows, axis=0, return_counts=True)
    if len(distinct) > MAX_EXACT_ROWS:
        return falling, float(len(undecided))
    not_allowed = 0.0
    for row, count in zip(distinct, copies, strict=True):
        sign = exact_sign([(1.0, c), *zip(row[1:], u[used], strict=True)])
        if sign > 0 or (sign < 0 and row[0]):
            not_allowed += count
        falling += count * (sign < 0)
    return falling, not_allowed
