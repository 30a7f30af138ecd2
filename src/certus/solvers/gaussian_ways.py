r"""Densities and sums of Gaussians over a block Z of shape (p, rows), in one of two ways.

*Products*: −½‖Uᵀ(z − μ)‖² is linear in φ(z) = (z_i z_j for i ≤ j, z), so that for all components

    log densities = Θ φ(z) + const        Σ r zzᵀ, Σ r z = Σ r φ(z)

are one product of matrices each, with half the multiplications of Σ_k Uᵀ(z − μ). Diagonal Σ need
φ = (z_i², z) alone. Digits are lost as (|μ|ᵀ|Σ⁻¹||μ|)·10⁻¹⁶: a centre far from 0 in its own
units, or columns that all but repeat each other.

*Differences*: z − μ_k first, for each k. Nothing is lost, wherever the centres are. Components may
go either way, each for itself.
"""

from typing import Any, Protocol

import numpy as np

from .gaussian_covariances import Gaussians

FAR = 1e7  # |μ|ᵀ|Σ⁻¹||μ| + p: at 5e7, products lost 3e-10 nats a row and 2e-8 of Σ
COLUMNS = 64  # p=64, k=32: 25 % less time than differences; wider was not measured
FEW = 4  # columns a component: an estimate from operation counts, not measured
LOG_2PI = float(np.log(2 * np.pi))


