r"""Orthogonal combinations of columns that are nearly, or exactly, linearly dependent.

    Z = X̃T,   X̃ = (X, 1),   T (p + 1, r)

Newton's method is invariant to the coordinates, but its sums are not: those of x xᵀ lose a
direction d with ‖Xd‖ = 10⁻⁸ ‖X‖ altogether. With T from the singular vectors of the centred rows,
the columns of Z have norm 1 and are nearly orthogonal, and sums over rows lose no direction. Where
Xt cancels, the product is computed with several times the digits of a float (``sliced_products``).

A direction is left out only if rounding of the columns could have produced it,

    ‖X̃d‖ ≤ 4·eps·‖|X̃||d|‖,

that is, if a column repeats others. With more columns than rows, T spans the rows: directions
orthogonal to them change no score.
"""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import Aliases
from .aliases import aliases_of_directions, find_aliases
from .gram import NonFiniteError
from .orthogonal_sums import (
    add_direction_sums,
    direction_sums,
    products_with,
    ranges_of,
    stacked,
    stacked_triangle,
    sum_about,
    sum_of_scores,
    triangle_of,
    widened,
)

LEFT_OUT_ROUNDINGS = 4.0  # ‖X̃d‖/(eps·‖|X̃||d|‖) up to which a direction is left out
DOUBTFUL_FACTOR = 1e4  # roundings below which singular vectors are inaccurate …
DOUBTFUL_SINGULAR_SHARE = 1e-9  # … also below this share of the largest singular value
NEARLY_LEFT_OUT_ROUNDINGS = 16.0  # up to which a combination with others may be left out
MAX_CHECKED_DIRECTIONS = 16  # if more are clearly rounding, they are dropped without a check
CANCELING_SINGULAR_SHARE = 1e-4  # singular values below which products with X need more digits
MAX_CONDITION = 100.0  # of Z; Newton's sums square it
MAX_IMPROVEMENTS = 4  # passes that improve Z; one or two are usual
MAX_STORED_ELEMENTS = 1 << 24  # of Z; above, blocks are computed when they are read
EPS = float(np.finfo(float).eps)


class Orthogonal(NamedTuple):
    """Coordinates η of w, in columns scaled by powers of two: x̂ = x∘2^−e, ŵ = w∘2^e.

    As coordinates of a pass (``solvers/glm/coordinates.py``): a block of X becomes one of Z.
    """

    exponent: np.ndarray  # (p,): e
    T: np.ndarray  # (p + intercept, r), of the columns x̂
    canceling: np.ndarray  # (r,) of bool: columns of X̂T in which digits cancel
    left_out: np.ndarray  # (p, l): directions of w that are rounding only, in the user's units
    mean: np.ndarray  # (r,): of Z over the rows of positive weight
    norm: np.ndarray  # (p,): of the centred columns x̂; 0 if constant
    intercept: bool
    aliases: Aliases | None  # columns that repeat others; None if the coefficients are unique

    @property
    def in_users_units(self) -> np.ndarray:
        """T for the columns x, without the constant, (p, r)."""
        return np.ldexp(self.T[: len(self.exponent)], -self.exponent[:, None])

    def of(self, X: np.ndarray) -> np.ndarray:
        """Z of a block of rows."""
        return products_with(X, self.exponent, self.T, self.canceling)

    def rows(self, rows: Rows) -> Rows:
        """Rows of Z with the same targets and weights."""
        rows = rows.dense()
        n, r = rows.shape[0], self.T.shape[1]
        if n * r <= MAX_STORED_ELEMENTS:
            return Rows(
                rows.map(_coordinates_of, np.empty((n, r)), self), rows.y, rows.s,
                threads=rows.threads,
            )  # fmt: skip
        return Rows(_LazyRows(rows, self), rows.y, rows.s, threads=rows.threads)

    def to_internal(self, w: np.ndarray) -> np.ndarray:
        """η of w (p,), by least squares."""
        p = len(self.exponent)
        size = np.where(self.norm > 0, self.norm, 0.0)
        T = size[:, None] * self.T[:p]
        unit = np.linalg.norm(T, axis=0)
        unit[unit == 0] = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            v = size * np.ldexp(w, self.exponent)
        if not np.isfinite(v).all():
            return np.zeros(T.shape[1])
        return np.linalg.lstsq(T / unit, v, rcond=None)[0] / unit

    def mean_score(self, rows: Rows, w: np.ndarray) -> float:
        """Mean of xᵀw over the rows of positive weight, with extra digits where they cancel."""
        scaled = np.ldexp(w, self.exponent)[:, None]
        total, count = rows.reduce(sum_of_scores, self.exponent, scaled, self.canceling.any())
        return float(total / count)

    def to_user(self, eta: np.ndarray) -> np.ndarray:
        """w (p,) of η, of least norm along the directions left out."""
        w = np.ldexp(self.T[: len(self.exponent)] @ eta, -self.exponent)
        L = self.left_out
        if L.shape[1]:
            smaller = w - L @ np.linalg.lstsq(L, w, rcond=None)[0]
            w = smaller if np.isfinite(smaller).all() else w
        return w


