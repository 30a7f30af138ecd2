r"""Full covariances for fewer rows than columns, in the space that the rows span.

With D = I (standardised columns) the prior is the same in all directions, so that in coordinates

    y = (Qᵀz, 0),   Q (p, n) orthonormal, the rows z in its span        Σ = QΣ_yQᵀ + σ²(I − QQᵀ)

EM on z is EM on y: one coordinate, the last of y, represents the p − n directions orthogonal to the
rows, and counts p − n times in log|Σ| and in tr Σ⁻¹. A step costs n³ operations instead of p³.

The factor of Σ = σ²I + WMWᵀ is computed block by block, L_ij = W_iG_j below the diagonal, and so is
its inverse X, whose row i is [−L_ii⁻¹W_iY, L_ii⁻¹] with Y = Σ_j G_jX_j over the earlier blocks, in
O(p²n) operations.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from .covariances import Full, Gaussians, Regularization, Tied
from .densities import LOG_2PI
from .em import EMEvaluation
from .gaussian import GaussianFamily, ScaledCoordinates

MIN_COLUMNS, MIN_COLUMNS_PER_ROW = 256, 2  # with fewer columns, p³ operations take little time
BLOCK_COLUMNS = 512  # of a block of the factor


class RowSpace(NamedTuple):
    """y = (Qᵀz, 0) with z = (x[kept] − c)/q."""

    column_coordinates: ScaledCoordinates
    Q: np.ndarray  # (p, n)

    @property
    def kept(self) -> np.ndarray:
        """Indices of the coordinates of y."""
        return np.arange(self.Q.shape[1] + 1)

    @property
    def n_orthogonal(self) -> int:
        """Number of directions that the last coordinate represents."""
        return self.Q.shape[0] - self.Q.shape[1]

    @property
    def mean(self) -> np.ndarray:
        return self.column_coordinates.mean

    @property
    def log_volume(self) -> np.ndarray:
        """Log volume: Σ log q at the last coordinate, 0 at the others."""
        out = np.zeros(len(self.kept))
        out[-1] = self.column_coordinates.log_volume.sum()
        return out

    def of(self, X: np.ndarray) -> np.ndarray:
        """Coordinates y of a block of rows, (n + 1, rows)."""
        Y = np.zeros((len(self.kept), len(X)))
        np.dot(self.Q.T, self.column_coordinates.of(X), out=Y[:-1])
        return Y


class FullInRowSpace(Full):
    """Covariances Σ_y, whose last coordinate represents ``multiplicity`` directions of Σ."""

    def __init__(self, multiplicity: int):
        self.multiplicity = multiplicity

    def factor(self, cov: np.ndarray, min_variance: float) -> tuple[np.ndarray, np.ndarray]:
        U, log_det = super().factor(cov, min_variance)
        return U, log_det + (self.multiplicity - 1) * np.log(U[..., -1, -1])

    def log_prior(self, theta: Gaussians, regularization: Regularization) -> float:
        extra = (self.multiplicity - 1) * regularization.D[-1] * theta.U[..., -1, -1] ** 2
        log_prior = super().log_prior(theta, regularization)
        return log_prior - regularization.epsilon / 2 * float(np.sum(extra))


class TiedInRowSpace(Tied):
    """One covariance Σ_y for all components, with the last coordinate as in `FullInRowSpace`."""

    def __init__(self, multiplicity: int):
        self.multiplicity = multiplicity

    def factor(self, cov: np.ndarray, min_variance: float) -> tuple[np.ndarray, np.ndarray]:
        U, log_det = super().factor(cov, min_variance)
        return U, log_det + (self.multiplicity - 1) * np.log(U[-1, -1])

    def log_prior(self, theta: Gaussians, regularization: Regularization) -> float:
        extra = (self.multiplicity - 1) * regularization.D[-1] * theta.U[-1, -1] ** 2
        return super().log_prior(theta, regularization) - regularization.epsilon / 2 * float(extra)


ROW_SPACE_SHAPES: dict[str, Any] = {"full": FullInRowSpace, "tied": TiedInRowSpace}


class RowSpaceFamily(GaussianFamily):
    """Gaussian components of the coordinates y."""

    coordinates: Any

    def evaluate(self, theta: Gaussians, beta: float = 1.0) -> EMEvaluation:
        evaluation = super().evaluate(theta, beta)
        return evaluation._replace(
            F=evaluation.F - self.mass * (self.coordinates.n_orthogonal - 1) / 2 * LOG_2PI
        )


def row_space_family(
    rows: Rows, coordinates: ScaledCoordinates, name: str, epsilon: float
) -> RowSpaceFamily:
    """Family of the coordinates y, for X without missing entries."""
    Q = np.linalg.qr(coordinates.of(np.asarray(rows.X[: rows.shape[0]])))[0]
    space = RowSpace(coordinates, Q)
    m = len(space.kept)
    regularization = Regularization(epsilon, np.ones(m), np.zeros(m))
    shape = ROW_SPACE_SHAPES[name](space.n_orthogonal)
    return RowSpaceFamily(rows, space, shape, regularization)  # type: ignore[arg-type]


def row_space_pays(rows: Rows, coordinates: ScaledCoordinates) -> bool:
    """Return whether columns outnumber rows by enough to change coordinates."""
    p = len(coordinates.kept)
    return p >= MIN_COLUMNS and p >= MIN_COLUMNS_PER_ROW * rows.shape[0]


class ExpandedParameters(NamedTuple):
    """θ in coordinates z, and Σ⁻¹, which the factors alone would give in p³ operations."""

    theta: Gaussians
    precisions: np.ndarray


def expand(theta: Gaussians, space: RowSpace) -> ExpandedParameters:
    """Convert θ from coordinates y to coordinates z."""
    Q = space.Q
    C, U = (a if a.ndim == 3 else a[None] for a in (theta.cov, theta.U))
    k, p = len(C), len(Q)
    cov, P, factor = np.empty((k, p, p)), np.empty((k, p, p)), np.empty((k, p, p))
    for i in range(k):
        outer = C[i, -1, -1]
        inner = C[i, :-1, :-1]
        _low_rank(Q, inner, outer, cov[i])
        _low_rank(Q, np.dot(U[i, :-1, :-1], U[i, :-1, :-1].T), 1 / outer, P[i])
        inverse_factor(Q, inner - outer * np.eye(len(inner)), outer, factor[i])
    if theta.cov.ndim == 2:
        cov, P, factor = cov[0], P[0], factor[0]
    mu = np.dot(theta.mu[:, :-1], Q.T)
    return ExpandedParameters(Gaussians(theta.pi, mu, cov, factor, theta.log_det), P)


def _low_rank(Q: np.ndarray, inner: np.ndarray, outer: float, out: np.ndarray) -> None:
    """Write QMQᵀ + b(I − QQᵀ) to ``out``, for M = ``inner`` and b = ``outer``.

    The eigenvalues of M are all above b, or all below it, so this is bI ± HHᵀ.
    """
    values, vectors = np.linalg.eigh(inner - outer * np.eye(len(inner)))
    above = values.sum() >= 0
    H = np.dot(Q, vectors * np.sqrt(np.maximum(values if above else -values, 0.0)))
    np.dot(H, H.T, out=out)  # exactly symmetric
    if not above:
        np.negative(out, out=out)
    out[np.arange(len(Q)), np.arange(len(Q))] += outer


def inverse_factor(W: np.ndarray, M: np.ndarray, square: float, out: np.ndarray) -> None:
    """Write U, upper triangular, with UUᵀ = (square·I + WMWᵀ)⁻¹ to ``out``.

    U is the transposed inverse of the Cholesky factor. After a block V of W, M becomes
    (M⁻¹ + VᵀV/square)⁻¹, held as M = RRᵀ so that it stays positive: R ← RT⁻ᵀ with
    TTᵀ = I + (VR)ᵀ(VR)/square.
    """
    p, m = W.shape
    out[:] = 0.0
    values, vectors = np.linalg.eigh(M)
    R, Y = vectors * np.sqrt(np.maximum(values, 0.0)), np.zeros((m, p))
    for start in range(0, p, BLOCK_COLUMNS):
        stop = min(start + BLOCK_COLUMNS, p)
        V = W[start:stop]
        VR = np.dot(V, R)
        L = np.linalg.cholesky(np.dot(VR, VR.T) + square * np.eye(stop - start))
        X = np.tril(np.linalg.solve(L, np.eye(stop - start)))
        G = np.dot(R, np.dot(X, VR).T)  # L_ij = W_i G_j
        row = np.zeros((stop - start, stop))
        row[:, :start] = np.dot(np.dot(X, -V), Y[:, :start])
        row[:, start:] = X
        Y[:, :stop] += np.dot(G, row)
        out[:stop, start:stop] = row.T
        T = np.linalg.cholesky(np.dot(VR.T, VR) / square + np.eye(m))
        R = np.linalg.solve(T, R.T).T
