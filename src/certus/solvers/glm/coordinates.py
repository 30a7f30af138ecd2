"""Coordinates in which solvers work: columns centred, and scaled so that squares do not overflow.

    z = x̂ᵀu + β,   x̂ = (x − c)∘q,   w = q∘u,   b = β − cᵀw

c is the columns' mean, so that the intercept hardly depends on u; q is a power of two where the
squares of a column would overflow or underflow in float64. Where columns are of ordinary size and
not many deviations away from 0, blocks stay as they are and c is applied as a correction:

    Xu − cᵀu,   Xᵀg − c Σ g
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ..linalg.gram import NonFiniteError, power_of_two

MAX_MEAN_TO_DEVIATION = 1e3  # beyond which the correction would lose significant digits


class Coordinates(NamedTuple):
    """The map between the user's (w, b) and the solver's (u, β)."""

    c: np.ndarray  # (p,)
    q: np.ndarray | None  # (p,)
    variance: np.ndarray  # (p,): of x̂; 0 for a constant column
    shifted: bool  # blocks are shifted and scaled when read; else c is a correction

    @property
    def correction(self) -> np.ndarray | None:
        """The shift that ``block`` did not subtract from the columns; None if there is none."""
        return None if self.shifted or not self.c.any() else self.c

    @property
    def scale(self) -> Any:
        return 1.0 if self.q is None else self.q

    def block(self, X: np.ndarray) -> Any:
        """Return the block for products, in float64 where it must be copied anyway."""
        if not self.shifted:
            return X
        X = np.subtract(X, self.c, dtype=float)
        if self.q is not None:
            X *= self.q
        return X

    def to_internal(self, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (u, β) of (w, b)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return (w.T / self.scale).T, b + self.c @ w

    def to_user(self, u: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (w, b) of (u, β)."""
        w = (u.T * self.scale).T
        return w, beta - self.c @ w


def sampled_coordinates(rows: Rows, fit_intercept: bool, count: int = 256) -> Coordinates:
    """Return the coordinates of a sample of dense rows.

    They suffice where a factorisation takes care of what they leave.
    """
    X, y, s = rows.sample_block(count)
    if s is not None and s.any():
        X, y, s = X[s > 0], y, s[s > 0]  # rows of weight 0 must not influence the mean
    return coordinates(Rows(X, y, s, threads=1), fit_intercept)


def coordinates(rows: Rows, fit_intercept: bool) -> Coordinates:
    """Return the coordinates of all rows, in one pass over X (two if columns lie far from 0).

    Raises NonFiniteError where the columns' sums are not finite.
    """
    p = rows.shape[1]
    zero = np.zeros(p)
    with np.errstate(over="ignore", invalid="ignore"):
        q = None
        S, sx, sxx, largest = _moments(rows, zero, None)
        if not np.isfinite(largest).all():
            raise NonFiniteError
        q = power_of_two(largest)
        if q is not None:
            S, sx, sxx, _ = _moments(rows, zero, q)
        mean = sx / S
        variance = sxx / S - mean**2
        noise = 64 * np.finfo(float).eps * sxx / S
        if not fit_intercept:
            if q is None and not np.isfinite(sxx).all():
                raise NonFiniteError
            return Coordinates(zero, q, sxx / S, q is not None and not rows.sparse)
        c = mean if q is None else mean / q
        far = mean**2 > MAX_MEAN_TO_DEVIATION**2 * np.maximum(variance, 0.0)
        if far.any() and not rows.sparse:  # sums about 0 have lost digits: repeat them about c
            S, sx, sxx, _ = _moments(rows, c, q)
            variance = sxx / S - (sx / S) ** 2
            size = np.abs(mean) * np.finfo(float).eps * 4
            noise = 64 * np.finfo(float).eps * sxx / S + size**2
    variance = np.where(variance > noise, variance, 0.0)
    shifted = not rows.sparse and (q is not None or bool(far.any()))
    return Coordinates(c, q, variance, shifted)


def _moments(rows: Rows, c: np.ndarray, q: np.ndarray | None) -> tuple[Any, Any, Any, Any]:
    *sums, largest = rows.reduce(_block_moments, c, q, combine=_combine)
    return sums[0], sums[1], sums[2], largest


def _block_moments(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, c: np.ndarray, q: np.ndarray | None
) -> tuple[Any, ...]:
    n, p = X.shape
    if not isinstance(X, np.ndarray):
        s = np.ones(n) if s is None else s
        A = X.astype(float)
        if q is not None:
            A.data *= q[A.indices]
        largest = np.zeros(p)
        np.maximum.at(largest, A.indices, np.abs(A.data))
        return s.sum(), A.T @ s, A.power(2).T @ s, largest
    S, sx, sxx, largest = 0.0, np.zeros(p), np.zeros(p), np.zeros(p)
    step = max(1, 2**15 // max(1, p))
    for start in range(0, n, step):
        part = slice(start, start + step)
        A = X[part].astype(float) if not c.any() else np.subtract(X[part], c, dtype=float)
        if q is not None:
            A *= q
        weight = np.ones(len(A)) if s is None else s[part]
        S += weight.sum()
        sx += np.dot(weight, A)
        np.abs(A, out=A)
        np.maximum(largest, A.max(axis=0), out=largest)
        A *= A
        sxx += np.dot(weight, A)
    return S, sx, sxx, largest


def _combine(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    sums = [a + b for a, b in zip(left[:3], right[:3], strict=True)]
    return *sums, np.maximum(left[3], right[3])
