"""Linear fits whose standard errors are tested, in several files."""

import numpy as np
import pytest

from certus.linear_model import LinearRegression, Ridge
from tests.contract.problems import regression

KINDS = ("classical", "HC0", "HC1", "HC2", "HC3")
each_kind = pytest.mark.parametrize("cov", KINDS)
each_intercept = pytest.mark.parametrize("fit_intercept", [True, False])
weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def noisy(seed=0, n=60, p=4, k=None):
    """Noise that differs from row to row, so that HC and classical errors differ."""
    X, y, _ = regression(seed, n, p, k)
    rng = np.random.default_rng(seed + 1)
    return X, y + (1 + X[:, :1] ** 2 if k else 1 + X[:, 0] ** 2) * rng.normal(size=y.shape)


def fitted(X, y, s=None, alpha=None, cov="classical", fit_intercept=True):
    model = LinearRegression() if alpha is None else Ridge(alpha=alpha)
    model.set_params(fit_intercept=fit_intercept)
    return model.fit(X, y, sample_weight=s).inference(X, y, sample_weight=s, cov=cov)
