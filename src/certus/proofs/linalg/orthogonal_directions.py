r"""Directions of the coefficients in which sums over rows lose no digits.

    Z = X̃T,   X̃ = (X, 1),   columns of Z nearly orthogonal

The bounds from gradient and curvature do not depend on the coordinates: they hold in η, θ = Tη, for
any stored T. But sums of x xᵀ lose a direction with ‖Xd‖ below 10⁻⁸ ‖X‖, and those of z zᵀ do not.
T comes from the singular vectors of the centred rows; if singular values are so small that their
vectors are partly rounding, the components along other directions are removed again in twice the
working precision. The proof does not rely on the quality of T: the curvature along it is computed
from Z itself.

Directions that are negligible (``negligible_directions``) are left out, each by leaving out one
column, the largest in it, which the others do not use; many directions by ``combined_columns``.
(Two directions dominated by the same large column may both be negligible although their difference
is not.) With more columns than rows, T has as many directions as the centred rows: their scores
span at most n − 1 dimensions.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.combined_columns import combined_columns
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import LeftOutDirection, negligible_in_span
from certus.proofs.types import Matrix, RowData, RowWeights

DOUBTFUL_ROUNDINGS = 1e4  # units of rounding below which singular vectors are inaccurate …
DOUBTFUL_SINGULAR_SHARE = 1e-9  # … also below this share of the largest singular value
CANCELING_SINGULAR_SHARE = 1e-4  # below which products need twice the working precision
MAX_CONDITION = 100.0  # of Z
MAX_IMPROVEMENTS = 4  # passes; one or two are usual
MAX_CHEAP_WORK = 2**22  # n·P·r up to which twice the working precision costs next to nothing
MAX_CHECKED_DIRECTIONS = 16  # if more, repeated columns are eliminated one by one instead
TOO_MANY_COLUMNS = "too many columns to search for repeated ones"


class Directions(NamedTuple):
    """T for x̂ = x∘2^−e, with the constant's row last, and the directions left out."""

    exponent: np.ndarray  # (p,): e
    center: np.ndarray  # (p,): about the means of x̂
    norm: np.ndarray  # (p,): ‖x̂ − centre‖, over the rows of positive weight
    T: np.ndarray  # (P, r)
    canceling: np.ndarray  # (r,) of bool
    left_out: list[LeftOutDirection]
    all_columns: bool  # T and the directions left out span all directions
    unresolved: str  # why T does not span all that the data determine; "" if it does

    @property
    def users(self) -> Any:
        """T for x, (p, r)."""
        return np.ldexp(self.T[: len(self.exponent)], -self.exponent[:, None])

    def of(self, X: Matrix) -> tuple[Any, Any]:
        """Z of a block, and a bound of the rounding error of each entry."""
        A = np.ldexp(dense(X).astype(float), -self.exponent)
        p = len(self.exponent)
        if len(self.T) > p:
            A = np.hstack([A, np.ones((len(A), 1))])
        size = np.dot(np.abs(A), np.abs(self.T))
        Z, error = np.dot(A, self.T), gamma(A.shape[1] + 2) * size
        if self.canceling.any():
            canceling_columns = np.flatnonzero(self.canceling)
            Z[:, canceling_columns] = sum(accurate_product(A, self.T[:, canceling_columns]))
            share = product_error(A.shape[1])
            error[:, canceling_columns] = share * size[:, canceling_columns] + 2 * UNIT * np.abs(
                Z[:, canceling_columns]
            )
        return Z, error


def no_directions(data: RowData) -> Directions:
    """Directions object without directions, for scores alone."""
    low, high = data.reduce(column_range, combine=wider_range)
    exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1].astype(int)
    p = len(exponent)
    T = np.zeros((p + 1, 0))
    return Directions(
        exponent, np.zeros(p), np.zeros(p), T, np.zeros(0, dtype=bool), [], False, "not asked for"
    )


