"""Proportional odds of K ordered classes."""

from typing import NamedTuple

import numpy as np


class ProportionalOdds(NamedTuple):
    """log L = Σ s_i log(σ(c_y − xᵀw) − σ(c_{y−1} − xᵀw)); θ = (w, c), Φ = [X 0], a 0 for a c_k."""

    n_classes: int

    def at(self, Phi, y, s, theta):
        """Return log L, its gradient, and minus its Hessian; −∞ unless c increases."""
        theta, first, I = theta.ravel(), 1 - self.n_classes, np.eye(self.n_classes - 1)
        d, E = np.diff(theta[first:]), np.diff(np.eye(theta.size)[:, first:])  # d = Eᵀθ
        if not (d > 0).all():
            return -np.inf, np.zeros(theta.size), np.eye(theta.size)
        low, high, n = y < len(I), y > 0, np.bincount(y, s, minlength=len(I) + 1)[1:-1]
        Z = np.vstack([-Phi[low], Phi[high]])
        Z[:, first:] = np.vstack([I[y[low]], -I[y[high] - 1]])
        weights, z = np.append(s[low], s[high]), Z @ theta
        a = weights * np.exp(-np.logaddexp(0.0, z))
        H = (Z.T * (a * np.exp(-np.logaddexp(0.0, -z)))) @ Z + (E * n / (2 * np.cosh(d) - 2)) @ E.T
        value = n @ np.log(-np.expm1(-d)) - weights @ np.logaddexp(0.0, -z)
        return value, Z.T @ a + E @ (n / np.expm1(d)), H
