r"""Excess of a regression without a penalty, from gradient and curvature.

    F(θ) = Σ_i s_i ℓ(r_i)      r = y − [X, 1]θ,   ℓ(r) = ½r² where |r| ≤ δ, and δ|r| − ½δ² beyond

Let H = Σ s Z Zᵀ over the *inner* rows, |r_i| ≤ δ/2, in the coordinates θ = Tη + Nc of
``orthogonal_coordinates``, ν² = gᵀH⁻¹g, and M the largest ‖Z_i‖_{H⁻¹} of inner rows. Along a
direction of length 1 in H these rows stay within ±δ up to t = δ/2M, so φ'(t) ≥ −ν + t until then.
If ν ≤ δ/2M, φ' becomes positive before that, and since φ is convex,

    F(θ) − F* ≤ ν²/2.

If θ_j is at its bound (for example 0, with w ≥ 0), every feasible θ' has θ'_j ≥ θ_j, and a smaller
g_j only lowers the bound of F(θ'): g_j counts as 0 if it pushes θ_j against the bound, and
otherwise as the smallest value that rounding allows.

If too few rows are inner, ν over all rows is the steepest slope of F along any direction that
changes the scores by 1 in norm: where it is 0 there is a minimum, but the excess is not bounded.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.duality import EVALUATION_ROUNDINGS
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, gamma
from certus.proofs.linalg.negligible_directions import LeftOutDirection
from certus.proofs.linalg.orthogonal_coordinates import (
    OrthogonalCoordinates,
    ScaledColumns,
    counted_rows,
    orthogonal_coordinates,
    scaled_columns,
)
from certus.proofs.types import Matrix, RowData

MAX_FACTOR_WORK = 2**34  # multiplications to factor all rows


class ResidualExcess(NamedTuple):
    """Value and excess of Σ s ℓ(r), not divided by D."""

    value: float
    error: float  # bound of the error of the value
    excess: float  # inf: unknown
    slope: float  # the steepest, along any direction that changes scores by 1 in norm
    left_out: list[LeftOutDirection]


class ResidualSums(NamedTuple):
    value: float  # Σ s ℓ
    error: np.ndarray  # bound of its error due to the residuals
    g: np.ndarray  # (r,)
    g_error: np.ndarray  # (r,), without the rounding of the sum itself
    g_size: np.ndarray  # (r,)
    h: np.ndarray  # (P,): the gradient in the scaled columns
    h_size: np.ndarray  # (P,)
    h_error: np.ndarray  # (P,), without the rounding of the sum itself
    H: np.ndarray  # (r, r)
    Z_error: np.ndarray  # (r,): Σ s (Ẑ − Z)² of inner rows


class ResidualModel(NamedTuple):
    """θ of the scaled columns, for one target."""

    theta: np.ndarray  # (P, 1)
    columns: ScaledColumns
    target: int
    delta: float
    all_rows: bool = False  # H is over all rows, not only the inner ones

    def of(self, A: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
        """r of scaled rows, and a bound of |r̂ − r|."""
        high, low = accurate_product(A, self.theta)
        first = y[:, self.target] - high[:, 0]
        r = first - low[:, 0]
        size = np.dot(np.abs(A), np.abs(self.theta[:, 0]))
        return r, UNIT * (np.abs(first) + np.abs(r)) + product_error(A.shape[1]) * size

    def inner(self, r: np.ndarray) -> Any:
        return np.abs(r) <= (np.inf if self.all_rows else self.delta / 2)

    def weights(self, X: Matrix, y: np.ndarray, s: np.ndarray) -> np.ndarray:
        r, _ = self.of(self.columns.of(X), y)
        return s * self.inner(r)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # overflow proves nothing
def residual_excess(
    data: RowData,
    w: np.ndarray,
    b: float,
    target: int,
    delta: float,
    fit_intercept: bool,
    side: np.ndarray,
) -> ResidualExcess | None:
    """Excess of w (p,), b for one target; None if that is too expensive or cannot be decided.

    ``side`` (p,): 1 for coefficients at their lower bound, −1 at their upper bound, else 0.
    """
    P = len(w) + fit_intercept
    if data.shape[0] * P**2 > MAX_FACTOR_WORK:
        return None
    columns = scaled_columns(data, 1.0 if fit_intercept else None)
    theta = np.append(w, b) if fit_intercept else w
    model = ResidualModel((theta / columns.q)[:, None], columns, target, delta)
    side = np.append(side, [0.0] * fit_intercept)
    gradient = _gradient_norm(data, model, side)
    if gradient is not None and gradient.nu * gradient.M <= delta / 2 - gradient.r_error:
        excess = gradient.nu**2 / 2 * (1 + 1e-12)
        return ResidualExcess(
            gradient.value, gradient.error, excess, gradient.nu, gradient.left_out
        )
    gradient = _gradient_norm(data, model._replace(all_rows=True), side)
    if gradient is None:
        return None
    return ResidualExcess(gradient.value, gradient.error, np.inf, gradient.nu, gradient.left_out)


class GradientNorm(NamedTuple):
    value: float
    error: float
    nu: float
    M: float
    r_error: float
    left_out: list[LeftOutDirection]


def _gradient_norm(data: RowData, model: ResidualModel, side: np.ndarray) -> GradientNorm | None:
    """Bounds of ν and M, rounding included. ``side``: see ``residual_excess``."""
    at = orthogonal_coordinates(data, model.columns, model.weights)
    if at is None:
        return None
    largest = np.array([direction.largest for direction in at.left_out])
    shift = float((largest @ at.left_out_part(model.theta)).max()) if largest.any() else 0.0
    sums, maxima = data.reduce(
        _residual_sums, model, at, shift, combine=_combine_residual_sums, square=True
    )
    r = len(sums.g)
    rounding = gamma(data.depth + r + EVALUATION_ROUNDINGS)
    value, error = float(sums.value), float(1.001 * sums.error + rounding * sums.value)
    d = np.sqrt(np.diagonal(sums.H))
    if not (np.isfinite(sums.H).all() and (d > 0).all()):
        return None
    lam, V = np.linalg.eigh(sums.H / d / d[:, None])
    off = float(np.max(np.sqrt(sums.Z_error) / d)) * 1.001
    slack = (rounding + 2 * gamma(8 * r + 8) + (2 + off) * off) * r
    if not lam[0] > 4 * slack:
        return None
    A = V / np.sqrt(lam - slack) / d[:, None]
    g, g_error = sums.g, 1.001 * sums.g_error + rounding * sums.g_size
    at_bound = side != 0
    if at_bound.any():
        h, h_error = sums.h[at_bound], (1.001 * sums.h_error + rounding * sums.h_size)[at_bound]
        counted = side[at_bound] * np.minimum(
            side[at_bound] * h - h_error, 0.0
        )  # part of the slope that counts
        g = g - at.T[at_bound].T @ (h - counted)
        size = np.abs(at.T[at_bound]).T @ (np.abs(h - counted) + h_error)
        g_error = g_error + np.abs(at.T[at_bound]).T @ h_error + gamma(2 * len(h) + 8) * size
    g_error = g_error + gamma(2 * r + 8) * (np.abs(g) + np.abs(sums.g))
    nu = float(np.linalg.norm(A.T @ g) + np.linalg.norm(np.abs(A).T @ g_error))
    M = float(maxima[0] * np.linalg.norm(A, 2)) * (1 + gamma(8 * r)) + maxima[1] * np.abs(A).sum()
    return GradientNorm(value, error, nu, float(M), float(maxima[2]), at.left_out)


def _residual_sums(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    model: ResidualModel,
    at: OrthogonalCoordinates,
    shift: float,
) -> tuple[ResidualSums, Any]:
    """Sums of one block; and the largest ‖Z_i‖ and |Ẑ − Z| of inner rows, and the largest error of
    a residual."""
    X, y, s = counted_rows(X, y, s)
    B = model.columns.of(X)
    r, r_error = model.of(B, y)
    r_error = r_error + shift
    a = np.clip(r, -model.delta, model.delta)
    Z, Z_error = at.of(B)
    inner = model.inner(r)
    U = Z[inner]
    size = s * np.abs(a)
    sums = ResidualSums(
        value=np.dot(s * np.abs(a), np.abs(r) - np.abs(a) / 2),
        error=np.dot(size + s * r_error, r_error),
        g=-np.dot(s * a, Z),
        g_error=np.dot(size, Z_error) + np.dot(s * r_error, np.abs(Z) + Z_error),
        g_size=np.dot(size, np.abs(Z)),
        h=-np.dot(s * a, B),
        h_size=np.dot(size, np.abs(B)),
        h_error=np.dot(s * r_error, np.abs(B)),
        H=np.dot(U.T, s[inner, None] * U),
        Z_error=np.dot(s[inner], Z_error[inner] ** 2),
    )
    row = np.sqrt(np.einsum("ij,ij->i", U, U).max(initial=0.0))
    maxima = [row, Z_error[inner].max(initial=0.0), r_error.max(initial=0.0)]
    return sums, np.array(maxima)


def _combine_residual_sums(left: np.ndarray, right: np.ndarray) -> tuple[ResidualSums, Any]:
    sums = ResidualSums(*(a + b for a, b in zip(left[0], right[0], strict=True)))
    return sums, np.maximum(left[1], right[1])
