r"""Densities and sums of Gaussians over a block Z of shape (p, rows).

By differences: z − μ_k first, for each k. Nothing is lost, wherever the centres are. Many rows go
by compiled loops, which skip the half of a triangle that is 0 and rows without weight.

One Σ = (UUᵀ)⁻¹ for all whitens the rows once, v = Uᵀz, and needs products alone,

    −½‖v − Uᵀμ‖² = (Uᵀμ)ᵀv − ½‖v‖² − ½‖Uᵀμ‖²        Σ_k Σ r zzᵀ = Σ s zzᵀ

which lose digits as (|μ|ᵀ|Σ⁻¹||μ|)·10⁻¹⁶: near the centre of the data in units of Σ alone.
"""

from typing import Any, Protocol

import numpy as np

from ...kernels import compiled_or
from .covariances import CovarianceShape, Gaussians

FAR = 1e7  # |μ|ᵀ|Σ⁻¹||μ| + p: at 5e7, products lost 3e-10 nats a row and 2e-8 of Σ
COMPILED = 1 << 24  # multiplications of a look: fewer do not pay for loading what is compiled
LOG_2PI = float(np.log(2 * np.pi))


class Way(Protocol):
    reference: Any  # what the sums of ``statistics`` are about, (k, p) or 0

    def prepare(self, Z: np.ndarray) -> np.ndarray: ...

    def log_joint(self, prepared: np.ndarray) -> np.ndarray:
        """log π_k N(z | μ_k, Σ_k), (k, rows)."""
        ...

    def sums(self, prepared: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        """Of a block; blocks are added up."""
        ...

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        """(Σ r z, Σ r zzᵀ) about ``reference``, from the sums over all blocks."""
        ...


class Differences:
    """For any shape, by the covariance's own loops over components."""

    def __init__(self, shape: CovarianceShape, theta: Gaussians):
        self.shape, self.theta, self.reference = shape, theta, theta.mu
        self.const = constants(theta)[:, None]

    def prepare(self, Z: np.ndarray) -> np.ndarray:
        return Z

    def log_joint(self, Z: np.ndarray) -> np.ndarray:
        out: np.ndarray = self.shape.squares(Z, self.theta)
        out *= -0.5
        out += self.const
        return out

    def sums(self, Z: np.ndarray, R: np.ndarray) -> tuple[Any, ...]:
        scatter: tuple[Any, ...] = self.shape.scatter(Z, R, self.theta.mu)
        return scatter

    def statistics(self, sums: tuple[Any, ...]) -> tuple[Any, Any]:
        return sums[0], sums[1]


class Compiled:
    """Differences for many rows."""

    def __init__(self, _shape: CovarianceShape, theta: Gaussians):
        from ...kernels.mixture import diagonal_gaussians, gaussians

        full = theta.U.ndim == 3
        self.kernels: Any = gaussians if full else diagonal_gaussians
        self.kernels.warm()  # a kernel that cannot be compiled fails here, where NumPy takes over
        self.U = gaussians.pack(theta.U) if full else theta.U
        self.mu, self.reference, self.shape = theta.mu, theta.mu, theta.cov.shape
        self.const = constants(theta)

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
    """One Σ: rows are whitened once, and Σ r zzᵀ over all components is Σ s zzᵀ."""

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
    """(k,) log π + log|U| − (p/2) log 2π."""
    out: np.ndarray = log_shares(theta) + theta.log_det - theta.mu.shape[1] / 2 * LOG_2PI
    return out


def log_shares(theta: Gaussians) -> np.ndarray:
    with np.errstate(divide="ignore"):  # a component of nothing
        return np.log(theta.pi)


def way_of(shape: CovarianceShape, theta: Gaussians, rows: int) -> Way:
    """Products where one Σ allows them, else differences."""
    if shape.shared:
        return TiedProducts(theta) if cancelled(theta) <= FAR else Differences(shape, theta)
    large = rows * theta.cov.size >= COMPILED
    way: Way = (compiled_or(Compiled, Differences) if large else Differences)(shape, theta)
    return way


def cancelled(theta: Gaussians) -> float:
    """What is added up to an expected p: |μ|ᵀ|Σ⁻¹||μ| and the same of a deviation, at most."""
    size = np.abs(theta.mu) + np.sqrt(np.diag(theta.cov))
    P = np.abs(np.dot(theta.U, theta.U.T))
    return float(np.einsum("ki,ij,kj->k", size, P, size).max())
