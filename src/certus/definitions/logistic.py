r"""Logistic loss of two classes: how far a given (w, b) is from the optimum.

    F(w, b) = C Σ_i s_i c_{y_i} log(1 + exp(−y_i(x_iᵀw + b))) + l1‖w‖₁ + l2/2 ‖w‖²      y = ±1

The dual point is a = σ(−m), m = y(xᵀw + b), and G(a) = H(a) = −a log a − (1 − a) log(1 − a), which
is log(1 + e^{−m}) + a·m there. Scaled by ρ = 1 − δ, with log(1 + x) ≤ x,

    H(ρa) ≥ H(a) − δ a m − δ² e^{−m},

and H(ρa) ≥ ρH(a) = H(a) − δ a m − δ log(1 + e^{−m}) by concavity, for rows where e^{−m} is large.
"""

from typing import Any

import numpy as np

from certus.definitions.margins import FAR, MarginProblem, Terms


class LogisticMargin:
    """φ(m) = log(1 + e^{−m}) and its entropy."""

    curvature = 0.25  # at most

    @staticmethod
    def terms(m: Any, out: Terms) -> None:
        e = np.exp(-np.abs(m))  # never overflows
        np.less_equal(m, 0.0, out=out.wrong, casting="unsafe")
        near = m > -FAR
        np.log1p(e, out=out.value)
        np.subtract(out.value, np.minimum(m, 0.0), out=out.value)
        # a = e/(1 + e) where m > 0, else 1/(1 + e); e^{−m} = e, else 1/e
        np.divide(e + out.wrong * (1.0 - e), 1.0 + e, out=out.a)
        np.multiply(out.a, out.a, out=out.aa)
        np.multiply(out.a, m, out=out.am)
        np.exp(-np.maximum(m, -FAR), out=out.odds)
        np.multiply(out.odds, near, out=out.odds)
        np.multiply(out.value, ~near, out=out.far)

    @staticmethod
    def dual(sums: Terms, rho: Any, error: Any) -> Any:
        """Σ ω H(ρa), at least, for every ρ within ``error``."""
        H, delta = sums.value + sums.am, 1 - rho + error
        second = H - (1 - rho) * sums.am - error * np.abs(sums.am)
        second = second - delta**2 * sums.odds - delta * sums.far
        return np.maximum(np.maximum(rho - error, 0.0) * H, second)

    @staticmethod
    def null(plus: Any, minus: Any, intercept: bool) -> Any:
        """Σ ω φ of the best constant: the entropy of the two classes' weights."""
        total = plus + minus
        if not intercept:
            return total * np.log(2)
        share = np.stack([plus, minus]) / total
        return -total * (share * np.log(np.where(share > 0, share, 1.0))).sum(axis=0)


def check(
    data: Any,
    *,
    w: Any,
    b: Any,
    C: float = 1.0,
    l1: float = 0.0,
    l2: float = 1.0,
    fit_intercept: bool = True,
    class_weight: Any = None,
    intercept_scaling: float | None = None,
    one_vs_rest: bool = False,
    direction: Any = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p×k), b (k,).

    One pass of O(n·p·k) operations.
    """
    problem = MarginProblem(
        data, LogisticMargin, w, b, C, l1, l2, fit_intercept, class_weight, intercept_scaling,
        one_vs_rest,
    )  # fmt: skip
    answer = problem.answer()
    answer["mean_probability"] = problem.mean_probability()
    return answer
