r"""Firth's logistic regression: bound of the gain that a step from a given (w, b) could make.

    F(w, b) = −Σ_i s_i log P(y_i | x_i) − ½ log det I
    I = Σ_i s_i p_i(1 − p_i) x̃_i x̃_iᵀ      p = P(y = 1 | x) = σ(xᵀw + b),  x̃ = (x, 1)

The slope of p(1 − p) in z is p(1 − p)(1 − 2p), and ∂ log det I = tr I⁻¹∂I, so

    ∇F = Σ_i s_i (p_i − y_i + h_i(p_i − ½)) x̃_i      h_i = p_i(1 − p_i) x̃_iᵀI⁻¹x̃_i

where h_i is that of a single row: a row of weight 2 adds 2h_i to the trace, as two rows would.

residual = ½ ∇FᵀI⁻¹∇F / f₀ is the gain of one more scoring step relative to f₀, the loss of the
intercept alone, with rounding included (``_firth_sums``). log det I need not be concave, so a
stationary point proves nothing about other points.

Where columns repeat others, det is the product of the nonzero eigenvalues. A direction is left out
only by the rule of ``negligible_directions``. F and the residual do not depend on the coordinates,
except for a constant in log det: where I, in the columns as they are, is dominated by rounding, or
there are more columns than rows, orthogonal directions are used (``_firth_directions``).
"""

from typing import Any

import numpy as np

from certus.proofs.glm._curvature import add_and_compare, hessian, with_constant
from certus.proofs.glm._firth_directions import along_directions
from certus.proofs.glm._firth_sums import (
    FirthRows,
    FirthSums,
    Information,
    firth_sums,
    gain_of_step,
    information_from,
    no_information,
    objective_error,
    sums_added,
)
from certus.proofs.glm.duality import EVALUATION_ROUNDINGS, Fitted
from certus.proofs.glm.logistic import LogisticCurvature, LogisticMargin
from certus.proofs.glm.margins import shares
from certus.proofs.linalg.linear_sums import UNIT, View, gamma
from certus.proofs.linalg.negligible_directions import LeftOutDirection, left_out_findings
from certus.proofs.types import RowData

MIN_EIGENVALUE_TO_ROUNDING = 1e6  # for eigenvalues whose inverses are accurate


@np.errstate(over="ignore", invalid="ignore")  # an overflow gives no bound, and no certificate
def check(
    data: RowData, *, w: np.ndarray, b: np.ndarray, fit_intercept: bool = True, tol: float = 1e-6
) -> dict[str, Any]:
    """Recompute objective and residual of w (p, 1), b (1,).

    ``objective_error`` bounds the error of the objective; it is infinite where directions are left
    out, or where there are more columns than rows.

    Two passes, O(n·p²) operations, O(p²) memory a thread.
    """
    at = Fitted(data, w, b, 1.0, 0.0, 0.0, fit_intercept, None)
    constant, information = 1.0 if fit_intercept else None, None
    left_out: list[LeftOutDirection] = []
    if not at.infeasible and data.shape[1] < data.shape[0]:
        information = information_of(data, at, constant)
    args = at.w, at.b, at.b_error, at.view, constant
    known_information = (
        no_information(len(at.w) + fit_intercept) if information is None else information
    )
    sums = data.reduce(scores, *args, known_information, combine=sums_added, square=True)
    f0 = float(LogisticMargin.null(sums.mass[1], sums.mass[0], fit_intercept))
    gain, upper = gain_of_step(known_information, sums, data.depth)
    hidden = information is None or (gain <= tol * f0 and not upper <= tol * f0)
    if hidden and not at.infeasible:
        w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
        other_information, of_directions, left = along_directions(data, w, b, fit_intercept)
        if other_information is not None and of_directions is not None:
            information, sums, left_out = other_information, of_directions, left
            gain, upper = gain_of_step(information, sums, data.depth)
    if information is None:
        gain = upper = float("inf")
    total = sums.mass.sum()
    log_det, error = -np.inf, np.inf
    if information is not None:
        log_det, error = information.log_det, objective_error(information, sums, data.depth)
    residual = float(shares(np.float64(upper), f0)) * (1 + gamma(data.depth + EVALUATION_ROUNDINGS))
    answer = {
        "objective": float(sums.loss - log_det / 2),
        "objective_error": error,
        "bound": None,
        "gap": float("inf"),
        "residual": residual,
        "gain": upper,
        "null_objective": f0,
        "log_likelihood": -float(sums.loss),
        "log_det": float(log_det),
        "rank": 0 if information is None else information.root.shape[1],
        "kind": "stationary",
        "convex": False,
        "infeasible": at.infeasible or (UNKNOWN_DET_MESSAGE if information is None else None),
        "left_out": left_out_findings(left_out, len(at.w)),
        "share": sums.mass / total,
        "mean_probability": np.array([1 - sums.expected / total, sums.expected / total]),
    }
    if gain <= tol * f0 and not residual <= tol:
        answer |= {"unproven": ROUNDING_MESSAGE, "at_least": float(shares(np.float64(gain), f0))}
    return answer


UNKNOWN_DET_MESSAGE = (
    "probabilities of 0 and 1, or columns that nearly repeat others, leave det I unknown"
)
ROUNDING_MESSAGE = "sums with so much cancellation that rounding hides the gradient"


def information_of(data: RowData, at: Fitted, constant: float | None) -> Information | None:
    """Return the information of the columns as viewed, or None if rounding hides it."""
    row_curvature = LogisticCurvature(1, (1.0, 1.0))
    H, peak = data.reduce(
        hessian, at.w, at.b, row_curvature, at.view, constant, combine=add_and_compare, square=True
    )
    H = H[0, :, 0]
    z_error = score_errors(peak[None], at.w, at.b, at.b_error)
    of_Z = (2 * UNIT) ** 2 * np.diagonal(H)
    information = information_from(
        H, of_Z, float(z_error[0]), data.depth, MIN_EIGENVALUE_TO_ROUNDING
    )
    if information is None:
        return None
    units = np.log(at.q)
    return information.times(
        -2 * float(units.sum()), gamma(len(units) + 8) * 2 * np.abs(units).sum()
    )


def score_errors(Z: np.ndarray, w: np.ndarray, b: np.ndarray, b_error: np.ndarray) -> Any:
    """Return a bound of |ẑ − z| of rows as viewed: γ_{p+6} (|x|ᵀ|w| + |b|) + error of b."""
    p = len(w)
    size = np.dot(np.abs(Z[:, :p]), np.abs(w[:, 0])) + np.abs(b[0])
    return gamma(p + 6) * size + np.max(b_error)


def scores(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    b: np.ndarray,
    b_error: np.ndarray,
    view: View,
    constant: float | None,
    at: Information,
) -> FirthSums:
    """Return the sums of one block, given I⁻¹ by its root."""
    Z, y = with_constant(X, view, constant), y[:, 0]
    z = (np.dot(Z[:, : len(w)], w) + b)[:, 0]
    s = np.ones(len(y)) if s is None else s
    rows = FirthRows(Z, UNIT * np.abs(Z), y, s, z, score_errors(Z, w, b, b_error))
    return firth_sums(rows, at)
