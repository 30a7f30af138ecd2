r"""Unconstrained parameters of Gaussians around a θ⁰, with the gradient of L + log prior.

    π = softmax(log π⁰ + a)      μ_k = μ⁰_k + C_k u_k / √π⁰_k      U_k = U⁰_k T_k

C_k = (U⁰_k)⁻ᵀ and T is upper triangular with diagonal e^t: at 0 the Hessian is close to a multiple
of I. By Fisher's identity the gradient of L is that of Σ s r log πp with r fixed, so it follows
from the statistics of EM. With M the scatter about the current μ plus εD, and δ the distance of the
weighted mean from μ:

    ∂/∂u = CᵀΣ⁻¹ N δ      ∂/∂T = −U⁰ᵀ M U⁰ T, upper part      ∂/∂t_i = T_ii ∂/∂T_ii + N + ε
"""

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from .covariances import Gaussians


def parametrize(family: Any, theta: Gaussians) -> Any:
    """Parametrization of the family's covariance shape around theta."""
    return PARAMETRIZATIONS[family.shape.name](family, theta)


class _GaussianParametrization:
    """Mixing weights and means, the same for all shapes of covariances."""

    def __init__(self, family: Any, theta: Gaussians):
        self.family, self.base = family, theta
        self.k, self.p = theta.mu.shape
        pi = np.maximum(theta.pi, np.finfo(float).tiny)
        self.log_pi, self.root = np.log(pi), np.sqrt(np.maximum(theta.pi, 1 / family.mass))
        self.start = np.zeros(self.k + self.k * self.p + self.free)

    free: int

    def _weights(self, x: np.ndarray) -> np.ndarray:
        a = self.log_pi + x[: self.k] / self.root
        e = np.exp(a - a.max())
        pi: np.ndarray = e / e.sum()
        return pi

    def _split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return u / √π⁰ (k, p) and the parameters of the covariances."""
        end = self.k * (1 + self.p)
        return x[self.k : end].reshape(self.k, self.p) / self.root[:, None], x[end:]

    def _slopes(self, x: Any, theta: Any, N: Any, delta: np.ndarray, within: np.ndarray) -> Any:
        """Return ∂/∂u and the gradient in the parameters of the covariances."""
        raise NotImplementedError

    def slope(self, x: np.ndarray, theta: Gaussians, statistics: Any) -> np.ndarray:
        """Gradient of L + log prior."""
        N = statistics.N
        means, within = self.family.about_means(statistics, theta)
        delta = means - theta.mu
        a = (N - N.sum() * theta.pi) / self.root
        u, of_covariances = self._slopes(x, theta, N, delta, within)
        return np.concatenate([a, (u / self.root[:, None]).ravel(), of_covariances])


class TriangularParametrization(_GaussianParametrization):
    """One triangular T for each component, or one for all."""

    def __init__(self, family: Any, theta: Gaussians):
        self.matrices = 1 if family.shape.shared else len(theta.mu)
        p = theta.mu.shape[1]
        self.upper = np.triu_indices(p)
        self.diagonal = self.upper[0] == self.upper[1]
        self.free = self.matrices * p * (p + 1) // 2
        super().__init__(family, theta)
        self.U0 = theta.U.reshape(self.matrices, p, p)
        self.C = np.stack([solve_triangular(U, np.eye(p)).T for U in self.U0])
        self.by = np.array([1.0]) if family.shape.shared else self.root

    def _T(self, x: np.ndarray) -> np.ndarray:
        t = self._split(x)[1].reshape(self.matrices, -1) / self.by[:, None]
        T = np.zeros((self.matrices, self.p, self.p))
        T[:, self.upper[0], self.upper[1]] = np.where(self.diagonal, np.exp(t), t)
        return T

    def theta(self, x: np.ndarray) -> Gaussians:
        u, _ = self._split(x)
        mu = self.base.mu + np.einsum(
            "kij,kj->ki", np.broadcast_to(self.C, (self.k, self.p, self.p)), u
        )
        U = np.matmul(self.U0, self._T(x))
        roots = np.stack([solve_triangular(one, np.eye(self.p)).T for one in U])
        cov = np.matmul(roots, roots.transpose(0, 2, 1))
        log_det = np.log(np.einsum("kii->ki", U)).sum(axis=1)
        shaped = self.base.U.shape
        return Gaussians(self._weights(x), mu, cov.reshape(shaped), U.reshape(shaped), log_det)

    def _slopes(self, x: Any, theta: Any, N: Any, delta: np.ndarray, within: np.ndarray) -> Any:
        p, eps, T = self.p, self.family.regularization.epsilon, self._T(x)
        between = delta[:, :, None] * delta[:, None, :] * N[:, None, None]
        if self.matrices == 1 and self.family.shape.shared:
            between, N_of = between.sum(axis=0, keepdims=True), N.sum(keepdims=True)
        else:
            N_of = N
        prior = eps * np.diag(self.family.regularization.D)
        M = within.reshape(self.matrices, p, p) + between + prior
        G = -np.matmul(self.U0.transpose(0, 2, 1), np.matmul(M, np.matmul(self.U0, T)))
        t = G[:, self.upper[0], self.upper[1]]
        t[:, self.diagonal] = np.einsum("kii->ki", T * G) + (N_of + eps)[:, None]
        V = np.einsum(
            "kji,kj->ki",
            np.broadcast_to(theta.U.reshape(-1, p, p), (self.k, p, p)),
            N[:, None] * delta,
        )
        # CᵀUUᵀ = TUᵀ, since CᵀU⁰ = I
        u = np.einsum("kij,kj->ki", np.broadcast_to(T, (self.k, p, p)), V)
        return u, (t / self.by[:, None]).ravel()


class DiagonalParametrization(_GaussianParametrization):
    """Standard deviations σ_kj = σ⁰_kj e^−t; for a spherical Σ, one t for each component."""

    def __init__(self, family: Any, theta: Gaussians):
        k, p = theta.mu.shape
        self.spherical = family.shape.name == "spherical"
        self.free = k if self.spherical else k * p
        super().__init__(family, theta)

    def _t(self, x: np.ndarray) -> np.ndarray:
        t = self._split(x)[1].reshape(self.k, -1) / self.root[:, None]
        return np.broadcast_to(t, (self.k, self.p))

    def theta(self, x: np.ndarray) -> Gaussians:
        U = self.base.U * np.exp(self._t(x))
        mu = self.base.mu + self._split(x)[0] / self.base.U
        return Gaussians(self._weights(x), mu, 1 / U**2, U, np.log(U).sum(axis=1))

    def _slopes(self, x: Any, theta: Any, N: Any, delta: np.ndarray, within: np.ndarray) -> Any:
        eps = self.family.regularization.epsilon
        M = within + N[:, None] * delta**2 + eps * self.family.regularization.D
        t = (N + eps)[:, None] - theta.U**2 * M
        t = t.sum(axis=1, keepdims=True) if self.spherical else t
        return theta.U**2 * N[:, None] * delta / self.base.U, (t / self.root[:, None]).ravel()


PARAMETRIZATIONS: dict[str, Any] = {
    "full": TriangularParametrization,
    "tied": TriangularParametrization,
    "diag": DiagonalParametrization,
    "spherical": DiagonalParametrization,
}
