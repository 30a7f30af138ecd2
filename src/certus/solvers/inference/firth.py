r"""The penalised likelihood of Firth's logistic regression, for tests and intervals.

    ℓ* = log L + ½ log det I,   ∂ℓ* = Σ s (y − p + vq(½ − p)) φ,   v = p(1 − p),  q = φᵀI⁻¹φ

in the columns φ of ``likelihood``. ``profile_likelihood`` asks for the loss −ℓ*, its
gradient and a matrix for its steps, Σ s v(1 + vq) φφᵀ. The penalty is that of all columns, also
where a coefficient is held: so are D(β) = 2(max ℓ* − max_{θ_j = β} ℓ*) and the comparison with the
intercept alone (Heinze and Schemper 2002).
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ...exceptions import InferenceError
from .likelihood import Inverse, Likelihood, Point

ITERATIONS = 200
MAX_CONDITION = 1e10  # of the information, whose squares have then lost ten of sixteen digits
DECREMENT = 1e-13  # of ℓ*


class PenalisedLikelihood:
    """−ℓ* of the rows of a likelihood of two classes, whose information has the given rank."""

    n_classes = 2

    def __init__(self, likelihood: Likelihood, rank: int):
        self.likelihood, self.rank = likelihood, rank

    @property
    def rows(self) -> Rows:
        return self.likelihood.rows

    @property
    def T(self) -> np.ndarray:
        return self.likelihood.T

    def at(self, theta: np.ndarray) -> Point:
        """Two passes: O(n·m²) operations."""
        of = self.likelihood
        loss, gradient, information = of.at(theta)
        inverse = Inverse.of(information, of.noise)
        if len(inverse.sigma) < self.rank:
            return Point(np.inf, gradient, information)
        penalty, held = of.dense.reduce(_penalty, of, theta, inverse.B, square=True)
        return Point(loss - float(np.log(inverse.sigma).sum()), gradient + penalty, held)

    def require_digits(self, theta: np.ndarray) -> None:
        """Raise where columns repeat others so nearly that squares of them cannot be compared."""
        inverse = Inverse.of(self.likelihood.at(theta).information, self.likelihood.noise)
        sigma = inverse.sigma
        lost = len(sigma) < self.rank or sigma.max() ** 2 > MAX_CONDITION * sigma.min() ** 2
        if lost:
            raise InferenceError(
                "columns repeat others so nearly that tests and intervals by penalised likelihood "
                "cannot be told from rounding: drop some of these columns, or use differences of "
                "columns in place of the columns"
            )

    def without_columns(self) -> float:
        """The least −ℓ* of the intercept alone."""
        of = self.likelihood
        theta = np.zeros(of.m)
        point = self.at(theta)
        if not of.intercept:
            return point.loss
        for _ in range(ITERATIONS):
            step = -point.gradient[0] / point.information[0, 0]
            if abs(step * point.gradient[0]) <= DECREMENT:
                return point.loss
            trial, there = None, theta
            while trial is None or trial.loss > point.loss + DECREMENT:
                there = theta.copy()
                there[0] += step
                trial, step = self.at(there), step / 2
            theta, point = there, trial
        raise InferenceError("the likelihood of the intercept alone came to no maximum")


def _penalty(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    of: Likelihood,
    theta: np.ndarray,
    B: np.ndarray,
) -> Any:
    """Σ s vq(p − ½) φ and Σ s v(1 + vq) φφᵀ of one block."""
    Phi = of.phi(X)
    z = np.dot(Phi, theta)
    e = np.exp(-np.abs(z))
    v = e / (1 + e) ** 2
    u = np.dot(Phi, B)
    h = v * np.einsum("ij,ij->i", u, u)
    weight = np.ones(len(z)) if s is None else s
    half = np.sign(z) * (1 - e) / (1 + e) / 2  # p − ½
    return np.dot(Phi.T, weight * h * half), np.dot(Phi.T, (weight * v * (1 + h))[:, None] * Phi)
