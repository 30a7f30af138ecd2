r"""Soft nearest neighbours: what the rows of a fit say of new ones.

Σ_j p_j(x) V_j,      p_j(x) = exp(−D_W(x, x_j)/σ)/Σ_k exp(−D_W(x, x_k)/σ)
"""

import numpy as np

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .metrics import METRICS
from .problem import LEAST_LINES, SLICE


def reference_sums(
    X_ref: np.ndarray,
    W: np.ndarray,
    sigma: float,
    metric: str,
    X_new: np.ndarray | None,
    V: np.ndarray,
    threads: int | None = None,
) -> np.ndarray:
    """(n_new, m) from V (n, m); X_new None: of the rows themselves, each without itself.

    O(n_new·n·P) operations; columns with W = 0 cost nothing.
    """
    used = np.flatnonzero(W)
    kind = X_ref.dtype
    W, X_ref = np.asarray(W, dtype=float)[used], np.ascontiguousarray(X_ref[:, used])
    own = X_new is None
    new = X_ref if X_new is None else np.ascontiguousarray(X_new[:, used], dtype=kind)
    n, m = len(X_ref), len(new)
    out = np.empty((m, V.shape[1]))
    if not len(used):  # all are equally near
        out[...] = V.mean(axis=0)
        return (V.sum(axis=0) - V) / (n - 1) if own else out
    distance = METRICS[metric](X_ref).at(W)
    size = max(LEAST_LINES, SLICE // n)
    starts = range(0, m, size)

    def task(t: int) -> None:
        rows = np.arange(starts[t], min(starts[t] + size, m))
        D = np.empty((len(rows), n))
        distance.between(new[rows], D)
        if own:
            D[np.arange(len(rows)), rows] = np.inf
        least = D.min(axis=1, keepdims=True)
        E = np.exp((np.where(np.isfinite(least), least, 0.0) - D) / sigma)
        E[~np.isfinite(least[:, 0])] = 1.0
        out[rows] = np.dot(E, V) / E.sum(axis=1, keepdims=True)

    with blas_limiter:
        run_on_threads(task, len(starts), effective_threads() if threads is None else threads)
    return out
