r"""Directions along which the loss of counts falls for ever.

    x_iᵀu + c = 0 in every row with a count above 0,   ≤ 0 in the rows with count 0,   < 0 in some

(u, c) lies in the null space N of the rows with counts above 0. If that is {0}, there is none. Else
the basis vectors of N in echelon form are tried, which for categories are those of single
categories, and then the linear program

    min Σ_i z_iᵀNα   z_iᵀNα ≤ 0,  |α| ≤ 1       over the distinct rows z = (x, 1) with count 0.

Its value is 0 if and only if there is no such direction. What is found is rounded to simple
fractions, since a proof asks for exact zeros.
"""

from typing import Any

import numpy as np

from ...data.rows import Rows

MAX_COLUMNS = 2000  # up to which the null space is computed from products of columns
MAX_SCORES = 1 << 22  # rows with count 0 times the dimension of N
MAX_PROGRAM_ENTRIES = 1 << 18  # of the linear program: seconds
NULL_SHARE = 1e-10  # of the largest eigenvalue of the scaled columns' products: below is null
ZERO = 1e-7  # scores of scaled columns below are 0
MAX_DENOMINATOR = 24


def falling_direction(rows: Rows, fit_intercept: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (u (p, 1), c (1,)) in floating point, or None where there is none or it is too large.

    y (n, 1) holds counts.
    """
    p = rows.shape[1]
    if p > MAX_COLUMNS:
        return None
    dense = rows.dense()
    (largest,) = dense.reduce(_largest, combine=_larger)
    scale = np.where(largest > 0, largest, 1.0)
    (G,) = dense.reduce(_products_of_positive, scale, fit_intercept, square=True)
    values, V = np.linalg.eigh(G)
    N = V[:, values <= NULL_SHARE * max(values[-1], 0.0)]
    if not N.shape[1] or rows.shape[0] * N.shape[1] > MAX_SCORES:
        return None
    N = _echelon(N)
    scores = rows.allocate((N.shape[1],))
    dense.reduce(_fill_scores, scale, fit_intercept, N, beside=(scores,))
    T = np.unique(np.asarray(scores[: rows.shape[0]]), axis=0)
    alpha = _single(T)
    if alpha is None:
        alpha = _program(T)
    if alpha is None:
        return None
    theta = N @ alpha
    u = theta[:p] / scale
    c = theta[p:] if fit_intercept else np.zeros(1)
    both = _simplified(np.append(u, c))
    return both[:p, None], both[p:]


def _single(T: np.ndarray) -> np.ndarray | None:
    """Return the basis vector, of either sign, that lowers the most rows and raises none."""
    best, alpha = 0, None
    for k in range(T.shape[1]):
        for sign in (1.0, -1.0):
            t = sign * T[:, k]
            lowered = int((t < 0).sum())
            if (t <= 0).all() and lowered > best:
                best, alpha = lowered, sign * np.eye(T.shape[1])[k]
    return alpha


def _program(T: np.ndarray) -> np.ndarray | None:
    if T.size > MAX_PROGRAM_ENTRIES:
        return None
    from scipy.optimize import linprog

    result = linprog(T.sum(axis=0), T, np.zeros(len(T)), bounds=(-1.0, 1.0), method="highs")
    if not result.success or result.fun > -ZERO:
        return None
    alpha: np.ndarray = result.x
    return alpha


def _echelon(N: np.ndarray) -> np.ndarray:
    """Return a basis of the same span in which each vector has a 1 where the others have 0."""
    N, pivots = N.copy(), list[int]()
    for t in range(N.shape[1]):
        free = np.abs(N[:, t:])
        free[pivots] = 0.0
        free[-1] *= 1e-3  # the intercept is a pivot only if there is no other
        j, k = np.unravel_index(int(np.argmax(free)), free.shape)
        N[:, [t, t + int(k)]] = N[:, [t + int(k), t]]
        N[:, t] /= N[j, t]
        others = np.arange(N.shape[1]) != t
        N[:, others] -= np.multiply.outer(N[:, t], N[j, others])
        pivots.append(int(j))
    return np.where(np.abs(N) > ZERO, N, 0.0)


def _simplified(d: np.ndarray) -> np.ndarray:
    """Return d as whole multiples of one of its entries if it nearly is that, else d."""
    used = d[d != 0]
    unit = np.abs(used).min(initial=np.inf)
    for denominator in range(1, MAX_DENOMINATOR + 1):
        times = d / unit * denominator
        near = np.round(times)
        if (np.abs(times - near) <= 1e-6 * np.maximum(np.abs(times), 1.0)).all():
            return near
    return d


# --- passes ---------------------------------------------------------------------------------------


def _largest(X: np.ndarray, _y: np.ndarray, s: np.ndarray | None) -> tuple[Any]:
    X = X if s is None else X[s > 0]
    return (np.maximum(X.max(axis=0, initial=0), -X.min(axis=0, initial=0)).astype(float),)


def _larger(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.maximum(left[0], right[0]),)


def _scaled(X: np.ndarray, scale: np.ndarray, fit_intercept: bool) -> np.ndarray:
    Z = X / scale
    return np.column_stack([Z, np.ones(len(Z))]) if fit_intercept else Z


def _products_of_positive(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, scale: np.ndarray, fit_intercept: bool
) -> tuple[Any]:
    """Return Σ zzᵀ over the rows of a block with counts above 0."""
    positive = y[:, 0] > 0
    Z = _scaled(X[positive if s is None else positive & (s > 0)], scale, fit_intercept)
    return (np.dot(Z.T, Z),)


def _fill_scores(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    scores: np.ndarray,
    scale: np.ndarray,
    fit_intercept: bool,
    N: np.ndarray,
) -> tuple[()]:
    """Write the scores along N of rows with count 0; 0 for all others."""
    t = np.dot(_scaled(X, scale, fit_intercept), N)
    t[np.abs(t) <= ZERO] = 0.0
    t[(y[:, 0] > 0) if s is None else (y[:, 0] > 0) | (s == 0)] = 0.0
    scores[:] = t
    return ()
