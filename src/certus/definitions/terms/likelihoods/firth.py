"""Firth's logistic regression."""

from typing import NamedTuple

import numpy as np


class Firth(NamedTuple):
    """log L + ½ log det H for two classes, H = Σ s_i v_i φ_iφ_iᵀ, v = p(1 − p)."""

    def at(self, Phi, y, s, theta):
        """Return the value, its gradient Σ s (y − p + vq(½ − p)) φ with q = φᵀH⁻¹φ, and H."""
        z = Phi @ theta[0]
        p = np.exp(-np.logaddexp(0.0, -z))
        v = np.exp(-np.logaddexp(0.0, -z) - np.logaddexp(0.0, z))
        _, R = np.linalg.qr(np.sqrt(s * v)[:, None] * Phi)
        h = v * (np.linalg.lstsq(R.T, Phi.T)[0] ** 2).sum(axis=0)
        log_likelihood = -(s @ np.logaddexp(0.0, np.where(y == 1, -z, z)))
        gradient = Phi.T @ (s * (y - p + h * (0.5 - p)))
        return log_likelihood + np.log(np.abs(np.diag(R)) + 1e-300).sum(), gradient, R.T @ R
