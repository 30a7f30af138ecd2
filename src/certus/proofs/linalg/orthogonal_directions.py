r"""Directions of the coefficients in which no sum over rows loses its digits.

    Z = X̃T,   X̃ = (X, 1),   columns of Z orthogonal, or nearly so

The bounds from gradient and curvature do not depend on the coordinates: they hold in η, θ = Tη, for
any T that is stored. But sums of x xᵀ lose a direction with ‖Xd‖ below 10⁻⁸ ‖X‖, and those of z zᵀ
do not. T is made from the singular vectors of the centred rows; where singular values are so small
that the vectors are rounding in part, what other directions explain is taken out again with twice
the digits. How good T is, is nobody's word: the curvature along it is computed from Z itself.

Directions that the rule of ``negligible_directions`` allows are left out, by leaving out a column
of each, and no others (many by ``combined_columns``): each with the column that weighs most in it,
which none of the others has. (Two directions that a large column dominates may both pass the rule,
and their difference not.) With more columns than rows T has as many directions as the centred rows:
their scores are then all that there are, ≤ n − 1 dimensions.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.combined_columns import combined_columns
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import LeftOut, negligible_in_span
from certus.proofs.types import Matrix, RowData, RowWeights

DOUBTFUL = 1e4  # units of rounding: singular vectors of values below are rounding in part
SMALL_VALUE = 1e-9  # of the largest singular value: the same
CANCELLING = 1e-4  # singular values below which products are taken in twice the digits
GOOD_CONDITION = 100.0  # of Z
IMPROVEMENTS = 4  # passes; one or two are usual
SMALL_WORK = 2**22  # n·P·r up to which twice the digits cost next to nothing
MANY_REPEATED = 16  # directions, from which repeated columns are looked at one by one
TOO_MANY = "too many columns to look for those that repeat others"


class Directions(NamedTuple):
    """T of x̂ = x∘2^−e with the constant's row last, and what it leaves out."""

    exponent: np.ndarray  # (p,): e
    centre: np.ndarray  # (p,), of x̂: about the means
    norm: np.ndarray  # (p,): ‖x̂ − centre‖, over the rows that count
    T: np.ndarray  # (P, r)
    cancelling: np.ndarray  # (r,) of bool
    left_out: list[LeftOut]
    all_columns: bool  # no direction but those of T and those left out
    unresolved: str  # why T is not all that the data hold; "" where it is

    @property
    def users(self) -> Any:
        """T of x, (p, r)."""
        return np.ldexp(self.T[: len(self.exponent)], -self.exponent[:, None])

    def of(self, X: Matrix) -> tuple[Any, Any]:
        """Z of a block, and the most by which rounding changed each entry."""
        A = np.ldexp(dense(X).astype(float), -self.exponent)
        p = len(self.exponent)
        if len(self.T) > p:
            A = np.hstack([A, np.ones((len(A), 1))])
        size = np.dot(np.abs(A), np.abs(self.T))
        Z, error = np.dot(A, self.T), gamma(A.shape[1] + 2) * size
        if self.cancelling.any():
            few = np.flatnonzero(self.cancelling)
            Z[:, few] = sum(accurate_product(A, self.T[:, few]))
            share = product_error(A.shape[1])
            error[:, few] = share * size[:, few] + 2 * UNIT * np.abs(Z[:, few])
        return Z, error


def no_directions(data: RowData) -> Directions:
    """For scores alone."""
    low, high = data.reduce(column_range, combine=wider_range)
    exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1].astype(int)
    p = len(exponent)
    T = np.zeros((p + 1, 0))
    return Directions(
        exponent, np.zeros(p), np.zeros(p), T, np.zeros(0, dtype=bool), [], False, "not asked for"
    )


def find_directions(
    data: RowData, constant: bool, weigh: RowWeights, penalised: bool = False
) -> Directions:
    """``constant``: is there an intercept? ``weigh(X, y, s)``: weights of rows that count, in which
    the columns of Z are to be orthogonal; ``penalised``: by ‖w‖², so that nothing is left out, and
    T has orthonormal columns in the user's units instead.

    O(n·p·min(n, p)) operations; ten times that where digits cancel.
    """
    low, high = data.reduce(column_range, combine=wider_range)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        none = np.zeros(())
        return Directions(
            none, none, none, none, none, [], False, "entries of X that are not finite numbers"
        )
    exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1].astype(int)
    centre = np.zeros(len(low))
    first = np.ldexp(low, -exponent)
    if constant:
        N, total = data.reduce(sums_about, exponent, first)
        centre = np.where(low == high, first, first + total / N)
    given = Columns(data, exponent, centre, constant, weigh)
    if penalised:
        return penalised_directions(given)
    still = (low == high) & (constant | (low == 0))
    return unpenalised_directions(given, still)


