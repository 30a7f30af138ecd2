r"""Covariances of four shapes: one for each component, one for all, diagonal, spherical.

    log N(x | μ, Σ) = −½ ‖Uᵀ(x − μ)‖² + log|U| − (p/2) log 2π,        Σ⁻¹ = UUᵀ, U upper triangular

The maximiser, from N_k = Σ s r and the scatter S_k about the new mean:

    Σ_k = (S_k + εD) / (N_k + ε)       ε pseudo-rows in each, with the data's variances D
    Σ_k = S_k / N_k + ρ                a number added to the diagonal, as scikit-learn does

Blocks of rows are transposed, (p, rows), so that the inner loops run along rows.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from .em import Collapsed

# of a component's variance to the data's: below it, a component without regularisation collapses
MIN_RELATIVE_VARIANCE = 1e-14
# of a column's variance, given the columns before it: below it, no digit is correct
MIN_RELATIVE_PIVOT = 1e-15


class Gaussians(NamedTuple):
    """θ: mixing weights π, means μ, covariances Σ and the factors U of their inverses."""

    pi: np.ndarray  # (k,)
    mu: np.ndarray  # (k, p)
    cov: np.ndarray
    U: np.ndarray
    log_det: np.ndarray  # (k,) log|U|


class Regularization(NamedTuple):
    """Regularisation that keeps covariances from collapsing."""

    epsilon: float  # pseudo-rows in each component
    D: np.ndarray  # (p,) their variances
    added: np.ndarray  # (p,) added to the diagonal

    @property
    def min_variance(self) -> float:
        """Variance below which a component has collapsed; a regularised one never does."""
        return (
            np.finfo(float).tiny if self.epsilon > 0 or self.added.any() else MIN_RELATIVE_VARIANCE
        )


class CovarianceShape(Protocol):
    """Operations that EM needs for one shape of covariances."""

    name: str
    shared: bool  # all components have the same covariance

    def scatter(self, Z: np.ndarray, R: np.ndarray, mu: np.ndarray) -> tuple[Any, Any]:
        """Sums Σ r(z − μ) and Σ r(z − μ)(z − μ)ᵀ over a block, in this shape."""
        ...

    def within(self, N: np.ndarray, A: np.ndarray, S: np.ndarray) -> np.ndarray:
        """Scatter about the components' means."""
        ...

    def maximize(
        self,
        N: np.ndarray,
        S: np.ndarray,
        regularization: Regularization,
        before: np.ndarray | float,
    ) -> np.ndarray:
        """Covariances that maximise the expected log likelihood plus log prior."""
        ...

    def factor(self, cov: np.ndarray, min_variance: float) -> tuple[np.ndarray, np.ndarray]:
        """Factors U of the inverse covariances, and log|U|."""
        ...

    def squared_distances(self, Z: np.ndarray, theta: Gaussians) -> np.ndarray:
        """Squared Mahalanobis distances of a block to every mean."""
        ...

    def diagonals(self, cov: np.ndarray, k: int, /) -> np.ndarray:
        """Variances of the columns in each component, (k, p)."""
        ...

    def matrices(self, cov: np.ndarray, k: int, p: int, /) -> np.ndarray:
        """Covariances as matrices (k, p, p)."""
        ...

    def from_matrices(self, S: np.ndarray) -> np.ndarray:
        """Matrices (k, p, p) reduced to this shape."""
        ...

    def log_prior(self, theta: Gaussians, regularization: Regularization) -> float:
        """Log prior density without its constant."""
        ...

    def n_parameters(self, k: int, p: int) -> int:
        """Number of free parameters of the covariances."""
        ...


