"""Least squares and ridge.

    F(w, b) = ‖y − Xw − b‖² + α‖w‖²,   α = 0 for LinearRegression, w ≥ 0 if positive=True

For RidgeCV, F takes the α of the grid with the smallest leave-one-out error, found here by plain
NumPy: a library that chooses another α, or solves for it badly, has an excess.
"""

import math

import numpy as np

from benchmarks import libraries
from benchmarks.generators import gaussian, gaussian_offset_1e3
from benchmarks.harness import ImportRow, Row, Suite

BLOCK_ROWS = 65_536
ALPHAS = np.logspace(-3, 3, 100)


def residual_sum_of_squares(model, X, y):
    """‖y − Xw − b‖² in float64, in blocks, from coef_ and intercept_."""
    w = np.asarray(model.coef_, dtype=np.float64).ravel()
    b = float(np.squeeze(model.intercept_))
    sums = []
    for start in range(0, X.shape[0], BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        residual = y[rows].astype(np.float64) - X[rows].astype(np.float64) @ w - b
        sums.append(residual @ residual)
    return math.fsum(sums)


def squared_norm(model):
    return float(np.sum(np.square(model.coef_, dtype=np.float64)))


def least_squares_objective(row, X, y):
    return lambda model: residual_sum_of_squares(model, X, y)


def nonnegative_objective(row, X, y):
    """Infinite outside w ≥ 0."""

    def objective(model):
        feasible = np.min(model.coef_) >= 0
        return residual_sum_of_squares(model, X, y) if feasible else math.inf

    return objective


def ridge_objective(row, X, y):
    alpha = row.params.get("alpha", 1.0)
    return lambda model: residual_sum_of_squares(model, X, y) + alpha * squared_norm(model)


def ridge_cv_objective(row, X, y):
    alpha = alpha_of_least_leave_one_out_error(X, y, row.params["alphas"])
    return lambda model: residual_sum_of_squares(model, X, y) + alpha * squared_norm(model)


def alpha_of_least_leave_one_out_error(X, y, alphas):
    """Leave-one-out residuals are r_i / (1 − h_i), h_i = 1/n + Σ_j u_ij² s_j² / (s_j² + α)."""
    X = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    y = y.astype(np.float64) - y.mean(dtype=np.float64)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    s[s < s[0] * len(s) * np.finfo(float).eps] = 0.0
    projection, leverages = U.T @ y, U**2

    def error(alpha):
        shrinkage = s**2 / (s**2 + alpha)
        residual = y - U @ (shrinkage * projection)
        return np.mean((residual / (1.0 - 1.0 / len(y) - leverages @ shrinkage)) ** 2)

    return min(alphas, key=error)


def linear(name, n, p, generator=gaussian, **settings):
    return Row(name, "LinearRegression", n, p, least_squares_objective, generator, **settings)


def ridge(name, n, p, generator=gaussian, **settings):
    return Row(name, "Ridge", n, p, ridge_objective, generator, **settings)


def ridge_cv(name, n, p, **settings):
    params = {"alphas": ALPHAS}
    return Row(name, "RidgeCV", n, p, ridge_cv_objective, gaussian, params, **settings)


# numpy's lstsq takes about as long as scikit-learn's LinearRegression: one row says it
TALL = {"n": 1_000_000, "p": 128}
VARIANT = TALL | {"without": ("numpy",)}
SINGLE = {"dtype": "float32", "excess_limit": 1e-5}

SUITE = Suite(
    name="least_squares",
    contestants=(
        libraries.certus("linear_model"),
        libraries.sklearn("linear_model"),
        libraries.sklearnex("linear_model"),
        libraries.numpy(),
    ),
    rows=(
        linear("LinearRegression tall", **TALL),
        linear("LinearRegression tall float32", **VARIANT, **SINGLE),
        linear("LinearRegression tall F-order", **VARIANT, order="F"),
        linear("LinearRegression tall 1 thread", **VARIANT, threads=1),
        linear("LinearRegression tall offset", **VARIANT, generator=gaussian_offset_1e3),
        linear("LinearRegression many columns", n=20_000, p=2_000),
        Row(
            "LinearRegression positive",
            "LinearRegression",
            n=100_000,
            p=50,
            objective=nonnegative_objective,
            generator=gaussian,
            params={"positive": True},
            without=("numpy",),
        ),
        ridge("Ridge tall", **TALL),
        ridge("Ridge tall float32", **TALL, **SINGLE),
        ridge("Ridge tall F-order", **TALL, order="F"),
        ridge("Ridge tall 1 thread", **TALL, threads=1),
        ridge("Ridge tall offset", **TALL, generator=gaussian_offset_1e3),
        ridge("Ridge many columns", n=20_000, p=2_000),
        ridge("Ridge wide", n=200, p=20_000),
        ridge_cv("RidgeCV tall", n=100_000, p=100),
        ridge_cv("RidgeCV wide", n=200, p=5_000),
        linear("LinearRegression tiny", n=100, p=5, repeats=200),
        ridge("Ridge tiny", n=100, p=5, repeats=200),
        ridge_cv("RidgeCV tiny", n=100, p=5, repeats=200),
        ImportRow(),
    ),
)
