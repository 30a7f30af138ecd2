r"""Huber loss of two classes: bound of the excess of a given (w, b).

    F(w, b) = C Σ_i s_i c_{y_i} h(y_i − x_iᵀw − b) + l1‖w‖₁ + l2/2 ‖w‖²      y = ±1
    h(r) = ½r² where |r| ≤ δ, and δ|r| − ½δ² beyond

y² = 1, so h(y − z) = h(1 − m), m = yz. The dual point is a = 1 − m, clipped to [−δ, δ], and
G(a) = a − a²/2.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.margins import MarginProblem, Terms, quadratic_dual
from certus.proofs.types import RowData


class HuberMargin(NamedTuple):
    """The loss φ(m) = h(1 − m)."""

    delta: float
    curvature: float = 1.0  # upper bound

    def terms(self, m: np.ndarray, out: Terms) -> None:
        r = 1 - m
        np.clip(r, -self.delta, self.delta, out=out.a)
        np.multiply(out.a, r - out.a / 2, out=out.value)
        np.multiply(out.a, out.a, out=out.aa)
        np.multiply(out.a, m, out=out.am)
        for unused in (out.odds, out.far, out.wrong):
            unused.fill(0.0)

    def dual(self, sums: Terms, rho: np.ndarray, error: np.ndarray) -> Any:
        return quadratic_dual(sums, rho, error, 1.0)

    def null(self, plus: np.ndarray, minus: np.ndarray, intercept: bool) -> Any:
        """Return the loss Σ ω φ of the best constant b, or of 0.

        The heavier class is within δ of b: either both are, or W_light·δ = W_heavy·(1 − |b|).
        """
        heavy, light = np.maximum(plus, minus), np.minimum(plus, minus)
        b = np.zeros_like(heavy)
        if intercept:
            b = (heavy - light) / (heavy + light)
            b = np.where(1 + b <= self.delta, b, 1 - self.delta * light / heavy)
        return heavy * self.of(1 - b) + light * self.of(1 + b)

    def of(self, r: np.ndarray) -> Any:
        clipped = np.minimum(r, self.delta)
        return clipped * (r - clipped / 2)


@np.errstate(over="ignore", invalid="ignore")  # an overflow gives no bound, and no certificate
def check(
    data: RowData,
    *,
    w: np.ndarray,
    b: np.ndarray,
    delta: float = 1.35,
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
        data, HuberMargin(delta), w, b, C, l1, l2, fit_intercept, class_weight, intercept_scaling,
        one_vs_rest,
    )  # fmt: skip
    return problem.verdict(*problem.gaps())
