r"""Sums of Firth's logistic regression over rows, with bounds of their rounding errors.

    I = Σ s v z zᵀ,   v = p(1 − p),   h = v zᵀI⁻¹z,   ∇F = g = Σ s (p − y + h(p − ½)) z

Let ζ bound the error of a score, and e that of each entry of a row z. v changes by a factor of at
most exp ζ, so that the error of p is at most v ζ exp ζ. With d² the diagonal of I and
D⁻¹ID⁻¹ = VΛVᵀ,

    I⁻¹ = AAᵀ, A = D⁻¹VΛ^{−½}, up to a share ρ, 1 + ρ = 1/((1 − slack/λ₁)(2 − max exp ζ))
    |‖Aᵀ(z + e)‖ − ‖Aᵀz‖| ≤ ‖D⁻¹e‖ √tr Λ⁻¹

where ``slack`` bounds the rounding of the sums, of Z and of the eigenvalues. Then

    gᵀI⁻¹g ≤ (1 + ρ)(‖Aᵀg‖ + ‖|A|ᵀ(error of g)‖)²
    log det I = Σ log λ + 2 Σ log d, up to −Σ log(1 − slack/λ) − P log(2 − max exp ζ)
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.duality import EVALUATION_ROUNDINGS
from certus.proofs.linalg.linear_sums import gamma

MAX_SCORE_ERROR = 0.1  # of a score; beyond it I is unknown
TERM_ROUNDING = gamma(EVALUATION_ROUNDINGS)  # relative error of a term of these sums


class Information(NamedTuple):
    """The information I of columns or directions, by a root of its inverse."""

    root: np.ndarray  # A with AAᵀ = I⁻¹, (P, P)
    log_det: float
    log_det_error: float  # upper bound
    share: float  # ρ
    d: np.ndarray  # (P,): square roots of the diagonal of I
    longest: float  # √tr Λ⁻¹

    def times(self, log_det: float, error: float) -> "Information":
        """Return the information in other units, with ``log_det`` added to its own."""
        total = self.log_det + log_det
        error = self.log_det_error + error + TERM_ROUNDING * (abs(self.log_det) + abs(log_det))
        return self._replace(log_det=total, log_det_error=error)


class FirthRows(NamedTuple):
    """The rows of a block in some coordinates, with their scores."""

    Z: np.ndarray  # (n, P)
    Z_error: np.ndarray  # upper bound of |Ẑ − Z|
    y: np.ndarray
    s: np.ndarray
    z: np.ndarray
    z_error: np.ndarray  # upper bound of |ẑ − z|


class FirthSums(NamedTuple):
    """Losses and gradient summed over rows, with their errors."""

    loss: float  # −Σ s log P(y | x)
    mass: np.ndarray  # Σ s of each class
    expected: float  # Σ s p
    g: np.ndarray  # ∇F, (P,)
    loss_error: float  # upper bound of the error due to the scores' errors
    g_error: np.ndarray  # (P,), without the rounding of the sum itself
    g_size: np.ndarray  # (P,): the sum of absolute values


def sums_added(left: tuple[Any, ...], right: tuple[Any, ...]) -> FirthSums:
    return FirthSums(*(a + b for a, b in zip(left, right, strict=True)))


def information_from(
    I: np.ndarray, Z_error: np.ndarray, z_error: float, depth: int, times: float
) -> Information | None:
    """Return A and ρ of I (P, P); None if its least eigenvalue is below ``times`` its rounding.

    ``Z_error``: Σ s v e², (P,); ``z_error``: the largest ζ; ``depth``: roundings of a sum.
    """
    d, P = np.sqrt(np.diagonal(I)), len(I)
    if not (np.isfinite(I).all() and (d > 0).all() and z_error < MAX_SCORE_ERROR):
        return None
    lam, V = np.linalg.eigh(I / d / d[:, None])
    Z_reach = 1.001 * float(np.max(np.sqrt(Z_error) / d))
    slack = (
        gamma(depth + P + EVALUATION_ROUNDINGS) + 2 * gamma(8 * P + 8) + (2 + Z_reach) * Z_reach
    ) * P
    if not lam[0] > times * slack:
        return None
    moved = 1.001 * float(np.expm1(z_error)) + TERM_ROUNDING
    share = 1.001 * (1 / ((1 - slack / lam[0]) * (1 - moved)) - 1)
    sizes = np.abs(np.log(lam)).sum() + 2 * np.abs(np.log(d)).sum()
    error = -np.log1p(-slack / lam).sum() - P * np.log1p(-moved) + gamma(4 * P + 8) * sizes
    return Information(
        root=V / np.sqrt(lam) / d[:, None],
        log_det=float(np.log(lam).sum() + 2 * np.log(d).sum()),
        log_det_error=1.001 * float(error),
        share=float(share),
        d=d,
        longest=1.001 * float(np.sqrt((1 / lam).sum())),
    )


def no_information(P: int) -> Information:
    """Return a placeholder, for sums that do not depend on I."""
    return Information(np.zeros((P, 0)), -np.inf, np.inf, 0.0, np.ones(P), 0.0)


def firth_sums(rows: FirthRows, at: Information) -> FirthSums:
    """Return the sums of one block, given I⁻¹ by its root."""
    Z, Z_error, y, s, z, z_error = rows
    e = np.exp(-np.abs(z))
    p = np.where(z > 0, 1.0, e) / (1.0 + e)
    v = e / (1.0 + e) ** 2
    u = np.dot(Z, at.root)
    leverage = np.einsum("ij,ij->i", u, u)
    h = v * leverage
    loss = np.log1p(e) + np.maximum(np.where(y == 1, -z, z), 0.0)
    # p − y is −(1 − p) where y = 1: no cancellation
    miss = np.where(y == 1, -np.where(z > 0, e, 1.0) / (1.0 + e), p)
    # p − ½ without cancellation: with small weights h is large and p nearly ½
    beside = np.sign(z) * -np.expm1(-np.abs(z)) / (2 * (1.0 + e))
    slope = miss + h * beside

    # effects of the errors of scores and of Z, and the rounding of each term
    size = np.abs(Z)
    p_moved = np.exp(z_error) * v * z_error + np.finfo(float).tiny
    v_share = np.expm1(z_error) + TERM_ROUNDING
    Z_reach = at.longest * np.linalg.norm((Z_error + gamma(len(at.d) + 8) * size) / at.d, axis=1)
    lever_error = at.share * leverage + (1 + at.share) * (2 * np.sqrt(leverage) + Z_reach) * Z_reach
    h_error = (v_share + TERM_ROUNDING) * h + v * (1 + v_share) * lever_error
    of_h = np.abs(beside)
    slope_error = p_moved + (h + h_error) * (p_moved + TERM_ROUNDING * of_h) + h_error * of_h
    slope_error += TERM_ROUNDING * (np.abs(miss) + h * of_h)
    steep = s * np.abs(slope)
    return FirthSums(
        loss=s @ loss,
        mass=np.bincount(y.astype(np.intp), s, 2).astype(float),
        expected=s @ p,
        g=np.dot(Z.T, s * slope),
        loss_error=s @ ((np.abs(miss) + p_moved) * z_error),
        g_error=np.dot((s * slope_error).T, size + Z_error) + np.dot(steep, Z_error),
        g_size=np.dot(steep, size),
    )


def gain_of_step(at: Information, sums: FirthSums, depth: int) -> tuple[float, float]:
    """Return ½ ∇FᵀI⁻¹∇F as computed, and an upper bound that includes rounding."""
    P = len(at.d)
    error = 1.001 * sums.g_error + gamma(depth + EVALUATION_ROUNDINGS) * sums.g_size
    error = error + gamma(2 * P + 8) * np.abs(sums.g)
    nu = float(np.linalg.norm(at.root.T @ sums.g))
    nu_upper = nu + 1.001 * float(np.linalg.norm(np.abs(at.root).T @ error))
    return nu**2 / 2, nu_upper**2 / 2 * (1 + at.share) * (1 + TERM_ROUNDING)


def objective_error(at: Information, sums: FirthSums, depth: int) -> float:
    """Return a bound of |F̂ − F|."""
    loss = 1.001 * sums.loss_error + gamma(depth + EVALUATION_ROUNDINGS) * sums.loss
    return float(loss + at.log_det_error / 2 + TERM_ROUNDING * (sums.loss + abs(at.log_det)))
