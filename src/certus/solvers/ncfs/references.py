r"""Predictions by soft nearest neighbours: weighted means over the rows of a fit.

Σ_j p_j(x) V_j,      p_j(x) = exp(−D_W(x, x_j)/σ)/Σ_k exp(−D_W(x, x_k)/σ)
"""

import numpy as np

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .metrics import METRICS
from .problem import PAIR_SLICE_ROWS, SLICE_ELEMENTS


def reference_sums(
    X_ref: np.ndarray,
    W: np.ndarray,
    sigma: float,
    metric: str,
    X_new: np.ndarray | None,
    V: np.ndarray,
    threads: int | None = None,
) -> np.ndarray:
    """Weighted means (n_new, m) of V (n, m); X_new None: leave-one-out for the rows themselves.

    O(n_new·n·P) operations; columns with W = 0 cost nothing.
    """
    used = np.flatnonzero(W)
    kind = X_ref.dtype
    W, X_ref = np.asarray(W, dtype=float)[used], np.ascontiguousarray(X_ref[:, used])
    leave_one_out = X_new is None
    new = X_ref if X_new is None else np.ascontiguousarray(X_new[:, used], dtype=kind)
    n, m = len(X_ref), len(new)
    out = np.empty((m, V.shape[1]))
    if not len(used):  # all rows are equally near
        out[...] = V.mean(axis=0)
        return (V.sum(axis=0) - V) / (n - 1) if leave_one_out else out
    distance = METRICS[metric](X_ref).at(W)
    size = max(PAIR_SLICE_ROWS, SLICE_ELEMENTS // n)
    starts = range(0, m, size)

    def task(t: int) -> None:
        rows = np.arange(starts[t], min(starts[t] + size, m))
        D = np.empty((len(rows), n))
        distance.between(new[rows], D)
        if leave_one_out:
            D[np.arange(len(rows)), rows] = np.inf
        least = D.min(axis=1, keepdims=True)
        E = np.exp((np.where(np.isfinite(least), least, 0.0) - D) / sigma)
        E[~np.isfinite(least[:, 0])] = 1.0
        out[rows] = np.dot(E, V) / E.sum(axis=1, keepdims=True)

    with blas_limiter:
        run_on_threads(task, len(starts), effective_threads() if threads is None else threads)
    return out
