"""Rows from mixtures, and EM by plain loops that share nothing with the library."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from certus.certificate.data import Data
from certus.data.rows import Rows
from certus.proofs.mixture import mixture
from certus.proofs.mixture._gaussian_components import CovariancePrior, Normals
from certus.proofs.mixture._sums import column_moments

SHAPES = ("full", "tied", "diag", "spherical")


def drawn(seed: int, n: int = 200, p: int = 2, k: int = 3, far: float = 0.0) -> np.ndarray:
    """n rows of k normal components of different shapes, at ``far`` from the origin."""
    rng = np.random.default_rng(seed)
    centers = 4.0 * rng.normal(size=(k, p))
    A = rng.normal(size=(k, p, p)) / np.sqrt(p)
    which = rng.integers(k, size=n)
    return centers[which] + np.einsum("ijk,ik->ij", A[which], rng.normal(size=(n, p))) + far


def data(X: Any, s: Any = None, threads: int = 1) -> Data:
    return Data(Rows(X, None, s, threads=threads))


def log_normal(x: np.ndarray, mu: np.ndarray, C: np.ndarray) -> float:
    """log N(x; μ, C) of the entries that are there."""
    o = ~np.isnan(x)
    d, C = (x - mu)[o], C[np.ix_(o, o)]
    sign, log_det = np.linalg.slogdet(C)
    assert sign == 1
    return float(-0.5 * (o.sum() * np.log(2 * np.pi) + log_det + d @ np.linalg.solve(C, d)))


def matrices(shape: str, C: Any, k: int, p: int) -> np.ndarray:
    """k matrices (p, p)."""
    if shape == "full":
        return np.asarray(C)
    if shape == "tied":
        return np.stack([C] * k)
    return np.stack([np.diag(np.broadcast_to(v, p)) for v in C])


def plain_likelihood(X: Any, pi: Any, means: Any, C: Any, s: Any = None) -> float:
    """Σ s log Σ π N, row by row, C as matrices."""
    s = np.ones(len(X)) if s is None else s
    total = 0.0
    for x, weight in zip(X, s, strict=True):
        terms = [np.log(pi[k]) + log_normal(x, means[k], C[k]) for k in range(len(pi))]
        total += weight * np.logaddexp.reduce(terms)
    return total


def plain_step(
    X: Any, pi: Any, means: Any, C: Any, shape: str, epsilon: float = 0.0, s: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One EM step of complete rows, by loops; C in and out as matrices."""
    n, p = X.shape
    k, s = len(pi), np.ones(n) if s is None else np.asarray(s, dtype=float)
    J = np.array([[np.log(pi[j]) + log_normal(x, means[j], C[j]) for j in range(k)] for x in X])
    w = s[:, None] * np.exp(J - np.logaddexp.reduce(J, axis=1)[:, None])
    N = w.sum(axis=0)
    m = np.stack([w[:, j] @ (X - X[0]) / N[j] + X[0] for j in range(k)])
    S = np.stack([sum(w[i, j] * np.outer(X[i] - m[j], X[i] - m[j]) for i in range(n))
                  for j in range(k)])  # fmt: skip
    mean = s @ (X - X[0]) / s.sum()
    D = np.diag(s @ (X - X[0] - mean) ** 2 / s.sum())
    if shape == "tied":
        after = np.stack([(S.sum(axis=0) + epsilon * D) / (N.sum() + epsilon)] * k)
    else:
        after = (S + epsilon * D) / (N + epsilon)[:, None, None]
    if shape == "diag":
        after = np.stack([np.diag(np.diag(one)) for one in after])
    if shape == "spherical":
        after = np.stack([np.trace(one) / p * np.eye(p) for one in after])
    return N / N.sum(), m, after


def shaped(shape: str, C: Any) -> np.ndarray:
    """Matrices as covariances_ holds them."""
    C = np.asarray(C)
    if shape == "tied":
        return C[0]
    if shape == "diag":
        return np.stack([np.diag(one) for one in C])
    return C if shape == "full" else C[:, 0, 0]


def start(X: Any, k: int, shape: str = "full") -> tuple[np.ndarray, Normals]:
    """Shares and components to begin with: k rows, the variances of all."""
    p = X.shape[1]
    C = np.stack([np.diag(np.nanvar(X - np.nanmean(X, axis=0), axis=0))] * k)
    if shape == "spherical":
        C = np.stack([np.trace(one) / p * np.eye(p) for one in C])
    rows = np.flatnonzero(~np.isnan(X).any(axis=1))
    return np.full(k, 1 / k), Normals(shape, X[rows[:: len(rows) // k][:k]], shaped(shape, C))


def prior_of(X: Any, epsilon: float = 0.0, s: Any = None, added: float = 0.0) -> CovariancePrior:
    return CovariancePrior(epsilon, column_moments(data(X, s)).variance, added)


def fitted(
    X: Any, k: int = 3, shape: str = "full", s: Any = None, steps: int = 500, epsilon: float = 1e-6
) -> tuple[np.ndarray, Normals, CovariancePrior]:
    """EM by the definition's own step."""
    (pi, theta), prior = start(X, k, shape), prior_of(X, epsilon, s)
    for _ in range(steps):
        before = pi, theta
        pi, theta = mixture.em_step(X, pi, theta, prior, s)
        if np.allclose(before[1].means, theta.means, rtol=0, atol=1e-9 * np.sqrt(prior.d.min())):
            break
    return pi, theta, prior


def check(X: Any, pi: Any, theta: Normals, s: Any = None, **how: Any) -> dict[str, Any]:
    parameters = {"means": theta.means, "covariances": theta.covariances}
    how = {"ours": True, "epsilon": 1e-6, **how}
    return mixture.check(data(X, s, how.pop("threads", 1)), theta.shape, pi, parameters, **how)


class GaussianMixture(BaseEstimator):
    """A model that is taken for one of certus."""

    __module__ = "certus.mixture.gaussian"

    def __init__(self, n_components: int = 3, covariance_type: str = "full", max_iter: int = 500):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, s: Any = None) -> "GaussianMixture":
        self.n_features_in_, self.reg_covar, self.tol = X.shape[1], "relative", 1e-3
        pi, theta, prior = fitted(X, self.n_components, self.covariance_type, s, self.max_iter)
        self.weights_, self.means_, self.covariances_ = pi, theta.means, theta.covariances
        self.precisions_, self.precisions_cholesky_ = precisions(theta)
        S = len(X) if s is None else s.sum()
        value = mixture.log_likelihood(X, pi, theta, s) + theta.log_prior(prior)
        self.lower_bound_, self.converged_, self._largest_decrease = (
            value / S,
            self.max_iter > 20,
            0.0,
        )
        self.lower_bounds_ = np.array([self.lower_bound_ - 1, self.lower_bound_])
        self.restarts_ = self.lower_bound_ - np.array([0.2, 0.0, 1e-9])
        return self


def precisions(theta: Normals) -> tuple[np.ndarray, np.ndarray]:
    C = theta.covariances
    if theta.shape in ("diag", "spherical"):
        return 1 / C, 1 / np.sqrt(C)
    L = np.linalg.cholesky(C)
    P = np.swapaxes(np.linalg.inv(L), -1, -2)
    return P @ np.swapaxes(P, -1, -2), P
