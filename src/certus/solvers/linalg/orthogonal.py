r"""Combinations of columns that are orthogonal over the rows, where the columns themselves nearly,
or fully, depend on each other.

    Z = X̃T,   X̃ = (X, 1),   T (p + 1, r)

Newton's method does not depend on the coordinates, but its sums do: those of x xᵀ lose a direction
d with ‖Xd‖ = 10⁻⁸ ‖X‖ altogether. With T from the singular vectors of the centred rows, columns of
Z have norm 1 and are all but orthogonal, and no sum over rows loses anything. Where Xt cancels, the
product is taken in several times the digits of a float (``sliced_products``).

A direction is left out only where one rounding of the columns could have made it,

    ‖X̃d‖ ≤ 4·eps·‖|X̃||d|‖:

a column that repeats others. With more columns than rows, T spans the rows: what is orthogonal to
them changes no score.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...data.types import Weights
from ..glm.linear_problem import Aliases
from .aliases import aliases_of_directions, find_aliases
from .gram import NonFiniteError
from .sliced_products import product

ROUNDINGS = 4.0  # of the columns, within which a direction is left out
DOUBTFUL = 1e4  # times that: singular vectors this small are rounding in part
NEARLY_OUT = 16.0  # roundings within which directions may be left out, of some in the same space
MANY_REPEATED = 16  # directions that are plainly rounding, from which they are not looked at
SMALL = 1e-9  # of the largest singular value: the same
CANCELLING = 1e-4  # singular values below which products with X need more digits
GOOD_CONDITION = 100.0  # of Z: what Newton's sums of squares square
PASSES = 4  # of improving Z; one or two are usual
MAX_STORED = 1 << 24  # elements of Z that are kept; of more, blocks are made when they are read
UNIT = float(np.finfo(float).eps)


class Orthogonal(NamedTuple):
    """Coordinates η of w: columns as scaled by powers of two, x̂ = x∘2^−e, ŵ = w∘2^e."""

    exponent: np.ndarray  # (p,): e
    T: np.ndarray  # (p + intercept, r), of the columns x̂
    cancelling: np.ndarray  # (r,): of which columns of X̂T digits cancel
    left_out: np.ndarray  # (p, l): directions of w that only rounding made, in the user's units
    mean: np.ndarray  # (r,): of Z over the rows that count
    norm: np.ndarray  # (p,): of the centred columns x̂; 0: constant
    intercept: bool
    aliases: Aliases | None  # columns that repeat others; None where all coefficients are known

    @property
    def in_users_units(self) -> np.ndarray:
        """T of the columns x, without the constant: (p, r)."""
        return np.ldexp(self.T[: len(self.exponent)], -self.exponent[:, None])

    def of(self, X: np.ndarray) -> np.ndarray:
        """Z of a block of rows."""
        return _combined(X, self.exponent, self.T, self.cancelling)

    def rows(self, rows: Rows) -> Rows:
        """Rows of Z with the same targets and weights."""
        rows = rows.dense()
        n, r = rows.shape[0], self.T.shape[1]
        if n * r <= MAX_STORED:
            return Rows(
                rows.map(lambda X, y, s: self.of(X), np.empty((n, r))), rows.y, rows.s,
                threads=rows.threads,
            )  # fmt: skip
        return Rows(_MadeRows(rows, self), rows.y, rows.s, threads=rows.threads)

    def to_internal(self, w: np.ndarray) -> np.ndarray:
        """η of w (p,), as near as it comes."""
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
        """xᵀw on average over the rows that count, with the digits that cancel."""
        scaled = np.ldexp(w, self.exponent)[:, None]
        total, count = rows.reduce(_sum_of_scores, self.exponent, scaled, self.cancelling.any())
        return float(total / count)

    def to_user(self, eta: np.ndarray) -> np.ndarray:
        """w (p,) of η, the smallest with these scores up to what was left out."""
        w = np.ldexp(self.T[: len(self.exponent)] @ eta, -self.exponent)
        L = self.left_out
        if L.shape[1]:
            smaller = w - L @ np.linalg.lstsq(L, w, rcond=None)[0]
            w = smaller if np.isfinite(smaller).all() else w
        return w


class _MadeRows:
    """Z as a source for ``Rows``: blocks are made when they are read."""

    def __init__(self, rows: Rows, basis: Orthogonal):
        self.source, self.basis = rows, basis
        self.shape, self.dtype = (rows.shape[0], basis.T.shape[1]), np.dtype(float)

    def __getitem__(self, key: slice) -> np.ndarray:
        return self.basis.of(self.source.X[key])


def orthogonal(rows: Rows, fit_intercept: bool, alpha: float = 0.0) -> Orthogonal:
    """T of all directions that the rows hold. ``alpha``: a penalty α/2‖w‖² makes something of the
    others, so that nothing is left out.

    O(n·p·min(n, p)) operations, ten times that where many digits cancel.
    """
    rows = rows.dense()
    of = _Columns.of(rows, fit_intercept)
    shift = np.maximum(of.exponent - of.exponent.max(initial=0), -600)
    users = np.where(of.norm > 0, np.ldexp(1.0, shift), 0.0)
    scale = of.scale
    if alpha or rows.shape[0] <= rows.shape[1]:  # the smallest w is so in the user's units
        scale = users
    V, sigma = of.singular_vectors(scale)
    rounding = sigma <= len(V) * UNIT * sigma.max(initial=0.0)
    if not alpha and rounding.sum() > MANY_REPEATED:  # looking at each would take long
        scale = users
        V, sigma = of.singular_vectors(scale)
        some = sigma > len(V) * UNIT * sigma.max(initial=0.0)
        V, sigma = V[:, some], sigma[some]
    T = scale[:, None] * V
    T = of.with_constant(T / np.where((top := np.abs(T).max(axis=0, initial=0.0)) > 0, top, 1.0))
    cancelling = sigma < CANCELLING * sigma.max(initial=0.0)
    out, mean = T[:, :0], np.zeros(0)
    if T.shape[1] and not alpha:
        T, cancelling, out = _split(of, T, sigma, cancelling)
    if T.shape[1]:
        T, cancelling, mean = _improved(of, T, cancelling, alpha)
    out = np.ldexp(out[: len(of.exponent)], -of.exponent[:, None])
    repeated = None if alpha else _aliases(of, T.shape[1], out)
    return Orthogonal(of.exponent, T, cancelling, out, mean, of.norm, fit_intercept, repeated)


def _aliases(of: "_Columns", rank: int, out: np.ndarray) -> Aliases | None:
    p = len(of.exponent)
    if rank == p:
        return None
    if of.rank < p and rank == of.rank:  # rows too few: nothing repeats anything in particular
        return Aliases(np.arange(rank, p), np.arange(rank), np.zeros((rank, 0)))
    users = np.ldexp(1.0, of.exponent) * of.norm
    if rank + out.shape[1] + (of.norm == 0).sum() == p:
        return aliases_of_directions(out, users)
    return find_aliases(
        of.triangle * of.scale, of.norm, of.scale * np.ldexp(1.0, -of.exponent), rank
    )


class _Columns(NamedTuple):
    rows: Rows
    counted: np.ndarray | None  # of bool: the rows of weight above 0; None: all
    exponent: np.ndarray
    centre: np.ndarray  # (p,), of x̂; 0 without an intercept
    intercept: bool
    norm: np.ndarray  # (p,): ‖x̂ − centre‖; 0 for a constant column
    triangle: np.ndarray  # RᵀR = Σ (x̂ − centre)(x̂ − centre)ᵀ, or the centred rows themselves
    rank: int  # at most

    @property
    def scale(self) -> np.ndarray:
        return np.where(self.norm > 0, 1 / np.where(self.norm > 0, self.norm, 1.0), 0.0)

    @classmethod
    def of(cls, rows: Rows, intercept: bool) -> "_Columns":
        counted = None if rows.s is None else rows.s > 0
        low, high = rows.reduce(_range, combine=_wider)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise NonFiniteError
        exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1].astype(int)
        first = np.ldexp(low, -exponent)
        centre = np.zeros(rows.shape[1])
        if intercept:
            N, total = rows.reduce(_sum_about, exponent, first)
            centre = np.where(low == high, first, first + total / N)
        (n, p), whole = rows.shape, rows.shape[0] <= rows.shape[1]
        (R,) = rows.reduce(
            _triangle, exponent, centre, whole, combine=_stacked if whole else _stacked_triangle,
            square=True, block_rows=n if whole else max(2 * p, rows.block_rows()),
        )  # fmt: skip
        norm = np.sqrt(np.einsum("ij,ij->j", R, R))
        rank = min(p, (n if counted is None else int(counted.sum())) - intercept)
        return cls(rows, counted, exponent, centre, intercept, norm, R, max(rank, 0))

    def singular_vectors(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(V, σ) of the centred columns as scaled, at most ``rank`` of them."""
        varies = scale > 0
        A = (self.triangle * scale)[:, varies]
        _, sigma, Vt = np.linalg.svd(A, full_matrices=False)
        used = min(self.rank, int((sigma > 0).sum()))
        V = np.zeros((len(scale), used))
        V[varies] = Vt[:used].T
        return V, sigma[:used]

    def with_constant(self, T: np.ndarray) -> np.ndarray:
        return np.vstack([T, -self.centre @ T]) if self.intercept else T

    def seen(self, T: np.ndarray, cancelling: np.ndarray) -> "_Seen":
        (n, _), r = self.rows.shape, T.shape[1]
        found = self.rows.reduce(
            _seen, self.exponent, T, cancelling, combine=_seen_together, square=True,
            block_rows=max(2 * r, self.rows.block_rows()) if n > r else n,
        )  # fmt: skip
        return _Seen(*found)