def _coordinates_of(X: np.ndarray, _y: object, _s: object, basis: Orthogonal) -> np.ndarray:
    """Z of a block of rows."""
    return basis.of(X)


class _LazyRows:
    """Z as a source for ``Rows``: blocks are computed when they are read."""

    def __init__(self, rows: Rows, basis: Orthogonal):
        self.source, self.basis = rows, basis
        self.shape, self.dtype = (rows.shape[0], basis.T.shape[1]), np.dtype(float)

    def __getitem__(self, key: slice) -> np.ndarray:
        return self.basis.of(self.source.X[key])


def orthogonal(rows: Rows, fit_intercept: bool, alpha: float = 0.0) -> Orthogonal:
    """Orthogonal coordinates for all directions that the rows determine.

    ``alpha``: with a penalty α/2‖w‖² every direction matters, so none is left out.
    O(n·p·min(n, p)) operations, ten times as many if many digits cancel.
    """
    rows = rows.dense()
    columns = _ScaledColumns.of(rows, fit_intercept)
    shift = np.maximum(columns.exponent - columns.exponent.max(initial=0), -600)
    users_scale = np.where(columns.norm > 0, np.ldexp(1.0, shift), 0.0)
    scale = columns.scale
    if alpha or rows.shape[0] <= rows.shape[1]:  # least norm refers to the user's units
        scale = users_scale
    V, sigma = columns.singular_vectors(scale)
    rounding = sigma <= len(V) * EPS * sigma.max(initial=0.0)
    if not alpha and rounding.sum() > MAX_CHECKED_DIRECTIONS:  # too many to check one by one
        scale = users_scale
        V, sigma = columns.singular_vectors(scale)
        nonzero = sigma > len(V) * EPS * sigma.max(initial=0.0)
        V, sigma = V[:, nonzero], sigma[nonzero]
    T = scale[:, None] * V
    top = np.abs(T).max(axis=0, initial=0.0)
    T = columns.with_constant(T / np.where(top > 0, top, 1.0))
    canceling = sigma < CANCELING_SINGULAR_SHARE * sigma.max(initial=0.0)
    out, mean = T[:, :0], np.zeros(0)
    if T.shape[1] and not alpha:
        T, canceling, out = _split(columns, T, sigma, canceling)
    if T.shape[1]:
        T, canceling, mean = _improved(columns, T, canceling, alpha)
    out = np.ldexp(out[: len(columns.exponent)], -columns.exponent[:, None])
    repeated = None if alpha else _aliases(columns, T.shape[1], out)
    e, norm = columns.exponent, columns.norm
    return Orthogonal(e, T, canceling, out, mean, norm, fit_intercept, repeated)


def _aliases(columns: "_ScaledColumns", rank: int, out: np.ndarray) -> Aliases | None:
    p, norm, scale = len(columns.exponent), columns.norm, columns.scale
    if rank == p:
        return None
    if rank == columns.rank < p:  # too few rows: no particular column repeats others
        return Aliases(np.arange(rank, p), np.arange(rank), np.zeros((rank, 0)))
    if rank + out.shape[1] + (norm == 0).sum() == p:
        return aliases_of_directions(out, np.ldexp(1.0, columns.exponent) * norm)
    unscale = scale * np.ldexp(1.0, -columns.exponent)
    return find_aliases(columns.triangle * scale, norm, unscale, rank)


