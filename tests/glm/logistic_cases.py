"""Logistic and softmax fits by a plain Newton's method, and their standard errors."""

import numpy as np

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.inference.base import feature_names
from certus.linear_model._inference.logistic import results
from certus.solvers.inference.logistic import infer_logistic


def labeled(seed, n=200, p=3, n_classes=2):
    """Rows on a grid of 1/64 whose classes overlap."""
    rng = np.random.default_rng(seed)
    X = np.round(64 * rng.normal(size=(n, p))) / 64
    score = X @ rng.uniform(-1, 1, size=(p, n_classes)) + rng.uniform(-0.5, 0.5, size=n_classes)
    return X, (score + rng.gumbel(size=score.shape)).argmax(axis=1)


def optimum(X, y, s=None, alpha=0.0, fit_intercept=True):
    """Return (w, b) of least −log L + α/2‖w‖²: w is (p, 1) for two classes, else (p, K)."""
    n, K = len(y), int(y.max()) + 1
    s = np.ones(n) if s is None else s
    mean = X.mean(axis=0) * fit_intercept
    Phi = np.column_stack([np.ones(n), X - mean]) if fit_intercept else X
    m, k = Phi.shape[1], 1 if K == 2 else K
    own = (y[:, None] == (1 if K == 2 else np.arange(K))).astype(float)
    penalty = alpha * np.tile(np.arange(m) >= fit_intercept, k)
    theta = np.zeros(m * k)
    for _ in range(100):
        z = Phi @ theta.reshape(k, m).T
        P = 1 / (1 + np.exp(-z)) if K == 2 else np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        g = ((s[:, None] * (P - own)).T @ Phi).ravel() + penalty * theta
        curvature = P[:, :, None] * np.eye(k) - P[:, :, None] * P[:, None, :]
        H = np.einsum("i,ikl,ia,ib->kalb", s, curvature, Phi, Phi).reshape(m * k, -1)
        step = np.linalg.lstsq(H + np.diag(penalty), g, rcond=1e-12)[0]
        theta = theta - step
        if np.abs(step).max() < 1e-13:
            break
    theta = theta.reshape(k, m).T
    if not fit_intercept:
        return theta, np.zeros(k)
    return theta[1:], theta[0] - mean @ theta[1:]


def fitted(X, y, s=None, alpha=0.0, cov="classical", fit_intercept=True, at=None):
    """Return ``LogisticRegression(C=1/alpha).fit(X, y).inference(X, y)``; at: (w, b)."""
    K = int(y.max()) + 1
    source = CSR(X) if hasattr(X, "format") else X
    w, b = at or optimum(X.toarray() if hasattr(X, "format") else X, y, s, alpha, fit_intercept)
    rows = Rows(source, y[:, None].astype(float), s)
    result = infer_logistic(rows, w, b, K, alpha, fit_intercept, cov)
    names = feature_names(None, X.shape[1], fit_intercept)
    return results(result, names, tuple(f"c{k}" for k in range(K)), alpha, cov)
