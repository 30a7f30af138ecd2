"""Tables with a known truth."""

import numpy as np

from tests.report.procedure.examples import prepared

N_ROWS = 300
N_COLUMNS = 8


def two_classes(seed, n=N_ROWS, signal=0.0):
    """Columns of noise, of which three decide the class with this strength."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_COLUMNS))
    z = signal * (X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2]) - 0.8
    return _columns(X), np.where(z + rng.logistic(size=n) > 0, "yes", "no")


def numbers(seed, n=N_ROWS, signal=0.0):
    """Columns of noise, and a target of numbers that three of them decide."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_COLUMNS))
    return _columns(X), signal * (X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2]) + rng.normal(size=n)


def rows_of(made, task="two classes", **options):
    """Prepared rows of a table."""
    columns, y = made
    if task == "two classes":
        options = {"labels": ("no", "yes"), "positive": 1, **options}
    return prepared(columns, y, task=task, **options)


def _columns(X):
    return {f"x{j}": X[:, j] for j in range(X.shape[1])}
