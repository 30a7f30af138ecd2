r"""Full covariances of fewer rows than columns, in the space that the rows span.

With D = I (columns in units of their spread) the prior knows no direction, so that in coordinates

    y = (Qᵀz, 0),   Q (p, n) orthonormal, the rows z in its span        Σ = QΣ_yQᵀ + σ²(I − QQᵀ)

EM on z is EM on y: of the p − n directions beyond the rows one stands for all, the last of y, and
counts p − n times in log|Σ| and in tr Σ⁻¹. A step costs n³, not p³.

The factor of Σ = σ²I + WMWᵀ comes block by block, L_ij = W_iG_j below the diagonal, and so does its
inverse X, of which row i is [−L_ii⁻¹W_iY, L_ii⁻¹] with Y = Σ_j G_jX_j over the blocks before. That
is O(p²n).
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from .covariances import Full, Gaussians, Holding, Tied
from .densities import LOG_2PI
from .em import Look
from .gaussian import Coordinates, GaussianFamily

COLUMNS, TIMES = 256, 2  # columns from which, and times the rows: below, p³ is soon done
BLOCK = 512  # columns of a block of the factor


class RowSpace(NamedTuple):
    """y = (Qᵀz, 0) with z = (x[kept] − c)/q."""

    of_columns: Coordinates
    Q: np.ndarray  # (p, n)

    @property
    def kept(self) -> np.ndarray:
        """The coordinates of y."""
        return np.arange(self.Q.shape[1] + 1)

    @property
    def beyond(self) -> int:
        """Directions that the last coordinate stands for."""
        return self.Q.shape[0] - self.Q.shape[1]

    @property
    def mean(self) -> np.ndarray:
        return self.of_columns.mean

    @property
    def log_volume(self) -> np.ndarray:
        """Σ log q, all of it at the last coordinate."""
        out = np.zeros(len(self.kept))
        out[-1] = self.of_columns.log_volume.sum()
        return out

    def of(self, X: np.ndarray) -> np.ndarray:
        """A block of rows as (n + 1, rows)."""
        Y = np.zeros((len(self.kept), len(X)))
        np.dot(self.Q.T, self.of_columns.of(X), out=Y[:-1])
        return Y


class FullOfRows(Full):
    """Σ_y, whose last coordinate stands for ``times`` of Σ."""

    def __init__(self, times: int):
        self.times = times

    def factor(self, cov: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
        U, log_det = super().factor(cov, least)
        return U, log_det + (self.times - 1) * np.log(U[..., -1, -1])

    def log_prior(self, theta: Gaussians, hold: Holding) -> float:
        more = (self.times - 1) * hold.D[-1] * theta.U[..., -1, -1] ** 2
        return super().log_prior(theta, hold) - hold.epsilon / 2 * float(np.sum(more))


class TiedOfRows(Tied):
    """One Σ_y for all components, in the space of the rows."""

    def __init__(self, times: int):
        self.times = times

    def factor(self, cov: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
        U, log_det = super().factor(cov, least)
        return U, log_det + (self.times - 1) * np.log(U[-1, -1])

    def log_prior(self, theta: Gaussians, hold: Holding) -> float:
        more = (self.times - 1) * hold.D[-1] * theta.U[-1, -1] ** 2
        return super().log_prior(theta, hold) - hold.epsilon / 2 * float(more)


OF_ROWS: dict[str, Any] = {"full": FullOfRows, "tied": TiedOfRows}


class RowSpaceFamily(GaussianFamily):
    """Gaussians of rows y."""

    at: Any

    def look(self, theta: Gaussians, beta: float = 1.0) -> Look:
        look = super().look(theta, beta)
        return look._replace(F=look.F - self.mass * (self.at.beyond - 1) / 2 * LOG_2PI)


def row_space_family(rows: Rows, at: Coordinates, name: str, epsilon: float) -> RowSpaceFamily:
    """The family of y; X without missing entries."""
    Q = np.linalg.qr(at.of(np.asarray(rows.X[: rows.shape[0]])))[0]
    space = RowSpace(at, Q)
    m = len(space.kept)
    hold = Holding(epsilon, np.ones(m), np.zeros(m))
    return RowSpaceFamily(rows, space, OF_ROWS[name](space.beyond), hold)  # type: ignore[arg-type]


def worth_it(rows: Rows, at: Coordinates) -> bool:
    p = len(at.kept)
    return p >= COLUMNS and p >= TIMES * rows.shape[0]


class Expanded(NamedTuple):
    """θ of z, and Σ⁻¹, which the factors alone would give in p³ operations."""

    theta: Gaussians
    precisions: np.ndarray


def expanded(theta: Gaussians, space: RowSpace) -> Expanded:
    """θ of z from that of y."""
    Q = space.Q
    C, U = (a if a.ndim == 3 else a[None] for a in (theta.cov, theta.U))
    k, p = len(C), len(Q)
    cov, P, factor = np.empty((k, p, p)), np.empty((k, p, p)), np.empty((k, p, p))
    for i in range(k):
        beyond = C[i, -1, -1]
        own = C[i, :-1, :-1]
        _low_rank(Q, own, beyond, cov[i])
        _low_rank(Q, np.dot(U[i, :-1, :-1], U[i, :-1, :-1].T), 1 / beyond, P[i])
        inverse_factor(Q, own - beyond * np.eye(len(own)), beyond, factor[i])
    if theta.cov.ndim == 2:
        cov, P, factor = cov[0], P[0], factor[0]
    mu = np.dot(theta.mu[:, :-1], Q.T)
    return Expanded(Gaussians(theta.pi, mu, cov, factor, theta.log_det), P)


def _low_rank(Q: np.ndarray, own: np.ndarray, beyond: float, out: np.ndarray) -> None:
    """QMQᵀ + b(I − QQᵀ), with M = ``own`` nowhere below b, or nowhere above it: b ‖·‖² ± HHᵀ."""
    values, vectors = np.linalg.eigh(own - beyond * np.eye(len(own)))
    above = values.sum() >= 0
    H = np.dot(Q, vectors * np.sqrt(np.maximum(values if above else -values, 0.0)))
    np.dot(H, H.T, out=out)  # symmetric to the last bit
    if not above:
        np.negative(out, out=out)
    out[np.arange(len(Q)), np.arange(len(Q))] += beyond


def inverse_factor(W: np.ndarray, M: np.ndarray, square: float, out: np.ndarray) -> None:
    """U, upper triangular, with UUᵀ = (square·I + WMWᵀ)⁻¹: the transposed inverse of the factor.

    After a block V of W, M becomes (M⁻¹ + VᵀV/square)⁻¹: as M = RRᵀ, which stays positive, with
    R ← RT⁻ᵀ, TTᵀ = I + (VR)ᵀ(VR)/square.
    """
    p, m = W.shape
    out[:] = 0.0
    values, vectors = np.linalg.eigh(M)
    R, Y = vectors * np.sqrt(np.maximum(values, 0.0)), np.zeros((m, p))
    for start in range(0, p, BLOCK):
        stop = min(start + BLOCK, p)
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