class Columns(NamedTuple):
    data: RowData
    exponent: np.ndarray
    centre: np.ndarray  # of x̂
    constant: bool
    weigh: RowWeights

    def centred(self) -> Any:
        """The triangle of the centred rows; of fewer rows than columns, these themselves."""
        whole = self.data.shape[0] <= self.data.shape[1]
        stack = stacked_rows if whole else stacked_triangles
        return self.data.reduce(
            centred_block, self.exponent, self.centre, whole, combine=stack, square=True
        )[0]

    def with_constant(self, T: np.ndarray) -> Any:
        return np.vstack([T, -self.centre @ T]) if self.constant else T

    def measured(self, T: np.ndarray, cancelling: np.ndarray) -> tuple[Any, Any, Any]:
        """Triangles of Z, of Z with the rows' weights, and ‖|X̃||t|‖."""
        there = Directions(self.exponent, self.centre, np.zeros(()), T, cancelling, [], False, "")
        R, weighted, square = self.data.reduce(
            measure_block, there, self.weigh, combine=measured_together, square=True
        )
        return R, weighted, np.sqrt(square)


def penalised_directions(given: Columns) -> Directions:
    e = given.exponent
    unit = np.ldexp(1.0, np.maximum(e - e.max(initial=0), -1000))
    A = given.centred()
    norms = np.sqrt(np.einsum("ij,ij->j", A, A))
    _, sigma, Vt = np.linalg.svd(A * unit, full_matrices=False)
    # T of x̂, so that the columns 2^−e∘T are those of V
    T = given.with_constant(np.ldexp(Vt.T, e[:, None]))
    small = sigma < CANCELLING * sigma.max(initial=0.0)
    return Directions(e, given.centre, norms, T, small, [], T.shape[1] == len(e), "")


def unpenalised_directions(given: Columns, still: np.ndarray) -> Directions:
    """``still``: columns that are constant, or 0 where there is no constant to repeat."""
    data, e = given.data, given.exponent
    P = len(e) + given.constant
    found, kept = [], ~still
    for j in np.flatnonzero(still):
        d = np.eye(P)[j]
        if given.constant:
            d[-1] = -np.ldexp(given.centre[j], e[j])
        found.append(LeftOut(d, int(j), 0.0))
    A = given.centred()
    norms = np.sqrt(np.einsum("ij,ij->j", A, A))
    rank = distinct_rows(A) - given.constant if len(A) < len(e) else len(e)
    while True:
        norm = norms * kept
        scale = np.where(norm > 0, 1 / np.where(norm > 0, norm, 1.0), 0.0)
        _, sigma, Vt = np.linalg.svd((A * scale)[:, kept], full_matrices=False)
        wide = kept.sum() > rank
        sigma, Vt = sigma[: min(rank, kept.sum())], Vt[: min(rank, kept.sum())]
        T = np.zeros((len(e), len(sigma)))
        T[kept] = scale[kept, None] * Vt.T
        T, sure, small = refined(given, given.with_constant(T), sigma)
        N = T[:, small]  # (P, k) of directions that may be rounding
        if not N.shape[1]:
            break
        if wide or N.shape[1] > MANY_REPEATED:
            more = combined_columns(given, A, scale, kept, int((~small).sum()))
            if more is None:
                return Directions(e, given.centre, norms, T, sure, found, False, TOO_MANY)
        else:
            users = np.vstack([np.ldexp(N[: len(e)], -e[:, None]), N[len(e) :]])
            size = np.ldexp(np.maximum(np.abs(given.centre), scale_or_one(norm)), e)
            size = np.append(size, 1.0) if given.constant else size
            more = negligible_in_span(data, users, size, 1.0 if given.constant else None)
        if not more:
            break
        found += more
        kept[[one.pivot for one in more if one.pivot < len(e)]] = False
        if not kept.any():
            T, sure = T[:, :0], sure[:0]
            break
    T, cancelling = improved(given, T, sure)
    lacking = kept.sum() > T.shape[1] and T.shape[1] < rank
    said = "directions that cannot be told from rounding" if lacking else ""
    return Directions(e, given.centre, norms, T, cancelling, found, kept.sum() == T.shape[1], said)


def scale_or_one(norm: np.ndarray) -> Any:
    return np.where(norm > 0, norm, 1.0)


