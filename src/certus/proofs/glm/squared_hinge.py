r"""Squared hinge loss of two classes: bound of the excess of a given (w, b).

    F(w, b) = C Σ_i s_i c_{y_i} [1 − y_i(x_iᵀw + b)]₊² + l1‖w‖₁ + l2/2 ‖w‖²      y = ±1

The dual point is a = 2[1 − m]₊, m = y(xᵀw + b), and G(a) = a − a²/4 for a ≥ 0.
"""

from typing import Any

import numpy as np

from certus.proofs.glm.margins import MarginProblem, Terms, quadratic_dual
from certus.proofs.types import RowData


class SquaredHingeMargin:
    """The loss φ(m) = [1 − m]₊²."""

    curvature = 2.0  # upper bound

    @staticmethod
    def terms(m: np.ndarray, out: Terms) -> None:
        slack = np.maximum(1 - m, 0.0)
        np.multiply(slack, slack, out=out.value)
        np.multiply(slack, 2.0, out=out.a)
        np.multiply(out.value, 4.0, out=out.aa)
        np.multiply(out.a, m, out=out.am)
        for unused in (out.odds, out.far, out.wrong):
            unused.fill(0.0)

    @staticmethod
    def dual(sums: Terms, rho: np.ndarray, error: np.ndarray) -> Any:
        return quadratic_dual(sums, rho, error, 0.5)

    @staticmethod
    def null(plus: np.ndarray, minus: np.ndarray, intercept: bool) -> Any:
        """Return the loss Σ ω φ of the best constant, (W₊ − W₋)/(W₊ + W₋), or of 0."""
        return 4 * plus * minus / (plus + minus) if intercept else plus + minus


@np.errstate(over="ignore", invalid="ignore")  # an overflow gives no bound, and no certificate
def check(
    data: RowData,
    *,
    w: np.ndarray,
    b: np.ndarray,
    C: float = 1.0,
    l1: float = 0.0,
    l2: float = 1.0,
    fit_intercept: bool = True,
    class_weight: object = None,
    intercept_scaling: float | None = None,
    one_vs_rest: bool = False,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p×k), b (k,).

    One pass of O(n·p·k) operations.
    """
    problem = MarginProblem(
        data, SquaredHingeMargin, w, b, C, l1, l2, fit_intercept, class_weight, intercept_scaling,
        one_vs_rest,
    )  # fmt: skip
    return problem.verdict(*problem.gaps())
