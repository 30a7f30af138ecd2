r"""Losses of a margin m = y(xᵀw + b), y = ±1: the objective, and a lower bound by a dual point.

    F(w, b) = Σ_i ω_i φ(m_i) + l1‖w‖₁ + l2/2 ‖w‖²
    D(a) = Σ_i ω_i G(a_i) − Σ_j [|v_j| − l1]₊² / (2 l2)      v = Σ_i ω_i a_i y_i x_i,  D(a) ≤ F

The dual point is a_i = −φ'(m_i). A free intercept requires Σ ω a to be equal over y = +1 and
y = −1: a is scaled by ρ on the heavier side. To avoid a second pass, all sums are kept separately
for both signs; class weights are then two factors.

For the hinge no tight dual point follows from m, and a is given.

With several columns, each column t is a problem of its own: class t against the rest, whose class
weight is 1.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.glm.duality import (
    Fitted,
    class_factors,
    product,
    slice_rows,
    slices,
    squared_norms,
    transposed,
)
from certus.proofs.linalg.linear_sums import UNIT, View
from certus.proofs.types import Matrix, Numbers, RowData

FAR_MARGIN = 8.0  # margins below −8: odds above e⁸
N_TERMS = 8  # numbers of a row that are summed


class Terms(NamedTuple):
    """Terms of each row, or their sums."""

    one: np.ndarray
    value: np.ndarray  # φ(m)
    a: np.ndarray  # −φ'(m)
    aa: np.ndarray  # a²
    am: np.ndarray  # a·m
    odds: np.ndarray  # factor of a second-order term (logistic loss: e^{−m})
    far: np.ndarray  # the loss of rows where that term would be large
    wrong: np.ndarray  # m ≤ 0


class MarginLoss(Protocol):
    """A loss φ(m); classes with static methods qualify as well as objects."""

    @property
    def curvature(self) -> float:
        """Upper bound of φ''."""
        ...

    def terms(self, m: np.ndarray, out: Terms) -> None:
        """Write the terms of each row into ``out``."""
        ...

    def dual(self, sums: Terms, rho: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return a lower bound of Σ ω G(ρa) for every ρ within ``error``."""
        ...

    def null(self, plus: np.ndarray, minus: np.ndarray, intercept: bool) -> np.ndarray:
        """Return the loss Σ ω φ of the best constant, or of 0."""
        ...


class MarginSums(NamedTuple):
    XX: float  # Σ s ‖x‖²
    terms: np.ndarray  # Σ s of the terms, (k, N_TERMS, 2), for y = +1 and y = −1
    V: np.ndarray  # Σ s a x, (p, 2k), those of y = +1 first


def margin_sums(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    b: np.ndarray,
    view: View,
    loss: MarginLoss,
    one_vs_rest: bool,
    a: np.ndarray | None = None,
) -> MarginSums:
    """Sums of one block of rows; y holds class indices."""
    k = w.shape[1]
    XX, total, V = 0.0, np.zeros((k, N_TERMS, 2)), np.zeros((len(w), 2 * k))
    most = slice_rows(X)
    buffers = [np.empty((rows, most)) for rows in (N_TERMS, 2, 2 * k)]
    for part, Z in slices(X, view):
        z, index = product(Z, w), y[part, 0]
        weight = None if s is None else s[part]
        z += b
        XX += squared_norms(Z, weight)
        terms, sides, sa = (numbers[:, : len(z)] for numbers in buffers)
        for t in range(k):
            sides[0] = index == (t if one_vs_rest else 1)
            np.subtract(1.0, sides[0], out=sides[1])
            m = sides[0] - sides[1]
            m *= z[:, t]
            if weight is not None:
                sides *= weight
            row = Terms(*terms)
            row.one.fill(1.0)
            loss.terms(m, row)
            if a is not None:
                np.copyto(row.a, a[part, t])
                np.multiply(row.a, row.a, out=row.aa)
                np.multiply(row.a, m, out=row.am)
            total[t] += np.dot(terms, sides.T)
            np.multiply(sides, row.a, out=sa[t::k])
        V += transposed(Z, sa.T)
    return MarginSums(XX, total, V)


