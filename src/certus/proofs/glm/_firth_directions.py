r"""Firth's logistic regression along orthogonal directions: Z = X̃T for X̃ = (X, 1).

    ∇F = Σ_i s_i (p_i − y_i + h_i(p_i − ½)) z_i,   h = v zᵀI⁻¹z,   I = Σ s v z zᵀ,   v = p(1 − p)

h does not depend on the coordinates, nor does ∇FᵀI⁻¹∇F. det I does by a constant: with X̃ = ZG, of
G (r, P), the eigenvalues of the information of X̃ that are not 0 multiply to det I · det GGᵀ.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm._firth_sums import (
    FirthRows,
    FirthSums,
    Information,
    firth_sums,
    information_from,
    sums_added,
)
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import LeftOutDirection
from certus.proofs.linalg.orthogonal_directions import Directions, find_directions, no_directions
from certus.proofs.types import Matrix, RowData

ABOVE = 1e4  # times what rounding can do, of eigenvalues whose inverses are then good


def along_directions(
    data: RowData, w: np.ndarray, b: np.ndarray, constant: bool
) -> tuple[Information | None, FirthSums | None, list[LeftOutDirection]]:
    """At w (p, 1), b (1,) in the user's units. None where it cannot be told from rounding which
    directions the rows hold, or where probabilities are 0 and 1."""
    exponent = no_directions(data).exponent
    theta = np.ldexp(w, exponent[:, None])
    theta = np.vstack([theta, b[None]]) if constant else theta
    there = find_directions(data, constant, FirthBend(theta, exponent))
    if there.unresolved:
        return None, None, []
    I, Z_error, z_error = data.reduce(
        information_along, theta, there, constant, combine=information_of_both, square=True
    )
    information = information_from(I, Z_error, float(z_error), data.depth, ABOVE)
    if information is None:
        return None, None, []
    information = information.times(*log_det_of_columns(data, there, constant))
    sums = data.reduce(firth_sums_along, theta, there, constant, information, combine=sums_added)
    return information, sums, there.left_out


def log_det_of_columns(data: RowData, there: Directions, constant: bool) -> tuple[float, float]:
    """log det GGᵀ for X̃ = ZG, and its error. Of T (r, r), of the columns that are kept, G = T⁻¹C,
    and each column that is left out is a combination of those: C = (1, C′). Of C and of more
    columns than rows the error is not known, and infinite."""
    if not there.all_columns:
        return log_det_by_least_squares(data, there, constant), np.inf
    p, dropped = len(there.exponent), [one.pivot for one in there.left_out]
    kept = np.setdiff1d(np.arange(p), dropped)
    T, unit = there.T[kept], there.norm[kept]
    # columns of norm 1 in scores: T is nearly orthogonal up to its columns' lengths
    log_det, error = log_abs_det(unit[:, None] * T)
    units = np.append(np.log(unit), there.exponent[kept] * np.log(2))
    log_det -= units.sum()
    error += gamma(len(units) + 8) * np.abs(units).sum()
    if not dropped:
        return float(-2 * log_det), 2 * error
    D = np.column_stack([one.d for one in there.left_out])
    rest = np.append(kept, p) if constant else kept
    more = np.linalg.solve(D[dropped].T, D[rest].T)
    of_rest = np.linalg.slogdet(np.eye(len(rest)) + np.dot(more.T, more))[1]
    return float(of_rest - 2 * log_det), np.inf


def log_abs_det(M: np.ndarray) -> tuple[float, float]:
    """log |det M| and its error, by QR of M with columns of length 1, which is exact for a matrix
    M + Δ: |log det(M + Δ) − log det M| ≤ x/(1 − x), x = ‖M⁻¹‖‖Δ‖ in Frobenius norms."""
    P, length = len(M), np.linalg.norm(M, axis=0)
    R = np.linalg.qr(M / length, mode="r")
    logs = np.append(np.log(np.abs(np.diagonal(R))), np.log(length))
    x = 2 * np.linalg.norm(np.linalg.inv(R)) * gamma(8 * P * P + 8 * P) * np.sqrt(P) if P else 0.0
    error = x / (1 - x) if x < 0.5 else np.inf
    return float(logs.sum()), float(error + gamma(2 * P + 8) * np.abs(logs).sum())


def log_det_by_least_squares(data: RowData, there: Directions, constant: bool) -> float:
    """Return log det with G from the least squares of the columns on Z, which are fewer."""
    G, R = data.reduce(columns_on_directions, there, constant, combine=stacked_pairs, square=True)
    r = there.T.shape[1] + constant
    R, G = R[:r], G[:r]
    # X̃ = QR_zG, so that R_z⁻¹ times the projections are G
    unit = np.concatenate([np.ldexp(1.0, there.exponent), np.ones(int(constant))])
    norm = np.linalg.norm(R, axis=0)
    G = np.linalg.solve(R / norm, G) / norm[:, None] * unit
    size = np.linalg.norm(G, axis=1)
    root = np.linalg.qr((G / size[:, None]).T, mode="r")
    return float(2 * np.log(np.abs(np.diagonal(root))).sum() + 2 * np.log(size).sum())


# --- passes over the rows -------------------------------------------------------------------------


class FirthBend(NamedTuple):
    """s p(1 − p) of rows."""

    theta: np.ndarray  # (P, 1), of x̂
    exponent: np.ndarray

    def __call__(self, X: Matrix, y: np.ndarray, s: np.ndarray) -> Any:
        A = np.ldexp(dense(X).astype(float), -self.exponent)
        A = with_ones(A, len(self.theta) > A.shape[1])
        e = np.exp(-np.abs(sum(accurate_product(A, self.theta))[:, 0]))
        return s * e / (1 + e) ** 2


def of_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    theta: np.ndarray,
    there: Directions,
    constant: bool,
) -> FirthRows:
    """Z̃, y, s and scores of the rows that count."""
    counted = slice(None) if s is None else s > 0
    X, y = dense(X[counted]).astype(float), y[counted][:, 0]
    s = np.ones(len(y)) if s is None else s[counted]
    A = with_ones(np.ldexp(X, -there.exponent), constant)
    z = sum(accurate_product(A, theta))[:, 0]
    size = np.dot(np.abs(A), np.abs(theta[:, 0]))
    z_error = UNIT * np.abs(z) + product_error(A.shape[1]) * size
    Z, Z_error = there.of(X)
    if constant:
        Z, Z_error = with_ones(Z, True), np.hstack([Z_error, np.zeros((len(Z), 1))])
    return FirthRows(Z, Z_error, y, s, z, z_error)


def with_ones(Z: np.ndarray, constant: bool) -> Any:
    return np.hstack([Z, np.ones((len(Z), 1))]) if constant else Z


def information_along(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    theta: np.ndarray,
    there: Directions,
    constant: bool,
) -> tuple[Any, Any, Any]:
    """I, Σ s v e² of the error e of Z, and the largest error of a score."""
    Z, Z_error, _, s, z, z_error = of_block(X, y, s, theta, there, constant)
    e = np.exp(-np.abs(z))
    bend = s * e / (1.0 + e) ** 2
    return np.dot(Z.T, bend[:, None] * Z), np.dot(bend, Z_error**2), z_error.max(initial=0.0)


def information_of_both(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    return left[0] + right[0], left[1] + right[1], max(left[2], right[2])


def firth_sums_along(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    theta: np.ndarray,
    there: Directions,
    constant: bool,
    at: Information,
) -> FirthSums:
    return firth_sums(of_block(X, y, s, theta, there, constant), at)


def columns_on_directions(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, there: Directions, constant: bool
) -> tuple[Any, Any]:
    """QᵀX̃ and R of Z̃ = QR, x̂ in units near 1."""
    X = dense(X if s is None else X[s > 0]).astype(float)
    Z = with_ones(there.of(X)[0], constant)
    A = with_ones(np.ldexp(X, -there.exponent), constant)
    Q, R = np.linalg.qr(Z)
    return np.dot(Q.T, A), R


def stacked_pairs(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any]:
    Q, R = np.linalg.qr(np.vstack([left[1], right[1]]))
    return np.dot(Q.T, np.vstack([left[0], right[0]])), R