class _Seen(NamedTuple):
    triangle: np.ndarray  # RᵀR = ZᵀZ over the rows that count
    weighted: np.ndarray  # RᵀR = Σ s z zᵀ
    size: np.ndarray  # ‖|X̃||t|‖² of each direction
    mean: np.ndarray
    n: float


def _split(
    of: _Columns, T: np.ndarray, sigma: np.ndarray, cancelling: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(T, which of its columns cancel, what is left out). Directions whose singular values may be
    rounding are taken again: from all digits of the data, less what the others explain."""
    seen = of.seen(T, np.zeros(len(sigma), bool))
    eps = float(np.finfo(np.float32 if of.rows.X.dtype == np.float32 else float).eps)
    norm, size = np.linalg.norm(seen.triangle, axis=0), np.sqrt(seen.size)
    doubtful = (sigma <= SMALL * sigma.max()) | (norm <= DOUBTFUL * UNIT * size)
    doubtful |= norm <= DOUBTFUL * eps * size / 1e3
    if not doubtful.any():
        return T, cancelling, T[:, :0]
    sure, rest = T[:, ~doubtful], T[:, doubtful]
    both = np.concatenate([cancelling[~doubtful], np.ones(rest.shape[1], bool)])
    for rotate in (False, True, False):
        rest, left = _less(of, sure, rest, both)
        if rotate:
            rest = rest @ np.linalg.svd(left, full_matrices=False)[2].T
    seen = of.seen(rest, np.ones(rest.shape[1], bool))
    norm, size = np.linalg.norm(seen.triangle, axis=0), np.sqrt(seen.size)
    near = norm <= NEARLY_OUT * eps * size
    few = _less(of, sure, _echelon(of, rest[:, near]), both[: sure.shape[1] + near.sum()])[0]
    seen = of.seen(few, np.ones(few.shape[1], bool))
    out = np.linalg.norm(seen.triangle, axis=0) <= ROUNDINGS * eps * np.sqrt(seen.size)
    T = np.hstack([sure, rest[:, ~near], few[:, ~out]])
    return T, both[: T.shape[1]], few[:, out]


def _echelon(of: _Columns, N: np.ndarray) -> np.ndarray:
    """The span of N by directions that have each a column of their own, the one that weighs most in
    them: of others, two that a large column dominates may seem to be rounding, and not their
    difference."""
    size = np.maximum(np.abs(of.centre), of.norm)
    W, N = N[: len(size)] * size[:, None], N.copy()
    for t in range(N.shape[1]):
        free = np.abs(W[:, t:])
        j, k = np.unravel_index(int(free.argmax()), free.shape)
        for A in (W, N):
            A[:, [t, t + int(k)]] = A[:, [t + int(k), t]]
        others = np.arange(N.shape[1]) != t
        times = W[j, others] / W[j, t]
        for A in (W, N):
            A[:, others] -= np.multiply.outer(A[:, t], times)
    return N / np.maximum(np.abs(N).max(axis=0, initial=0.0), np.finfo(float).tiny)


def _less(
    of: _Columns, sure: np.ndarray, rest: np.ndarray, cancelling: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """``rest`` less what ``sure`` and the constant explain, and what the rows show of that."""
    if of.intercept:
        sure = np.hstack([np.eye(len(sure))[:, -1:], sure])
        cancelling = np.append(False, cancelling)
    k = sure.shape[1]
    R = of.seen(np.hstack([sure, rest]), cancelling).triangle
    unit = np.linalg.norm(R[:, :k], axis=0)
    B = np.linalg.lstsq(R[:, :k] / unit, R[:, k:], rcond=None)[0] / unit[:, None]
    return rest - sure @ B, R[:, k:] - R[:, :k] @ B


def _improved(
    of: _Columns, T: np.ndarray, cancelling: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T with columns of Z (with a penalty: of Z on √α T) that have norm 1 and are all but
    orthogonal; which cancel; and the means of Z."""
    p = len(of.exponent)
    for passes in range(PASSES):
        seen = of.seen(T, cancelling)
        R = seen.weighted
        if alpha:
            users = np.ldexp(T[:p], -of.exponent[:, None])
            R = np.vstack([R, np.sqrt(alpha) * users])
        unit = np.linalg.norm(R, axis=0)
        unit[unit == 0] = 1.0
        _, sigma, Vt = np.linalg.svd(R / unit, full_matrices=False)
        T, mean = T / unit, seen.mean / unit
        if sigma[0] <= GOOD_CONDITION * sigma[-1] or not sigma[-1] > 0 or passes == PASSES - 1:
            break
        T = (T @ Vt.T) / sigma
        size = np.sqrt(of.seen(T, np.zeros(len(sigma), bool)).size)
        cancelling = size > 1 / CANCELLING
    return T, cancelling, mean


# --- passes over the rows -------------------------------------------------------------------------


def _range(X: np.ndarray, _y: np.ndarray, s: Weights) -> tuple[Any, Any]:
    X = X if s is None else X[s > 0]
    if not len(X):
        return np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    return X.min(axis=0).astype(float), X.max(axis=0).astype(float)


def _wider(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def _scaled(X: np.ndarray, s: Weights, exponent: np.ndarray) -> np.ndarray:
    X = np.asarray(X if s is None else X[s > 0], dtype=float)
    return np.ldexp(X, -exponent)


def _sum_about(
    X: np.ndarray, _y: object, s: Weights, exponent: np.ndarray, first: np.ndarray
) -> tuple[Any, Any]:
    A = _scaled(X, s, exponent) - first
    return float(len(A)), A.sum(axis=0)


def _triangle(
    X: np.ndarray, _: object, s: Weights, exponent: np.ndarray, centre: np.ndarray, whole: bool
) -> tuple[Any]:
    A = _scaled(X, s, exponent) - centre
    return (A if whole else np.linalg.qr(A, mode="r"),)


def _stacked(a: tuple[Any], b: tuple[Any]) -> tuple[Any]:
    return (np.vstack([a[0], b[0]]),)


def _stacked_triangle(a: tuple[Any], b: tuple[Any]) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([a[0], b[0]]), mode="r"),)


