"""Positive definite systems Ax = y: factor and solve, a copy of A included.

    F(x) = 1 + ‖Ax − y‖ / (‖A‖ ‖x‖)

so that the excess of a backward stable solution is about the rounding unit.
"""

from dataclasses import replace

import numpy as np

from benchmarks import libraries
from benchmarks.generators import positive_definite
from benchmarks.harness import Contestant, Row, Suite


def backward_error(row, A, y):
    def objective(model):
        x = model.coef_
        return 1 + np.linalg.norm(A @ x - y) / (np.linalg.norm(A) * np.linalg.norm(x))

    return objective


def system(n, **settings):
    name = f"Cholesky {n:,}" + (" 1 thread" if settings else "")
    return Row(name, "PositiveDefinite", n, n, backward_error, positive_definite, **settings)


SUITE = Suite(
    name="cholesky",
    contestants=(
        replace(libraries.certus("linear_model"), module="benchmarks.certus_cholesky"),
        Contestant("LAPACK", "scipy", "benchmarks.lapack_cholesky", "scipy"),
    ),
    rows=(system(1_000), system(4_000), system(4_000, threads=1), system(12_000)),
)
