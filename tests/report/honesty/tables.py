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


def with_copy_of_target(seed):
    """Noise, and the target again as a column of other words."""
    columns, y = two_classes(seed)
    return {**columns, "discharge_code": np.where(y == "yes", "A", "B")}, y


def with_repeated_patients(seed, n_patients=60, rows_each=5):
    """Patients with several rows each: a patient's rows are alike, and have the same class.

    No column says anything of the class of another patient.
    """
    rng = np.random.default_rng(seed)
    own = np.repeat(rng.normal(size=(n_patients, N_COLUMNS)), rows_each, axis=0)
    X = own + 0.05 * rng.normal(size=own.shape)
    y = np.repeat(np.where(rng.random(n_patients) < 0.4, "yes", "no"), rows_each)
    order = rng.permutation(len(y))
    return _columns(X[order]), y[order]


def rows_of(made, task="two classes", **options):
    """Prepared rows of a table."""
    columns, y = made
    if task == "two classes":
        options = {"labels": ("no", "yes"), "positive": 1, **options}
    return prepared(columns, y, task=task, **options)


def _columns(X):
    return {f"x{j}": X[:, j] for j in range(X.shape[1])}
