r"""How far from its optimum a regression without a penalty is, from gradient and curvature.

    F(θ) = Σ_i s_i ℓ(r_i)      r = y − [X, 1]θ,   ℓ(r) = ½r² where |r| ≤ δ, and δ|r| − ½δ² beyond

Let H = Σ s Z Zᵀ over the *inner* rows, |r_i| ≤ δ/2, in the coordinates θ = Tη + Nc of
``orthogonal_coordinates``, ν² = gᵀH⁻¹g, M the largest ‖Z_i‖_{H⁻¹} of inner rows. Along a direction
of length 1 in H these rows stay within ±δ up to t = δ/2M, so that φ'(t) ≥ −ν + t until then. If
ν ≤ δ/2M, φ' has become positive before, and φ is convex:

    F(θ) − F* ≤ ν²/2.

Where θ_j is at its bound (w ≥ 0, say), every allowed θ' has θ'_j ≥ θ_j, and a lower g_j only makes
the bound on F(θ') lower: g_j counts as 0 if it presses θ_j there, and else as the least that
rounding leaves open.

Where too few rows are inner, ν of all rows is the steepest slope of F along any direction that
changes scores by 1 in norm: a point where it is 0 is a minimum, though nothing bounds the excess.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.duality import EVALUATION_ROUNDINGS
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, gamma
from certus.proofs.linalg.negligible_directions import LeftOut
from certus.proofs.linalg.orthogonal_coordinates import (
    Coordinates,
    ScaledColumns,
    counted_rows,
    orthogonal_coordinates,
    scaled_columns,
)
from certus.proofs.types import Matrix, RowData

RESIDUAL_WORK = 2**34  # multiplications of a factorisation of all rows


class ResidualExcess(NamedTuple):
    """Of Σ s ℓ(r), not divided by anything."""

    value: float
    error: float  # of the value, at most
    excess: float  # inf: not known
    slope: float  # the steepest along any direction that changes scores by 1 in norm
    left_out: list[LeftOut]


class ResidualSums(NamedTuple):
    value: float  # Σ s ℓ
    error: np.ndarray  # what the residuals' error does to that, at most
    g: np.ndarray  # (r,)
    g_error: np.ndarray  # (r,), without that of the sum's own rounding
    g_size: np.ndarray  # (r,)
    h: np.ndarray  # (P,): the gradient in the columns as scaled
    h_size: np.ndarray  # (P,)
    h_error: np.ndarray  # (P,), without that of the sum's own rounding
    H: np.ndarray  # (r, r)
    Z_error: np.ndarray  # (r,): Σ s (Ẑ − Z)² of inner rows


class Residuals(NamedTuple):
    """θ of the columns as scaled, for target t."""

    theta: np.ndarray  # (P, 1)
    columns: ScaledColumns
    target: int
    delta: float
    every: bool = False  # all rows count for H, not the inner ones alone

    def of(self, A: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
        """r of rows as scaled, and |r̂ − r| at most."""
        high, low = accurate_product(A, self.theta)
        first = y[:, self.target] - high[:, 0]
        r = first - low[:, 0]
        size = np.dot(np.abs(A), np.abs(self.theta[:, 0]))
        return r, UNIT * (np.abs(first) + np.abs(r)) + product_error(A.shape[1]) * size

    def inner(self, r: np.ndarray) -> Any:
        return np.abs(r) <= (np.inf if self.every else self.delta / 2)

    def weights(self, X: Matrix, y: np.ndarray, s: np.ndarray) -> np.ndarray:
        r, _ = self.of(self.columns.of(X), y)
        return s * self.inner(r)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what overflows proves nothing
def residual_excess(
    data: RowData,
    w: np.ndarray,
    b: float,
    target: int,
    delta: float,
    fit_intercept: bool,
    side: np.ndarray,
) -> ResidualExcess | None:
    """The excess of w (p,), b on one target; None where that is too dear or not to be told.

    ``side``: (p,), 1 for coefficients at their lower bound, −1 at their upper one, else 0.
    """
    P = len(w) + fit_intercept
    if data.shape[0] * P**2 > RESIDUAL_WORK:
        return None
    columns = scaled_columns(data, 1.0 if fit_intercept else None)
    theta = np.append(w, b) if fit_intercept else w
    model = Residuals((theta / columns.q)[:, None], columns, target, delta)
    side = np.append(side, [0.0] * fit_intercept)
    found = _steepest(data, model, side)
    if found is not None and found.nu * found.M <= delta / 2 - found.r_error:
        excess = found.nu**2 / 2 * (1 + 1e-12)
        return ResidualExcess(found.value, found.error, excess, found.nu, found.left_out)
    found = _steepest(data, model._replace(every=True), side)
    if found is None:
        return None
    return ResidualExcess(found.value, found.error, np.inf, found.nu, found.left_out)


class Steepest(NamedTuple):
    value: float
    error: float
    nu: float
    M: float
    r_error: float
    left_out: list[LeftOut]


def _steepest(data: RowData, model: Residuals, side: np.ndarray) -> Steepest | None:
    """ν and M, whatever rounding did. ``side``: at which of its bounds a parameter is."""
    at = orthogonal_coordinates(data, model.columns, model.weights)
    if at is None:
        return None
    largest = np.array([one.largest for one in at.left_out])
    shift = float((largest @ at.left_out_part(model.theta)).max()) if largest.any() else 0.0
    sums, most = data.reduce(_residual_sums, model, at, shift, combine=_residual_both, square=True)
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
    still = side != 0
    if still.any():
        h, h_error = sums.h[still], (1.001 * sums.h_error + rounding * sums.h_size)[still]
        counted = side[still] * np.minimum(side[still] * h - h_error, 0.0)  # of the slope
        g = g - at.T[still].T @ (h - counted)
        size = np.abs(at.T[still]).T @ (np.abs(h - counted) + h_error)
        g_error = g_error + np.abs(at.T[still]).T @ h_error + gamma(2 * len(h) + 8) * size
    g_error = g_error + gamma(2 * r + 8) * (np.abs(g) + np.abs(sums.g))
    nu = float(np.linalg.norm(A.T @ g) + np.linalg.norm(np.abs(A).T @ g_error))
    M = float(most[0] * np.linalg.norm(A, 2)) * (1 + gamma(8 * r)) + most[1] * np.abs(A).sum()
    return Steepest(value, error, nu, float(M), float(most[2]), at.left_out)


def _residual_sums(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, model: Residuals, at: Coordinates, shift: float
) -> tuple[ResidualSums, Any]:
    """Of one block; with it the largest ‖Z_i‖ and |Ẑ − Z| of inner rows, and the largest
    error of a residual."""
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
    most = [row, Z_error[inner].max(initial=0.0), r_error.max(initial=0.0)]
    return sums, np.array(most)


def _residual_both(left: np.ndarray, right: np.ndarray) -> tuple[ResidualSums, Any]:
    sums = ResidualSums(*(a + b for a, b in zip(left[0], right[0], strict=True)))
    return sums, np.maximum(left[1], right[1])