class MarginProblem(Fitted):
    """A model (w, b) with k columns: its sums over all rows, objectives and bounds."""

    def __init__(
        self, data: RowData, loss: MarginLoss, w: np.ndarray, b: np.ndarray, C: float, l1: float,
        l2: float, fit_intercept: bool, class_weight: object, intercept_scaling: float | None,
        one_vs_rest: bool,
    ):  # fmt: skip
        super().__init__(data, w, b, C, l1, l2, fit_intercept, intercept_scaling)
        self.loss, self.one_vs_rest, k = loss, one_vs_rest, len(self.b)
        self.XX, total, V = self._sums(data)
        self.raw = Terms(*total.transpose(1, 2, 0))  # each (2, k)
        self.factor = self._factors(class_weight)
        self.sides = Terms(*(np.asarray(term) * self.factor for term in self.raw))
        self.both = Terms(*(term.sum(axis=0) for term in self.sides))
        self.V = np.stack([V[:, :k], V[:, k:]]) * self.factor[:, None, :]
        # 1.001 covers the rounding of these sums themselves
        self.W = 1.001 * self.both.one
        self.XXw = 1.001 * self.factor.max(axis=0) * self.XX
        self.slope = np.sqrt(1.001 * self.both.aa)

    def _sums(self, data: RowData) -> MarginSums:
        """Return the sums over all rows."""
        args = self.w, self.b, self.view, self.loss, self.one_vs_rest
        sums: MarginSums = data.reduce(margin_sums, *args)
        return sums

    def _factors(self, class_weight: object) -> Any:
        """Return C·c of the rows with y = +1 and with y = −1, (2, k)."""
        if not self.one_vs_rest:
            return class_factors(self.C, class_weight, self.raw.one[::-1, 0])[::-1, None]
        factors = class_factors(self.C, class_weight, self.raw.one[0])
        return np.stack([factors, np.full(len(factors), self.C)])

    @property
    def objective(self) -> Any:
        return self.both.value + self.penalty.value(self.penalized)

    @property
    def null_objective(self) -> Any:
        plus, minus = self.sides.one
        f0 = self.loss.null(plus, minus, self.free or self.scaling is not None)
        # a constant reaches loss 0 there: use φ(0) as the unit
        f0 = np.where(self.one_class_alone, self.loss.null(plus, minus, False), f0)
        return np.maximum(f0, np.finfo(float).tiny)

    @property
    def one_class_alone(self) -> Any:
        """Whether only one side has weight and there is an intercept, (k,)."""
        intercept = self.free or self.scaling is not None
        return (self.sides.one.min(axis=0) == 0) & intercept

    def evaluation(self, z_error: Numbers) -> Any:
        """Return a bound of |F̂ − F|.

        It covers the scores' rounding, |φ(m̂) − φ(m)| ≤ a|m̂ − m| + κ/2 (m̂ − m)², and that of the
        sums.
        """
        steepest = self.loss.curvature
        return (self.slope + steepest / 2 * z_error) * z_error + self.rounding * self.objective

    def balance(self) -> tuple[Any, Any]:
        """Return ρ for both signs, and how far it is from the ρ with Σ ω y a = 0 exactly."""
        A = self.sides.a
        if not self.free:
            return np.ones_like(A), np.zeros(A.shape[1])
        error = self.rounding * np.sqrt(self.sides.one) * np.sqrt(self.sides.aa)
        large, is_known = A.max(axis=0), (2 * error < A).all(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.where(is_known, np.minimum(A[::-1] / A, 1.0), 0.0)
            rho_error = np.where(is_known, error.sum(axis=0) / (large - error.sum(axis=0)), 0.0)
        return rho, rho_error

    def bound(self) -> Any:
        """Return a lower bound of D that includes rounding."""
        rho, rho_error = self.balance()
        v = rho[0] * self.V[0] - rho[1] * self.V[1]
        error = self.rounding * self.slope * np.sqrt(self.XXw)
        error = error + rho_error * np.linalg.norm(self.V, axis=1).sum(axis=0)
        v_b = rho[0] * self.sides.a[0] - rho[1] * self.sides.a[1]
        v, error = self.penalized_sums(v, error, v_b, self.rounding * np.sqrt(self.W) * self.slope)
        sums = self.both
        spread = 3 * sums.value + np.abs(sums.am) + np.sqrt(self.W) * np.sqrt(sums.aa) + sums.aa

        def dual(tau: np.ndarray) -> Any:
            return self.loss.dual(self.sides, rho * tau, rho_error).sum(axis=0)

        D, _ = self.penalty.best(dual, v, error)
        return np.fmax(D - self.rounding * spread, 0.0)

    def gaps(self) -> tuple[Any, Any]:
        """Return a lower bound of each column's optimum, and the gap to it."""
        bound, error = self.bound(), self.evaluation(self.score_error(self.XXw, self.W))
        return bound, (self.objective + error - bound) * (1 + 8 * UNIT)

    def verdict(
        self, bound: np.ndarray, gap: np.ndarray, coef_error: float | None = None
    ) -> dict[str, Any]:
        f, f0 = self.objective, self.null_objective
        if self.penalty.l2 > 0:  # l2/2 ‖w − w*‖² ≤ F(w, b) − F*
            most = float(np.sqrt(2 * max(gap.max(), 0.0)) / np.sqrt(self.penalty.l2))
            coef_error = most if coef_error is None else min(most, coef_error)
        return {
            "objective": float(f.sum()),
            "bound": float(bound.sum()),
            "gap": float(gap.sum()),
            "residual": float("inf") if self.infeasible else float(shares(gap, f0).max()),
            "null_objective": float(f0.sum()),
            "proof": "a dual point",
            "infeasible": self.infeasible or None,
            "coef_error": coef_error,
            "kind": "global",
            "separated": None,
            "share": self.share(),
            "mean_probability": None,
        }

    def share(self) -> Any:
        """Return the observed share of each class."""
        one = self.raw.one
        return one[0] / one.sum(axis=0) if self.one_vs_rest else one[::-1, 0] / one.sum()

    def mean_probability(self) -> Any:
        """Return the mean probability of each class, for the logistic loss.

        There a = 1 − σ(z) for y = +1, and σ(z) for y = −1.
        """
        one, a = self.raw.one, self.raw.a
        mean = (one[0] - a[0] + a[1]) / one.sum(axis=0)
        return mean if self.one_vs_rest else np.array([1 - mean[0], mean[0]])


def shares(gap: Numbers, f0: Numbers) -> Any:
    """Return gap/f₀; 0 for a gap of 0 whatever f₀ is, and ∞ for NaN."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(gap > 0, gap / f0, np.where(np.isnan(gap), np.inf, 0.0))


def quadratic_dual(sums: Terms, rho: np.ndarray, error: np.ndarray, kappa: float) -> Any:
    """Return a lower bound of Σ ω G(ρa), G(a) = a − κa²/2, for every ρ within ``error``."""
    value = rho * sums.a - rho**2 * kappa / 2 * sums.aa
    return value - error * (np.abs(sums.a) + kappa * (rho + error) * sums.aa)
