r"""Covariances of four shapes: one for each component, one for all, diagonal, a multiple of I.

    log N(x | μ, Σ) = −½ ‖Uᵀ(x − μ)‖² + log|U| − (p/2) log 2π,        Σ⁻¹ = UUᵀ, U upper triangular

The maximiser, from N_k = Σ s r and the scatter S_k about the new mean:

    Σ_k = (S_k + εD) / (N_k + ε)       ε imaginary rows in each, with the data's variances D
    Σ_k = S_k / N_k + ρ                a number added to the diagonal, as scikit-learn does

Blocks of rows are (p, rows) here, so that loops run along rows.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from .em import Collapsed

LEAST = 1e-14  # of a variance, in units of the data's: below it nothing holds a component
PIVOT = 1e-15  # of a column's variance, given the columns before it: below it there are no digits


class Gaussians(NamedTuple):
    """θ: π, μ and Σ with its factor."""

    pi: np.ndarray  # (k,)
    mu: np.ndarray  # (k, p)
    cov: np.ndarray
    U: np.ndarray
    log_det: np.ndarray  # (k,) log|U|


class Holding(NamedTuple):
    """What keeps covariances from collapsing."""

    epsilon: float  # imaginary rows
    D: np.ndarray  # (p,) their variances
    added: np.ndarray  # (p,) to the diagonal

    @property
    def least(self) -> float:
        """The variance below which a component has collapsed; what is held cannot."""
        return np.finfo(float).tiny if self.epsilon > 0 or self.added.any() else LEAST


class CovarianceShape(Protocol):
    """One of the four shapes: what EM needs of it."""

    name: str
    shared: bool  # one covariance serves all components

    def scatter(self, Z: np.ndarray, R: np.ndarray, mu: np.ndarray) -> tuple[Any, Any]:
        """Sums Σ r(z − μ) and Σ r(z − μ)(z − μ)ᵀ of a block, in this shape."""
        ...

    def within(self, N: np.ndarray, A: np.ndarray, S: np.ndarray) -> np.ndarray:
        """The scatter about the components' own means."""
        ...

    def maximise(
        self, N: np.ndarray, S: np.ndarray, hold: Holding, before: np.ndarray | float
    ) -> np.ndarray:
        """The covariances of the largest expected likelihood and prior."""
        ...

    def factor(self, cov: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
        """Factors of the inverse covariances, and log determinants."""
        ...

    def squares(self, Z: np.ndarray, theta: Gaussians) -> np.ndarray:
        """Squared Mahalanobis distances of a block to every mean."""
        ...

    def diagonals(self, cov: np.ndarray, k: int, /) -> np.ndarray:
        """Variances of the columns, (k, p)."""
        ...

    def matrices(self, cov: np.ndarray, k: int, p: int, /) -> np.ndarray:
        """Whole matrices, (k, p, p)."""
        ...

    def of_matrices(self, S: np.ndarray) -> np.ndarray:
        """Whole matrices in this shape."""
        ...

    def log_prior(self, theta: Gaussians, hold: Holding) -> float:
        """The log of the prior density, without its constant."""
        ...

    def numbers(self, k: int, p: int) -> int:
        """How many free numbers the covariances have."""
        ...


class Full:
    """Σ_k: (k, p, p)."""

    name = "full"
    shared = False

    def scatter(self, Z: np.ndarray, R: np.ndarray, mu: np.ndarray) -> tuple[Any, Any]:
        """(Σ r (z − μ), Σ r (z − μ)(z − μ)ᵀ) of each component."""
        k, p = mu.shape
        A, S = np.empty((k, p)), np.empty((k, p, p))
        for i in range(k):
            Y = Z - mu[i][:, None]
            A[i] = np.dot(Y, R[i])
            Y *= np.sqrt(R[i])
            S[i] = np.dot(Y, Y.T)
        return A, S

    def within(self, N: np.ndarray, A: np.ndarray, S: np.ndarray) -> np.ndarray:
        """The scatter about the new means."""
        moved = A / _root(N)[:, None]
        return S - moved[:, :, None] * moved[:, None, :]

    def maximise(
        self, N: np.ndarray, S: np.ndarray, hold: Holding, before: np.ndarray | float
    ) -> np.ndarray:
        cov = S.copy()
        i = np.arange(S.shape[1])
        cov[:, i, i] += hold.epsilon * hold.D
        cov /= _some(N + hold.epsilon)[:, None, None]
        cov[:, i, i] += hold.added
        return np.where((N + hold.epsilon > 0)[:, None, None], cov, before)

    def factor(self, cov: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
        U = _inverse_roots(cov, least)
        return U, np.log(np.einsum("kii->ki", U)).sum(axis=1)

    def squares(self, Z: np.ndarray, theta: Gaussians) -> np.ndarray:
        """‖Uᵀ(z − μ)‖², (k, rows)."""
        out = np.empty((len(theta.mu), Z.shape[1]))
        for i, (mu, U) in enumerate(zip(theta.mu, theta.U, strict=True)):
            V = np.dot(U.T, Z - mu[:, None])
            np.einsum("ij,ij->j", V, V, out=out[i])
        return out

    def diagonals(self, cov: np.ndarray, _k: int) -> np.ndarray:
        return np.einsum("kii->ki", cov)

    def matrices(self, cov: np.ndarray, _k: int, _p: int) -> np.ndarray:
        return cov

    def of_matrices(self, S: np.ndarray) -> np.ndarray:
        """The scatter of this shape, from matrices (k, p, p)."""
        return S

    def log_prior(self, theta: Gaussians, hold: Holding) -> float:
        traces = np.einsum("i,kij,kij->k", hold.D, theta.U, theta.U)
        return float(-hold.epsilon * (traces / 2 - theta.log_det).sum())

    def numbers(self, k: int, p: int) -> int:
        return k * p * (p + 1) // 2


class Tied(Full):
    """Σ: (p, p), the same for all components."""

    name = "tied"
    shared = True

    def scatter(self, Z: np.ndarray, R: np.ndarray, mu: np.ndarray) -> tuple[Any, Any]:
        A, S = np.empty(mu.shape), np.zeros((mu.shape[1],) * 2)
        for i in range(len(mu)):
            Y = Z - mu[i][:, None]
            A[i] = np.dot(Y, R[i])
            Y *= np.sqrt(R[i])
            S += np.dot(Y, Y.T)
        return A, S

    def within(self, N: np.ndarray, A: np.ndarray, S: np.ndarray) -> np.ndarray:
        moved = A / _root(N)[:, None]
        return S - np.dot(moved.T, moved)

    def maximise(
        self, N: np.ndarray, S: np.ndarray, hold: Holding, before: np.ndarray | float
    ) -> np.ndarray:
        return (S + np.diag(hold.epsilon * hold.D)) / (N.sum() + hold.epsilon) + np.diag(hold.added)

    def factor(self, cov: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
        (U,) = _inverse_roots(cov[None], least)
        return U, np.log(np.diag(U)).sum(keepdims=True)

    def squares(self, Z: np.ndarray, theta: Gaussians) -> np.ndarray:
        out = np.empty((len(theta.mu), Z.shape[1]))
        for i, mu in enumerate(theta.mu):
            V = np.dot(theta.U.T, Z - mu[:, None])
            np.einsum("ij,ij->j", V, V, out=out[i])
        return out

    def diagonals(self, cov: np.ndarray, k: int) -> np.ndarray:
        return np.broadcast_to(np.diag(cov), (k, len(cov)))

    def matrices(self, cov: np.ndarray, k: int, p: int) -> np.ndarray:
        return np.broadcast_to(cov, (k, p, p))

    def of_matrices(self, S: np.ndarray) -> np.ndarray:
        return S.sum(axis=0)

    def log_prior(self, theta: Gaussians, hold: Holding) -> float:
        trace = np.einsum("i,ij,ij->", hold.D, theta.U, theta.U)
        return float(-hold.epsilon * (trace / 2 - theta.log_det.sum()))

    def numbers(self, k: int, p: int) -> int:
        return p * (p + 1) // 2


class Diagonal:
    """σ²: (k, p)."""

    name = "diag"
    shared = False

    def scatter(self, Z: np.ndarray, R: np.ndarray, mu: np.ndarray) -> tuple[Any, Any]:
        A, S = np.empty(mu.shape), np.empty(mu.shape)
        for i in range(len(mu)):
            Y = Z - mu[i][:, None]
            A[i] = np.dot(Y, R[i])
            np.multiply(Y, Y, out=Y)
            S[i] = np.dot(Y, R[i])
        return A, S

    def within(self, N: np.ndarray, A: np.ndarray, S: np.ndarray) -> np.ndarray:
        return np.maximum(S - A * A / _some(N)[:, None], 0.0)

    def maximise(
        self, N: np.ndarray, S: np.ndarray, hold: Holding, before: np.ndarray | float
    ) -> np.ndarray:
        mass = (N + hold.epsilon)[:, None]
        cov = (S + hold.epsilon * hold.D) / _some(mass) + hold.added
        return np.where(mass > 0, cov, before)

    def factor(self, cov: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
        bad = ~(cov >= least).all(axis=1)
        if bad.any():
            raise Collapsed(int(np.argmax(bad)))
        U = 1 / np.sqrt(cov)
        return U, np.log(U).sum(axis=1)

    def squares(self, Z: np.ndarray, theta: Gaussians) -> np.ndarray:
        out = np.empty((len(theta.mu), Z.shape[1]))
        for i, (mu, u) in enumerate(zip(theta.mu, theta.U, strict=True)):
            Y = Z - mu[:, None]
            Y *= u[:, None]
            np.einsum("ij,ij->j", Y, Y, out=out[i])
        return out

    def diagonals(self, cov: np.ndarray, _k: int) -> np.ndarray:
        return cov

    def matrices(self, cov: np.ndarray, _k: int, _p: int) -> np.ndarray:
        return np.stack([np.diag(one) for one in cov])

    def of_matrices(self, S: np.ndarray) -> np.ndarray:
        return np.einsum("kii->ki", S)

    def log_prior(self, theta: Gaussians, hold: Holding) -> float:
        traces = np.dot(theta.U**2, hold.D)
        return float(-hold.epsilon * (traces / 2 - theta.log_det).sum())

    def numbers(self, k: int, p: int) -> int:
        return k * p


class Spherical(Diagonal):
    """σ²I: kept as (k, p) with equal columns; one number a component for people."""

    name = "spherical"

    def maximise(
        self, N: np.ndarray, S: np.ndarray, hold: Holding, before: np.ndarray | float
    ) -> np.ndarray:
        cov = super().maximise(N, S, hold, before)
        return np.repeat(cov.mean(axis=1, keepdims=True), cov.shape[1], axis=1)

    def numbers(self, k: int, p: int) -> int:
        return k


COVARIANCES: dict[str, Any] = {c.name: c for c in (Full(), Tied(), Diagonal(), Spherical())}


def _some(N: np.ndarray) -> np.ndarray:
    return np.where(N > 0, N, 1.0)


def _root(N: np.ndarray) -> np.ndarray:
    return np.sqrt(_some(N))


def _inverse_roots(cov: np.ndarray, least: float) -> np.ndarray:
    """U_k, upper triangular, with UUᵀ = Σ_k⁻¹."""
    diagonal = np.einsum("kii->ki", cov)
    _require((diagonal >= least).all(axis=1))
    size = np.sqrt(diagonal)
    scaled = cov / (size[:, :, None] * size[:, None, :])
    try:
        L = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        L = np.stack([_cholesky(one) for one in scaled])
    _require(np.einsum("kii->ki", L).min(axis=1, initial=np.inf) ** 2 >= PIVOT)
    inverse = np.tril(np.linalg.solve(L, np.broadcast_to(np.eye(cov.shape[1]), L.shape)))
    return np.asarray(inverse.transpose(0, 2, 1) / size[:, :, None])


def _require(fine: np.ndarray) -> None:
    if not fine.all():
        raise Collapsed(int(np.argmin(fine)))


def _cholesky(C: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(np.linalg.cholesky(C))
    except np.linalg.LinAlgError:
        return np.zeros_like(C)
