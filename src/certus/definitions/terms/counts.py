"""Bernoulli, Poisson and multinomial families, with parameters ``theta`` (K, p) of K components.

    log p(x_i | θ_k) = scores_ik + base_i

``fitted`` takes Σ_i w_ik x_i and Σ_i w_ik of each component, and returns the maximum likelihood θ.
"""

import math
from typing import NamedTuple

import numpy as np


class Bernoulli(NamedTuple):
    """Entry j is 1 with probability θ_j, else 0; fractions are allowed."""

    def allows(self, X, theta):
        return all(((A >= 0) & (A <= 1)).all() for A in (X, theta))

    def scores(self, X, theta):
        yes, no = (np.log(np.maximum(part, 5e-324)) for part in (theta, 1 - theta))
        return X @ yes.T + (1 - X) @ no.T

    def base(self, X):
        return np.zeros(len(X))

    def fitted(self, sums, n):
        return np.minimum(sums / n[:, None], 1.0)


class Poisson(NamedTuple):
    """Entry j is a count with mean θ_j."""

    def allows(self, X, theta):
        return (X >= 0).all() and (theta >= 0).all()

    def scores(self, X, theta):
        return X @ np.log(np.maximum(theta, 5e-324)).T - theta.sum(axis=1)

    def base(self, X):
        return -np.vectorize(math.lgamma, otypes=[float])(X + 1).sum(axis=1)

    def fitted(self, sums, n):
        return sums / n[:, None]


class Multinomial(NamedTuple):
    """The row's counts are drawn from columns with probabilities θ_j."""

    def allows(self, X, theta):
        error = np.abs(theta.sum(axis=1) - 1)
        return (X >= 0).all() and (theta >= 0).all() and (error <= 1e-9).all()

    def scores(self, X, theta):
        return X @ np.log(np.maximum(theta, 5e-324)).T

    def base(self, X):
        log_factorial = np.vectorize(lambda count: math.lgamma(count + 1), otypes=[float])
        return log_factorial(X.sum(axis=1)) - log_factorial(X).sum(axis=1)

    def fitted(self, sums, n):
        return sums / np.maximum(sums.sum(axis=1, keepdims=True), 5e-324)
