"""Gaussians between the user's units and those of the solver.

    z = (x − c)/q:   μ_x = c + qμ_z,   Σ_x = diag(q) Σ_z diag(q),   U_x = diag(1/q) U_z

Columns that were left out are constant: μ holds their value, Σ and U are 0 there.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..solvers.linalg.column_moments import Moments
from ..solvers.mixture.covariances import Gaussians, Holding
from ..solvers.mixture.gaussian import Coordinates, GaussianFamily

if TYPE_CHECKING:
    from ._base import Mixture

EPSILON = 1e-6  # imaginary rows in each component, for reg_covar="relative"


def coordinates(
    moments: Moments, covariance_type: str, reg_covar: float | str | None
) -> Coordinates:
    """What the solver computes in, from the columns' moments."""
    v = moments.variance
    kept = np.flatnonzero(v > 0) if reg_covar == "relative" else np.arange(len(v))
    q = np.sqrt(v[kept])
    if covariance_type == "spherical":
        q = np.full(len(kept), np.sqrt(np.mean(v[kept])))
    if reg_covar != "relative" and reg_covar:
        q = np.where(q > 0, q, np.sqrt(float(reg_covar)))
    return Coordinates(moments.mean[kept], q, kept, moments.mean)


def holding(moments: Moments, at: Coordinates, reg_covar: float | str | None) -> Holding:
    """What keeps Σ from collapsing, in the solver's units."""
    p, D = len(at.kept), moments.variance[at.kept] / at.q**2
    if reg_covar == "relative":
        return Holding(EPSILON, D, np.zeros(p))
    return Holding(0.0, D, float(reg_covar or 0.0) / at.q**2)


def attributes(
    theta: Gaussians, at: Coordinates, name: str, precisions: np.ndarray | None = None
) -> dict[str, Any]:
    """Fitted attributes. ``precisions``: Σ⁻¹ of full or tied θ, where it is known."""
    k, P = len(theta.pi), len(at.mean)
    means = np.tile(at.mean, (k, 1))
    means[:, at.kept] = at.c + at.q * theta.mu
    if name == "spherical":
        cov, U = theta.cov[:, 0] * at.q[0] ** 2, theta.U[:, 0] / at.q[0]
        precisions = U**2
    elif name == "diag":
        cov, U = np.zeros((k, P)), np.zeros((k, P))
        cov[:, at.kept], U[:, at.kept] = theta.cov * at.q**2, theta.U / at.q
        precisions = U**2
    else:
        both = np.ix_(at.kept, at.kept)
        cov, U = np.zeros((*theta.cov.shape[:-2], P, P)), np.zeros((*theta.cov.shape[:-2], P, P))
        cov[..., both[0], both[1]] = theta.cov * np.multiply.outer(at.q, at.q)
        U[..., both[0], both[1]] = theta.U / at.q[:, None]
        if precisions is None:
            precisions = np.matmul(U, np.swapaxes(U, -1, -2))
        else:
            known, precisions = precisions, np.zeros(cov.shape)
            precisions[..., both[0], both[1]] = known / np.multiply.outer(at.q, at.q)
    return {
        "weights_": theta.pi,
        "means_": means,
        "covariances_": cov,
        "precisions_": precisions,
        "precisions_cholesky_": U,
        "constant_columns_": np.setdiff1d(np.arange(P), at.kept),
    }


def fitted_theta(model: "Mixture", name: str) -> tuple[Coordinates, Gaussians]:
    """Of fitted attributes: coordinates about the mixture's own mean, and θ in them."""
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
    return Coordinates(c, q, kept, means[0]), theta


def in_coordinates(
    theta: Gaussians, old: Coordinates, at: Coordinates, family: GaussianFamily
) -> Gaussians:
    """θ of other coordinates with the same columns."""
    f = old.q / at.q
    name = family.shape.name
    cov = theta.cov * (np.multiply.outer(f, f) if name in ("full", "tied") else f**2)
    moved: Gaussians = family.theta(theta.pi, (old.c - at.c) / at.q + f * theta.mu, cov)
    return moved
