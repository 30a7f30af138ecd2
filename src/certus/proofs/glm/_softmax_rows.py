r"""The softmax loss of rows by their scores z, with its first and second derivatives.

    ℓ = log Σ_k e^{z_k} − z_y        ∇ℓ = Q − Y        ∇²ℓ = diag Q − QQᵀ

Q_k = e^{z_k}/Σ_l e^{z_l} are the class probabilities, and Y is the indicator of a row's class.
"""

from typing import Any, NamedTuple

import numpy as np


class SoftmaxCurvature(NamedTuple):
    """Curvature ω (diag Q − QQᵀ) of rows."""

    factor: np.ndarray

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> Any:
        Q = np.exp(z - z.max(axis=1, keepdims=True))
        Q /= Q.sum(axis=1, keepdims=True)
        omega = s * self.factor[y.astype(np.intp)]
        return omega[:, None, None] * softmax_curvature(Q)


def softmax_curvature(Q: np.ndarray) -> Any:
    """Return diag Q − QQᵀ of each row, (n, K, K)."""
    h = -Q[:, :, None] * Q[:, None, :]
    k = np.arange(Q.shape[1])
    h[:, k, k] = Q * (np.dot(Q, 1.0 - np.eye(len(k))))  # Q(1 − Q) without cancellation
    return h


class SoftmaxRows(NamedTuple):
    """Loss ω (log Σ_k e^{z_k} − z_y) of rows, with its derivatives."""

    factor: np.ndarray

    def weights(self, y: np.ndarray, s: np.ndarray) -> Any:
        return s * self.factor[y.astype(np.intp)]

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        label, at, omega = y.astype(np.intp), np.arange(len(z)), self.weights(y, s)
        top = z.argmax(axis=1)
        z = z - z[at, top][:, None]
        Q = np.exp(z)
        Q[at, top] = 0.0
        others = Q.sum(axis=1)
        Q[at, top] = 1.0
        Q /= 1 + others[:, None]
        slope = Q.copy()
        slope[at, label] = 0.0
        slope[at, label] = -slope.sum(axis=1)  # Q − 1 as the others' sum: no cancellation
        value = omega * (np.log1p(others) - z[at, label])
        return value, omega[:, None] * slope, omega[:, None, None] * softmax_curvature(Q)
