"""Ordered classes, and Firth's penalty.

    OrdinalRegression         F = −Σ log P(y | x),   P(y ≤ k | x) = σ(c_k − xᵀw)
    FirthLogisticRegression   F = −Σ log P(y | x) − ½ log det Σ p(1 − p) x̃x̃ᵀ + constant

Firth's objective can be 0 or below: a constant makes it n at w = 0. Its peer is what a NumPy user
would write, scoring steps with the modified score.
"""

import numpy as np

from benchmarks import libraries
from benchmarks.generators import five_ordered_classes, separated_classes, two_classes
from benchmarks.harness import Row, Suite


def ordinal_objective(row, X, y):
    X = X.astype(np.float64)

    def F(model):
        z = X @ model.coef_[0]
        ends = np.concatenate([[-np.inf], model.thresholds_, [np.inf]])
        a, b = ends[y + 1] - z, ends[y] - z
        between = np.log(-np.expm1(b - a))
        return float((np.logaddexp(0, -a) + np.logaddexp(0, b) - between).sum())

    return F


def firth_objective(row, X, y):
    A = np.hstack([X.astype(np.float64), np.ones((len(X), 1))])

    def value(theta):
        z = A @ theta
        e = np.exp(-np.abs(z))
        information = A.T @ ((e / (1 + e) ** 2)[:, None] * A)
        loss = np.logaddexp(0, np.where(y == 1, -z, z)).sum()
        return loss - np.linalg.slogdet(information)[1] / 2

    shift = len(y) - value(np.zeros(A.shape[1]))

    def F(model):
        return float(value(np.append(model.coef_[0], model.intercept_)) + shift)

    return F


def ordinal(name, n, p, **settings):
    return Row(name, "OrdinalRegression", n, p, ordinal_objective, five_ordered_classes, **settings)


def firth(name, n, p, generator=two_classes, **settings):
    return Row(name, "FirthLogisticRegression", n, p, firth_objective, generator, **settings)


SUITE = Suite(
    name="odds",
    contestants=(libraries.certus("linear_model"), libraries.statsmodels(), libraries.numpy()),
    rows=(
        ordinal("Ordinal tall", n=100_000, p=20),
        ordinal("Ordinal tall 1 thread", n=100_000, p=20, threads=1),
        ordinal("Ordinal small", n=1_000, p=5, repeats=20),
        ordinal("Ordinal tiny", n=100, p=3, repeats=50),
        firth("Firth tall", n=100_000, p=20),
        firth("Firth many columns", n=10_000, p=100),
        firth("Firth separated", n=2_000, p=10, generator=separated_classes, repeats=20),
        firth("Firth tiny", n=100, p=3, repeats=50),
    ),
)