def find_directions(
    data: RowData, constant: bool, weigh: RowWeights, penalized: bool = False
) -> Directions:
    """Compute T.

    ``constant``: whether there is an intercept. ``weigh(X, y, s)``: weights of the rows in which
    the columns of Z are made orthogonal. ``penalized``: by ‖w‖², so nothing is left out, and T has
    orthonormal columns in the user's units instead.

    O(n·p·min(n, p)) operations, ten times as many if digits cancel.
    """
    low, high = data.reduce(column_range, combine=wider_range)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        empty = np.zeros(())
        return Directions(
            empty, empty, empty, empty, empty, [], False, "entries of X that are not finite numbers"
        )
    exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1].astype(int)
    center = np.zeros(len(low))
    first = np.ldexp(low, -exponent)
    if constant:
        N, total = data.reduce(sums_about, exponent, first)
        center = np.where(low == high, first, first + total / N)
    columns = CenteredColumns(data, exponent, center, constant, weigh)
    if penalized:
        return penalized_directions(columns)
    is_constant = (low == high) & (constant | (low == 0))
    return unpenalized_directions(columns, is_constant)


class CenteredColumns(NamedTuple):
    data: RowData
    exponent: np.ndarray
    center: np.ndarray  # of x̂
    constant: bool
    weigh: RowWeights

    def centered(self) -> Any:
        """Triangle of the centred rows, or these rows themselves if fewer than the columns."""
        all_rows = self.data.shape[0] <= self.data.shape[1]
        stack = stacked_rows if all_rows else stacked_triangles
        return self.data.reduce(
            centered_block, self.exponent, self.center, all_rows, combine=stack, square=True
        )[0]

    def with_constant(self, T: np.ndarray) -> Any:
        return np.vstack([T, -self.center @ T]) if self.constant else T

    def sums(self, T: np.ndarray, canceling: np.ndarray) -> tuple[Any, Any, Any]:
        """Triangles of Z and of the weighted Z, and ‖|X̃||t|‖."""
        directions = Directions(
            self.exponent, self.center, np.zeros(()), T, canceling, [], False, ""
        )
        R, weighted, square = self.data.reduce(
            direction_sums, directions, self.weigh, combine=add_direction_sums, square=True
        )
        return R, weighted, np.sqrt(square)


def penalized_directions(columns: CenteredColumns) -> Directions:
    e = columns.exponent
    unit = np.ldexp(1.0, np.maximum(e - e.max(initial=0), -1000))
    A = columns.centered()
    norms = np.sqrt(np.einsum("ij,ij->j", A, A))
    _, sigma, Vt = np.linalg.svd(A * unit, full_matrices=False)
    # T for x̂ such that 2^−e∘T = V
    T = columns.with_constant(np.ldexp(Vt.T, e[:, None]))
    canceling = sigma < CANCELING_SINGULAR_SHARE * sigma.max(initial=0.0)
    return Directions(e, columns.center, norms, T, canceling, [], T.shape[1] == len(e), "")