def refined(given: Columns, T: np.ndarray, sigma: np.ndarray) -> tuple[Any, Any, Any]:
    """(T, which of its columns cancel, which may be rounding): those with small singular values
    less what the others explain, and rotated, with twice the digits."""
    cancelling = sigma < CANCELLING * sigma.max(initial=0.0)
    if not len(sigma):
        return T, cancelling, cancelling
    R, _, size = given.measured(T, np.zeros(len(sigma), dtype=bool))
    norm = np.linalg.norm(R, axis=0)
    eps = max(given.data.eps, 2 * UNIT)
    doubtful = (sigma <= SMALL_VALUE * sigma.max()) | (norm <= DOUBTFUL * 2 * UNIT * size)
    doubtful |= norm <= 16 * eps * size
    if not doubtful.any():
        return T, cancelling, doubtful
    if doubtful.sum() > MANY_REPEATED:  # columns one by one, first
        sure = sigma > len(T) * 2 * UNIT * sigma.max()
        if (~sure).sum() > MANY_REPEATED:
            return T, cancelling, ~sure
    order = np.argsort(doubtful, kind="stable")
    T, k, cancelling = T[:, order], int((~doubtful).sum()), (cancelling | doubtful)[order]
    T[:, k:] = refined_nulls(given, T[:, :k], T[:, k:])
    R, _, size = given.measured(T[:, k:], cancelling[k:])
    small = np.zeros(len(sigma), dtype=bool)
    small[k:] = np.linalg.norm(R, axis=0) <= 16 * eps * size
    return T, cancelling, small


def refined_nulls(given: Columns, sure: np.ndarray, N: np.ndarray) -> Any:
    """N less what ``sure`` and the constant explain of it, rotated so that the sizes of XN differ
    most."""
    if given.constant:
        sure = np.hstack([sure, np.eye(len(sure))[:, -1:]])
    k, cancelling = sure.shape[1], np.arange(sure.shape[1] + N.shape[1]) >= sure.shape[1]
    for turn in (False, True, False):
        R, _, _ = given.measured(np.hstack([sure, N]), cancelling)
        unit = scale_or_one(np.linalg.norm(R[:, :k], axis=0))
        B = np.linalg.lstsq(R[:, :k] / unit, R[:, k:], rcond=None)[0] / unit[:, None]
        N = N - sure @ B
        if turn:
            N = N @ np.linalg.svd(R[:, k:] - R[:, :k] @ B, full_matrices=True)[2].T
    return N


def improved(given: Columns, T: np.ndarray, cancelling: np.ndarray) -> tuple[Any, Any]:
    """T with columns of Z, weighted, that have norm 1 and are nearly orthogonal."""
    n, (P, r) = given.data.shape[0], T.shape
    few = n * P * r <= SMALL_WORK
    for _ in range(IMPROVEMENTS if r else 0):
        R, weighted, size = given.measured(T, cancelling)
        cancelling = size * (0.1 if few else CANCELLING) > np.linalg.norm(R, axis=0)
        unit = scale_or_one(np.linalg.norm(weighted, axis=0))
        T = T / unit
        _, sigma, Vt = np.linalg.svd(weighted / unit, full_matrices=False)
        if sigma[0] <= GOOD_CONDITION * sigma[-1] or not sigma[-1] > 1e-14 * sigma[0]:
            break
        T = (T @ Vt.T) / sigma
        cancelling = np.ones(r, dtype=bool)
    return T, cancelling


def distinct_rows(A: np.ndarray) -> int:
    return len(np.unique(A, axis=0))


# --- passes over the rows -------------------------------------------------------------------------


def column_range(X: Matrix, y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any]:
    X = dense(X if s is None else X[s > 0]).astype(float)
    return X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)


def wider_range(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any]:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])


def in_units(X: Matrix, s: np.ndarray | None, exponent: np.ndarray) -> Any:
    """x̂ of a block's rows that count."""
    return np.ldexp(dense(X if s is None else X[s > 0]).astype(float), -exponent)


def sums_about(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, exponent: np.ndarray, first: np.ndarray
) -> tuple[Any, Any]:
    A = in_units(X, s, exponent) - first
    return float(len(A)), A.sum(axis=0)


def centred_block(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    exponent: np.ndarray,
    centre: np.ndarray,
    whole: bool,
) -> tuple[Any]:
    A = in_units(X, s, exponent) - centre
    return (A if whole else np.linalg.qr(A, mode="r"),)


def stacked_rows(left: np.ndarray, right: np.ndarray) -> tuple[Any]:
    return (np.vstack([left[0], right[0]]),)


def stacked_triangles(left: np.ndarray, right: np.ndarray) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"),)


def measure_block(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, there: Directions, weigh: RowWeights
) -> tuple[Any, Any, Any]:
    counted = slice(None) if s is None else s > 0
    X, y, s = X[counted], y[counted], np.ones(len(y)) if s is None else s[counted]
    Z, _ = there.of(X)
    A = np.abs(np.ldexp(dense(X).astype(float), -there.exponent))
    p = len(there.exponent)
    size = np.dot(A, np.abs(there.T[:p])) + np.abs(there.T[p:]).sum(axis=0)
    R = np.linalg.qr(Z, mode="r")
    weighted = np.linalg.qr(np.sqrt(weigh(X, y, s))[:, None] * Z, mode="r")
    return R, weighted, (size * size).sum(axis=0)


def measured_together(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    R, weighted = (np.linalg.qr(np.vstack([left[k], right[k]]), mode="r") for k in (0, 1))
    return R, weighted, left[2] + right[2]
