r"""Slopes of penalised regression: the excess that they bound, or else their size.

With v_j = (1/D) Σ_i s_i a_i x̃_ij, minus the slope of the loss, let h_j be the distance of v_j to
the penalty's subdifferential at w_j. At a minimum all h_j = 0. For squares there is a bound: with
X̃ᵀSX̃ ⪰ λ·diag(d²), which ``least_squares`` proves from a subset of the rows, and r̄ = Σ s r / Σ s,

    F(w, b) − F* ≤ ½ Σ_j h_j² / (λd_j²/D + l2) + Σ_j ε_j + r̄² Σ s / 2D,

since F(u) ≥ F(w) − hᵀ(u − w) − Σ ε_j + ½(u − w)ᵀ(X̃ᵀSX̃/D + l2)(u − w), where ε is the deficit of a
slope that is not a subgradient of the penalty (``penalty_terms``). This is sharper than the dual
point for columns so large that rounding hides the penalty's part in their slope.

If no bound is known, the residual is the largest slope relative to the largest possible one:

    max_j h_j D / (‖x̃_j‖‖ỹ‖)
"""

from typing import Any, Protocol

import numpy as np

from certus.proofs.lasso.penalty_terms import ConcaveTerm, PenaltyTerm
from certus.proofs.lasso.residual_sums import LossSums
from certus.proofs.least_squares.least_squares import subset_curvature
from certus.proofs.linalg.linear_sums import UNIT, View, gamma
from certus.proofs.types import RowData


class ResidualFit(Protocol):
    """Interface: one (w, b) on one data set, with its sums and what follows from them."""

    data: RowData
    fit_intercept: bool
    view: View
    term: PenaltyTerm
    sums: LossSums
    penalized: np.ndarray  # w (p, k), in the user's units
    b: np.ndarray  # (k,), as viewed; so is all below
    q: np.ndarray  # (p,): the view's powers of two
    D: float
    rounding: float  # of a sum, relative to the sum of absolute values
    size: np.ndarray  # (p,): bounds of ‖x_j‖
    slope: np.ndarray  # (k,): √Σ s a²
    mean: Any  # (p,): x̄; None until ``take_columns``
    squares: np.ndarray  # (p,): ‖x_j‖², from then on

    @property
    def steepest(self) -> np.ndarray:
        """Lower bound of √Σ s a² for the intercept alone."""
        ...

    @property
    def residual_error(self) -> np.ndarray:
        """Bound of √Σ s (r̂ − r)²."""
        ...

    def take_columns(self) -> None:
        """Compute means and norms of the columns, in one more pass."""
        ...


def slopes(fit: ResidualFit) -> tuple[Any, Any]:
    """v (p×k) and a bound of its rounding error, in the user's units."""
    sums = fit.sums
    v = sums.V[:2].sum(axis=0)
    error = np.multiply.outer(fit.size, 6 * fit.rounding * fit.slope)
    if fit.fit_intercept:
        total = sums.sa[:2].sum(axis=0)
        if fit.mean is None:  # x̄ Σ s a, with |x̄_j| ≤ ‖x_j‖/√S
            error = error + np.multiply.outer(fit.size, np.abs(total) / np.sqrt(sums.S))
        else:
            v = v - np.multiply.outer(fit.mean, total)
    unit = fit.q[:, None] * fit.D
    return v / unit, error / unit


def intercept_slope(fit: ResidualFit) -> Any:
    """Bound of |Σ s a|/√S; 0 without an intercept."""
    if not fit.fit_intercept:
        return np.zeros(len(fit.b))
    return np.abs(fit.sums.sa[:2].sum(axis=0)) / np.sqrt(fit.sums.S) + 2 * fit.rounding * fit.slope


def excess_of_squares(fit: ResidualFit) -> tuple[Any, Any] | None:
    """Bounds of F(w, b) − F* of each target and of the error of each coefficient; None if a subset
    of the rows proves no curvature."""
    lam, d = subset_curvature(fit)
    if not lam > 0:
        return None
    curvature = (lam * d**2 / fit.D + fit.term.l2 * fit.q**2)[:, None]  # for the viewed columns
    cost = fit.q[:, None] / np.sqrt(2 * curvature)
    h, epsilon = fit.term.split(fit.penalized, *slopes(fit), cost)
    # ‖projection of r‖ ≤ ‖projection of r̂‖ + ‖r̂ − r‖
    root = np.sqrt(((h * cost) ** 2).sum(axis=0) + intercept_slope(fit) ** 2 / (2 * fit.D))
    root = root + fit.residual_error / np.sqrt(2 * fit.D)
    excess = (root**2 + epsilon.sum(axis=0)) * (1 + gamma(2 * len(h) + 16))
    # curvature_j/2 (w_j − w*_j)² ≤ excess; a quotient of squares could underflow
    return excess, np.sqrt(2 * excess) / np.sqrt(curvature) * fit.q[:, None]


def stationary(fit: ResidualFit) -> tuple[float, float, str]:
    """Largest slope relative to the largest possible one: a bound, rounding included, and its
    computed value; and a message if F has a maximum along a coordinate."""
    fit.take_columns()
    sums = fit.sums
    square = fit.squares - (sums.S * fit.mean**2 if fit.fit_intercept else 0.0)
    noise = 4 * gamma(fit.data.depth + 4) * fit.squares
    norm_floor, norm = np.sqrt(np.maximum([square - noise, square + noise], 0.0)) / fit.q
    v, error = slopes(fit)
    error = error + np.multiply.outer(fit.size / fit.q, fit.residual_error) / fit.D
    intercept_share = (intercept_slope(fit) + fit.residual_error) / fit.steepest
    residual = _largest_share(fit, v, error, norm_floor)
    residual = max(residual, float(intercept_share.max())) * (1 + gamma(fit.data.depth + 32))
    apparent = _largest_share(fit, v, 0 * error, norm)
    wrong = "" if fit.term.convex else concavity_message(fit, norm)
    return residual if residual == residual else float("inf"), apparent, wrong


def _largest_share(fit: ResidualFit, v: np.ndarray, error: np.ndarray, norm: np.ndarray) -> float:
    """max_j h_j D / (‖x̃_j‖ · steepest)."""
    h = fit.term.distance(fit.penalized, v, error)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(h > 0, h * fit.D / np.multiply.outer(norm, fit.steepest), 0.0)
    return float(share.max(initial=0.0))


def concavity_message(fit: ResidualFit, norm: np.ndarray) -> str:
    """Message if a concave penalty curves more than the loss, by at most ‖x̃_j‖²/D, so that F is
    concave along a coordinate."""
    assert isinstance(fit.term, ConcaveTerm)
    bend = fit.term.bend(fit.penalized)
    concave = (norm**2 / fit.D * (1 + 2**10 * UNIT))[:, None] < bend
    if not concave.any():
        return ""
    j = int(np.argmax(concave.any(axis=1)))
    return f"the objective decreases whichever way the coefficient of column {j} moves"