def unpenalized_directions(columns: CenteredColumns, is_constant: np.ndarray) -> Directions:
    """Directions without a penalty. ``is_constant``: columns equal to the intercept or to 0."""
    data, e = columns.data, columns.exponent
    P = len(e) + columns.constant
    left_out, retained = [], ~is_constant
    for j in np.flatnonzero(is_constant):
        d = np.eye(P)[j]
        if columns.constant:
            d[-1] = -np.ldexp(columns.center[j], e[j])
        left_out.append(LeftOutDirection(d, int(j), 0.0))
    A = columns.centered()
    norms = np.sqrt(np.einsum("ij,ij->j", A, A))
    rank = distinct_rows(A) - columns.constant if len(A) < len(e) else len(e)
    while True:
        norm = norms * retained
        scale = np.where(norm > 0, 1 / np.where(norm > 0, norm, 1.0), 0.0)
        _, sigma, Vt = np.linalg.svd((A * scale)[:, retained], full_matrices=False)
        wide = retained.sum() > rank
        sigma, Vt = sigma[: min(rank, retained.sum())], Vt[: min(rank, retained.sum())]
        T = np.zeros((len(e), len(sigma)))
        T[retained] = scale[retained, None] * Vt.T
        T, reliable, is_rounding = refine_small_directions(columns, columns.with_constant(T), sigma)
        N = T[:, is_rounding]  # (P, k) of directions that may be rounding
        if not N.shape[1]:
            break
        if wide or N.shape[1] > MAX_CHECKED_DIRECTIONS:
            new_directions = combined_columns(
                columns, A, scale, retained, int((~is_rounding).sum())
            )
            if new_directions is None:
                return Directions(
                    e, columns.center, norms, T, reliable, left_out, False, TOO_MANY_COLUMNS
                )
        else:
            users = np.vstack([np.ldexp(N[: len(e)], -e[:, None]), N[len(e) :]])
            size = np.ldexp(np.maximum(np.abs(columns.center), scale_or_one(norm)), e)
            size = np.append(size, 1.0) if columns.constant else size
            new_directions = negligible_in_span(
                data, users, size, 1.0 if columns.constant else None
            )
        if not new_directions:
            break
        left_out += new_directions
        retained[[direction.pivot for direction in new_directions if direction.pivot < len(e)]] = (
            False
        )
        if not retained.any():
            T, reliable = T[:, :0], reliable[:0]
            break
    T, canceling = orthogonalized(columns, T, reliable)
    is_incomplete = retained.sum() > T.shape[1] and T.shape[1] < rank
    unresolved = "directions that cannot be distinguished from rounding" if is_incomplete else ""
    return Directions(
        e, columns.center, norms, T, canceling, left_out, retained.sum() == T.shape[1], unresolved
    )


def scale_or_one(norm: np.ndarray) -> Any:
    return np.where(norm > 0, norm, 1.0)


def refine_small_directions(
    columns: CenteredColumns, T: np.ndarray, sigma: np.ndarray
) -> tuple[Any, Any, Any]:
    """Return T, which of its columns cancel, and which may be rounding.

    Directions of small singular values are recomputed in twice the working precision, as residuals
    of the others, and rotated.
    """
    canceling = sigma < CANCELING_SINGULAR_SHARE * sigma.max(initial=0.0)
    if not len(sigma):
        return T, canceling, canceling
    R, _, size = columns.sums(T, np.zeros(len(sigma), dtype=bool))
    norm = np.linalg.norm(R, axis=0)
    eps = max(columns.data.eps, 2 * UNIT)
    doubtful = (sigma <= DOUBTFUL_SINGULAR_SHARE * sigma.max()) | (
        norm <= DOUBTFUL_ROUNDINGS * 2 * UNIT * size
    )
    doubtful |= norm <= 16 * eps * size
    if not doubtful.any():
        return T, canceling, doubtful
    if doubtful.sum() > MAX_CHECKED_DIRECTIONS:  # columns are eliminated one by one first
        reliable = sigma > len(T) * 2 * UNIT * sigma.max()
        if (~reliable).sum() > MAX_CHECKED_DIRECTIONS:
            return T, canceling, ~reliable
    order = np.argsort(doubtful, kind="stable")
    T, k, canceling = T[:, order], int((~doubtful).sum()), (canceling | doubtful)[order]
    T[:, k:] = residual_directions(columns, T[:, :k], T[:, k:])
    R, _, size = columns.sums(T[:, k:], canceling[k:])
    is_rounding = np.zeros(len(sigma), dtype=bool)
    is_rounding[k:] = np.linalg.norm(R, axis=0) <= 16 * eps * size
    return T, canceling, is_rounding