class Full:
    """One matrix Σ_k for each component, (k, p, p)."""

    name = "full"
    shared = False

    def scatter(self, Z: np.ndarray, R: np.ndarray, mu: np.ndarray) -> tuple[Any, Any]:
        """Sums Σ r (z − μ) and Σ r (z − μ)(z − μ)ᵀ of each component."""
        k, p = mu.shape
        A, S = np.empty((k, p)), np.empty((k, p, p))
        for i in range(k):
            Y = Z - mu[i][:, None]
            A[i] = np.dot(Y, R[i])
            Y *= np.sqrt(R[i])
            S[i] = np.dot(Y, Y.T)
        return A, S

    def within(self, N: np.ndarray, A: np.ndarray, S: np.ndarray) -> np.ndarray:
        """Scatter about the new means."""
        shift = A / _nonzero_root(N)[:, None]
        return S - shift[:, :, None] * shift[:, None, :]

    def maximize(
        self,
        N: np.ndarray,
        S: np.ndarray,
        regularization: Regularization,
        before: np.ndarray | float,
    ) -> np.ndarray:
        cov = S.copy()
        i = np.arange(S.shape[1])
        cov[:, i, i] += regularization.epsilon * regularization.D
        cov /= _nonzero(N + regularization.epsilon)[:, None, None]
        cov[:, i, i] += regularization.added
        return np.where((N + regularization.epsilon > 0)[:, None, None], cov, before)

    def factor(self, cov: np.ndarray, min_variance: float) -> tuple[np.ndarray, np.ndarray]:
        U = _inverse_roots(cov, min_variance)
        return U, np.log(np.einsum("kii->ki", U)).sum(axis=1)

    def squared_distances(self, Z: np.ndarray, theta: Gaussians) -> np.ndarray:
        """Squared Mahalanobis distances ‖Uᵀ(z − μ)‖², (k, rows)."""
        out = np.empty((len(theta.mu), Z.shape[1]))
        for i, (mu, U) in enumerate(zip(theta.mu, theta.U, strict=True)):
            V = np.dot(U.T, Z - mu[:, None])
            np.einsum("ij,ij->j", V, V, out=out[i])
        return out

    def diagonals(self, cov: np.ndarray, _k: int) -> np.ndarray:
        return np.einsum("kii->ki", cov)

    def matrices(self, cov: np.ndarray, _k: int, _p: int) -> np.ndarray:
        return cov

    def from_matrices(self, S: np.ndarray) -> np.ndarray:
        """Scatter in this shape, from matrices (k, p, p)."""
        return S

    def log_prior(self, theta: Gaussians, regularization: Regularization) -> float:
        traces = np.einsum("i,kij,kij->k", regularization.D, theta.U, theta.U)
        return float(-regularization.epsilon * (traces / 2 - theta.log_det).sum())

    def n_parameters(self, k: int, p: int) -> int:
        return k * p * (p + 1) // 2


class Tied(Full):
    """One matrix Σ for all components, (p, p)."""

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
        shift = A / _nonzero_root(N)[:, None]
        return S - np.dot(shift.T, shift)

    def maximize(
        self,
        N: np.ndarray,
        S: np.ndarray,
        regularization: Regularization,
        before: np.ndarray | float,
    ) -> np.ndarray:
        return (S + np.diag(regularization.epsilon * regularization.D)) / (
            N.sum() + regularization.epsilon
        ) + np.diag(regularization.added)

    def factor(self, cov: np.ndarray, min_variance: float) -> tuple[np.ndarray, np.ndarray]:
        (U,) = _inverse_roots(cov[None], min_variance)
        return U, np.log(np.diag(U)).sum(keepdims=True)

    def squared_distances(self, Z: np.ndarray, theta: Gaussians) -> np.ndarray:
        out = np.empty((len(theta.mu), Z.shape[1]))
        for i, mu in enumerate(theta.mu):
            V = np.dot(theta.U.T, Z - mu[:, None])
            np.einsum("ij,ij->j", V, V, out=out[i])
        return out

    def diagonals(self, cov: np.ndarray, k: int) -> np.ndarray:
        return np.broadcast_to(np.diag(cov), (k, len(cov)))

    def matrices(self, cov: np.ndarray, k: int, p: int) -> np.ndarray:
        return np.broadcast_to(cov, (k, p, p))

    def from_matrices(self, S: np.ndarray) -> np.ndarray:
        return S.sum(axis=0)

    def log_prior(self, theta: Gaussians, regularization: Regularization) -> float:
        trace = np.einsum("i,ij,ij->", regularization.D, theta.U, theta.U)
        return float(-regularization.epsilon * (trace / 2 - theta.log_det.sum()))

    def n_parameters(self, k: int, p: int) -> int:
        return p * (p + 1) // 2


