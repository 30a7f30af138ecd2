"""Lasso, elastic net, paths, LassoCV and MCP.

    F(w, b) = 1/(2n) ‖y − Xw − b‖² + α (l1 ‖w‖₁ + (1 − l1)/2 ‖w‖²)

Seconds are those to a relative excess of 1e-6. certus runs at its default tol, each other library
at the loosest tol that reaches the limit. The data are scaled to λmax = 1 (generators.py), so that
α is the same number for all: λmax/20, which for l1 = 0.5 is α = 0.1.

Lasso path: 50 α from λmax to λmax/100 by one call, without an intercept, as scikit-learn's and
celer's paths have none; LassoCV: 50 α, for tall rows down to λmax/1000, in 5 folds. Their optima
come from lasso_reference.py:

    path       F = max over α of F_α(w_α)/min F_α
    LassoCV    F = max(F_α(w, b)/min F_α, E(α)/min E),   α its choice, E the error in the folds

MCP is not convex: two answers can be stationary and differ in value. Its F is 1 + the distance to
stationarity, relative to the penalty's strength, and the value reached is a table of its own:

    ½‖y − Xw − b‖² + Σ_j MCP(w_j),   MCP(u) = λ|u| − u²/(2γ) for |u| ≤ γλ, γλ²/2 beyond

Left out: skglm and adelie of LassoCV (none; folds of its own), all but skglm of MCP.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from benchmarks import libraries
from benchmarks.generators import (
    LASSO_DENSITY,
    few_true_columns,
    few_true_columns_no_intercept,
    few_true_unit_columns,
    sparse_few_true_columns,
)
from benchmarks.harness import Row, Suite
from benchmarks.lasso_reference import cross_validated_errors, lasso_path
from benchmarks.suites.least_squares import residual_sum_of_squares
from benchmarks.suites.logistic import penalty

ALPHA, FOLDS = 1 / 20, 5
ALPHAS = np.geomspace(1, 1 / 100, 50)


def lasso_objective(row, X, y):
    alpha, l1 = row.params["alpha"], row.params.get("l1_ratio", 1.0)

    def objective(model):
        loss = residual_sum_of_squares(model, X, y) / (2 * X.shape[0])
        return loss + alpha * penalty(model, l1)

    return objective


def objective_at(alpha, row, X, y):
    return lasso_objective(replace(row, params={"alpha": alpha}), X, y)


def path_objective(row, X, y):
    alphas = row.params["alphas"]
    at = [objective_at(alpha, row, X, y) for alpha in alphas]

    def objectives(W):
        return np.array([F(linear(w)) for F, w in zip(at, W, strict=True)])

    best = objectives(lasso_path(X, y, alphas, fit_intercept=False)[0])
    return lambda model: float(np.max(objectives(model.coefs_.T) / best))


def cross_validation_objective(row, X, y):
    alphas = row.params["alphas"]
    errors = cross_validated_errors(X, y, alphas, row.params["cv"])
    W, b = lasso_path(X, y, alphas)

    def objective(model):
        chosen = int(np.argmin(np.abs(alphas - model.alpha_)))
        F = objective_at(alphas[chosen], row, X, y)
        return max(F(model) / F(linear(W[chosen], b[chosen])), errors[chosen] / errors.min())

    return objective


def linear(w, b=0.0):
    return SimpleNamespace(coef_=w, intercept_=b)


def mcp_stationarity(row, X, y):
    """1 + max_j dist(x_jᵀr, ∂MCP(w_j))/λ, with b as a column of norm 1."""
    strength, gamma = row.params["strength"], row.params["gamma"]

    def stationarity(model):
        w = np.ravel(model.coef_)
        r = y - X @ w - model.intercept_
        pull, slope = X.T @ r, np.maximum(strength - np.abs(w) / gamma, 0.0)
        away = np.where(w == 0, np.abs(pull) - strength, np.abs(pull - slope * np.sign(w)))
        of_intercept = abs(np.sum(r)) / np.sqrt(len(r))
        return 1 + max(np.max(away), of_intercept, 0.0) / strength

    return stationarity


def mcp_value(row, X, y):
    strength, gamma = row.params["strength"], row.params["gamma"]

    def value(model):
        u = np.minimum(np.abs(model.coef_), gamma * strength)  # flat beyond
        return residual_sum_of_squares(model, X, y) / 2 + np.sum(strength * u - u**2 / (2 * gamma))

    return value


SKLEARN, CELER, SKGLM = libraries.sklearn_lasso(), libraries.celer(), libraries.skglm()
PEERS = (SKLEARN, CELER, SKGLM, libraries.adelie())


def row(name, estimator="Lasso", generator=few_true_columns, peers=PEERS, **settings):
    """A row that only these peers enter."""
    defaults = {
        "objective": lasso_objective,
        "params": {"alpha": ALPHA},
        "without": tuple(peer.name for peer in PEERS if peer not in peers),
        "reference": None if "least" in settings else CELER,
    }
    return Row(name, estimator, generator=generator, **defaults | settings)


def cross_validation(name, n, p, order, lowest):
    """α from 1 to lowest: the one of least error is no end of the grid."""
    return row(
        name,
        "LassoCV",
        n=n,
        p=p,
        order=order,
        peers=(SKLEARN, CELER),
        objective=cross_validation_objective,
        least=1.0,
        params={
            "alphas": np.geomspace(1, lowest, 50),
            "cv": FOLDS,
            "n_jobs": -1,  # the folds on all CPUs
        },
    )


WIDE = {"n": 500, "p": 20_000}
TALL = {"n": 100_000, "p": 200}
SPARSE = {"n": 100_000, "p": 50_000, "generator": sparse_few_true_columns, "density": LASSO_DENSITY}

SUITE = Suite(
    name="lasso",
    contestants=(libraries.certus_lasso(), *PEERS),
    rows=(
        row("Lasso wide", **WIDE, order="F"),
        row("Lasso wide C-order", **WIDE),
        row(
            "Lasso path",
            "LassoPath",
            few_true_columns_no_intercept,
            **WIDE,
            order="F",
            objective=path_objective,
            least=1.0,
            params={"alphas": ALPHAS},
        ),
        row("Lasso tall", **TALL, order="F"),
        row("Lasso tall C-order", **TALL),
        row("Lasso tall 1 thread", **TALL, order="F", threads=1),
        row("Lasso sparse CSR", **SPARSE),
        row("Lasso sparse CSC", **SPARSE, order="F"),
        row(
            "Elastic net wide",
            "ElasticNet",
            **WIDE,
            order="F",
            params={"alpha": 2 * ALPHA, "l1_ratio": 0.5},
        ),
        row(
            "MCP wide",
            "MCPRegression",
            few_true_unit_columns,
            **WIDE,
            order="F",
            peers=(SKGLM,),
            objective=mcp_stationarity,
            least=1.0,
            value=mcp_value,
            params={"strength": ALPHA, "gamma": 3.0},
            excess_limit=1e-4,
        ),
        cross_validation("LassoCV tall", **TALL, order="F", lowest=1e-3),
        cross_validation("LassoCV wide", **WIDE, order="F", lowest=1e-2),
        row("Lasso tiny", n=100, p=5, repeats=200),
    ),
)