class Way(Protocol):
    reference: Any  # what the sums of ``statistics`` are about, (k, p) or 0

    def prepare(self, Z: np.ndarray) -> np.ndarray: ...

    def log_density(self, prepared: np.ndarray) -> np.ndarray: ...

    def sums(self, prepared: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        """Of a block; blocks are added up."""
        ...

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        """(Σ r z, Σ r zzᵀ) about ``reference``, from the sums over all blocks."""
        ...


class Differences:
    """For any shape, by the covariance's own loops over components."""

    def __init__(self, shape: Any, theta: Gaussians):
        self.shape, self.theta, self.reference = shape, theta, theta.mu
        p = theta.mu.shape[1]
        self.const = (theta.log_det - p / 2 * LOG_2PI)[:, None]

    def prepare(self, Z: np.ndarray) -> np.ndarray:
        return Z

    def log_density(self, Z: np.ndarray) -> np.ndarray:
        out: np.ndarray = self.shape.squares(Z, self.theta)
        out *= -0.5
        out += self.const
        return out

    def sums(self, Z: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        scatter: tuple[Any, ...] = self.shape.scatter(Z, R, self.theta.mu)
        return scatter

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        return sums[0], sums[1]


class _Products:
    """log density = Θφ + const."""

    reference = 0.0

    def __init__(self, theta: Gaussians, quadratic: np.ndarray, linear: np.ndarray):
        p = theta.mu.shape[1]
        self.p, self.Theta = p, np.hstack([quadratic, linear])
        squares = np.einsum("kp,kp->k", theta.mu, linear)
        self.const = (theta.log_det - p / 2 * LOG_2PI - squares / 2)[:, None]

    def log_density(self, features: np.ndarray) -> np.ndarray:
        out = np.dot(self.Theta, features)
        out += self.const
        return out

    def sums(self, features: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        return (np.dot(R, features.T),)


class FullProducts(_Products):
    """φ: the products i ≤ j, row of the triangle after row, and z."""

    def __init__(self, theta: Gaussians):
        P = np.matmul(theta.U, theta.U.transpose(0, 2, 1))
        i, j = np.triu_indices(P.shape[1])
        twice = np.where(i == j, -0.5, -1.0)
        super().__init__(theta, P[:, i, j] * twice, np.einsum("kij,kj->ki", P, theta.mu))

    def prepare(self, Z: np.ndarray) -> np.ndarray:
        p, n = Z.shape
        features = np.empty((p * (p + 3) // 2, n))
        at = 0
        for i in range(p):
            np.multiply(Z[i], Z[i:], out=features[at : at + p - i])
            at += p - i
        features[at:] = Z
        return features

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        p, (T,) = self.p, sums
        S = np.empty((len(T), p, p))
        i, j = np.triu_indices(p)
        S[:, i, j] = S[:, j, i] = T[:, :-p]
        return T[:, -p:], S


class DiagonalProducts(_Products):
    """φ: z² and z."""

    def __init__(self, theta: Gaussians):
        u2 = theta.U**2
        super().__init__(theta, -0.5 * u2, u2 * theta.mu)

    def prepare(self, Z: np.ndarray) -> np.ndarray:
        p, n = Z.shape
        features = np.empty((2 * p, n))
        np.multiply(Z, Z, out=features[:p])
        features[p:] = Z
        return features

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        (T,) = sums
        return T[:, self.p :], T[:, : self.p]


class TiedProducts:
    """One Σ: rows are whitened once, and Σ r zzᵀ over all components is Σ s zzᵀ."""

    reference = 0.0

    def __init__(self, theta: Gaussians):
        self.p, self.U = theta.mu.shape[1], theta.U
        self.centers = np.dot(theta.mu, theta.U)
        squares = np.einsum("kp,kp->k", self.centers, self.centers)
        self.const = (theta.log_det - self.p / 2 * LOG_2PI - squares / 2)[:, None]

    def prepare(self, Z: np.ndarray) -> np.ndarray:
        return Z

    def log_density(self, Z: np.ndarray) -> np.ndarray:
        V = np.dot(self.U.T, Z)
        out = np.dot(self.centers, V)
        out += self.const
        out -= np.einsum("ij,ij->j", V, V) / 2
        return out

    def sums(self, Z: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        Y = Z * np.sqrt(R.sum(axis=0))
        return np.dot(R, Z.T), np.dot(Y, Y.T)

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        return sums[0], sums[1]


class Apart:
    """Products for the components that are near, differences for those that are far."""

    def __init__(self, shape: Any, theta: Gaussians, far: np.ndarray, by_products: Any):
        self.far, self.near = np.flatnonzero(far), np.flatnonzero(~far)
        self.products = by_products(Gaussians(*(part[self.near] for part in theta)))
        self.differences = Differences(shape, Gaussians(*(part[self.far] for part in theta)))
        self.reference = np.where(far[:, None], theta.mu, 0.0)

    def prepare(self, Z: np.ndarray) -> Any:
        return Z, self.products.prepare(Z)

    def log_density(self, prepared: Any) -> np.ndarray:
        Z, features = prepared
        out = np.empty((len(self.reference), Z.shape[1]))
        out[self.near] = self.products.log_density(features)
        out[self.far] = self.differences.log_density(Z)
        return out

    def sums(self, prepared: Any, R: np.ndarray) -> tuple[Any, ...]:
        Z, features = prepared
        near: tuple[Any, ...] = self.products.sums(features, R[self.near])
        return *near, *self.differences.sums(Z, R[self.far])

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        near, far = self.products.statistics(sums[:1]), sums[1:]
        A, S = (np.empty((len(self.reference), *part.shape[1:])) for part in near)
        for whole, of_near, of_far in zip((A, S), near, far, strict=True):
            whole[self.near], whole[self.far] = of_near, of_far
        return A, S


def way_of(shape: Any, theta: Gaussians) -> Way:
    """Products where they keep the digits and cost less, else differences."""
    far = cancelled(shape, theta) > FAR
    k, p = theta.mu.shape
    if shape.shared:
        return Differences(shape, theta) if far.any() else TiedProducts(theta)
    full = shape.name == "full"
    if far.all() or (full and not products_pay(k - int(far.sum()), p)):
        return Differences(shape, theta)
    by_products: Any = FullProducts if full else DiagonalProducts
    way: Way = Apart(shape, theta, far, by_products) if far.any() else by_products(theta)
    return way


def products_pay(k: int, p: int) -> bool:
    """Of full covariances: do k components pay for the products of a row?"""
    return p <= COLUMNS and FEW * k >= p


def cancelled(shape: Any, theta: Gaussians) -> np.ndarray:
    """(k,) what is added up to an expected p: |μ|ᵀ|Σ⁻¹||μ| and the same of a deviation, at most."""
    k, p = theta.mu.shape
    size = np.abs(theta.mu) + np.sqrt(shape.diagonals(theta.cov, k))
    if theta.U.ndim == 2 and not shape.shared:
        return np.asarray(np.einsum("kp,kp->k", size**2, theta.U**2))
    U = np.broadcast_to(theta.U, (k, p, p))
    P = np.abs(np.matmul(U, U.transpose(0, 2, 1)))
    return np.asarray(np.einsum("ki,kij,kj->k", size, P, size))
