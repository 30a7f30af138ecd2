r"""The softmax loss of rows by their scores z, with its first and second derivatives.

    ℓ = log Σ_k e^{z_k} − z_y        ∇ℓ = Q − Y        ∇²ℓ = diag Q − QQᵀ

Q_k = e^{z_k}/Σ_l e^{z_l} are the probabilities of the classes, and Y is 1 for a row's own.
"""

from typing import Any, NamedTuple

import numpy as np


class SoftmaxBend(NamedTuple):
    """ω (diag Q − QQᵀ)."""

    factor: np.ndarray

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> Any:
        Q = np.exp(z - z.max(axis=1, keepdims=True))
        Q /= Q.sum(axis=1, keepdims=True)
        omega = s * self.factor[y.astype(np.intp)]
        return omega[:, None, None] * bend_of(Q)


def bend_of(Q: np.ndarray) -> Any:
    """diag Q − QQᵀ, row by row, (n, K, K)."""
    h = -Q[:, :, None] * Q[:, None, :]
    k = np.arange(Q.shape[1])
    h[:, k, k] = Q * (np.dot(Q, 1.0 - np.eye(len(k))))  # Q(1 − Q), all its digits
    return h


class SoftmaxRows(NamedTuple):
    """ω (log Σ_k e^{z_k} − z_y) of rows, with its derivatives."""

    factor: np.ndarray

    def weights(self, y: np.ndarray, s: np.ndarray) -> Any:
        return s * self.factor[y.astype(np.intp)]

    def __call__(self, y: np.ndarray, s: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        own, at, omega = y.astype(np.intp), np.arange(len(z)), self.weights(y, s)
        top = z.argmax(axis=1)
        z = z - z[at, top][:, None]
        Q = np.exp(z)
        Q[at, top] = 0.0
        others = Q.sum(axis=1)
        Q[at, top] = 1.0
        Q /= 1 + others[:, None]
        slope = Q.copy()
        slope[at, own] = 0.0
        slope[at, own] = -slope.sum(axis=1)  # Q − 1 as the others' sum, with all its digits
        value = omega * (np.log1p(others) - z[at, own])
        return value, omega[:, None] * slope, omega[:, None, None] * bend_of(Q)
