"""Logistic and softmax models."""

from typing import NamedTuple

import numpy as np


class MultinomialLikelihood(NamedTuple):
    """log L = Σ s_i log p_i,y_i with p_ik ∝ exp(φ_iᵀθ_k), θ_0 = 0; θ has a row for each k > 0."""

    def at(self, Phi, y, s, theta):
        """Return log L, its gradient, and minus its Hessian, class after class."""
        z = np.column_stack([np.zeros(len(Phi)), Phi @ theta.T])
        log_p = z - np.logaddexp.reduce(z, axis=1, keepdims=True)
        p, is_class = np.exp(log_p)[:, 1:], y[:, None] == np.arange(1, len(theta) + 1)
        gradient = (is_class - p).T @ (s[:, None] * Phi)
        W = s[:, None, None] * p[:, :, None] * (np.eye(len(theta)) - p[:, None, :])
        H = np.einsum("ikl,ia,ib->kalb", W, Phi, Phi, optimize=True).reshape([theta.size] * 2)
        return s @ log_p[np.arange(len(y)), y], gradient.ravel(), H
