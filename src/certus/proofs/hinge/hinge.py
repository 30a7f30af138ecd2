r"""Hinge loss of two classes (linear support vector machines): how far (w, b) is from the optimum.

    F(w, b) = C Σ_i s_i c_{y_i} [1 − y_i(x_iᵀw + b)]₊ + l1‖w‖₁ + l2/2 ‖w‖²      y = ±1

A row on its margin may have any 0 ≤ a ≤ 1, and G(a) = a there, so no tight dual point follows from
(w, b). A model may bring one, β_i = y_i ω_i a_i (ω = C s c), as a fit by certus does, with which
l2·w = Σ β_i x_i at the optimum. Else one is looked for (``_dual``). Any will do as a proof:

    F(w', b') ≥ D(a) = Σ_i ω_i a_i − Σ_j [|v_j| − l1]₊² / (2 l2)      v = Σ_i ω_i a_i y_i x_i

for every (w', b'). A free intercept needs Σ ω a y = 0, a penalised one is a column (``duality``).
"""

from typing import Any

import numpy as np

from certus.proofs.glm.duality import class_factors
from certus.proofs.glm.margins import MarginProblem, Terms, quadratic_dual
from certus.proofs.hinge._dual import dual_point
from certus.proofs.types import Numbers, TargetedRows


class HingeMargin:
    """φ(m) = [1 − m]₊."""

    curvature = 0.0  # but for the kink

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
        """Σ ω φ of the best constant, that of the heavier class, or of 0."""
        return 2 * np.minimum(plus, minus) if intercept else plus + minus


class HingeProblem(MarginProblem):
    def evaluation(self, z_error: Numbers) -> Any:
        """|φ(m̂) − φ(m)| ≤ |m̂ − m|, and what rounding does to sums."""
        return np.sqrt(self.W) * z_error + self.rounding * self.objective


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
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

    One pass of O(n·p·k) operations. Without β at most ``_dual.PASSES`` for each column, and
    up to ``_dual.FEW_COLUMNS`` columns O(n·p²) operations in some of them.
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
    problem = HingeProblem(
        data, HingeMargin, w, b, C, l1, l2, fit_intercept, class_weight, intercept_scaling,
        one_vs_rest, a,
    )  # fmt: skip
    return problem.verdict(*problem.gaps()) | {"support": int(np.count_nonzero(a.any(axis=1)))}


def signs_and_weights(
    data: TargetedRows, k: int, C: float, class_weight: object, one_vs_rest: bool
) -> tuple[Any, Any]:
    """y = ±1 and ω = C s c, (n, k)."""
    number = data.y[:, 0].astype(np.intp)
    s = np.ones(len(number)) if data.s is None else np.asarray(data.s, dtype=float)
    mass = np.bincount(number, s, k if one_vs_rest else 2)
    factor = class_factors(C, class_weight, mass)
    own = number[:, None] == (np.arange(k) if one_vs_rest else np.ones(1, dtype=int))
    rest = np.full(k, C) if one_vs_rest else factor[:1]
    omega = np.where(own, factor if one_vs_rest else factor[1:], rest)
    return np.where(own, 1.0, -1.0), s[:, None] * omega
