"""Kernels K(x, z), computed a row of K at a time.

``is_definite``: K has no negative eigenvalue for any rows. γ = "scale" is 1/(p Var X), Var over all
entries of X, and "auto" is 1/p, as in scikit-learn.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Linear(NamedTuple):
    """K(x, z) = xᵀz, in the widest available floats."""

    def rows(self, X):
        X = X.astype(np.longdouble)
        for x in X:
            yield X @ x

    def is_definite(self):
        return True


class RBF(NamedTuple):
    """K(x, z) = exp(−γ‖x − z‖²)."""

    gamma: float | str

    def rows(self, X):
        p, g = X.shape[1], self.gamma
        g = {"scale": 1 / (p * X.var() or 1.0), "auto": 1 / p}[g] if isinstance(g, str) else g
        for x in X:
            yield np.exp(-g * ((X - x) ** 2).sum(axis=1))

    def is_definite(self):
        return isinstance(self.gamma, str) or self.gamma >= 0


class Polynomial(NamedTuple):
    """K(x, z) = (γxᵀz + c)^degree."""

    gamma: float | str
    degree: float = 3.0
    c: float = 0.0

    def rows(self, X):
        p, g = X.shape[1], self.gamma
        g = {"scale": 1 / (p * X.var() or 1.0), "auto": 1 / p}[g] if isinstance(g, str) else g
        for x in X:
            yield (g * (X @ x) + self.c) ** self.degree

    def is_definite(self):
        positive = isinstance(self.gamma, str) or self.gamma >= 0
        return positive and min(self.degree, self.c) >= 0 and self.degree % 1 == 0


class Sigmoid(NamedTuple):
    """K(x, z) = tanh(γxᵀz + c)."""

    gamma: float | str
    c: float = 0.0

    def rows(self, X):
        p, g = X.shape[1], self.gamma
        g = {"scale": 1 / (p * X.var() or 1.0), "auto": 1 / p}[g] if isinstance(g, str) else g
        for x in X:
            yield np.tanh(g * (X @ x) + self.c)

    def is_definite(self):
        return False


class Laplacian(NamedTuple):
    """K(x, z) = exp(−γ Σ_l |x_l − z_l|)."""

    gamma: float

    def rows(self, X):
        for x in X:
            yield np.exp(-self.gamma * np.abs(X - x).sum(axis=1))

    def is_definite(self):
        return self.gamma >= 0


class CosineKernel(NamedTuple):
    """K(x, z) = xᵀz/(‖x‖‖z‖), 0 for rows of length 0."""

    def rows(self, X):
        length = np.linalg.norm(X, axis=1)[:, None]
        X = X / np.where(length > 0, length, 1.0)
        for x in X:
            yield X @ x

    def is_definite(self):
        return True


class PrecomputedKernel(NamedTuple):
    """X is K itself."""

    def rows(self, X):
        yield from X

    def is_definite(self):
        return False


class FunctionKernel(NamedTuple):
    """K(A, B) for all pairs of rows of A and B, by a user's function."""

    f: Callable[..., object]

    def rows(self, X):
        for i in range(len(X)):
            yield np.asarray(self.f(X[i : i + 1], X), dtype=float)[0]

    def is_definite(self):
        return False
