"""Ridge on sparse data.

    F(w, b) = ‖y − Xw − b‖² + α‖w‖²

X is CSR; scikit-learn's default there is conjugate gradients too, stopped at tol=1e-4.
"""

from benchmarks import libraries
from benchmarks.generators import DENSITY, sparse_uniform
from benchmarks.harness import Row, Suite
from benchmarks.suites.least_squares import squared_norm


def sparse_ridge_objective(row, X, y):
    alpha = row.params.get("alpha", 1.0)

    def objective(model):
        r = y - X @ model.coef_.ravel() - model.intercept_
        return float(r @ r) + alpha * squared_norm(model)

    return objective


def ridge(name, n, p, **settings):
    settings["density"] = DENSITY
    return Row(name, "Ridge", n, p, sparse_ridge_objective, sparse_uniform, **settings)


SUITE = Suite(
    name="sparse",
    contestants=(libraries.certus("linear_model"), libraries.sklearn("linear_model")),
    rows=(
        ridge("Ridge sparse", n=1_000_000, p=1_000),
        ridge("Ridge sparse 1 thread", n=1_000_000, p=1_000, threads=1),
        ridge("Ridge sparse many columns", n=100_000, p=50_000, excess_limit=1e-5),
    ),
)
