r"""Firth's logistic regression along orthogonal directions: Z = X̃T for X̃ = (X, 1).

    ∇F = Σ_i s_i (p_i − y_i + h_i(p_i − ½)) z_i,   h = v zᵀI⁻¹z,   I = Σ s v z zᵀ,   v = p(1 − p)

h does not depend on the coordinates, nor does ∇FᵀI⁻¹∇F. det I does by a constant: with X̃ = ZG, of
G (r, P), the eigenvalues of the information of X̃ that are not 0 multiply to det I · det GGᵀ.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.definitions.accurate_products import accurate_product
from certus.definitions.linear_sums import dense, gamma
from certus.definitions.negligible_directions import LeftOut
from certus.definitions.orthogonal_directions import Directions, find_directions, no_directions


class Information(NamedTuple):
    """I of some columns, or along directions."""

    root: Any  # A with AAᵀ = I⁻¹, (P, P)
    log_det: float  # in the user's units


class FirthSums(NamedTuple):
    loss: Any  # −Σ s log P(y | x)
    mass: Any  # Σ s of each class
    expected: Any  # Σ s p
    g: Any  # ∇F, (P,)


def sums_added(left: FirthSums, right: FirthSums) -> FirthSums:
    return FirthSums(*(a + b for a, b in zip(left, right, strict=True)))


def firth_sums(Z: Any, y: Any, s: Any, z: Any, root: Any) -> FirthSums:
    """The sums of one block of columns Z with scores z, given I⁻¹ by its root."""
    e = np.exp(-np.abs(z))
    p = np.where(z > 0, 1.0, e) / (1.0 + e)
    u = np.dot(Z, root)
    h = e / (1.0 + e) ** 2 * np.einsum("ij,ij->i", u, u)
    loss = np.log1p(e) + np.maximum(np.where(y == 1, -z, z), 0.0)
    # p − y is −(1 − p) where y = 1: no cancellation
    miss = np.where(y == 1, -np.where(z > 0, e, 1.0) / (1.0 + e), p)
    g = np.dot(Z.T, s * (miss + h * (p - 0.5)))
    return FirthSums(s @ loss, np.bincount(y.astype(np.intp), s, 2).astype(float), s @ p, g)


def along_directions(
    data: Any, w: Any, b: Any, constant: bool
) -> tuple[Information | None, FirthSums | None, list[LeftOut]]:
    """At w (p, 1), b (1,) in the user's units. None where it cannot be told from rounding which
    directions the rows hold, or where probabilities are 0 and 1."""
    exponent = no_directions(data).exponent
    theta = np.ldexp(w, exponent[:, None])
    theta = np.vstack([theta, b[None]]) if constant else theta
    there = find_directions(data, constant, FirthBend(theta, exponent))
    if there.unresolved:
        return None, None, []
    (I,) = data.reduce(information_along, theta, there, constant, square=True)
    d = np.sqrt(np.diagonal(I))
    if not (np.isfinite(I).all() and (d > 0).all()):
        return None, None, []
    lam, V = np.linalg.eigh(I / d / d[:, None])
    slack = (gamma(data.depth + len(d) + 64) + 2 * gamma(8 * len(d) + 8)) * len(d)
    if not lam[0] > 1e4 * slack:
        return None, None, []
    log_det = np.log(lam).sum() + 2 * np.log(d).sum() + log_det_of_columns(data, there, constant)
    root = V / np.sqrt(lam) / d[:, None]
    sums = data.reduce(firth_sums_along, theta, there, constant, root, combine=sums_added)
    return Information(root, float(log_det)), sums, there.left_out


def log_det_of_columns(data: Any, there: Directions, constant: bool) -> float:
    """log det GGᵀ for X̃ = ZG. Of T (r, r), of the columns that are kept, G = T⁻¹C, and each column
    that is left out is a combination of those: C = (1, C′)."""
    if not there.all_columns:
        return log_det_by_least_squares(data, there, constant)
    p, dropped = len(there.exponent), [one.pivot for one in there.left_out]
    kept = np.setdiff1d(np.arange(p), dropped)
    T, unit = there.T[kept], there.norm[kept]
    # columns of norm 1 in scores: T is nearly orthogonal up to its columns' lengths
    T = unit[:, None] * T
    length = np.linalg.norm(T, axis=0)
    log_det = np.linalg.slogdet(T / length)[1] + np.log(length).sum()
    log_det -= (np.log(unit) + there.exponent[kept] * np.log(2)).sum()
    if not dropped:
        return float(-2 * log_det)
    D = np.column_stack([one.d for one in there.left_out])
    rest = np.append(kept, p) if constant else kept
    more = np.linalg.solve(D[dropped].T, D[rest].T)
    return float(np.linalg.slogdet(np.eye(len(rest)) + np.dot(more.T, more))[1] - 2 * log_det)


def log_det_by_least_squares(data: Any, there: Directions, constant: bool) -> float:
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

    theta: Any  # (P, 1), of x̂
    exponent: Any

    def __call__(self, X: Any, y: Any, s: Any) -> Any:
        A = np.ldexp(dense(X).astype(float), -self.exponent)
        A = with_ones(A, len(self.theta) > A.shape[1])
        e = np.exp(-np.abs(sum(accurate_product(A, self.theta))[:, 0]))
        return s * e / (1 + e) ** 2


def of_block(X: Any, y: Any, s: Any, theta: Any, there: Directions, constant: bool) -> Any:
    """Z̃, y, s and scores of the rows that count."""
    counted = slice(None) if s is None else s > 0
    X, y = dense(X[counted]).astype(float), y[counted][:, 0]
    s = np.ones(len(y)) if s is None else s[counted]
    A = np.ldexp(X, -there.exponent)
    A = np.hstack([A, np.ones((len(A), 1))]) if constant else A
    z = sum(accurate_product(A, theta))[:, 0]
    return with_ones(there.of(X)[0], constant), y, s, z


def with_ones(Z: Any, constant: bool) -> Any:
    return np.hstack([Z, np.ones((len(Z), 1))]) if constant else Z


def information_along(
    X: Any, y: Any, s: Any, theta: Any, there: Directions, constant: bool
) -> tuple[Any]:
    Z, _, s, z = of_block(X, y, s, theta, there, constant)
    e = np.exp(-np.abs(z))
    return (np.dot(Z.T, (s * e / (1.0 + e) ** 2)[:, None] * Z),)


def firth_sums_along(
    X: Any, y: Any, s: Any, theta: Any, there: Directions, constant: bool, root: Any
) -> FirthSums:
    Z, y, s, z = of_block(X, y, s, theta, there, constant)
    return firth_sums(Z, y, s, z, root)


def columns_on_directions(
    X: Any, y: Any, s: Any, there: Directions, constant: bool
) -> tuple[Any, Any]:
    """QᵀX̃ and R of Z̃ = QR, x̂ in units near 1."""
    X = dense(X if s is None else X[s > 0]).astype(float)
    Z = with_ones(there.of(X)[0], constant)
    A = with_ones(np.ldexp(X, -there.exponent), constant)
    Q, R = np.linalg.qr(Z)
    return np.dot(Q.T, A), R


def stacked_pairs(left: Any, right: Any) -> tuple[Any, Any]:
    Q, R = np.linalg.qr(np.vstack([left[1], right[1]]))
    return np.dot(Q.T, np.vstack([left[0], right[0]])), R
