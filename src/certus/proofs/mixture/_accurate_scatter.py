r"""Covariances of an EM step with twice the digits, for those that are nearly singular.

    C_k = (Σ_i w_ik u_i u_iᵀ + Ψ)/(n_k + ε) + added·I,      u_i = x_i − μ_k

u = x − μ is an exact sum of two floats, √w·u is another, and products are computed by slices. The
remaining error is of the order of the square of the unit roundoff. A rounded √w changes a weight,
which is no worse for a nearly singular covariance than for any other.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.accurate_products import halves_of, product_and_error
from certus.proofs.linalg.linear_sums import dense
from certus.proofs.mixture._accurate_whitening import accurate_matrix_product
from certus.proofs.mixture._gaussian_components import (
    NEGLIGIBLE_WEIGHT,
    CovariancePrior,
    Moments,
    Normals,
)
from certus.proofs.mixture._sums import log_joint, log_sum_exp, slices
from certus.proofs.types import Matrix, Numbers, RowData

PRODUCT_ROWS = 1024  # of one product: as many as slices of 21 bits allow
SLICE_TRUNCATION = 2.0**-77  # relative to a row's squares: bound on the omitted slice products


def accurate_step(
    data: RowData,
    pi: np.ndarray,
    theta: Normals,
    prior: CovariancePrior,
    moments: Moments,
    after: Normals,
) -> Normals:
    """Return ``after`` with covariances about its means, each as a sum of two matrices."""
    shape = (1 if theta.shape == "tied" else theta.k, theta.p, theta.p)
    args = (pi, theta, after.means, shape)
    S, low = data.reduce(scatter, *args, combine=add_pairs, times=10 * theta.k)
    n = np.asarray(moments.n.sum()[None] if theta.shape == "tied" else moments.n)
    divisor = (np.where(n > 0, n, 1.0) + prior.epsilon)[:, None, None]
    S, low = add_pairs((S, low), (np.diag(prior.epsilon * prior.d), 0.0))
    C = S / divisor
    product, error = product_and_error(C, divisor, halves_of(divisor))
    low = (((S - product) - error) + low) / divisor
    C, low = add_pairs((C, low), (prior.added * np.eye(theta.p), 0.0))
    unchanged = (n == 0) & (prior.epsilon == 0)
    C[unchanged] = after.covariances[unchanged] if unchanged.any() else C[unchanged]
    low[unchanged] = 0.0
    tied = theta.shape == "tied"
    step = after.with_covariances(C[0] if tied else C, low[0] if tied else low)
    return step.whitened_accurately()


def scatter(
    X: Matrix,
    _y: np.ndarray,
    s: np.ndarray | None,
    pi: np.ndarray,
    theta: Normals,
    about: np.ndarray,
    shape: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Sum s_i r_ik (x_i − c_k)(x_i − c_k)ᵀ over a block, as a sum of two arrays."""
    total = np.zeros(shape), np.zeros(shape)
    for part in slices(X):
        x = dense(X[part])
        J = log_joint(x, pi, theta)
        root = np.exp(0.5 * (J - log_sum_exp(J)))
        if s is not None:
            root *= np.sqrt(s[part])
        x = theta.coordinates(x)
        for start in range(0, len(x), PRODUCT_ROWS):
            rows = slice(start, start + PRODUCT_ROWS)
            for k in range(theta.k):
                used = np.flatnonzero(root[k, rows] ** 2 > NEGLIGIBLE_WEIGHT)
                if not len(used):
                    continue
                where = (0 if shape[0] == 1 else k,)
                products = _products_of_rows(x[rows][used], about[k], root[k, rows][used])
                total[0][where], total[1][where] = add_pairs(
                    (total[0][where], total[1][where]), products
                )
    return total


def _products_of_rows(x: np.ndarray, c: np.ndarray, root: np.ndarray) -> tuple[Any, Any]:
    """Product VᵀV with V = root (x − c), as a sum of two matrices."""
    x = np.asarray(x, dtype=float)
    u = x - c
    back = u - x
    low_part = (x - (u - back)) - (c + back)
    V, low = product_and_error(u, root[:, None], halves_of(root[:, None]))
    low = low + low_part * root[:, None]
    high, low_part, _ = accurate_matrix_product(V.T.copy(), V)
    cross = np.dot(V.T, low)
    return high, low_part + (cross + cross.T)


def add_pairs(first: tuple[Numbers, Numbers], second: tuple[Numbers, Numbers]) -> tuple[Any, Any]:
    """Add two numbers that are each a sum of two floats; the first is the nearest float."""
    total = first[0] + second[0]
    back = total - first[0]
    low_part = (first[0] - (total - back)) + (second[0] - back) + (first[1] + second[1])
    high = total + low_part
    return high, low_part - (high - total)
