r"""Data that a direction separates have no finite optimum without a penalty.

    m_i = y_i(x_iᵀu + c) ≥ 0 for all rows of weight > 0, and m_i > 0 for some

(softmax: z_{i,y_i} − z_ik ≥ 0 for all other classes k). Then F(w + tu, b + tc) falls for all t > 0,
from wherever it starts. *Complete*: all m_i > 0; *quasi-complete*: some are 0.

A margin above the rounding error of its sum is positive. One within it is found exactly: floats are
whole numbers times powers of two, and Python's whole numbers have all digits.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import dense, gamma
from certus.proofs.types import RowData

MOST_EXACT = 2**14  # distinct rows of a block whose margins are summed exactly
MOST_NUMBERS = 2**22  # in the rows of a block that are looked at for that


def separates(
    data: RowData,
    u: np.ndarray,
    c: np.ndarray,
    weight: np.ndarray | None = None,
    against_rest: int | None = None,
) -> dict[str, Any] | None:
    """Proof that (u, c), u (p, K) and c (K,), separates the rows; None where it is not one.

    ``weight``: of the classes; rows of a class of weight 0 do not count. ``against_rest``: two
    classes, this one and the rest. ``rows``: how many have a margin above 0.
    """
    c = np.atleast_1d(np.asarray(c, dtype=float))
    u = np.asarray(u, dtype=float).reshape(-1, len(c))
    if not (np.isfinite(u).all() and np.isfinite(c).all()):
        return None
    direction = (u, c)
    if len(c) == 1:  # the scores of two classes are 0 and z
        u, c = np.hstack([0 * u, u]), np.array([0.0, c[0]])
    right, boundary, wrong = data.reduce(sides, u, c, weight, against_rest)
    if wrong or not right:
        return None
    kind = "quasi-complete" if boundary else "complete"
    return {"kind": kind, "rows": int(right), "direction": direction}


def sides(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    u: np.ndarray,
    c: np.ndarray,
    weight: np.ndarray | None,
    against_rest: int | None,
) -> tuple[float, float, float]:
    """Of one block: rows with a margin above 0 and none below, rows with a margin of 0, and rows
    with one below or that could not be decided."""
    own = y[:, 0].astype(np.intp)
    if against_rest is not None:
        own = (own == against_rest).astype(np.intp)
    rows = np.ones(len(y), dtype=bool) if s is None else s > 0
    if weight is not None:
        rows &= np.asarray(weight)[own] > 0
    X = X.astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        z, size = X @ u + c, abs(X) @ np.abs(u) + np.abs(c)
        error = gamma(len(u) + 4) * size + np.finfo(float).tiny
        at = np.arange(len(z)), own
        m, error = z[at][:, None] - z, error[at][:, None] + error
        above, below = m > error, m < -error
    # classes of one and the same score: a margin of 0, without a sum; a row's own has none
    alike = ((u[:, :, None] == u[:, None, :]).all(axis=0) & (c[:, None] == c))[own]
    above[alike] = below[alike] = False
    known = (above | alike).all(axis=1) & rows
    right = known & above.any(axis=1)
    alike[at] = False
    below = below.any(axis=1) & rows
    near = np.flatnonzero(rows & ~known & ~below)
    undecided = float(len(near))
    used = np.flatnonzero(u.any(axis=1))
    on = {1: 0.0, 0: 0.0, -1: 0.0}
    touching = float((known & alike.any(axis=1)).sum())
    if below.any() or len(near) * len(used) > MOST_NUMBERS:
        return float(right.sum()), 0.0, float(below.sum() + undecided)
    if len(near):
        exact = np.column_stack([own[near], dense(X[near])[:, used]])
        distinct, copies = np.unique(exact, axis=0, return_counts=True)
        if len(distinct) > MOST_EXACT:
            return float(right.sum()), 0.0, undecided
        for row, count in zip(distinct, copies, strict=True):
            signs = exact_signs(row[1:], int(row[0]), u[used], c)
            on[-1 if min(signs) < 0 else max(signs)] += count
            touching += count * (min(signs) == 0)
    return float(right.sum() + on[1]), touching, on[-1]


def exact_signs(x: np.ndarray, own: int, u: np.ndarray, c: np.ndarray) -> list[int]:
    """Signs of the margins against the other classes, without rounding."""
    signs = []
    for k in range(len(c)):
        if k != own:
            products = [(1.0, c[own]), (-1.0, c[k])]
            products += [(a, b) for a, b in zip(x, u[:, own], strict=True)]
            products += [(-a, b) for a, b in zip(x, u[:, k], strict=True)]
            signs.append(exact_sign(products))
    return signs


def exact_sign(products: list[tuple[float, float]] | np.ndarray) -> int:
    """Sign of Σ a·b: floats are fractions, their denominators powers of two."""
    total, scale = 0, 1
    for a, b in products:
        (p, q), (r, t) = float(a).as_integer_ratio(), float(b).as_integer_ratio()
        top, bottom = p * r, q * t
        if bottom > scale:
            total, scale = total * (bottom // scale), bottom
        total += top * (scale // bottom)
    return (total > 0) - (total < 0)