class _ScaledColumns(NamedTuple):
    rows: Rows
    exponent: np.ndarray
    center: np.ndarray  # (p,), of x̂; 0 without an intercept
    intercept: bool
    norm: np.ndarray  # (p,): ‖x̂ − centre‖; 0 for a constant column
    triangle: np.ndarray  # RᵀR = Σ (x̂ − centre)(x̂ − centre)ᵀ, or the centred rows themselves
    rank: int  # upper bound

    @property
    def scale(self) -> np.ndarray:
        return np.where(self.norm > 0, 1 / np.where(self.norm > 0, self.norm, 1.0), 0.0)

    @classmethod
    def of(cls, rows: Rows, intercept: bool) -> "_ScaledColumns":
        counted = rows.shape[0] if rows.s is None else rows.reduce_targets(_count_weights)[0]
        low, high = rows.reduce(ranges_of, combine=widened)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise NonFiniteError
        exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1].astype(int)
        first = np.ldexp(low, -exponent)
        center = np.zeros(rows.shape[1])
        if intercept:
            N, total = rows.reduce(sum_about, exponent, first)
            center = np.where(low == high, first, first + total / N)
        (n, p), all_rows = rows.shape, rows.shape[0] <= rows.shape[1]
        (R,) = rows.reduce(
            triangle_of, exponent, center, all_rows, square=True,
            combine=stacked if all_rows else stacked_triangle,
            block_rows=n if all_rows else max(2 * p, rows.block_rows()),
        )  # fmt: skip
        norm = np.sqrt(np.einsum("ij,ij->j", R, R))
        rank = min(p, int(counted) - intercept)
        return cls(rows, exponent, center, intercept, norm, R, max(rank, 0))

    def singular_vectors(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(V, σ) of the centred, scaled columns, at most ``rank`` of them."""
        varies = scale > 0
        A = (self.triangle * scale)[:, varies]
        _, sigma, Vt = np.linalg.svd(A, full_matrices=False)
        used = min(self.rank, int((sigma > 0).sum()))
        V = np.zeros((len(scale), used))
        V[varies] = Vt[:used].T
        return V, sigma[:used]

    def with_constant(self, T: np.ndarray) -> np.ndarray:
        return np.vstack([T, -self.center @ T]) if self.intercept else T

    def sums(self, T: np.ndarray, canceling: np.ndarray) -> "_DirectionSums":
        (n, _), r = self.rows.shape, T.shape[1]
        sums = self.rows.reduce(
            direction_sums, self.exponent, T, canceling, combine=add_direction_sums, square=True,
            block_rows=max(2 * r, self.rows.block_rows()) if n > r else n,
        )  # fmt: skip
        return _DirectionSums(*sums)


class _DirectionSums(NamedTuple):
    triangle: np.ndarray  # RᵀR = ZᵀZ over the rows of positive weight
    weighted: np.ndarray  # RᵀR = Σ s z zᵀ
    size: np.ndarray  # ‖|X̃||t|‖² of each direction
    mean: np.ndarray
    n: float


def _split(
    columns: _ScaledColumns, T: np.ndarray, sigma: np.ndarray, canceling: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return T, which of its columns cancel, and the directions left out. Directions whose singular
    values may be rounding are recomputed from the data, as residuals of the reliable ones."""
    sums = columns.sums(T, np.zeros(len(sigma), bool))
    eps = float(np.finfo(np.float32 if columns.rows.X.dtype == np.float32 else float).eps)
    norm, size = np.linalg.norm(sums.triangle, axis=0), np.sqrt(sums.size)
    doubtful = sigma <= DOUBTFUL_SINGULAR_SHARE * sigma.max()
    doubtful |= norm <= DOUBTFUL_FACTOR * EPS * size
    doubtful |= norm <= DOUBTFUL_FACTOR * eps * size / 1e3
    if not doubtful.any():
        return T, canceling, T[:, :0]
    reliable, doubtful_T = T[:, ~doubtful], T[:, doubtful]
    both = np.concatenate([canceling[~doubtful], np.ones(doubtful_T.shape[1], bool)])
    for rotate in (False, True, False):
        doubtful_T, left = _residual_directions(columns, reliable, doubtful_T, both)
        if rotate:
            doubtful_T = doubtful_T @ np.linalg.svd(left, full_matrices=False)[2].T
    sums = columns.sums(doubtful_T, np.ones(doubtful_T.shape[1], bool))
    norm, size = np.linalg.norm(sums.triangle, axis=0), np.sqrt(sums.size)
    nearly_out = norm <= NEARLY_LEFT_OUT_ROUNDINGS * eps * size
    eliminated = _echelon(columns, doubtful_T[:, nearly_out])
    canceling = both[: reliable.shape[1] + nearly_out.sum()]
    eliminated, _ = _residual_directions(columns, reliable, eliminated, canceling)
    sums = columns.sums(eliminated, np.ones(eliminated.shape[1], bool))
    out = np.linalg.norm(sums.triangle, axis=0) <= LEFT_OUT_ROUNDINGS * eps * np.sqrt(sums.size)
    T = np.hstack([reliable, doubtful_T[:, ~nearly_out], eliminated[:, ~out]])
    return T, both[: T.shape[1]], eliminated[:, out]


def _echelon(columns: _ScaledColumns, N: np.ndarray) -> np.ndarray:
    """Basis of the span of N in which each direction has a column of its own, its largest. Else two
    that a large column dominates may both look like rounding although their difference does not."""
    size = np.maximum(np.abs(columns.center), columns.norm)
    W, N = N[: len(size)] * size[:, None], N.copy()
    for t in range(N.shape[1]):
        free = np.abs(W[:, t:])
        j, k = np.unravel_index(int(free.argmax()), free.shape)
        for A in (W, N):
            A[:, [t, t + int(k)]] = A[:, [t + int(k), t]]
        others = np.arange(N.shape[1]) != t
        factors = W[j, others] / W[j, t]
        for A in (W, N):
            A[:, others] -= np.multiply.outer(A[:, t], factors)
    return N / np.maximum(np.abs(N).max(axis=0, initial=0.0), np.finfo(float).tiny)


def _residual_directions(
    columns: _ScaledColumns, reliable: np.ndarray, doubtful_T: np.ndarray, canceling: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Doubtful directions minus their projections on the reliable ones and the constant, and their
    triangle over the rows."""
    if columns.intercept:
        reliable = np.hstack([np.eye(len(reliable))[:, -1:], reliable])
        canceling = np.append(False, canceling)
    k = reliable.shape[1]
    R = columns.sums(np.hstack([reliable, doubtful_T]), canceling).triangle
    unit = np.linalg.norm(R[:, :k], axis=0)
    B = np.linalg.lstsq(R[:, :k] / unit, R[:, k:], rcond=None)[0] / unit[:, None]
    return doubtful_T - reliable @ B, R[:, k:] - R[:, :k] @ B


def _improved(
    columns: _ScaledColumns, T: np.ndarray, canceling: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return T for which the columns of Z (with a penalty: of Z stacked on √α T) have norm 1 and
    are nearly orthogonal; which columns cancel; and the means of Z."""
    p = len(columns.exponent)
    for passes in range(MAX_IMPROVEMENTS):
        sums = columns.sums(T, canceling)
        R = sums.weighted
        if alpha:
            R = np.vstack([R, np.sqrt(alpha) * np.ldexp(T[:p], -columns.exponent[:, None])])
        unit = np.linalg.norm(R, axis=0)
        unit[unit == 0] = 1.0
        _, sigma, Vt = np.linalg.svd(R / unit, full_matrices=False)
        T, mean = T / unit, sums.mean / unit
        is_good = sigma[0] <= MAX_CONDITION * sigma[-1] or not sigma[-1] > 0
        if is_good or passes == MAX_IMPROVEMENTS - 1:
            break
        T = (T @ Vt.T) / sigma
        size = np.sqrt(columns.sums(T, np.zeros(len(sigma), bool)).size)
        canceling = size > 1 / CANCELING_SINGULAR_SHARE
    return T, canceling, mean


def _count_weights(_y: object, s: np.ndarray) -> tuple[int]:
    return (int(np.count_nonzero(s > 0)),)
