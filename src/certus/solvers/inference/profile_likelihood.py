r"""Likelihood-ratio tests and intervals of single coefficients.

    D(β) = 2(max log L − max_{tᵀθ = β} log L)

D(β) is compared with a chi² of one degree of freedom; the ends of an interval solve D(β) = q. θ is
relative to the maximum, in the units of B, in which the information at the maximum is I. Each
constrained maximum is computed by Newton's method in the plane tᵀθ = β,

    δ = −H⁻¹g + H⁻¹t·(tᵀH⁻¹g)/(tᵀH⁻¹t)

and each end by Newton's method for √D, which is nearly linear, with D′ = 2(gᵀH⁻¹t)/(tᵀH⁻¹t); D is
convex, so its root can be bracketed.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ...data.rows import Rows
from ...exceptions import InferenceError
from ...runtime.pool import blas_limiter
from .likelihood import LikelihoodPoint, SpectralInverse

MAX_ITERATIONS = 100
NEWTON_DECREMENT_TOL = 1e-12  # of log L: a smaller gain does not affect D
DEVIANCE_RTOL = 1e-9  # of D(β) = q
MIN_STEP_SHARE = 1e-9  # of β: a smaller step towards it makes no progress


class ProfiledLikelihood(Protocol):
    """Interface: −log L, or a penalised one, of coefficients Tθ, ordered by class."""

    @property
    def rows(self) -> Rows: ...

    @property
    def n_classes(self) -> int: ...

    @property
    def T(self) -> np.ndarray: ...

    def at(self, theta: np.ndarray) -> LikelihoodPoint: ...


class _Optimum(NamedTuple):
    theta: np.ndarray
    point: LikelihoodPoint
    inverse: SpectralInverse


class Profile:
    """Profile of a likelihood, started near its maximum."""

    def __init__(self, likelihood: ProfiledLikelihood, start: np.ndarray, B: np.ndarray):
        self.likelihood, self.start, self.B = likelihood, start, B
        T = np.kron(np.eye(likelihood.n_classes - 1), likelihood.T)
        self.first, self.T = T @ start, T @ B  # coefficients: first + T θ
        with blas_limiter.for_work(likelihood.rows.shape):
            self.best = self._maximize(np.zeros(B.shape[1]), None)

    def deviance(self, j: int, beta: float) -> float:
        """D(β) of the j-th coefficient, ordered by class."""
        with blas_limiter.for_work(self.likelihood.rows.shape):
            return self._at(j, beta, self.best)[0]

    def end(self, j: int, side: int, q: float) -> float:
        """β above (side 1) or below (−1) the estimate, with D(β) = q."""
        with blas_limiter.for_work(self.likelihood.rows.shape):
            return self._end(j, side, q)

    def _end(self, j: int, side: int, q: float) -> float:
        t = self.T[j]
        estimate = float(self.first[j] + t @ self.best.theta)
        variance = float(t @ self.best.inverse.times(t))
        step = float(np.sqrt(q * variance))  # away from the estimate
        lower, upper, start = 0.0, np.inf, self.best
        for _ in range(MAX_ITERATIONS):
            deviance, slope, start = self._at(j, estimate + side * step, start)
            if abs(deviance - q) <= DEVIANCE_RTOL * q:
                return estimate + side * step
            lower, upper = (step, upper) if deviance < q else (lower, step)
            root = np.sqrt(max(deviance, 0.0))
            rise = side * slope / (2 * root) if root > 0 else 0.0
            step = step - (root - np.sqrt(q)) / rise if rise > 0 else np.inf
            if not lower < step < upper:
                step = 2 * lower if upper == np.inf else (lower + upper) / 2
        raise InferenceError(
            "the likelihood hardly decreases in some direction: the classes are nearly separated. "
            "Use Wald intervals (kind='wald') with care"
        )

    def _at(self, j: int, beta: float, start: _Optimum) -> tuple[float, float, _Optimum]:
        """D, D′ and the constrained optimum."""
        t = self.T[j]
        along = start.inverse.times(t)
        left = beta - self.first[j] - t @ start.theta
        theta = start.theta + along * (left / (t @ along))
        point = self._point(theta)
        if not np.isfinite(point.loss):  # infeasible, as are thresholds that cross: go half the way
            at = beta - left
            if abs(left) <= MIN_STEP_SHARE * abs(at):
                return np.inf, np.nan, start
            return self._at(j, beta, self._at(j, at + left / 2, start)[2])
        optimum = self._maximize(theta, t, point)
        along = optimum.inverse.times(t)
        slope = 2 * float(optimum.point.gradient @ along) / float(t @ along)
        return 2 * (optimum.point.loss - self.best.point.loss), slope, optimum

    def _maximize(
        self, theta: np.ndarray, t: np.ndarray | None, point: LikelihoodPoint | None = None
    ) -> _Optimum:
        """Newton's method from θ; in the plane tᵀθ = const if t is given."""
        point = point or self._point(theta)
        for _ in range(MAX_ITERATIONS):
            inverse = SpectralInverse.of(point.information)
            step = -inverse.times(point.gradient)
            if t is not None:
                along = inverse.times(t)
                step -= along * (t @ step) / (t @ along)
            decrement = -float(point.gradient @ step)
            if decrement <= NEWTON_DECREMENT_TOL:
                return _Optimum(theta, point, inverse)
            size = 1.0
            rounding = 8 * np.finfo(float).eps * abs(point.loss)
            trial = self._point(theta + step)
            while trial.loss > point.loss - 0.25 * size * decrement + rounding and size > 1e-10:
                size /= 2
                trial = self._point(theta + size * step)
            if trial.loss >= point.loss and decrement < 1e-6:  # rounding
                return _Optimum(theta, point, inverse)
            theta, point = theta + size * step, trial
        raise InferenceError("the constrained likelihood did not reach a maximum")

    def _point(self, theta: np.ndarray) -> LikelihoodPoint:
        loss, g, H = self.likelihood.at(self.start + self.B @ theta)
        return LikelihoodPoint(loss, self.B.T @ g, self.B.T @ H @ self.B)