def residual_directions(columns: CenteredColumns, reliable: np.ndarray, N: np.ndarray) -> Any:
    """N minus its projection on the reliable directions and the constant, rotated to the singular
    vectors of XN."""
    if columns.constant:
        reliable = np.hstack([reliable, np.eye(len(reliable))[:, -1:]])
    k, canceling = (
        reliable.shape[1],
        np.arange(reliable.shape[1] + N.shape[1]) >= reliable.shape[1],
    )
    for rotate in (False, True, False):
        R, _, _ = columns.sums(np.hstack([reliable, N]), canceling)
        unit = scale_or_one(np.linalg.norm(R[:, :k], axis=0))
        B = np.linalg.lstsq(R[:, :k] / unit, R[:, k:], rcond=None)[0] / unit[:, None]
        N = N - reliable @ B
        if rotate:
            N = N @ np.linalg.svd(R[:, k:] - R[:, :k] @ B, full_matrices=True)[2].T
    return N


def orthogonalized(
    columns: CenteredColumns, T: np.ndarray, canceling: np.ndarray
) -> tuple[Any, Any]:
    """Return T for which the weighted columns of Z have norm 1 and are nearly orthogonal, and which
    of its columns cancel."""
    n, (P, r) = columns.data.shape[0], T.shape
    is_cheap = n * P * r <= MAX_CHEAP_WORK
    for _ in range(MAX_IMPROVEMENTS if r else 0):
        R, weighted, size = columns.sums(T, canceling)
        canceling = size * (0.1 if is_cheap else CANCELING_SINGULAR_SHARE) > np.linalg.norm(
            R, axis=0
        )
        unit = scale_or_one(np.linalg.norm(weighted, axis=0))
        T = T / unit
        _, sigma, Vt = np.linalg.svd(weighted / unit, full_matrices=False)
        if sigma[0] <= MAX_CONDITION * sigma[-1] or not sigma[-1] > 1e-14 * sigma[0]:
            break
        T = (T @ Vt.T) / sigma
        canceling = np.ones(r, dtype=bool)
    return T, canceling


def distinct_rows(A: np.ndarray) -> int:
    return len(np.unique(A, axis=0))


# --- passes over the rows -------------------------------------------------------------------------


def column_range(X: Matrix, y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any]:
    X = dense(X if s is None else X[s > 0]).astype(float)
    return X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)


def wider_range(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any]:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])


def in_units(X: Matrix, s: np.ndarray | None, exponent: np.ndarray) -> Any:
    """x̂ of a block's rows of positive weight."""
    return np.ldexp(dense(X if s is None else X[s > 0]).astype(float), -exponent)


def sums_about(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, exponent: np.ndarray, first: np.ndarray
) -> tuple[Any, Any]:
    A = in_units(X, s, exponent) - first
    return float(len(A)), A.sum(axis=0)


def centered_block(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    exponent: np.ndarray,
    center: np.ndarray,
    all_rows: bool,
) -> tuple[Any]:
    A = in_units(X, s, exponent) - center
    return (A if all_rows else np.linalg.qr(A, mode="r"),)


def stacked_rows(left: np.ndarray, right: np.ndarray) -> tuple[Any]:
    return (np.vstack([left[0], right[0]]),)


def stacked_triangles(left: np.ndarray, right: np.ndarray) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"),)


def direction_sums(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, directions: Directions, weigh: RowWeights
) -> tuple[Any, Any, Any]:
    counted = slice(None) if s is None else s > 0
    X, y, s = X[counted], y[counted], np.ones(len(y)) if s is None else s[counted]
    Z, _ = directions.of(X)
    A = np.abs(np.ldexp(dense(X).astype(float), -directions.exponent))
    p = len(directions.exponent)
    size = np.dot(A, np.abs(directions.T[:p])) + np.abs(directions.T[p:]).sum(axis=0)
    R = np.linalg.qr(Z, mode="r")
    weighted = np.linalg.qr(np.sqrt(weigh(X, y, s))[:, None] * Z, mode="r")
    return R, weighted, (size * size).sum(axis=0)


def add_direction_sums(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    R, weighted = (np.linalg.qr(np.vstack([left[k], right[k]]), mode="r") for k in (0, 1))
    return R, weighted, left[2] + right[2]
