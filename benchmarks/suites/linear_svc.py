"""Linear support vector machines of two classes.

    F(w, b) = C Σ_i ℓ(y_i(x_iᵀw + b)) + ½(‖w‖² + b²),   ℓ(m) = [1 − m]₊ or [1 − m]₊²,   y = ±1

Seconds are those to a relative excess of 1e-6. certus runs at its default tol, scikit-learn (that
is, liblinear) at the loosest that reaches the limit. It is left out of the dense rows of the hinge,
where it was at 3e-4 after 1000 epochs.
"""

import math

import numpy as np

from benchmarks import libraries
from benchmarks.generators import CLASS_DENSITY, sparse_two_classes, two_classes
from benchmarks.harness import Row, Suite

BLOCK_ROWS = 65_536


def svc_objective(row, X, y):
    C, power = row.params.get("C", 1.0), 1 if row.params.get("loss") == "hinge" else 2

    def objective(model):
        w = np.asarray(model.coef_, dtype=np.float64).ravel()
        b = float(np.squeeze(model.intercept_))
        sums = []
        for start in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            z = X[rows].astype(np.float64) @ w + b
            sums.append(np.sum(np.maximum(1 - np.where(y[rows] > 0, z, -z), 0.0) ** power))
        return C * math.fsum(sums) + float(w @ w + b * b) / 2

    return objective


CERTUS, LIBLINEAR = libraries.certus("svm"), libraries.sklearn_linear_svc()
TALL = {"n": 100_000, "p": 100, "generator": two_classes}
SPARSE = {"n": 100_000, "p": 50_000, "generator": sparse_two_classes, "density": CLASS_DENSITY}
NOT_REACHED = (LIBLINEAR.name,)
HINGE, SQUARED = {"loss": "hinge"}, {"loss": "squared_hinge"}


def row(name, params, **settings):
    """certus at a small tol says how low F gets."""
    return Row(
        name, "LinearSVC", objective=svc_objective, params=params, reference=CERTUS, **settings
    )


SUITE = Suite(
    name="linear_svc",
    contestants=(CERTUS, LIBLINEAR),
    rows=(
        row("Hinge", HINGE, **TALL, without=NOT_REACHED),
        row("Hinge 1 thread", HINGE, **TALL, threads=1, without=NOT_REACHED),
        row("Hinge sparse", HINGE, **SPARSE),
        row("Hinge tiny", HINGE, n=100, p=5, generator=two_classes, repeats=50),
        row("Squared hinge", SQUARED, **TALL),
        row("Squared hinge 1 thread", SQUARED, **TALL, threads=1),
        row("Squared hinge sparse", SQUARED, **SPARSE),
        row("Squared hinge tiny", SQUARED, n=100, p=5, generator=two_classes, repeats=50),
    ),
)
