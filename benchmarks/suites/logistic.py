"""Logistic regression of two classes.

    F(w, b) = C Σ_i log(1 + exp(−y_i(x_iᵀw + b))) + l1 ‖w‖₁ + (1 − l1)/2 ‖w‖²,   y = ±1

Seconds are those to a relative excess of 1e-6 (1e-5 for float32). certus runs at its default tol.
Each solver of the others is a contestant of its own, at the loosest tol that reaches the limit.
Left out of a row is who does not solve its problem, or takes more than a minute for it:

    newton-cholesky     p ≥ 5,000: a Hessian of p² entries per step
    liblinear           p = 5,000, dense
    saga                p ≥ 5,000
    lbfgs, newton-cg    columns 1000 times their spread away from 0
    celer               an intercept, L2
    sklearnex           L1, sparse rows, LogisticRegressionCV: oneDAL hands them to scikit-learn

The C of the L1 rows is 2.5 times the least C that has a non-zero coefficient if they are wide (70
of 20,000 are not 0), 75 times if they are tall (17 of 50). Fortran order is what their peers work
in: from C order, celer and skglm take three times as long.

LogisticRegressionCV: a choice of C is as good as its cross-validated log loss, L(C), and

    F = max(F_C(w, b)/min F_C, L(C)/min L),   C the one it chose
"""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from benchmarks import libraries
from benchmarks.generators import (
    CLASS_DENSITY,
    few_true_features,
    sparse_two_classes,
    two_classes,
    two_classes_correlated,
    two_classes_offset_1e3,
)
from benchmarks.harness import Row, Suite
from benchmarks.logistic_reference import cross_validated_losses, newton

BLOCK_ROWS = 65_536
CS, FOLDS = np.logspace(-4, 4, 10), 5


def logistic_objective(row, X, y):
    C, l1 = row.params.get("C", 1.0), row.params.get("l1_ratio", 0.0)
    return lambda model: C * logistic_loss(model, X, y) + penalty(model, l1)


def logistic_loss(model, X, y):
    """Σ log(1 + exp(−y z)) in float64, in blocks, from coef_ and intercept_."""
    w = np.asarray(model.coef_, dtype=np.float64).ravel()
    b = float(np.squeeze(model.intercept_))
    sums = []
    for start in range(0, X.shape[0], BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        z = X[rows].astype(np.float64) @ w + b
        sums.append(np.sum(np.logaddexp(0.0, np.where(y[rows] > 0, -z, z))))
    return math.fsum(sums)


def penalty(model, l1):
    w = np.asarray(model.coef_, dtype=np.float64)
    return l1 * float(np.sum(np.abs(w))) + (1 - l1) / 2 * float(np.sum(w**2))


def cross_validation_objective(row, X, y):
    losses = cross_validated_losses(X, 2.0 * y - 1, CS, FOLDS)

    def objective(model):
        chosen = int(np.argmin(np.abs(CS - float(np.squeeze(model.C_)))))
        at_chosen = logistic_objective(replace(row, params={"C": CS[chosen]}), X, y)
        w, b = newton(X, 2.0 * y - 1, CS[chosen])
        best = at_chosen(SimpleNamespace(coef_=w, intercept_=b))
        return max(at_chosen(model) / best, losses[chosen] / losses.min())

    return objective


LBFGS, NEWTON_CG, NEWTON, LIBLINEAR, SAGA = map(
    libraries.sklearn_solver, ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "saga")
)
SKLEARNEX, CELER, SKGLM = libraries.sklearnex_logistic(), libraries.celer(), libraries.skglm()
PEERS = (LBFGS, NEWTON_CG, NEWTON, LIBLINEAR, SAGA, SKLEARNEX, CELER, SKGLM)


def row(name, n, p, peers, reference, generator=two_classes, **settings):
    """A row that only these peers enter."""
    without = tuple(peer.name for peer in PEERS if peer not in peers)
    estimator = settings.pop("estimator", "LogisticRegression")
    objective = settings.pop("objective", logistic_objective)
    settings |= {"without": without, "reference": reference}
    return Row(name, estimator, n, p, objective, generator, **settings)


SMOOTH = (LBFGS, NEWTON_CG, NEWTON, LIBLINEAR, SAGA, SKLEARNEX)
TALL = {"n": 1_000_000, "p": 32, "peers": SMOOTH, "reference": NEWTON}
WIDE = {
    "n": 500,
    "p": 20_000,
    "peers": (LIBLINEAR, CELER, SKGLM),
    "reference": SKGLM,
    "generator": few_true_features,
    "params": {"C": 0.04, "l1_ratio": 1.0, "fit_intercept": False},
}
FEW = {
    "n": 100_000,
    "p": 50,
    "reference": SKGLM,
    "generator": few_true_features,
    "order": "F",
}

SUITE = Suite(
    name="logistic",
    contestants=(libraries.certus("linear_model"), *PEERS),
    rows=(
        row("Logistic tall", **TALL),
        row("Logistic tall float32", **TALL, dtype="float32", excess_limit=1e-5),
        row("Logistic tall F-order", **TALL, order="F"),
        row("Logistic tall 1 thread", **TALL, threads=1),
        row(
            "Logistic tall offset",
            **TALL | {"peers": (NEWTON, LIBLINEAR, SKLEARNEX)},
            generator=two_classes_offset_1e3,
        ),
        row("Logistic tall correlated", **TALL, generator=two_classes_correlated),
        row(
            "Logistic many columns",
            n=20_000,
            p=5_000,
            peers=(LBFGS, NEWTON_CG, SKLEARNEX),
            reference=LBFGS,
        ),
        row(
            "Logistic sparse",
            n=100_000,
            p=50_000,
            peers=(LBFGS, NEWTON_CG, LIBLINEAR),
            reference=NEWTON_CG,
            generator=sparse_two_classes,
            density=CLASS_DENSITY,
        ),
        row("Logistic tiny", n=100, p=5, peers=SMOOTH, reference=NEWTON, repeats=200),
        row("L1 wide", **WIDE, order="F"),
        row("L1 wide C-order", **WIDE),
        row("L1 tall", **FEW, peers=(LIBLINEAR, SAGA, SKGLM), params={"C": 0.005, "l1_ratio": 1.0}),
        row("Elastic net", **FEW, peers=(SAGA, SKGLM), params={"C": 0.005, "l1_ratio": 0.5}),
        row(
            "LogisticRegressionCV",
            n=50_000,
            p=30,
            peers=(LBFGS, NEWTON_CG, NEWTON, LIBLINEAR),
            reference=NEWTON,
            estimator="LogisticRegressionCV",
            objective=cross_validation_objective,
            params={
                "Cs": CS,
                "cv": FOLDS,
                "scoring": "neg_log_loss",
                "l1_ratios": (0.0,),
                "use_legacy_attributes": False,
                "n_jobs": -1,  # the folds on all CPUs
            },
        ),
    ),
)
