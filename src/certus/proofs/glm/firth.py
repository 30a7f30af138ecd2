r"""Firth's logistic regression: how near to a stationary point a given (w, b) is.

    F(w, b) = −Σ_i s_i log P(y_i | x_i) − ½ log det I
    I = Σ_i s_i p_i(1 − p_i) x̃_i x̃_iᵀ      p = P(y = 1 | x) = σ(xᵀw + b),  x̃ = (x, 1)

The slope of p(1 − p) in z is p(1 − p)(1 − 2p), and ∂ log det I = tr I⁻¹∂I, so

    ∇F = Σ_i s_i (p_i − y_i + h_i(p_i − ½)) x̃_i      h_i = p_i(1 − p_i) x̃_iᵀI⁻¹x̃_i

with h_i that of a single row: a row of weight 2 adds 2h_i to the trace, as the row twice would.

residual = ½ ∇FᵀI⁻¹∇F / f₀ is what one more scoring step would gain, as a share of the losses f₀
that the intercept alone leaves, with all that rounding can have taken from it (``firth_sums``). log
det I need not be concave, so that a stationary point proves nothing of other points.

Where columns repeat others, det is the product of the eigenvalues that are not 0. A direction is
left out only by the rule of ``negligible_directions``. F and the residual are the same in all
coordinates, up to a constant of det: where I, in the columns as they are, cannot be told from
rounding, and with more columns than rows, they are taken along other directions
(``_firth_directions``).
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
from certus.proofs.glm.duality import EVALUATION, Fitted
from certus.proofs.glm.logistic import LogisticBend, LogisticMargin
from certus.proofs.glm.margins import shares
from certus.proofs.linalg.linear_sums import UNIT, View, gamma
from certus.proofs.linalg.negligible_directions import LeftOutDirection, left_out_findings
from certus.proofs.types import RowData

MUCH_ABOVE = 1e6  # times what rounding can do, of eigenvalues whose inverses are then good


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
def check(
    data: RowData, *, w: np.ndarray, b: np.ndarray, fit_intercept: bool = True, tol: float = 1e-6
) -> dict[str, Any]:
    """Recompute objective and residual of w (p, 1), b (1,).

    ``objective_error`` is how far off the objective can be; infinite where directions are left out,
    or where there are more columns than rows.

    Two passes, O(n·p²) operations, O(p²) memory a thread.
    """
    at = Fitted(data, w, b, 1.0, 0.0, 0.0, fit_intercept, None)
    constant, information = 1.0 if fit_intercept else None, None
    left_out: list[LeftOutDirection] = []
    if not at.infeasible and data.shape[1] < data.shape[0]:
        information = information_of(data, at, constant)
    args = at.w, at.b, at.b_error, at.view, constant
    known = no_information(len(at.w) + fit_intercept) if information is None else information
    sums = data.reduce(scores, *args, known, combine=sums_added, square=True)
    f0 = float(LogisticMargin.null(sums.mass[1], sums.mass[0], fit_intercept))
    gain, most = gain_of_step(known, sums, data.depth)
    hidden = information is None or (gain <= tol * f0 and not most <= tol * f0)
    if hidden and not at.infeasible:
        w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
        there, of_directions, left = along_directions(data, w, b, fit_intercept)
        if there is not None and of_directions is not None:
            information, sums, left_out = there, of_directions, left
            gain, most = gain_of_step(information, sums, data.depth)
    if information is None:
        gain = most = float("inf")
    total = sums.mass.sum()
    log_det, error = -np.inf, np.inf
    if information is not None:
        log_det, error = information.log_det, objective_error(information, sums, data.depth)
    residual = float(shares(np.float64(most), f0)) * (1 + gamma(data.depth + EVALUATION))
    answer = {
        "objective": float(sums.loss - log_det / 2),
        "objective_error": error,
        "bound": None,
        "gap": float("inf"),
        "residual": residual,
        "gain": most,
        "null_objective": f0,
        "log_likelihood": -float(sums.loss),
        "log_det": float(log_det),
        "rank": 0 if information is None else information.root.shape[1],
        "kind": "stationary",
        "convex": False,
        "infeasible": at.infeasible or (UNKNOWN if information is None else None),
        "left_out": left_out_findings(left_out, len(at.w)),
        "share": sums.mass / total,
        "mean_probability": np.array([1 - sums.expected / total, sums.expected / total]),
    }
    if gain <= tol * f0 and not residual <= tol:
        answer |= {"unproven": ROUNDED, "at_least": float(shares(np.float64(gain), f0))}
    return answer


UNKNOWN = "probabilities of 0 and 1, or columns that nearly repeat others, leave det I unknown"
ROUNDED = "sums that cancel so far that rounding hides the slope"


def information_of(data: RowData, at: Fitted, constant: float | None) -> Information | None:
    """Return the information of the columns as viewed, or None if rounding hides it."""
    bend = LogisticBend(1, (1.0, 1.0))
    H, peak = data.reduce(
        hessian, at.w, at.b, bend, at.view, constant, combine=add_and_compare, square=True
    )
    H = H[0, :, 0]
    z_error = score_errors(peak[None], at.w, at.b, at.b_error)
    of_Z = (2 * UNIT) ** 2 * np.diagonal(H)
    found = information_from(H, of_Z, float(z_error[0]), data.depth, MUCH_ABOVE)
    if found is None:
        return None
    units = np.log(at.q)
    return found.times(-2 * float(units.sum()), gamma(len(units) + 8) * 2 * np.abs(units).sum())


def score_errors(Z: np.ndarray, w: np.ndarray, b: np.ndarray, b_error: np.ndarray) -> Any:
    """|ẑ − z| at most, of rows as viewed: γ_{p+6} (|x|ᵀ|w| + |b|) + error of b."""
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
    """The sums of one block, given I⁻¹ by its root."""
    Z, y = with_constant(X, view, constant), y[:, 0]
    z = (np.dot(Z[:, : len(w)], w) + b)[:, 0]
    s = np.ones(len(y)) if s is None else s
    rows = FirthRows(Z, UNIT * np.abs(Z), y, s, z, score_errors(Z, w, b, b_error))
    return firth_sums(rows, at)
