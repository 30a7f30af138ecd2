r"""C-SVC of a model's rows: libsvm, the last digits, and the objective.

½βᵀKβ + Σ C_i max(0, 1 − y_i f(x_i)),  C_i = C·times_i,  summed over pairs of classes
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

POLISHED_ROWS = 4000  # whose kernel matrix is made for the last digits


def libsvm(
    model: "DensityWeightedSVC",
    tol: float,
    most_steps: int,
    X: np.ndarray,
    labels: np.ndarray,
    times: np.ndarray,
) -> SVC:
    """scikit-learn's machine after at most so many steps for a pair of classes.

    In a thread that Ctrl-C need not wait for: libsvm itself does not listen.
    """
    svc = SVC(
        C=float(model.C), kernel=model.kernel, degree=int(model.degree), gamma=model.gamma_,
        coef0=float(model.coef0), tol=tol, shrinking=bool(model.shrinking),
        cache_size=model.cache_size, max_iter=most_steps,
    )  # fmt: skip

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate will tell
        return interruptible(svc.fit, X, labels, times)


def by_interior_point(
    model: "DensityWeightedSVC", rows: Rows, times: np.ndarray, beta: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """β (n, pairs) and b by a method whose steps do not grow with C·K, where a pair is small."""
    beta, b = beta.copy(), b.copy()
    for t, own, K, y, most in _small_pairs(model, rows, times):
        found = interior_point(K, y, most)
        if found is not None:
            beta[own, t], b[t] = found
    return beta, b


def polished(
    model: "DensityWeightedSVC", rows: Rows, times: np.ndarray, beta: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """β (n, pairs) and b, each pair to its last digits if it is small enough."""
    beta, b = beta.copy(), b.copy()
    for t, own, K, y, most in _small_pairs(model, rows, times):
        found = polish(K, y, most, beta[own, t], b[t])
        if found is not None:
            beta[own, t], b[t] = found
    return beta, b


def _small_pairs(model: "DensityWeightedSVC", rows: Rows, times: np.ndarray) -> Iterator[Any]:
    """(number, rows, K, y = ±1, C_i) of each pair of classes with few enough rows."""
    k, kernel = codes(rows), kernel_of(model, model.gamma_)
    for t, (i, j) in enumerate(pairs_of(len(model.classes_))):
        own = np.flatnonzero(((k == i) | (k == j)) & (times > 0))
        if len(own) <= POLISHED_ROWS:
            y, most = np.where(k[own] == i, 1.0, -1.0), float(model.C) * times[own]
            yield t, own, kernel.gram(rows.X[own], rows.X[own]), y, most


def objective(
    model: "DensityWeightedSVC", rows: Rows, times: np.ndarray, beta: np.ndarray, b: np.ndarray
) -> float:
    k, C = codes(rows), float(model.C) * times
    f = predict(rows.X, rows.X, beta, b, kernel_of(model, model.gamma_))
    total = 0.5 * float(np.sum(beta * (f - b)))
    for t, (i, j) in enumerate(pairs_of(len(model.classes_))):
        y = (k == i).astype(float) - (k == j)
        total += float(np.sum(C * np.abs(y) * np.maximum(0.0, 1 - y * f[:, t])))
    return total
