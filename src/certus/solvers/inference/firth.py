r"""Penalised likelihood of Firth's logistic regression, for tests and intervals.

    ℓ* = log L + ½ log det I,   ∂ℓ* = Σ s (y − p + vq(½ − p)) φ,   v = p(1 − p),  q = φᵀI⁻¹φ

in the columns φ of ``likelihood``. ``profile_likelihood`` needs the loss −ℓ*, its gradient and a
matrix for its steps, Σ s v(1 + vq) φφᵀ. The penalty is always that of all columns, also if a
coefficient is fixed, in D(β) = 2(max ℓ* − max_{θ_j = β} ℓ*), and in the comparison with the
intercept alone (Heinze and Schemper 2002).
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ...exceptions import InferenceError
from .likelihood import Likelihood, LikelihoodColumns, LikelihoodPoint, SpectralInverse

MAX_ITERATIONS = 200
MAX_CONDITION = 1e10  # of the information: beyond, ten of sixteen digits are lost
NEWTON_DECREMENT_TOL = 1e-13  # of ℓ*, absolute


class PenalizedLikelihood:
    """−ℓ* of a likelihood of two classes whose information has the given rank."""

    n_classes = 2

    def __init__(self, likelihood: Likelihood, rank: int):
        self.likelihood, self.rank = likelihood, rank

    @property
    def rows(self) -> Rows:
        return self.likelihood.rows

    @property
    def T(self) -> np.ndarray:
        return self.likelihood.T

    def at(self, theta: np.ndarray) -> LikelihoodPoint:
        """Loss, gradient and step matrix at θ, in two passes: O(n·m²) operations."""
        likelihood = self.likelihood
        loss, gradient, information = likelihood.at(theta)
        inverse = SpectralInverse.of(information, likelihood.noise)
        if len(inverse.sigma) < self.rank:
            return LikelihoodPoint(np.inf, gradient, information)
        penalty, held = likelihood.dense.reduce(
            _penalty, likelihood.columns, theta, inverse.B, square=True
        )
        return LikelihoodPoint(loss - float(np.log(inverse.sigma).sum()), gradient + penalty, held)

    def require_digits(self, theta: np.ndarray) -> None:
        """Raise InferenceError if columns repeat others so nearly that ℓ* loses its digits."""
        inverse = SpectralInverse.of(self.likelihood.at(theta).information, self.likelihood.noise)
        sigma = inverse.sigma
        is_singular = len(sigma) < self.rank or sigma.max() ** 2 > MAX_CONDITION * sigma.min() ** 2
        if is_singular:
            raise InferenceError(
                "columns repeat others so nearly that tests and intervals by penalised likelihood "
                "are lost to rounding: drop some of these columns, or use differences of columns "
                "in place of the columns"
            )

    def without_columns(self) -> float:
        """Minimum of −ℓ* with the intercept alone."""
        likelihood = self.likelihood
        theta = np.zeros(likelihood.m)
        point = self.at(theta)
        if not likelihood.intercept:
            return point.loss
        for _ in range(MAX_ITERATIONS):
            step = -point.gradient[0] / point.information[0, 0]
            if abs(step * point.gradient[0]) <= NEWTON_DECREMENT_TOL:
                return point.loss
            trial, trial_theta = None, theta
            while trial is None or trial.loss > point.loss + NEWTON_DECREMENT_TOL:
                trial_theta = theta.copy()
                trial_theta[0] += step
                trial, step = self.at(trial_theta), step / 2
            theta, point = trial_theta, trial
        raise InferenceError("the likelihood of the intercept alone did not reach a maximum")


def _penalty(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    columns: LikelihoodColumns,
    theta: np.ndarray,
    B: np.ndarray,
) -> Any:
    """Σ s vq(p − ½) φ and Σ s v(1 + vq) φφᵀ of one block."""
    Phi = columns.phi(X)
    z = np.dot(Phi, theta)
    e = np.exp(-np.abs(z))
    v = e / (1 + e) ** 2
    u = np.dot(Phi, B)
    h = v * np.einsum("ij,ij->i", u, u)
    weight = np.ones(len(z)) if s is None else s
    half = np.sign(z) * (1 - e) / (1 + e) / 2  # p − ½
    return np.dot(Phi.T, weight * h * half), np.dot(Phi.T, (weight * v * (1 + h))[:, None] * Phi)
