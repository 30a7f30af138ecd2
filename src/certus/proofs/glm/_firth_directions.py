r"""Firth's logistic regression along orthogonal directions: Z = X̃T for X̃ = (X, 1).

    ∇F = Σ_i s_i (p_i − y_i + h_i(p_i − ½)) z_i,   h = v zᵀI⁻¹z,   I = Σ s v z zᵀ,   v = p(1 − p)

h and ∇FᵀI⁻¹∇F do not depend on the coordinates. det I does, by a constant: with X̃ = ZG, G (r, P),
the nonzero eigenvalues of the information of X̃ multiply to det I · det GGᵀ.
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

MIN_EIGENVALUE_TO_ROUNDING = 1e4  # for eigenvalues whose inverses are accurate


def along_directions(
    data: RowData, w: np.ndarray, b: np.ndarray, constant: bool
) -> tuple[Information | None, FirthSums | None, list[LeftOutDirection]]:
    """Return information, sums and the directions left out, at w (p, 1), b (1,) in user units.

    None where rounding hides which directions the rows span, or where probabilities are 0 and 1.
    """
    exponent = no_directions(data).exponent
    theta = np.ldexp(w, exponent[:, None])
    theta = np.vstack([theta, b[None]]) if constant else theta
    directions = find_directions(data, constant, FirthCurvature(theta, exponent))
    if directions.unresolved:
        return None, None, []
    I, Z_error, z_error = data.reduce(
        information_along, theta, directions, constant, combine=information_of_both, square=True
    )
    information = information_from(
        I, Z_error, float(z_error), data.depth, MIN_EIGENVALUE_TO_ROUNDING
    )
    if information is None:
        return None, None, []
    information = information.times(*log_det_of_columns(data, directions, constant))
    sums = data.reduce(
        firth_sums_along, theta, directions, constant, information, combine=sums_added
    )
    return information, sums, directions.left_out


def log_det_of_columns(
    data: RowData, directions: Directions, constant: bool
) -> tuple[float, float]:
    """Return log det GGᵀ for X̃ = ZG, and its error.

    With T (r, r) of the kept columns, G = T⁻¹C, and each column left out is a combination of those:
    C = (1, C′). The error of C, and with more columns than rows, is unknown and set to infinity.
    """
    if not directions.all_columns:
        return log_det_by_least_squares(data, directions, constant), np.inf
    p, excluded = len(directions.exponent), [one.pivot for one in directions.left_out]
    kept = np.setdiff1d(np.arange(p), excluded)
    T, unit = directions.T[kept], directions.norm[kept]
    # columns scaled to norm 1: T is nearly orthogonal up to its columns' lengths
    log_det, error = log_abs_det(unit[:, None] * T)
    units = np.append(np.log(unit), directions.exponent[kept] * np.log(2))
    log_det -= units.sum()
    error += gamma(len(units) + 8) * np.abs(units).sum()
    if not excluded:
        return float(-2 * log_det), 2 * error
    D = np.column_stack([one.d for one in directions.left_out])
    others = np.append(kept, p) if constant else kept
    coefficients = np.linalg.solve(D[excluded].T, D[others].T)
    log_det_others = np.linalg.slogdet(np.eye(len(others)) + np.dot(coefficients.T, coefficients))[
        1
    ]
    return float(log_det_others - 2 * log_det), np.inf


def log_abs_det(M: np.ndarray) -> tuple[float, float]:
    """Return log |det M| and its error, by QR of M with columns of length 1.

    QR is exact for a matrix M + Δ: |log det(M + Δ) − log det M| ≤ x/(1 − x), x = ‖M⁻¹‖‖Δ‖ in
    Frobenius norms.
    """
    P, length = len(M), np.linalg.norm(M, axis=0)
    R = np.linalg.qr(M / length, mode="r")
    logs = np.append(np.log(np.abs(np.diagonal(R))), np.log(length))
    x = 2 * np.linalg.norm(np.linalg.inv(R)) * gamma(8 * P * P + 8 * P) * np.sqrt(P) if P else 0.0
    error = x / (1 - x) if x < 0.5 else np.inf
    return float(logs.sum()), float(error + gamma(2 * P + 8) * np.abs(logs).sum())


def log_det_by_least_squares(data: RowData, directions: Directions, constant: bool) -> float:
    """Return log det GGᵀ with G from least squares of the columns on Z, where Z has fewer."""
    G, R = data.reduce(
        columns_on_directions, directions, constant, combine=stacked_pairs, square=True
    )
    r = directions.T.shape[1] + constant
    R, G = R[:r], G[:r]
    # X̃ = QR_zG, so that G is R_z⁻¹ times the projections
    unit = np.concatenate([np.ldexp(1.0, directions.exponent), np.ones(int(constant))])
    norm = np.linalg.norm(R, axis=0)
    G = np.linalg.solve(R / norm, G) / norm[:, None] * unit
    size = np.linalg.norm(G, axis=1)
    root = np.linalg.qr((G / size[:, None]).T, mode="r")
    return float(2 * np.log(np.abs(np.diagonal(root))).sum() + 2 * np.log(size).sum())


# --- passes over the rows -------------------------------------------------------------------------


class FirthCurvature(NamedTuple):
    """Curvature s p(1 − p) of rows."""

    theta: np.ndarray  # (P, 1), of x̂
    exponent: np.ndarray

    def __call__(self, X: Matrix, y: np.ndarray, s: np.ndarray) -> Any:
        A = np.ldexp(dense(X).astype(float), -self.exponent)
        A = with_ones(A, len(self.theta) > A.shape[1])
        e = np.exp(-np.abs(sum(accurate_product(A, self.theta))[:, 0]))
        return s * e / (1 + e) ** 2


def firth_rows(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    theta: np.ndarray,
    directions: Directions,
    constant: bool,
) -> FirthRows:
    """Return Z̃, y, s and the scores of the weighted rows."""
    counted = slice(None) if s is None else s > 0
    X, y = dense(X[counted]).astype(float), y[counted][:, 0]
    s = np.ones(len(y)) if s is None else s[counted]
    A = with_ones(np.ldexp(X, -directions.exponent), constant)
    z = sum(accurate_product(A, theta))[:, 0]
    size = np.dot(np.abs(A), np.abs(theta[:, 0]))
    z_error = UNIT * np.abs(z) + product_error(A.shape[1]) * size
    Z, Z_error = directions.of(X)
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
    directions: Directions,
    constant: bool,
) -> tuple[Any, Any, Any]:
    """Return I, Σ s v e² of the error e of Z, and the largest error of a score."""
    Z, Z_error, _, s, z, z_error = firth_rows(X, y, s, theta, directions, constant)
    e = np.exp(-np.abs(z))
    row_curvature = s * e / (1.0 + e) ** 2
    return (
        np.dot(Z.T, row_curvature[:, None] * Z),
        np.dot(row_curvature, Z_error**2),
        z_error.max(initial=0.0),
    )


def information_of_both(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any, Any]:
    return left[0] + right[0], left[1] + right[1], max(left[2], right[2])


def firth_sums_along(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray,
    theta: np.ndarray,
    directions: Directions,
    constant: bool,
    at: Information,
) -> FirthSums:
    return firth_sums(firth_rows(X, y, s, theta, directions, constant), at)


def columns_on_directions(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, directions: Directions, constant: bool
) -> tuple[Any, Any]:
    """Return QᵀX̃ and R of Z̃ = QR, with x̂ scaled to sizes near 1."""
    X = dense(X if s is None else X[s > 0]).astype(float)
    Z = with_ones(directions.of(X)[0], constant)
    A = with_ones(np.ldexp(X, -directions.exponent), constant)
    Q, R = np.linalg.qr(Z)
    return np.dot(Q.T, A), R


def stacked_pairs(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any]:
    Q, R = np.linalg.qr(np.vstack([left[1], right[1]]))
    return np.dot(Q.T, np.vstack([left[0], right[0]])), R
