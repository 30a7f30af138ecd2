r"""Penalised regression by its slopes: what they prove, and what is said where they prove nothing.

With v_j = (1/D) Σ_i s_i a_i x̃_ij, minus the slope of the loss, let h_j be the distance of v_j to
the penalty's subdifferential at w_j. All h_j = 0 at a minimum. Of squares more follows: with
X̃ᵀSX̃ ⪰ λ·diag(d²), as ``least_squares`` proves from some of the rows, and r̄ = Σ s r / Σ s,

    F(w, b) − F* ≤ ½ Σ_j h_j² / (λd_j²/D + l2) + Σ_j ε_j + r̄² Σ s / 2D,

for F(u) ≥ F(w) − hᵀ(u − w) − Σ ε_j + ½(u − w)ᵀ(X̃ᵀSX̃/D + l2)(u − w), ε what a slope that is no
subgradient of the penalty falls short by (``penalty_terms``). This is sharp where the dual point is
not: columns so large that rounding hides the penalty's part in their slope.

Where no bound is known the residual is the largest slope, as a share of the largest there can be:

    max_j h_j D / (‖x̃_j‖‖ỹ‖)
"""

from typing import Any, Protocol

import numpy as np

from certus.proofs.lasso.penalty_terms import ConcaveTerm, PenaltyTerm
from certus.proofs.lasso.residual_sums import LossSums
from certus.proofs.least_squares.least_squares import curvature_of_some
from certus.proofs.linalg.linear_sums import UNIT, View, gamma
from certus.proofs.types import RowData


class ResidualFit(Protocol):
    """One (w, b) on one data set: its sums, and the numbers that follow from them."""

    data: RowData
    fit_intercept: bool
    view: View
    term: PenaltyTerm
    sums: LossSums
    penalised: np.ndarray  # w (p, k), in the user's units
    b: np.ndarray  # (k,), as viewed, and so all below
    q: np.ndarray  # (p,): the view's powers of two
    D: float
    rounding: float  # of a sum, as a share of the sum of absolute values
    size: np.ndarray  # (p,): ‖x_j‖, at most
    slope: np.ndarray  # (k,): √Σ s a²
    mean: Any  # (p,): x̄; None until ``take_columns``
    squares: np.ndarray  # (p,): ‖x_j‖², from then on

    @property
    def steepest(self) -> np.ndarray:
        """√Σ s a² of the intercept alone, at least."""
        ...

    @property
    def residual_error(self) -> np.ndarray:
        """√Σ s (r̂ − r)² at most."""
        ...

    def take_columns(self) -> None:
        """One more pass, for the columns' own means and norms."""
        ...


def slopes(fit: ResidualFit) -> tuple[Any, Any]:
    """v (p×k), and what rounding of the sums did to it, in the user's units."""
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
    """|Σ s a|/√S at most; 0 where there is no intercept."""
    if not fit.fit_intercept:
        return np.zeros(len(fit.b))
    return np.abs(fit.sums.sa[:2].sum(axis=0)) / np.sqrt(fit.sums.S) + 2 * fit.rounding * fit.slope


def excess_of_squares(fit: ResidualFit) -> tuple[Any, Any] | None:
    """F(w, b) − F* of each target and the error of each coefficient, at most; None where some of
    the rows prove no curvature."""
    lam, d = curvature_of_some(fit)
    if not lam > 0:
        return None
    curvature = (lam * d**2 / fit.D + fit.term.l2 * fit.q**2)[:, None]  # of the viewed columns
    cost = fit.q[:, None] / np.sqrt(2 * curvature)
    h, epsilon = fit.term.split(fit.penalised, *slopes(fit), cost)
    # ‖projection of r‖ ≤ ‖projection of r̂‖ + ‖r̂ − r‖
    root = np.sqrt(((h * cost) ** 2).sum(axis=0) + intercept_slope(fit) ** 2 / (2 * fit.D))
    root = root + fit.residual_error / np.sqrt(2 * fit.D)
    excess = (root**2 + epsilon.sum(axis=0)) * (1 + gamma(2 * len(h) + 16))
    # curvature_j/2 (w_j − w*_j)² ≤ excess; a quotient of squares could be too small for a float
    return excess, np.sqrt(2 * excess) / np.sqrt(curvature) * fit.q[:, None]


def stationary(fit: ResidualFit) -> tuple[float, float, str]:
    """The largest slope as a share of the largest there can be: at most, for all that rounding did,
    and as it seems; and what is wrong besides."""
    fit.take_columns()
    sums = fit.sums
    square = fit.squares - (sums.S * fit.mean**2 if fit.fit_intercept else 0.0)
    noise = 4 * gamma(fit.data.depth + 4) * fit.squares
    least, norm = np.sqrt(np.maximum([square - noise, square + noise], 0.0)) / fit.q
    v, error = slopes(fit)
    error = error + np.multiply.outer(fit.size / fit.q, fit.residual_error) / fit.D
    level = (intercept_slope(fit) + fit.residual_error) / fit.steepest
    residual = _largest_share(fit, v, error, least)
    residual = max(residual, float(level.max())) * (1 + gamma(fit.data.depth + 32))
    seems = _largest_share(fit, v, 0 * error, norm)
    wrong = "" if fit.term.convex else highest_point(fit, norm)
    return residual if residual == residual else float("inf"), seems, wrong


def _largest_share(fit: ResidualFit, v: np.ndarray, error: np.ndarray, norm: np.ndarray) -> float:
    """max_j h_j D / (‖x̃_j‖ · steepest)."""
    h = fit.term.distance(fit.penalised, v, error)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(h > 0, h * fit.D / np.multiply.outer(norm, fit.steepest), 0.0)
    return float(share.max(initial=0.0))


def highest_point(fit: ResidualFit, norm: np.ndarray) -> str:
    """A concave penalty can bend down more than the loss, ‖x̃_j‖²/D at most, bends up."""
    assert isinstance(fit.term, ConcaveTerm)
    bend = fit.term.bend(fit.penalised)
    concave = (norm**2 / fit.D * (1 + 2**10 * UNIT))[:, None] < bend
    if not concave.any():
        return ""
    j = int(np.argmax(concave.any(axis=1)))
    return f"the objective falls whichever way the coefficient of column {j} is moved"
