"""LogisticRegression beside scikit-learn's, which is solved to the end."""

import numpy as np
import pytest
import sklearn.linear_model as peers
from scipy.special import logsumexp

classes = pytest.mark.parametrize("K", [2, 3], ids=["two classes", "three classes"])


def tight(**parameters):
    """scikit-learn's, as near to the optimum as its Newton method comes."""
    tightest = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}
    return peers.LogisticRegression(**{**tightest, **parameters})


def agree(ours, theirs, atol=1e-7):
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=atol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=atol)


def objective(model, X, y, s=None, C=1.0, l1_ratio=0.0):
    """F at the model's w and b, with labels 0, 1, …"""
    z = np.asarray(X, dtype=float) @ model.coef_.T + model.intercept_
    z = np.column_stack([np.zeros(len(z)), z]) if z.shape[1] == 1 else z
    losses = logsumexp(z, axis=1) - z[np.arange(len(z)), y]
    w = model.coef_
    penalty = l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * (w**2).sum()
    return C * np.sum(losses if s is None else s * losses) + penalty
