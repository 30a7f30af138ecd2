"""Sums over rows that a mixture's next step needs, block by block.

    Σ_i s_i log p(x_i)      Σ_i s_i r_ik      Σ_i s_i r_ik x_i      Σ_i s_i r_ik x_i x_iᵀ = …

with p(x) = Σ_k π_k p(x|θ_k) and r_ik = π_k p(x_i|θ_k)/p(x_i). What is summed besides r is the
components' own (``moments``); so is the point that moments are about.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.definitions.linear_sums import dense

ELEMENTS = (
    2**17
)  # of X worked on at a time; a fourth of it, in many more calls, took 1.5 times as long
FEW = 256  # rows whose mean is near that of all


def log_joint(X: Any, pi: Any, theta: Any) -> np.ndarray:
    """log π_k + log p(x_i|θ_k), (k, rows)."""
    with np.errstate(divide="ignore"):  # log 0 = −∞ of a component without a share
        return np.asarray(theta.log_densities(X) + np.log(pi)[:, None])


def log_sum_exp(J: Any) -> np.ndarray:
    top = J.max(axis=0)
    return np.asarray(top + np.log(np.exp(J - top).sum(axis=0)))


class Columns(NamedTuple):
    """Of entries that are there, of rows with weight."""

    mean: Any
    variance: Any
    varies: Any


def columns(data: Any) -> Columns:
    X = np.asarray(dense(data.some(FEW)[0]), dtype=float)
    there = np.isfinite(X)
    c = np.where(there, X, 0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)  # near the rows
    n, a, b, low, high = data.reduce(_column_sums, c, combine=_add_columns)
    a = a / np.where(n > 0, n, 1.0)
    return Columns(c + a, np.maximum(b / np.where(n > 0, n, 1.0) - a * a, 0), low < high)


def _column_sums(X: Any, _y: Any, s: Any, c: Any) -> tuple[Any, ...]:
    """Σ s, Σ s (x − c), Σ s (x − c)², min and max of a block, rows without weight left out."""
    p = len(c)
    n, a, b = np.zeros(p), np.zeros(p), np.zeros(p)
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    for part in slices(X):
        x = np.asarray(dense(X[part]), dtype=float)
        v = np.ones(len(x)) if s is None else s[part]
        there = ~np.isnan(x) & (v > 0)[:, None]
        low = np.minimum(low, np.where(there, x, np.inf).min(axis=0))
        high = np.maximum(high, np.where(there, x, -np.inf).max(axis=0))
        x = np.where(there, x - c, 0)
        n, a, b = n + np.dot(v, there), a + np.dot(v, x), b + np.dot(v, x * x)
    return n, a, b, low, high


def _add_columns(one: Any, other: Any) -> tuple[Any, ...]:
    sums = tuple(one[i] + other[i] for i in range(3))
    return (*sums, np.minimum(one[3], other[3]), np.maximum(one[4], other[4]))


def slices(X: Any) -> list[slice]:
    n, p = X.shape
    step = max(64, ELEMENTS // p)
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def expected(
    X: Any, _y: Any, s: Any, log_p: Any, pi: Any, theta: Any, about: Any
) -> tuple[Any, ...]:
    """L and the moments of a block, rows weighted by s_i r_ik; log p(x_i) goes beside."""
    L, total = 0.0, ()
    for part in slices(X):
        x = dense(X[part])
        J = log_joint(x, pi, theta)
        each = log_sum_exp(J)
        log_p[part] = each
        w = np.exp(J - each)
        if s is not None:
            w *= s[part]
        L += float(each.sum() if s is None else np.dot(s[part], each))
        sums = theta.moments(x, w, about)
        total = tuple(a + b for a, b in zip(total, sums, strict=True)) if total else tuple(sums)
    return (L, *total)


def gained(X: Any, _y: Any, s: Any, log_p: Any, pi: Any, theta: Any) -> tuple[float]:
    """Σ s (log p(x_i) − what it was) of a block."""
    gain = 0.0
    for part in slices(X):
        each = log_sum_exp(log_joint(dense(X[part]), pi, theta)) - log_p[part]
        gain += float(each.sum() if s is None else np.dot(s[part], each))
    return (gain,)


def owned(X: Any, _y: Any, s: Any, row: Any, pi: Any, theta: Any) -> tuple[np.ndarray, np.ndarray]:
    """How many rows of a block are more a component's than all others', and the first of them."""
    count, first = np.zeros(len(pi), dtype=np.intp), np.full(len(pi), np.iinfo(np.intp).max)
    for part in slices(X):
        J = log_joint(dense(X[part]), pi, theta)
        mine = J - log_sum_exp(J) > np.log(0.5)
        if s is not None:
            mine &= s[part] > 0
        count += mine.sum(axis=1)
        first = np.minimum(first, np.where(mine, row[part], first[:, None]).min(axis=1))
    return count, first


def add_owned(one: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    return one[0] + other[0], np.minimum(one[1], other[1])
