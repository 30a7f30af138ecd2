"""Conversion of Gaussians between the user's units and the solver's coordinates.

    z = (x − c)/q:   μ_x = c + qμ_z,   Σ_x = diag(q) Σ_z diag(q),   U_x = diag(1/q) U_z

Columns left out are constant: μ holds their value, Σ and U are 0 there.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..solvers.linalg.column_moments import ObservedMoments
from ..solvers.mixture.covariances import Gaussians, Regularization
from ..solvers.mixture.gaussian import GaussianFamily, ScaledCoordinates

if TYPE_CHECKING:
    from ._base import Mixture

SCALED_ROWS = 64  # of a matrix, at a time
PRIOR_ROWS = 1e-6  # pseudo-rows in each component, for reg_covar="relative"


def coordinates_of(
    moments: ObservedMoments, covariance_type: str, reg_covar: float | str | None
) -> ScaledCoordinates:
    """Coordinates of the solver, from the columns' moments."""
    v = moments.variance
    kept = np.flatnonzero(v > 0) if reg_covar == "relative" else np.arange(len(v))
    q = np.sqrt(v[kept])
    if covariance_type == "spherical":
        q = np.full(len(kept), np.sqrt(np.mean(v[kept])))
    if reg_covar != "relative" and reg_covar:
        q = np.where(q > 0, q, np.sqrt(float(reg_covar)))
    return ScaledCoordinates(moments.mean[kept], q, kept, moments.mean)


def regularization_of(
    moments: ObservedMoments, coordinates: ScaledCoordinates, reg_covar: float | str | None
) -> Regularization:
    """Regularisation of the covariances in the solver's coordinates."""
    p, D = len(coordinates.kept), moments.variance[coordinates.kept] / coordinates.q**2
    if reg_covar == "relative":
        return Regularization(PRIOR_ROWS, D, np.zeros(p))
    return Regularization(0.0, D, float(reg_covar or 0.0) / coordinates.q**2)


def attributes(
    theta: Gaussians,
    coordinates: ScaledCoordinates,
    name: str,
    precisions: np.ndarray | None = None,
) -> dict[str, Any]:
    """Fitted attributes; ``precisions`` are Σ⁻¹ of full or tied θ where already known."""
    k, P = len(theta.pi), len(coordinates.mean)
    q, kept = coordinates.q, coordinates.kept
    means = np.tile(coordinates.mean, (k, 1))
    means[:, kept] = coordinates.c + q * theta.mu
    if name == "spherical":
        cov, U = theta.cov[:, 0] * q[0] ** 2, theta.U[:, 0] / q[0]
        precisions = U**2
    elif name == "diag":
        cov, U = np.zeros((k, P)), np.zeros((k, P))
        cov[:, kept], U[:, kept] = theta.cov * q**2, theta.U / q
        precisions = U**2
    else:
        cov, U = _placed(theta.cov, kept, P), _placed(theta.U, kept, P)
        _multiply_by_outer(cov, kept, q, q)
        _multiply_by_outer(U, kept, 1 / q, np.ones_like(q))
        if precisions is None:
            precisions = np.matmul(U, np.swapaxes(U, -1, -2))
        else:
            precisions = _placed(precisions, kept, P)
            _multiply_by_outer(precisions, kept, 1 / q, 1 / q)
    return {
        "weights_": theta.pi,
        "means_": means,
        "covariances_": cov,
        "precisions_": precisions,
        "precisions_cholesky_": U,
        "constant_columns_": np.setdiff1d(np.arange(P), kept),
    }


def _placed(A: np.ndarray, kept: np.ndarray, P: int) -> np.ndarray:
    """Return matrices of all P columns, 0 where a column was left out."""
    if len(kept) == P:
        return np.array(A)
    out = np.zeros((*A.shape[:-2], P, P))
    out[..., kept[:, None], kept] = A
    return out


def _multiply_by_outer(
    A: np.ndarray, kept: np.ndarray, left: np.ndarray, right: np.ndarray
) -> None:
    """Multiply A_ij by left_i·right_j in place, a few rows at a time: A may fill the memory."""
    scale_left, scale_right = np.ones(A.shape[-1]), np.ones(A.shape[-1])
    scale_left[kept], scale_right[kept] = left, right
    for start in range(0, A.shape[-1], SCALED_ROWS):
        rows = slice(start, start + SCALED_ROWS)
        A[..., rows, :] *= np.multiply.outer(scale_left[rows], scale_right)


def fitted_theta(model: "Mixture", name: str) -> tuple[ScaledCoordinates, Gaussians]:
    """Coordinates centred at the mean of a fitted mixture, and its θ in them."""
    means, U = np.asarray(model.means_), np.asarray(model.precisions_cholesky_)
    kept = np.setdiff1d(np.arange(means.shape[1]), model.constant_columns_)
    p = len(kept)
    c = np.dot(model.weights_, means[:, kept]) / np.sum(model.weights_)
    if name == "spherical":
        cov, U = (np.repeat(a[:, None], p, axis=1) for a in (model.covariances_, U))
        spread = cov
    elif name == "diag":
        cov, U = model.covariances_[:, kept], U[:, kept]
        spread = cov
    else:
        both = np.ix_(kept, kept)
        cov, U = (a[..., both[0], both[1]] for a in (model.covariances_, U))
        spread = np.atleast_2d(np.diagonal(cov, axis1=-2, axis2=-1))
    q = np.sqrt(spread.mean(axis=0))
    if name in ("full", "tied"):
        cov, U = cov / np.multiply.outer(q, q), U * q[:, None]
        log_det = np.log(np.diagonal(U, axis1=-2, axis2=-1)).sum(axis=-1, keepdims=U.ndim == 2)
    else:
        cov, U = cov / q**2, U * q
        log_det = np.log(U).sum(axis=1)
    mu = (means[:, kept] - c) / q
    theta = Gaussians(model.weights_, mu, cov, U, np.atleast_1d(log_det))
    return ScaledCoordinates(c, q, kept, means[0]), theta


def change_coordinates(
    theta: Gaussians, old: ScaledCoordinates, new: ScaledCoordinates, family: GaussianFamily
) -> Gaussians:
    """Convert θ to other coordinates of the same columns."""
    f = old.q / new.q
    name = family.shape.name
    cov = theta.cov * (np.multiply.outer(f, f) if name in ("full", "tied") else f**2)
    converted: Gaussians = family.theta(theta.pi, (old.c - new.c) / new.q + f * theta.mu, cov)
    return converted
