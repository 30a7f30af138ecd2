"""Softmax regression of ten classes.

    F(W, b) = C Σ_i (log Σ_k exp(z_ik) − z_{i,y_i}) + ½‖W‖²,   z = XW + b

Seconds and tolerances as in the suite logistic. Left out: liblinear, which has no softmax;
newton-cholesky where the Hessian of (10 p)² entries does not fit; oneDAL for sparse rows, which it
hands to scikit-learn.
"""

import math

import numpy as np

from benchmarks import libraries
from benchmarks.generators import CLASS_DENSITY, sparse_ten_classes, ten_classes
from benchmarks.harness import Row, Suite
from benchmarks.suites.logistic import penalty

BLOCK_ROWS = 65_536


def softmax_objective(row, X, y):
    C = row.params.get("C", 1.0)
    return lambda model: C * softmax_loss(model, X, y) + penalty(model, l1=0.0)


def softmax_loss(model, X, y):
    """Σ log Σ exp(z) − z_y in float64, in blocks; the classes are 0, 1, …"""
    W = np.asarray(model.coef_, dtype=np.float64).T
    sums = []
    for start in range(0, X.shape[0], BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        z = X[rows].astype(np.float64) @ W + model.intercept_
        z -= z.max(axis=1, keepdims=True)
        of_its_class = np.take_along_axis(z, y[rows, None], axis=1)
        sums += [np.sum(np.log(np.sum(np.exp(z), axis=1))), -np.sum(of_its_class)]
    return math.fsum(sums)


def row(name, n, p, generator=ten_classes, **settings):
    settings["reference"] = LBFGS
    return Row(name, "LogisticRegression", n, p, softmax_objective, generator, **settings)


LBFGS, NEWTON_CG, NEWTON, SAGA = map(
    libraries.sklearn_solver, ("lbfgs", "newton-cg", "newton-cholesky", "saga")
)
SKLEARNEX = libraries.sklearnex_logistic()

SUITE = Suite(
    name="softmax",
    contestants=(
        libraries.certus("linear_model"),
        LBFGS,
        NEWTON_CG,
        NEWTON,
        SAGA,
        SKLEARNEX,
    ),
    rows=(
        row("Softmax", n=200_000, p=64),
        row("Softmax 1 thread", n=200_000, p=64, threads=1),
        row(
            "Softmax sparse",
            n=50_000,
            p=5_000,
            generator=sparse_ten_classes,
            density=CLASS_DENSITY,
            without=(NEWTON.name, SKLEARNEX.name),
        ),
        row("Softmax tiny", n=150, p=4, repeats=100),
    ),
)
