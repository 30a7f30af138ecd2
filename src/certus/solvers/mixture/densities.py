r"""Densities and sums of Gaussians over a block Z of shape (p, rows).

By differences: z − μ_k is computed first, for each k, so no digits are lost wherever the means are.
For many rows this is done by compiled loops, which skip the zero half of a triangle and rows
without weight.

With one Σ = (UUᵀ)⁻¹ for all, rows are whitened once, v = Uᵀz, and products are enough,

    −½‖v − Uᵀμ‖² = (Uᵀμ)ᵀv − ½‖v‖² − ½‖Uᵀμ‖²        Σ_k Σ r zzᵀ = Σ s zzᵀ

which lose |μ|ᵀ|Σ⁻¹||μ|·10⁻¹⁶: accurate only for means near the origin in units of Σ.
"""

from typing import Any, Protocol

import numpy as np

from ...kernels import compiled_or
from .covariances import CovarianceShape, Gaussians

MAX_CANCELLATION = 1e7  # |μ|ᵀ|Σ⁻¹||μ| + p: at 5e7, products lost 3e-10 nats a row and 2e-8 of Σ
MIN_COMPILED_MULTIPLICATIONS = 1 << 24  # of one pass: fewer do not repay loading compiled code
LOG_2PI = float(np.log(2 * np.pi))


class DensityMethod(Protocol):
    """A way to compute log densities and weighted sums of a block; it can be pickled."""

    reference: Any  # the point that the sums of ``statistics`` are about, (k, p) or 0

    def prepare(self, Z: np.ndarray) -> np.ndarray: ...

    def log_joint(self, prepared: np.ndarray) -> np.ndarray:
        """log π_k N(z | μ_k, Σ_k), (k, rows)."""
        ...

    def sums(self, prepared: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        """Sums over one block; those of all blocks are added."""
        ...

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return Σ r z and Σ r zzᵀ about ``reference``, from the sums over all blocks."""
        ...


class DifferenceDensities:
    """Differences to the means in NumPy, for any shape of covariances."""

    def __init__(self, shape: CovarianceShape, theta: Gaussians):
        self.shape, self.theta, self.reference = shape, theta, theta.mu
        self.const = constants(theta)[:, None]

    def prepare(self, Z: np.ndarray) -> np.ndarray:
        return Z

    def log_joint(self, Z: np.ndarray) -> np.ndarray:
        out: np.ndarray = self.shape.squared_distances(Z, self.theta)
        out *= -0.5
        out += self.const
        return out

    def sums(self, Z: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        scatter: tuple[Any, ...] = self.shape.scatter(Z, R, self.theta.mu)
        return scatter

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        return sums[0], sums[1]


class Compiled:
    """Differences to the means by compiled loops."""

    def __init__(self, _shape: CovarianceShape, theta: Gaussians):
        self.full = theta.U.ndim == 3
        self.kernels.warm()  # if compiling fails, it fails here, where NumPy can take over
        self.U = self.kernels.pack(theta.U) if self.full else theta.U
        self.mu, self.reference, self.shape = theta.mu, theta.mu, theta.cov.shape
        self.const = constants(theta)

    @property
    def kernels(self) -> Any:
        """The module of the loops; no attribute, since modules cannot be pickled."""
        from ...kernels.mixture import diagonal_gaussians, gaussians

        return gaussians if self.full else diagonal_gaussians

    def prepare(self, Z: np.ndarray) -> np.ndarray:
        return Z

    def log_joint(self, Z: np.ndarray) -> np.ndarray:
        out = np.empty((len(self.mu), Z.shape[1]))
        self.kernels.log_densities(Z, self.mu, self.U, self.const, out)
        return out

    def sums(self, Z: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        A, S = np.empty(self.mu.shape), np.empty(self.shape)
        self.kernels.moments(Z, R, self.mu, A, S)
        return A, S

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        return sums[0], sums[1]


class TiedProducts:
    """Products for one common Σ: rows are whitened once, and Σ_k Σ r zzᵀ = Σ s zzᵀ."""

    reference = 0.0

    def __init__(self, theta: Gaussians):
        self.p, self.U = theta.mu.shape[1], theta.U
        self.centers = np.dot(theta.mu, theta.U)
        squares = np.einsum("kp,kp->k", self.centers, self.centers)
        self.const = (constants(theta) - squares / 2)[:, None]

    def prepare(self, Z: np.ndarray) -> np.ndarray:
        return Z

    def log_joint(self, Z: np.ndarray) -> np.ndarray:
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


def constants(theta: Gaussians) -> np.ndarray:
    """Constants of the log joint densities: log π + log|U| − (p/2) log 2π, (k,)."""
    out: np.ndarray = log_weights(theta) + theta.log_det - theta.mu.shape[1] / 2 * LOG_2PI
    return out


def log_weights(theta: Gaussians) -> np.ndarray:
    """Log mixing weights, −∞ for a component without rows."""
    with np.errstate(divide="ignore"):
        return np.log(theta.pi)


def density_method(shape: CovarianceShape, theta: Gaussians, rows: int) -> DensityMethod:
    """Choose products where one common Σ allows them, else differences."""
    if shape.shared:
        accurate = cancellation(theta) <= MAX_CANCELLATION
        return TiedProducts(theta) if accurate else DifferenceDensities(shape, theta)
    large = rows * theta.cov.size >= MIN_COMPILED_MULTIPLICATIONS
    differences = compiled_or(Compiled, DifferenceDensities) if large else DifferenceDensities
    method: DensityMethod = differences(shape, theta)
    return method


def cancellation(theta: Gaussians) -> float:
    """Upper bound on the terms that cancel to a squared distance of about p, |μ|ᵀ|Σ⁻¹||μ| + …."""
    size = np.abs(theta.mu) + np.sqrt(np.diag(theta.cov))
    P = np.abs(np.dot(theta.U, theta.U.T))
    return float(np.einsum("ki,ij,kj->k", size, P, size).max())
