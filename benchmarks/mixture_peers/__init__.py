"""Gaussian mixtures of each library under the name of the suite ``mixture``.

``Steps(k, max_iter, covariance_type, tol).fit(X, y)`` does max_iter steps of EM from the rows of X
that the permutation y names first, the columns' variances and equal shares, the same for
all. ``weights_``, ``means_`` and ``covariances_`` (k, p, p) or (k, p) are the answer.
"""

import numpy as np


def start(X, y, k, covariance_type):
    """(shares, means, covariances in scikit-learn's shape)."""
    k = min(k, max(1, len(X) // (4 * X.shape[1])))  # small sets that warm a library up
    v = X.var(axis=0, dtype=np.float64)
    shapes = {
        "full": np.stack([np.diag(v)] * k),
        "tied": np.diag(v),
        "diag": np.tile(v, (k, 1)),
        "spherical": np.full(k, v.mean()),
    }
    return np.full(k, 1 / k), X[y[:k]].astype(np.float64), shapes[covariance_type]


def precisions(covariances, covariance_type):
    if covariance_type in ("full", "tied"):
        return np.linalg.inv(covariances)
    return 1 / covariances
