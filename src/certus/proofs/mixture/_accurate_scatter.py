r"""The covariances of an EM step in twice the digits, for those that are all but singular.

    C_k = (Σ_i w_ik u_i u_iᵀ + Ψ)/(n_k + ε) + added·I,      u_i = x_i − μ_k

u = x − μ as an exact sum of two floats, √w·u as another, and the products by slices. What is left
is of the order of the square of a rounding; a √w that is rounded changes a weight, which does no
more harm to a covariance that is nearly singular than to any other.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.accurate_products import halves_of, product_and_error
from certus.proofs.linalg.linear_sums import dense
from certus.proofs.mixture._accurate_whitening import accurate_matrix_product
from certus.proofs.mixture._gaussian_components import NEGLIGIBLE, Moments, Normals, Prior
from certus.proofs.mixture._sums import log_joint, log_sum_exp, slices
from certus.proofs.types import Matrix, Numbers, RowData

ROWS = 1024  # of a product: slices of 21 bits
OF_SLICES = 2.0**-77  # of a row's squares, at most: what products of slices leave out


def accurate_step(
    data: RowData, pi: np.ndarray, theta: Normals, prior: Prior, moments: Moments, after: Normals
) -> Normals:
    """``after`` with covariances, about its means, as sums of two matrices."""
    shape = (1 if theta.shape == "tied" else theta.k, theta.p, theta.p)
    args = (pi, theta, after.means, shape)
    S, low = data.reduce(scatter, *args, combine=add_pairs, times=10 * theta.k)
    n = np.asarray(moments.n.sum()[None] if theta.shape == "tied" else moments.n)
    size = (np.where(n > 0, n, 1.0) + prior.epsilon)[:, None, None]
    S, low = add_pairs((S, low), (np.diag(prior.epsilon * prior.d), 0.0))
    C = S / size
    product, error = product_and_error(C, size, halves_of(size))
    low = (((S - product) - error) + low) / size
    C, low = add_pairs((C, low), (prior.added * np.eye(theta.p), 0.0))
    stay = (n == 0) & (prior.epsilon == 0)
    C[stay], low[stay] = after.covariances[stay] if stay.any() else C[stay], 0.0
    tied = theta.shape == "tied"
    found = after.with_covariances(C[0] if tied else C, low[0] if tied else low)
    return found.whitened_accurately()


def scatter(
    X: Matrix,
    _y: np.ndarray,
    s: np.ndarray | None,
    pi: np.ndarray,
    theta: Normals,
    about: np.ndarray,
    shape: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Σ s_i r_ik (x_i − c_k)(x_i − c_k)ᵀ of a block as a sum of two arrays."""
    total = np.zeros(shape), np.zeros(shape)
    for part in slices(X):
        x = dense(X[part])
        J = log_joint(x, pi, theta)
        root = np.exp(0.5 * (J - log_sum_exp(J)))
        if s is not None:
            root *= np.sqrt(s[part])
        x = theta.coordinates(x)
        for start in range(0, len(x), ROWS):
            rows = slice(start, start + ROWS)
            for k in range(theta.k):
                some = np.flatnonzero(root[k, rows] ** 2 > NEGLIGIBLE)
                if not len(some):
                    continue
                where = (0 if shape[0] == 1 else k,)
                one = _products_of_rows(x[rows][some], about[k], root[k, rows][some])
                total[0][where], total[1][where] = add_pairs(
                    (total[0][where], total[1][where]), one
                )
    return total


def _products_of_rows(x: np.ndarray, c: np.ndarray, root: np.ndarray) -> tuple[Any, Any]:
    """VᵀV with V = root (x − c)."""
    x = np.asarray(x, dtype=float)
    u = x - c
    back = u - x
    rest = (x - (u - back)) - (c + back)
    V, low = product_and_error(u, root[:, None], halves_of(root[:, None]))
    low = low + rest * root[:, None]
    high, rest, _ = accurate_matrix_product(V.T.copy(), V)
    cross = np.dot(V.T, low)
    return high, rest + (cross + cross.T)


def add_pairs(one: tuple[Numbers, Numbers], other: tuple[Numbers, Numbers]) -> tuple[Any, Any]:
    """Two sums of two, added; the first is the float that is nearest."""
    total = one[0] + other[0]
    back = total - one[0]
    rest = (one[0] - (total - back)) + (other[0] - back) + (one[1] + other[1])
    high = total + rest
    return high, rest - (high - total)