class Diagonal:
    """Diagonal covariances: variances (k, p)."""

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
        return np.maximum(S - A * A / _nonzero(N)[:, None], 0.0)

    def maximize(
        self,
        N: np.ndarray,
        S: np.ndarray,
        regularization: Regularization,
        before: np.ndarray | float,
    ) -> np.ndarray:
        mass = (N + regularization.epsilon)[:, None]
        cov = (S + regularization.epsilon * regularization.D) / _nonzero(
            mass
        ) + regularization.added
        return np.where(mass > 0, cov, before)

    def factor(self, cov: np.ndarray, min_variance: float) -> tuple[np.ndarray, np.ndarray]:
        bad = ~(cov >= min_variance).all(axis=1)
        if bad.any():
            raise Collapsed(int(np.argmax(bad)))
        U = 1 / np.sqrt(cov)
        return U, np.log(U).sum(axis=1)

    def squared_distances(self, Z: np.ndarray, theta: Gaussians) -> np.ndarray:
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

    def from_matrices(self, S: np.ndarray) -> np.ndarray:
        return np.einsum("kii->ki", S)

    def log_prior(self, theta: Gaussians, regularization: Regularization) -> float:
        traces = np.dot(theta.U**2, regularization.D)
        return float(-regularization.epsilon * (traces / 2 - theta.log_det).sum())

    def n_parameters(self, k: int, p: int) -> int:
        return k * p


class Spherical(Diagonal):
    """Covariances σ²I, held as (k, p) with equal columns; the estimator shows one number each."""

    name = "spherical"

    def maximize(
        self,
        N: np.ndarray,
        S: np.ndarray,
        regularization: Regularization,
        before: np.ndarray | float,
    ) -> np.ndarray:
        cov = super().maximize(N, S, regularization, before)
        return np.repeat(cov.mean(axis=1, keepdims=True), cov.shape[1], axis=1)

    def n_parameters(self, k: int, p: int) -> int:
        return k


COVARIANCES: dict[str, Any] = {c.name: c for c in (Full(), Tied(), Diagonal(), Spherical())}


def _nonzero(N: np.ndarray) -> np.ndarray:
    """Return N with 1 in place of 0, as a divisor."""
    return np.where(N > 0, N, 1.0)


def _nonzero_root(N: np.ndarray) -> np.ndarray:
    return np.sqrt(_nonzero(N))


def _inverse_roots(cov: np.ndarray, min_variance: float) -> np.ndarray:
    """Upper triangular U_k with UUᵀ = Σ_k⁻¹."""
    diagonal = np.einsum("kii->ki", cov)
    _require_positive((diagonal >= min_variance).all(axis=1))
    size = np.sqrt(diagonal)
    scaled = cov / (size[:, :, None] * size[:, None, :])
    try:
        L = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        L = np.stack([_cholesky(one) for one in scaled])
    _require_positive(
        np.einsum("kii->ki", L).min(axis=1, initial=np.inf) ** 2 >= MIN_RELATIVE_PIVOT
    )
    inverse = np.tril(np.linalg.solve(L, np.broadcast_to(np.eye(cov.shape[1]), L.shape)))
    return np.asarray(inverse.transpose(0, 2, 1) / size[:, :, None])


def _require_positive(is_positive: np.ndarray) -> None:
    if not is_positive.all():
        raise Collapsed(int(np.argmin(is_positive)))


def _cholesky(C: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(np.linalg.cholesky(C))
    except np.linalg.LinAlgError:
        return np.zeros_like(C)
