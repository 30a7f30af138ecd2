"""Mixtures by the plainest arithmetic, to compare with."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

TYPES = ("full", "tied", "diag", "spherical")


def blobs(seed=0, n=240, p=3, k=3, apart=3.0):
    """Rows of k Gaussians with covariances of their own."""
    draw = np.random.default_rng(seed)
    centers = apart * draw.normal(size=(k, p))
    spread = draw.normal(size=(k, p, p)) / np.sqrt(p) + 0.5 * np.eye(p)
    y = np.arange(n) % k
    return np.stack([centers[i] + spread[i] @ draw.normal(size=p) for i in y])


def matrices(model):
    """Covariances as (k, p, p), whatever their type."""
    k, p = model.means_.shape
    cov = np.asarray(model.covariances_)
    if model.covariance_type == "full":
        return cov
    if model.covariance_type == "tied":
        return np.broadcast_to(cov, (k, p, p))
    if model.covariance_type == "diag":
        return np.stack([np.diag(c) for c in cov])
    return np.stack([c * np.eye(p) for c in cov])


def log_joint(X, weights, means, covariances):
    """log π_k N(x | μ_k, Σ_k) of observed entries, row by row."""
    X = np.asarray(X, dtype=float)
    out = np.empty((len(X), len(weights)))
    for i, x in enumerate(X):
        o = np.flatnonzero(~np.isnan(x))
        for k, pi in enumerate(weights):
            density = 0.0
            if len(o):
                C = covariances[k][np.ix_(o, o)]
                density = multivariate_normal.logpdf(x[o], means[k][o], C)
            out[i, k] = np.log(pi) + density
    return out


def likelihood(X, model, s=None):
    s = np.ones(len(X)) if s is None else s
    a = log_joint(X, model.weights_, model.means_, matrices(model))
    return float(s @ logsumexp(a, axis=1))


def log_prior(X, model, s=None, epsilon=1e-6):
    """That of ε rows in each component with the variances of the columns."""
    s = np.ones(len(X)) if s is None else np.asarray(s, dtype=float)
    X = np.ma.masked_invalid(X)
    mean = np.ma.average(X, axis=0, weights=s)
    D = np.diag(np.ma.getdata(np.ma.average((X - mean) ** 2, axis=0, weights=s)))
    each = [np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, D)) for C in matrices(model)]
    return -epsilon / 2 * (each[0] if model.covariance_type == "tied" else sum(each))


def plain_em(X, theta, steps):
    """Maximum likelihood, full covariances, as the textbook has it."""
    pi, mu, C = theta
    for _ in range(steps):
        a = log_joint(X, pi, mu, C)
        R = np.exp(a - logsumexp(a, axis=1, keepdims=True))
        N = R.sum(axis=0)
        pi, mu = N / N.sum(), R.T @ X / N[:, None]
        C = [(R[:, k] * (X - mu[k]).T) @ (X - mu[k]) / N[k] for k in range(len(pi))]
    return pi, mu, np.array(C)
