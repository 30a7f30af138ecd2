r"""Tests of nested models: is this the F, or the likelihood ratio, of the additional columns?

    least squares:  F = ((RSS₀ − RSS)/q) / (RSS/ν),   RSS = min Σ_i s_i (y_i − φ_iᵀθ)²
    likelihoods:    2(max log L − max log L₀)

RSS₀ and log L₀ are those of the smaller model, whose columns are given by their indices; q is the
number of additional coefficients and ν that of rows (of positive weight) less coefficients. Under
the smaller model the first is an F of q and ν degrees of freedom, if noise is normal, and the
second a chi² of q, for many rows.

Both models are fitted here: least squares by orthogonal projection of centred columns, likelihoods
(a term) by Newton's method. The miss is the error of the statistic, relative to 1 + statistic. It
is infinite if a maximum is not found.

Memory: four arrays as large as X, K − 1 times for likelihoods of K > 2 classes.
"""

from math import inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, columns, statistic, likelihood=None, n_classes=2, tol=1e-6):
    """Check the statistic of X against some of its columns, both with an intercept."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    A = X - np.average(X, axis=0, weights=s)
    A = np.column_stack([np.ones(len(X)), A / np.maximum(np.sqrt(s @ A**2), 1e-300)])
    small = A[:, np.append(0, 1 + np.asarray(columns, dtype=int))]
    if likelihood is None:
        rss0, rss = (residual_square(np.sqrt(s)[:, None] * Z, np.sqrt(s) * y) for Z in (small, A))
        q, nu = A.shape[1] - small.shape[1], len(y) - A.shape[1]
        expected = (rss0 - rss) / q / (rss / nu)
    else:
        tops = [top(Z, y, s, likelihood, n_classes) for Z in (small, A)]
        expected = 2 * (tops[1] - tops[0]) if min(tops) > -inf else inf
    miss = abs(statistic - expected)
    return Claim("exact", float(expected), float(miss), 1 + abs(float(statistic)), tol)


def residual_square(Z, y):
    Q, _ = np.linalg.qr(Z)
    r = y - Q @ (Q.T @ y)
    r -= Q @ (Q.T @ r)
    return r @ r


def top(Z, y, s, likelihood, n_classes):
    """The maximum of log L; −∞ if none is found."""
    theta = np.zeros((n_classes - 1, Z.shape[1]))
    for _ in range(100):
        value, g, H = likelihood.at(Z, y, s, theta)
        step = np.linalg.lstsq(H, g)[0]
        if g @ step <= 1e-12:
            return value + g @ step / 2
        length = 1.0
        while length > 1e-9:
            trial = theta + length * step.reshape(theta.shape)
            if likelihood.at(Z, y, s, trial)[0] > value:
                break
            length /= 2
        theta = trial
    return -inf
