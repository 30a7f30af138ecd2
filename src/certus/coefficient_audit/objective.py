"""The objective of a preset at given coefficients: value, slopes and curvature, in scaled columns.

    F(v) = Σ sᵢ ℓ(yᵢ, oᵢ + φᵢᵀv) + λ₁ Σ_P |vⱼ| + λ₂/2 Σ_P vⱼ²

φ has a 1 for the intercept, if there is one, and xⱼ/dⱼ; v has b and dⱼwⱼ. P are the penalised ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..losses import Gamma, Logistic, Poisson, Squared
from .presets import Loss, RowFacts

LOSSES: dict[str, Any] = {
    "gaussian": Squared(), "logistic": Logistic(), "poisson": Poisson(), "gamma": Gamma(),
}  # fmt: skip
EPS = float(np.finfo(float).eps)
SUM_ROUNDINGS = 8  # units of ε by which a term of a sum may be off


class Sums(NamedTuple):
    """The loss at a point, with its derivatives."""

    value: float
    slope: np.ndarray
    curvature: np.ndarray


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """Rows as numbers: what a table of coefficients is about."""

    names: tuple[str, ...]  # of the columns of X
    X: np.ndarray  # n × p, unscaled
    y: np.ndarray  # as given: numbers, or 0 and 1 of two classes
    s: np.ndarray | None
    offset: np.ndarray | None
    intercept: bool

    @cached_property
    def null_values(self) -> dict[Loss, float]:
        """Return the null objectives that are known."""
        return {}

    @cached_property
    def weights(self) -> np.ndarray:
        """Return s, 1 without weights."""
        return np.ones(len(self.y)) if self.s is None else self.s

    @cached_property
    def scales(self) -> np.ndarray:
        """Return the standard deviation of each column, divisor Σ s; 1 where it is constant."""
        share = self.weights / self.weights.sum()
        deviation = np.sqrt(share @ (self.X - share @ self.X) ** 2)
        size = np.abs(self.X).max(axis=0, initial=0.0)
        return np.where(deviation > 1e-14 * size, deviation, 1.0)

    def facts(self, working: float) -> RowFacts:
        """Return the numbers that strengths are given in."""
        s = self.weights
        W = float(s.sum())
        share = s / W
        n = float(np.count_nonzero(s))
        y_sd = float(np.sqrt(share @ (self.y - share @ self.y) ** 2))
        # Spark's unbiased variance of weighted rows: divisor W − Σs²/W
        left = W - float(s @ s) / W
        unbiased = float(np.sqrt(W / left)) if left > 0 else 1.0
        return RowFacts(n, W, unbiased, y_sd or 1.0, (y_sd or 1.0) * unbiased, working)

    def with_columns(self, at: int, values: Sequence[np.ndarray]) -> "DesignMatrix":
        """Return the design with other values of some columns, from ``at`` on."""
        X = self.X.copy()
        X[:, at : at + len(values)] = np.column_stack(values)
        return replace(self, X=X)


@dataclass(eq=False)
class Objective:
    """The loss of a design in one metric; penalties are arguments."""

    design: DesignMatrix
    loss: Loss
    standardized: bool
    intercept_penalized: bool
    _cache: dict[bytes, Sums] = field(default_factory=dict)

    @cached_property
    def d(self) -> np.ndarray:
        """Return the scale of each coefficient, that of the intercept first."""
        scales = self.design.scales if self.standardized else np.ones(self.design.X.shape[1])
        return np.concatenate([[1.0], scales]) if self.design.intercept else scales

    @cached_property
    def Phi(self) -> np.ndarray:
        """Return the scaled columns."""
        X = self.design.X
        if self.design.intercept:
            X = np.column_stack([np.ones(len(X)), X])
        return np.asarray(X / self.d)

    @cached_property
    def penalized(self) -> np.ndarray:
        """Return which coefficients are penalised."""
        mask = np.ones(len(self.d), dtype=bool)
        if self.design.intercept:
            mask[0] = self.intercept_penalized
        return mask

    @cached_property
    def target(self) -> np.ndarray:
        """Return y as the loss takes it: classes as −1 and 1; Gaussian without its offset."""
        y = self.design.y
        if self.loss == "logistic":
            return 2 * y - 1
        return (
            y if self.design.offset is None or self.loss != "gaussian" else y - self.design.offset
        )

    def scores(self, v: np.ndarray) -> np.ndarray:
        """Return z of every row."""
        z = self.Phi @ v
        offset = self.design.offset
        return z if offset is None or self.loss == "gaussian" else z + offset

    def sums(self, v: np.ndarray) -> Sums:
        """Return value, slopes and curvature of the loss at v."""
        key = v.tobytes()
        if key not in self._cache:
            if len(self._cache) > 8:
                self._cache.clear()
            self._cache[key] = self._sums(v)
        return self._cache[key]

    def _sums(self, v: np.ndarray) -> Sums:
        s, Phi = self.design.weights, self.Phi
        with np.errstate(all="ignore"):
            value, slope, curvature = LOSSES[self.loss].evaluate(self.target, self.scores(v))
            weighted = Phi.T * (s * curvature)
            return Sums(float(s @ value), Phi.T @ (s * slope), weighted @ Phi)

    def slope_errors(self, v: np.ndarray) -> np.ndarray:
        """Return about how much rounding may change each slope."""
        size = np.abs(self.Phi)
        with np.errstate(all="ignore"):
            _, slope, curvature = LOSSES[self.loss].evaluate(self.target, self.scores(v))
            error = self.design.weights * (np.abs(slope) + curvature * (size @ np.abs(v)))
        return np.asarray(SUM_ROUNDINGS * EPS * (size.T @ error))

    def value(self, v: np.ndarray, l1: float, l2: float) -> float:
        """Return F."""
        u = v[self.penalized]
        with np.errstate(all="ignore"):
            loss = LOSSES[self.loss].evaluate(self.target, self.scores(v))[0]
            return float(self.design.weights @ loss + l1 * np.abs(u).sum() + l2 / 2 * u @ u)

    def working_weights(self, v: np.ndarray) -> float:
        """Return the sum of s times the curvature of the loss, which is that of the rows' weights
        in iteratively reweighted least squares."""
        with np.errstate(all="ignore"):
            curvature = LOSSES[self.loss].evaluate(self.target, self.scores(v))[2]
            total = float(self.design.weights @ np.broadcast_to(curvature, len(self.target)))
        return total if np.isfinite(total) and total > 0 else 1.0

    @property
    def null_value(self) -> float:
        """Return F of the intercept alone; without one, at 0. It is the same in every metric."""
        known = self.design.null_values
        if self.loss not in known:
            known[self.loss] = self._null_value()
        return known[self.loss]

    def _null_value(self) -> float:
        from .optimum import NoOptimumError, minimize

        nothing = np.zeros(len(self.d))
        if not self.design.intercept:
            return self.value(nothing, 0.0, 0.0)
        alone = Objective(
            replace(self.design, X=np.empty((len(self.design.y), 0)), names=()),
            self.loss, False, False,
        )  # fmt: skip
        try:
            best = minimize(alone, 0.0, 0.0, np.zeros(1))
        except NoOptimumError:
            return self.value(nothing, 0.0, 0.0)
        return alone.value(best.v, 0.0, 0.0)
