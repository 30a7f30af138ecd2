"""Poisson and Gamma regression with a log link.

    F(w, b) = 1/n Σ ½ d(y, exp(xᵀw + b)) + α/2 ‖w‖²,   α = 0.01

Seconds are those to a relative excess of 1e-6. certus runs at its default tol, scikit-learn's
solvers at the loosest that reaches it; newton-cholesky is left out of the wide row, where its
Hessian has 4 million entries.
"""

import numpy as np

from benchmarks import libraries
from benchmarks.harness import Row, Suite

ALPHA = 0.01


def log_means(n, p, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return rng, X, X @ (rng.normal(size=p) / (2 * np.sqrt(p))) + 0.5


def counts(n, p, seed, dtype, order):
    rng, X, z = log_means(n, p, seed)
    return np.asarray(X, dtype=dtype, order=order), rng.poisson(np.exp(z)).astype(float)


def amounts(n, p, seed, dtype, order):
    rng, X, z = log_means(n, p, seed)
    return np.asarray(X, dtype=dtype, order=order), np.exp(z) * rng.gamma(2.0, 0.5, size=n)


def poisson_objective(row, X, y):
    constant = np.mean(y * np.log(np.where(y > 0, y, 1.0)) - y)

    def F(model):
        z = X @ model.coef_ + model.intercept_
        return float(np.mean(np.exp(z) - y * z) + constant + ALPHA / 2 * model.coef_ @ model.coef_)

    return F


def gamma_objective(row, X, y):
    def F(model):
        t = np.log(y) - X @ model.coef_ - model.intercept_
        return float(np.mean(np.expm1(t) - t) + ALPHA / 2 * model.coef_ @ model.coef_)

    return F


def row(name, estimator, n, p, **settings):
    of = (poisson_objective, counts) if estimator == "PoissonRegressor" else (
        gamma_objective, amounts
    )  # fmt: skip
    return Row(name, estimator, n, p, *of, params={"alpha": ALPHA}, **settings)


SUITE = Suite(
    name="counts",
    contestants=(
        libraries.certus("linear_model"),
        libraries.sklearn_solver("newton-cholesky"),
        libraries.sklearn_solver("lbfgs"),
    ),
    rows=(
        row("Poisson tall", "PoissonRegressor", n=200_000, p=20),
        row("Poisson 100 columns", "PoissonRegressor", n=50_000, p=100),
        row("Poisson small", "PoissonRegressor", n=1_000, p=10, repeats=10),
        row("Poisson wide", "PoissonRegressor", n=500, p=2_000,
            without=("sklearn newton-cholesky",)),
        row("Gamma tall", "GammaRegressor", n=200_000, p=20),
        row("Gamma small", "GammaRegressor", n=1_000, p=10, repeats=10),
    ),
)  # fmt: skip
