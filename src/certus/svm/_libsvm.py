r"""C-SVC by libsvm, refined to the last digits, and its objective.

½βᵀKβ + Σ C_i max(0, 1 − y_i f(x_i)),  C_i = C·weight_i,  summed over pairs of classes
"""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..data.rows import Rows
from ..runtime.pool import interruptible
from ..solvers.hinge.svc_interior import interior_point
from ..solvers.hinge.svc_polish import polish
from ..solvers.lssvm import predict
from ._classes import codes
from ._kernels import kernel_of
from ._pairs import pairs_of

if TYPE_CHECKING:
    from .density_svc import DensityWeightedSVC

MAX_POLISHED_ROWS = 4000  # of a pair of classes: its kernel matrix takes 128 MB


def libsvm(
    model: "DensityWeightedSVC",
    tol: float,
    max_steps: int,
    X: np.ndarray,
    labels: np.ndarray,
    row_weights: np.ndarray,
) -> SVC:
    """Fit scikit-learn's SVC, with at most ``max_steps`` for each pair of classes.

    Runs in a thread that Ctrl-C need not wait for, since libsvm cannot be interrupted.
    """
    svc = SVC(
        C=float(model.C), kernel=model.kernel, degree=int(model.degree), gamma=model.gamma_,
        coef0=float(model.coef0), tol=tol, shrinking=bool(model.shrinking),
        cache_size=model.cache_size, max_iter=max_steps,
    )  # fmt: skip

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate shows it
        return interruptible(svc.fit, X, labels, row_weights)


def by_interior_point(
    model: "DensityWeightedSVC",
    rows: Rows,
    row_weights: np.ndarray,
    beta: np.ndarray,
    b: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return β (n, pairs) and b, small pairs solved by an interior-point method.

    Its number of steps does not grow with C·K.
    """
    beta, b = beta.copy(), b.copy()
    for t, members, K, y, upper in _small_pairs(model, rows, row_weights):
        result = interior_point(K, y, upper)
        if result is not None:
            beta[members, t], b[t] = result
    return beta, b


def polished(
    model: "DensityWeightedSVC",
    rows: Rows,
    row_weights: np.ndarray,
    beta: np.ndarray,
    b: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return β (n, pairs) and b, small pairs refined to their last digits."""
    beta, b = beta.copy(), b.copy()
    for t, members, K, y, upper in _small_pairs(model, rows, row_weights):
        result = polish(K, y, upper, beta[members, t], b[t])
        if result is not None:
            beta[members, t], b[t] = result
    return beta, b


def _small_pairs(model: "DensityWeightedSVC", rows: Rows, row_weights: np.ndarray) -> Iterator[Any]:
    """Yield (index, rows, K, y = ±1, C_i) of each pair of classes with few enough rows."""
    k, kernel = codes(rows), kernel_of(model, model.gamma_)
    for t, (i, j) in enumerate(pairs_of(len(model.classes_))):
        members = np.flatnonzero(((k == i) | (k == j)) & (row_weights > 0))
        if len(members) <= MAX_POLISHED_ROWS:
            y, upper = np.where(k[members] == i, 1.0, -1.0), float(model.C) * row_weights[members]
            yield t, members, kernel.gram(rows.X[members], rows.X[members]), y, upper


def objective(
    model: "DensityWeightedSVC",
    rows: Rows,
    row_weights: np.ndarray,
    beta: np.ndarray,
    b: np.ndarray,
) -> float:
    """Return the objective, summed over pairs of classes."""
    k, C = codes(rows), float(model.C) * row_weights
    f = predict(rows.X, rows.X, beta, b, kernel_of(model, model.gamma_))
    total = 0.5 * float(np.sum(beta * (f - b)))
    for t, (i, j) in enumerate(pairs_of(len(model.classes_))):
        y = (k == i).astype(float) - (k == j)
        total += float(np.sum(C * np.abs(y) * np.maximum(0.0, 1 - y * f[:, t])))
    return total
