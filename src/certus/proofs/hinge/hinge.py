r"""Hinge loss of two classes (linear support vector machines): bound of the excess of (w, b).

    F(w, b) = C Σ_i s_i c_{y_i} [1 − y_i(x_iᵀw + b)]₊ + l1‖w‖₁ + l2/2 ‖w‖²      y = ±1

A row on its margin may have any 0 ≤ a ≤ 1, and G(a) = a there, so no tight dual point follows from
(w, b). A model may provide one, β_i = y_i ω_i a_i (ω = C s c), as certus' fits do; at the optimum
l2·w = Σ β_i x_i. Fits to rows that are read block by block provide steps (σ, θ) instead, from which
a follows for each row,

    a ← clip(a + σ(1 − y x̂ᵀθ), 0, 1)  for every step, from a = 0,      x̂ = (x, c)

c the constant column of the intercept. Otherwise one is searched for (``_dual``). Any is a proof:

    F(w', b') ≥ D(a) = Σ_i ω_i a_i − Σ_j [|v_j| − l1]₊² / (2 l2)      v = Σ_i ω_i a_i y_i x_i

for every (w', b'). A free intercept requires Σ ω a y = 0, a penalised one is a column
(``glm/duality``).
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.duality import class_factors, class_mass
from certus.proofs.glm.margins import (
    MarginLoss,
    MarginProblem,
    MarginSums,
    Terms,
    margin_sums,
    quadratic_dual,
)
from certus.proofs.hinge._dual import constant, dual_point
from certus.proofs.hinge._dual_steps import dual_steps
from certus.proofs.linalg.linear_sums import View
from certus.proofs.types import Matrix, Numbers, RowData, TargetedRows


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


class HingeSums(NamedTuple):
    """``MarginSums``, and the number of rows with a > 0 in any column."""

    XX: float
    terms: np.ndarray
    V: np.ndarray
    support: int


class GivenPoint(NamedTuple):
    """A dual point: a (n, k), or None and the steps to it."""

    a: np.ndarray | None
    steps: np.ndarray  # (k, K, p + 2): σ and θ
    c: float


class HingeMarginProblem(MarginProblem):
    """A margin problem whose loss has slope 1 at most, with a dual point."""

    def __init__(self, data: RowData, point: GivenPoint, *args: Any):
        self.point = point
        super().__init__(data, HingeMargin, *args)

    def _sums(self, data: RowData) -> MarginSums:
        args = self.w, self.b, self.view, self.loss, self.one_vs_rest
        a, steps, c = self.point
        sums: HingeSums
        if a is None:
            sums = data.reduce(sums_along, *args, steps, c)
        else:
            sums = data.reduce(sums_at, *args, beside=(a,))
        self.support = sums.support
        return MarginSums(sums.XX, sums.terms, sums.V)

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
    steps: np.ndarray | None = None,
    C: float = 1.0,
    l1: float = 0.0,
    l2: float = 1.0,
    fit_intercept: bool = True,
    class_weight: object = None,
    intercept_scaling: float | None = None,
    one_vs_rest: bool = False,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p×k), b (k,), by β (k, n) or steps if given.

    One pass of O(n·p·k) operations, O(n·p·k·K) for K steps. Without either at most
    ``_dual.MAX_PASSES`` for each column, and up to ``_dual.MAX_FACTORED_COLUMNS`` columns O(n·p²)
    operations in some of them.
    """
    w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
    options = C, l1, l2, fit_intercept, class_weight, intercept_scaling, one_vs_rest
    if steps is None and beta is None and not isinstance(data.y, np.ndarray):
        steps = _found_steps(data, w, b, *options, tol)
    if steps is not None:
        c = constant(fit_intercept, intercept_scaling)
        point = GivenPoint(None, np.asarray(steps, dtype=float), c)
    else:
        point = GivenPoint(_shares(data, w, b, beta, *options, tol), np.empty(0), 0.0)
    problem = HingeMarginProblem(data, point, w, b, *options)
    return problem.verdict(*problem.gaps()) | {"support": int(problem.support)}


def _shares(
    data: TargetedRows, w: np.ndarray, b: np.ndarray, beta: np.ndarray | None, C: float, l1: float,
    l2: float, fit_intercept: bool, class_weight: object, intercept_scaling: float | None,
    one_vs_rest: bool, tol: float,
) -> np.ndarray:  # fmt: skip
    """Return a (n, k) of β, or of a search for one."""
    y, omega = signs_and_weights(data, len(b), float(C), class_weight, one_vs_rest)
    if beta is not None:
        beta = np.asarray(beta, dtype=float).reshape(y.shape[1], -1).T
        share = np.divide(beta * y, omega, out=np.zeros_like(y), where=omega > 0)
        return np.clip(np.nan_to_num(share), 0.0, 1.0)
    a = np.zeros_like(y)
    for t in range(len(b)):
        a[:, t] = dual_point(
            data, y[:, t], omega[:, t], w[:, t], b[t], l1, l2, fit_intercept, intercept_scaling, tol
        )
    return a


def sums_at(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, a: np.ndarray, w: np.ndarray, b: np.ndarray,
    view: View, loss: MarginLoss, one_vs_rest: bool,
) -> HingeSums:  # fmt: skip
    """Return the sums of one block for given a, (n, k)."""
    sums = margin_sums(X, y, s, w, b, view, loss, one_vs_rest, a)
    return HingeSums(*sums, int(np.count_nonzero(a.any(axis=1))))


def sums_along(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, w: np.ndarray, b: np.ndarray, view: View,
    loss: MarginLoss, one_vs_rest: bool, steps: np.ndarray, c: float,
) -> HingeSums:  # fmt: skip
    """Return the sums of one block for the a that follow from ``steps``."""
    a = np.zeros((X.shape[0], len(steps)))
    for k, of_class in enumerate(steps):
        sign = np.where(y[:, 0] == (k if one_vs_rest else 1), 1.0, -1.0)
        scores = X @ of_class[:, 1:-1].T + c * of_class[:, -1]
        for sigma, z in zip(of_class[:, 0], np.asarray(scores).T, strict=True):
            a[:, k] = np.clip(np.nan_to_num(a[:, k] + sigma * (1 - sign * z)), 0.0, 1.0)
    return sums_at(X, y, s, a, w, b, view, loss, one_vs_rest)


def _found_steps(
    data: TargetedRows, w: np.ndarray, b: np.ndarray, C: float, l1: float, l2: float,
    fit_intercept: bool, class_weight: object, intercept_scaling: float | None, one_vs_rest: bool,
    tol: float,
) -> np.ndarray:  # fmt: skip
    """Return the steps to a dual point of rows that are read block by block, (k, K, p + 2)."""
    k = len(b)
    (mass,) = data.reduce_targets(class_mass, k if one_vs_rest else 2)
    factor = class_factors(float(C), class_weight, mass)
    found = []
    for t in range(k):
        of_signs = np.array([C, factor[t]]) if one_vs_rest else factor
        found.append(
            dual_steps(
                data, t if one_vs_rest else 1, of_signs, w[:, t], b[t], l1, l2, fit_intercept,
                intercept_scaling, tol,
            )
        )  # fmt: skip
    steps = np.zeros((k, max(len(one) for one in found), len(w) + 2))
    for padded, one in zip(steps, found, strict=True):  # a step of σ = 0 changes nothing
        padded[len(padded) - len(one) :] = one
    return steps


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
