r"""Likelihood-ratio tests and intervals of single coefficients.

    D(β) = 2(max log L − max_{tᵀθ = β} log L)

The test of β compares D(β), the ends of an interval solve D(β) = q, with a chi² of one degree of
freedom. θ is counted from the maximum in the units of B, where the information is I at first. Each
constrained maximum is found by Newton's method inside the plane tᵀθ = β,

    δ = −H⁻¹g + H⁻¹t·(tᵀH⁻¹g)/(tᵀH⁻¹t)

and an end by Newton's method for √D, which is close to a line, with D′ = 2(gᵀH⁻¹t)/(tᵀH⁻¹t); D is
convex, so that its root can be bracketed.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ...data.rows import Rows
from ...exceptions import InferenceError
from ...runtime.pool import blas_limiter
from .likelihood import Inverse, Point

ITERATIONS = 100
DECREMENT = 1e-12  # of log L, below which a step gains nothing that D shows
ROOT = 1e-9  # relative, of D


class Likelihood(Protocol):
    """−log L of coefficients Tθ, class after class, or what stands in its place."""

    @property
    def rows(self) -> Rows: ...

    @property
    def n_classes(self) -> int: ...

    @property
    def T(self) -> np.ndarray: ...

    def at(self, theta: np.ndarray) -> Point: ...


class _Best(NamedTuple):
    theta: np.ndarray
    point: Point
    inverse: Inverse


class Profile:
    """Of a likelihood without a penalty, from its maximum (or nearly)."""

    def __init__(self, likelihood: Likelihood, start: np.ndarray, B: np.ndarray):
        self.likelihood, self.start, self.B = likelihood, start, B
        T = np.kron(np.eye(likelihood.n_classes - 1), likelihood.T)
        self.first, self.T = T @ start, T @ B  # coefficients: first + T θ
        with blas_limiter.for_work(likelihood.rows.shape):
            self.best = self._maximise(np.zeros(B.shape[1]), None)

    def deviance(self, j: int, beta: float) -> float:
        """D(β) of the j-th coefficient, class after class."""
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
        near, far, start = 0.0, np.inf, self.best
        for _ in range(ITERATIONS):
            deviance, slope, start = self._at(j, estimate + side * step, start)
            if abs(deviance - q) <= ROOT * q:
                return estimate + side * step
            near, far = (step, far) if deviance < q else (near, step)
            root = np.sqrt(max(deviance, 0.0))
            rise = side * slope / (2 * root) if root > 0 else 0.0
            step = step - (root - np.sqrt(q)) / rise if rise > 0 else np.inf
            if not near < step < far:
                step = 2 * near if far == np.inf else (near + far) / 2
        raise InferenceError(
            "the likelihood hardly falls in some direction: the classes are nearly separated. Use "
            "Wald intervals (kind='wald') with care"
        )

    def _at(self, j: int, beta: float, start: _Best) -> tuple[float, float, _Best]:
        """(D, D′, where)."""
        t = self.T[j]
        along = start.inverse.times(t)
        left = beta - self.first[j] - t @ start.theta
        theta = start.theta + along * (left / (t @ along))
        found = self._maximise(theta, t)
        along = found.inverse.times(t)
        slope = 2 * float(found.point.gradient @ along) / float(t @ along)
        return 2 * (found.point.loss - self.best.point.loss), slope, found

    def _maximise(self, theta: np.ndarray, t: np.ndarray | None) -> _Best:
        """Newton's method from θ, inside the plane tᵀθ = const where t is given."""
        point = self._point(theta)
        for _ in range(ITERATIONS):
            inverse = Inverse.of(point.information)
            step = -inverse.times(point.gradient)
            if t is not None:
                along = inverse.times(t)
                step -= along * (t @ step) / (t @ along)
            decrement = -float(point.gradient @ step)
            if decrement <= DECREMENT:
                return _Best(theta, point, inverse)
            size = 1.0
            rounding = 8 * np.finfo(float).eps * abs(point.loss)
            trial = self._point(theta + step)
            while trial.loss > point.loss - 0.25 * size * decrement + rounding and size > 1e-10:
                size /= 2
                trial = self._point(theta + size * step)
            if trial.loss >= point.loss and decrement < 1e-6:  # rounding
                return _Best(theta, point, inverse)
            theta, point = theta + size * step, trial
        raise InferenceError("the constrained likelihood came to no maximum")

    def _point(self, theta: np.ndarray) -> Point:
        loss, g, H = self.likelihood.at(self.start + self.B @ theta)
        return Point(loss, self.B.T @ g, self.B.T @ H @ self.B)
