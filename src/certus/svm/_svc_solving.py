r"""C-SVC of a model's rows: libsvm, the last digits, and the objective.

½βᵀKβ + Σ C_i max(0, 1 − y_i f(x_i)),  C_i = C·times_i,  summed over pairs of classes
"""

from typing import Any

import numpy as np
from sklearn.svm import SVC

from ..rows import Rows
from ..solvers.lssvm import predict
from ..solvers.svc_polish import polish
from ._classes import codes
from ._kernels import kernel_of
from ._pairs import pairs_of

POLISHED_ROWS = 4000  # whose kernel matrix is made for the last digits


def libsvm(model: Any, tol: float) -> SVC:
    return SVC(
        C=float(model.C), kernel=model.kernel, degree=int(model.degree), gamma=model.gamma_,
        coef0=float(model.coef0), tol=tol, shrinking=bool(model.shrinking),
        cache_size=model.cache_size, max_iter=model.max_iter,
    )  # fmt: skip


def polished(
    model: Any, rows: Rows, times: np.ndarray, beta: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """β (n, pairs) and b, each pair to its last digits if it is small enough."""
    k, kernel = codes(rows), kernel_of(model, model.gamma_)
    beta, b = beta.copy(), b.copy()
    for t, (i, j) in enumerate(pairs_of(len(model.classes_))):
        own = np.flatnonzero(((k == i) | (k == j)) & (times > 0))
        if len(own) > POLISHED_ROWS:
            continue
        y, most = np.where(k[own] == i, 1.0, -1.0), float(model.C) * times[own]
        found = polish(kernel.gram(rows.X[own], rows.X[own]), y, most, beta[own, t], b[t])
        if found is not None:
            beta[own, t], b[t] = found
    return beta, b


def objective(model: Any, rows: Rows, times: np.ndarray, beta: np.ndarray) -> float:
    k, C = codes(rows), float(model.C) * times
    f = predict(rows.X, rows.X, beta, model.intercept_, kernel_of(model, model.gamma_))
    total = 0.5 * float(np.sum(beta * (f - model.intercept_)))
    for t, (i, j) in enumerate(pairs_of(len(model.classes_))):
        y = (k == i).astype(float) - (k == j)
        total += float(np.sum(C * np.abs(y) * np.maximum(0.0, 1 - y * f[:, t])))
    return total