def _sum_of_scores(
    X: np.ndarray, _: object, s: Weights, exponent: np.ndarray, w: np.ndarray, cancelling: bool
) -> tuple[Any, Any]:
    A = _scaled(X, s, exponent)
    z = product(A, w) if cancelling else np.dot(A, w)
    return z.sum(), len(z)


def _combined(
    X: np.ndarray, exponent: np.ndarray, T: np.ndarray, cancelling: np.ndarray
) -> np.ndarray:
    """X̃T of a block, with all digits where they cancel."""
    A = np.ldexp(np.asarray(X, dtype=float), -exponent)
    p = A.shape[1]
    if len(T) > p:
        A = np.hstack([A, np.ones((len(A), 1))])
    if cancelling.all():
        return product(A, T)
    Z = np.dot(A[:, :p], T[:p])
    if len(T) > p:
        Z += T[p]
    if cancelling.any():
        Z[:, cancelling] = product(A, T[:, cancelling])
    return Z


def _seen(
    X: np.ndarray, _: object, s: Weights, exponent: np.ndarray, T: np.ndarray,
    cancelling: np.ndarray,
) -> tuple[Any, ...]:  # fmt: skip
    counted = slice(None) if s is None else s > 0
    X, weight = X[counted], None if s is None else s[counted]
    Z = _combined(X, exponent, T, cancelling)
    A = np.abs(np.ldexp(np.asarray(X, dtype=float), -exponent))
    size = np.dot(A, np.abs(T[: A.shape[1]])) + np.abs(T[A.shape[1] :]).sum(axis=0)
    R = np.linalg.qr(Z, mode="r")
    weighted = R if weight is None else np.linalg.qr(np.sqrt(weight)[:, None] * Z, mode="r")
    mean = Z.mean(axis=0) if len(Z) else Z.sum(axis=0)
    return R, weighted, (size * size).sum(axis=0), mean, len(Z)


def _seen_together(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    n = max(a[4] + b[4], 1)
    return (
        *(np.linalg.qr(np.vstack([a[k], b[k]]), mode="r") for k in (0, 1)),
        a[2] + b[2], (a[4] * a[3] + b[4] * b[3]) / n, a[4] + b[4],
    )  # fmt: skip
