"""Distances: d(A, b) of each row of A (n, p) to one row b (p,), Δ = A − b.

Rows are subtracted before anything is squared, so that rows far from the origin keep their digits.
w are weights of columns: w² multiplies in ``Manhattan``, ``Euclidean``, ``SquaredEuclidean`` and
``PhiS``, w itself in the others. 0/0 is 0; NaN: the two rows are not comparable.
"""

from typing import Any, NamedTuple

import numpy as np


class Euclidean(NamedTuple):
    """√Σ w²Δ²."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        D = np.array(self.w) * (A - b)
        unit = np.ldexp(0.5, np.frexp(np.abs(D).max(axis=1))[1])  # a power of two: exact
        return unit * np.sqrt(((D / unit[:, None]) ** 2).sum(axis=1))


class SquaredEuclidean(NamedTuple):
    """Σ w²Δ²."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        return ((np.array(self.w) * (A - b)) ** 2).sum(axis=1)


class Manhattan(NamedTuple):
    """Σ w²|Δ|."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        return (np.array(self.w) ** 2 * np.abs(A - b)).sum(axis=1)


class Chebyshev(NamedTuple):
    """The largest |Δ| of the columns with w > 0."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        return (np.abs(A - b) * (np.array(self.w) > 0)).max(axis=1)


class Minkowski(NamedTuple):
    """(Σ w|Δ|^p)^(1/p)."""

    p: float = 2.0
    w: list[float] | float = 1.0

    def __call__(self, A, b):
        return (np.array(self.w) * np.abs(A - b) ** self.p).sum(axis=1) ** (1 / self.p)


class StandardizedEuclidean(NamedTuple):
    """√Σ Δ²/V."""

    V: list[float]

    def __call__(self, A, b):
        return np.sqrt(((A - b) ** 2 / np.array(self.V)).sum(axis=1))


class Mahalanobis(NamedTuple):
    """√(Δᵀ V⁻¹ Δ); VI is V⁻¹ itself."""

    V: list[list[float]] | None = None
    VI: list[list[float]] | None = None

    def __call__(self, A, b):
        D = A - b
        Z = np.linalg.solve(np.array(self.V), D.T).T if self.VI is None else D @ np.array(self.VI)
        return np.sqrt(np.maximum((D * Z).sum(axis=1), 0.0))


class Cosine(NamedTuple):
    """1 − cos(a, b) = ½‖a/‖a‖ − b/‖b‖‖²; a row of zeros is at 0 from another, at 1 from others."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        A, b = np.sqrt(self.w) * A, np.sqrt(self.w) * b
        long, long_b = np.linalg.norm(A, axis=1), np.linalg.norm(b)
        d = ((A / np.where(long > 0, long, 1.0)[:, None] - b / (long_b or 1.0)) ** 2).sum(axis=1)
        none = (long == 0) | (long_b == 0)
        return np.where(none, ((long > 0) | (long_b > 0)) * 1.0, d / 2)


class Correlation(NamedTuple):
    """1 − the correlation of two rows: ``Cosine`` of rows minus their means."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        w = np.full(len(b), 1.0) * self.w
        R = np.vstack([A - A[:, :1], b - b[0]])  # a constant row is 0, whatever its mean rounds to
        R = np.sqrt(w) * np.where(R.any(axis=1)[:, None], R - (R @ w / w.sum())[:, None], 0.0)  # type: ignore[index]
        long = np.linalg.norm(R, axis=1)
        U = R / np.where(long > 0, long, 1.0)[:, None]
        none = (long[:-1] == 0) | (long[-1] == 0)  # one of the two has no direction
        return (1 + none) * ((U[:-1] - U[-1]) ** 2).sum(axis=1) / 2


class Spearman(NamedTuple):
    """1 − the correlation of the ranks of two rows; equal values get the mean of their ranks."""

    def __call__(self, A, b):
        R = np.vstack([A, b])
        below = np.array([(r[None, :] < r[:, None]).sum(axis=1) for r in R])
        not_above = np.array([(r[None, :] <= r[:, None]).sum(axis=1) for r in R])
        R = (below + not_above - len(b)) / 2.0  # ranks less their mean, exactly
        long = np.linalg.norm(R, axis=1)
        U = R / np.where(long > 0, long, 1.0)[:, None]
        none = (long[:-1] == 0) | (long[-1] == 0)  # one of the two has no direction
        return (1 + none) * ((U[:-1] - U[-1]) ** 2).sum(axis=1) / 2


