r"""Hinge loss of two classes (linear support vector machines): bound of the excess of (w, b).

    F(w, b) = C Σ_i s_i c_{y_i} [1 − y_i(x_iᵀw + b)]₊ + l1‖w‖₁ + l2/2 ‖w‖²      y = ±1

A row on its margin may have any 0 ≤ a ≤ 1, and G(a) = a there, so no tight dual point follows from
(w, b). A model may provide one, β_i = y_i ω_i a_i (ω = C s c), as certus' fits do; at the optimum
l2·w = Σ β_i x_i. Otherwise one is searched for (``_dual``). Any of them is a proof:

    F(w', b') ≥ D(a) = Σ_i ω_i a_i − Σ_j [|v_j| − l1]₊² / (2 l2)      v = Σ_i ω_i a_i y_i x_i

for every (w', b'). A free intercept requires Σ ω a y = 0, a penalised one is a column
(``glm/duality``).
"""

from typing import Any

import numpy as np

from certus.proofs.glm.duality import class_factors
from certus.proofs.glm.margins import MarginProblem, Terms, quadratic_dual
from certus.proofs.hinge._dual import dual_point
from certus.proofs.types import Numbers, TargetedRows


class HingeMargin:
    """The loss φ(m) = [1 − m]₊."""

    curvature = 0.0  # except at the kink

    @staticmethod
    def terms(m: np.ndarray, out: Terms) -> None:
        np.maximum(1 - m, 0.0, out=out.value)
        for unused in (out.odds, out.far, out.wrong):
            unused.fill(0.0)

    @staticmethod
    def dual(sums: Terms, rho: np.ndarray, error: np.ndarray) -> Any:
        return quadratic_dual(sums, rho, error, 0.0)

    @staticmethod
    def null(plus: np.ndarray, minus: np.ndarray, intercept: bool) -> Any:
        """Return the loss Σ ω φ of the best constant, that of the heavier class, or of 0."""
        return 2 * np.minimum(plus, minus) if intercept else plus + minus


class HingeMarginProblem(MarginProblem):
    """A margin problem whose loss has slope 1 at most."""

    def evaluation(self, z_error: Numbers) -> Any:
        """Return a bound of |F̂ − F|: |φ(m̂) − φ(m)| ≤ |m̂ − m|, and the rounding of sums."""
        return np.sqrt(self.W) * z_error + self.rounding * self.objective


@np.errstate(over="ignore", invalid="ignore")  # an overflow gives no bound, and no certificate
def check(
    data: TargetedRows,
    *,
    w: np.ndarray,
    b: np.ndarray,
    beta: np.ndarray | None = None,
    C: float = 1.0,
    l1: float = 0.0,
    l2: float = 1.0,
    fit_intercept: bool = True,
    class_weight: object = None,
    intercept_scaling: float | None = None,
    one_vs_rest: bool = False,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p×k), b (k,), by β (k, n) if there is one.

    One pass of O(n·p·k) operations. Without β at most ``_dual.MAX_PASSES`` for each column, and
    up to ``_dual.MAX_FACTORED_COLUMNS`` columns O(n·p²) operations in some of them.
    """
    w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
    y, omega = signs_and_weights(data, len(b), float(C), class_weight, one_vs_rest)
    if beta is None:
        a = np.zeros_like(y)
        for t in range(len(b)):
            a[:, t] = dual_point(
                data, y[:, t], omega[:, t], w[:, t], b[t], l1, l2, fit_intercept,
                intercept_scaling, tol,
            )  # fmt: skip
    else:
        beta = np.asarray(beta, dtype=float).reshape(y.shape[1], -1).T
        share = np.divide(beta * y, omega, out=np.zeros_like(y), where=omega > 0)
        a = np.clip(np.nan_to_num(share), 0.0, 1.0)
    problem = HingeMarginProblem(
        data, HingeMargin, w, b, C, l1, l2, fit_intercept, class_weight, intercept_scaling,
        one_vs_rest, a,
    )  # fmt: skip
    return problem.verdict(*problem.gaps()) | {"support": int(np.count_nonzero(a.any(axis=1)))}


def signs_and_weights(
    data: TargetedRows, k: int, C: float, class_weight: object, one_vs_rest: bool
) -> tuple[Any, Any]:
    """Return y = ±1 and ω = C s c, (n, k)."""
    class_index = data.y[:, 0].astype(np.intp)
    s = np.ones(len(class_index)) if data.s is None else np.asarray(data.s, dtype=float)
    mass = np.bincount(class_index, s, k if one_vs_rest else 2)
    factor = class_factors(C, class_weight, mass)
    in_class = class_index[:, None] == (np.arange(k) if one_vs_rest else np.ones(1, dtype=int))
    other = np.full(k, C) if one_vs_rest else factor[:1]
    omega = np.where(in_class, factor if one_vs_rest else factor[1:], other)
    return np.where(in_class, 1.0, -1.0), s[:, None] * omega
