"""Methods of one row at a time: what a pass over the data costs.

    F(w, b) = (1/n) Σ_i log(1 + exp(−y_i(x_iᵀw + b))) + α/2 ‖w‖²,   y = ±1,  α = 1e-6

Every library makes the same number of passes, by single rows in random order; nobody stops early.
certus evaluates F and its duality bound after each pass besides, which scikit-learn does not. The
steps of SGD are the same for both and do not change. The excess is over the lower of the two: the
answers of SGD differ by the order in which rows were drawn, those of SAGA also by its step, so the
limit is wide.
"""

import numpy as np

from benchmarks import libraries
from benchmarks.generators import CLASS_DENSITY, sparse_two_classes, two_classes
from benchmarks.harness import Row, Suite
from benchmarks.suites.logistic import logistic_loss

ALPHA = 1e-6
SAME_METHOD = 0.05  # relative excess: another order of the rows


def mean_objective(row, X, y):
    def objective(model):
        w = np.asarray(model.coef_, dtype=np.float64)
        return logistic_loss(model, X, y) / X.shape[0] + ALPHA / 2 * float(np.sum(w**2))

    return objective


def row(name, estimator, params, **settings):
    params = {"alpha": ALPHA, **params}
    settings = {"generator": two_classes, "excess_limit": SAME_METHOD, **settings}
    return Row(name, estimator, objective=mean_objective, params=params, **settings)


TALL = {"n": 1_000_000, "p": 32}
SPARSE = {
    "n": 100_000, "p": 50_000, "generator": sparse_two_classes, "density": CLASS_DENSITY,
}  # fmt: skip
SGD = {"estimator": "SGDLogistic", "params": {"step": 1e-3, "passes": 20}}
SPARSE_SGD = {"estimator": "SGDLogistic", "params": {"step": 1e-1, "passes": 50}}
SAGA = {"estimator": "SAGALogistic", "params": {"passes": 10}}
SPARSE_SAGA = {"estimator": "SAGALogistic", "params": {"passes": 50}}

SUITE = Suite(
    name="optimisers",
    contestants=(libraries.certus_optimisers(), libraries.sklearn_optimisers()),
    rows=(
        row("SGD 20 passes", **SGD, **TALL),
        row("SGD 20 passes float32", **SGD, **TALL, dtype="float32"),
        row("SGD 20 passes 1 thread", **SGD, **TALL, threads=1),
        row("SGD sparse 50 passes", **SPARSE_SGD, **SPARSE),
        row("SGD sparse 50 passes 1 thread", **SPARSE_SGD, **SPARSE, threads=1),
        row("SAGA 10 passes", **SAGA, **TALL),
        row("SAGA 10 passes 1 thread", **SAGA, **TALL, threads=1),
        row("SAGA sparse 50 passes", **SPARSE_SAGA, **SPARSE),
        row("SAGA sparse 50 passes 1 thread", **SPARSE_SAGA, **SPARSE, threads=1),
    ),
)