class PhiS(NamedTuple):
    """Var(a − b)/Var(a + b), variances weighted by w²; x/0 = ∞."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        W = np.full(len(b), 1.0) * np.array(self.w) ** 2
        D, U = (R - R[:, :1] for R in (A - b, A + b))
        D, U = (R - (R @ W / W.sum())[:, None] for R in (D, U))
        above, below = D**2 @ W, U**2 @ W
        far = np.where(below > 0, above / np.where(below > 0, below, 1.0), np.inf)
        return np.where(above == 0, 0.0, far)


class Hamming(NamedTuple):
    """The share of columns that differ."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        w = np.full(len(b), 1.0) * self.w
        return (w * (b != A)).sum(axis=1) / w.sum()


class Canberra(NamedTuple):
    """Σ w|Δ|/(|a| + |b|)."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        below = np.abs(A) + np.abs(b)
        return (np.array(self.w) * np.abs(A - b) / np.where(below > 0, below, 1.0)).sum(axis=1)


class BrayCurtis(NamedTuple):
    """Σ w|a − b| / Σ w|a + b|; x/0 = ∞."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        w = np.array(self.w)
        above, below = (w * np.abs(A - b)).sum(axis=1), (w * np.abs(A + b)).sum(axis=1)
        far = np.where(below > 0, above / np.where(below > 0, below, 1.0), np.inf)
        return np.where(above == 0, 0.0, far)


class Boolean(NamedTuple):
    """Columns that are true (not 0) in both rows, in the one, in the other, in none: a share."""

    above: list[float]  # how often each of the four counts …
    below: list[float]  # … and in the sum that it is a share of
    w: list[float] | float = 1.0

    def __call__(self, A, b):
        w, a, b = np.full(len(b), 1.0) * self.w, A != 0, b != 0
        counts = np.column_stack([both @ w for both in (a & b, a & ~b, ~a & b, ~a & ~b)])
        above, below = counts @ np.array(self.above), counts @ np.array(self.below)
        return np.where(above == 0, 0.0, above / np.where(below == 0, 1.0, below))


class Yule(NamedTuple):
    """2 tf ft / (tt ff + tf ft): columns true in both rows (tt), in one (tf, ft), in none (ff)."""

    w: list[float] | float = 1.0

    def __call__(self, A, b):
        w, a, b = np.full(len(b), 1.0) * self.w, A != 0, b != 0
        tt, tf, ft, ff = (both @ w for both in (a & b, a & ~b, ~a & b, ~a & ~b))
        crossed = tf * ft
        return 2 * crossed / np.where(crossed > 0, tt * ff + crossed, 1.0)


class NanEuclidean(NamedTuple):
    """√(p/m Σ Δ²) of the m columns of p that are known in both rows, NaN if m < min_overlap."""

    min_overlap: float = 1.0  # a count, or a share if below 1

    def __call__(self, A, b):
        D, p = A - b, len(b)
        known = ~np.isnan(D)
        m = known.sum(axis=1)
        least = max(1.0, self.min_overlap * (p if self.min_overlap < 1 else 1))
        d = np.sqrt((np.where(known, D, 0.0) ** 2).sum(axis=1) * p / np.maximum(m, 1))
        return np.where(m < least, np.nan, d)


class Haversine(NamedTuple):
    """The angle between two points, each (latitude, longitude) in radians."""

    def __call__(self, A, b):
        half = np.sin((A - b) / 2) ** 2
        inside = half[:, 0] + np.cos(A[:, 0]) * np.cos(b[0]) * half[:, 1]
        return 2 * np.arcsin(np.sqrt(np.minimum(inside, 1.0)))


class Precomputed(NamedTuple):
    """Precomputed: the row b contains its distances to all rows."""

    def __call__(self, A, b):
        return b


class Absolute(NamedTuple):
    """1 − |1 − d|: columns with correlation −1 are at distance 0."""

    distance: "Any"  # a term

    def __call__(self, A, b):
        return np.minimum(self.distance(A, b), self.distance(A, -b))  # 2 − d(a, b) = d(a, −b)
