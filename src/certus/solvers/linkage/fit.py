"""Merge the two nearest clusters, n − 1 times."""

from typing import Any

import numpy as np

from ..steps import OnStep, Step, always, ignore

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
OF_SQUARES = ("centroid", "median", "ward")  # their rule is about squared distances


def agglomerate(
    X: np.ndarray,
    method: str,
    distance: Any = None,
    *,
    dtype: Any = np.float64,
    threads: int = 1,
    on_step: OnStep = ignore,
) -> np.ndarray:
    """The merges of rows X (n, p), in SciPy's layout (n − 1, 4)."""
    from ...distances import Euclidean

    distance = distance or Euclidean()
    rows = distance.read(X)
    D = distance.compare(rows, rows, threads)
    return agglomerate_distances(D, method, dtype=dtype, threads=threads, on_step=on_step)


def agglomerate_distances(
    D: np.ndarray,
    method: str,
    *,
    dtype: Any = np.float64,
    threads: int = 1,
    on_step: OnStep = ignore,
) -> np.ndarray:
    """The merges of a square or condensed matrix of distances."""
    if D.ndim == 1:
        from scipy.spatial.distance import squareform

        D = squareform(D)
    D = np.array(D, dtype=dtype)
    n = len(D)
    np.fill_diagonal(D, np.inf)
    squares = method in OF_SQUARES
    if squares:
        D **= 2
    size, name = np.ones(n), np.arange(n)
    merges = np.empty((max(n - 1, 0), 4))
    for t in range(n - 1):
        at = int(np.argmin(D))
        a, b = sorted(divmod(at, n))
        h = D[a, b]
        low, high = sorted((name[a], name[b]))
        merges[t] = low, high, np.sqrt(max(h, 0.0)) if squares else h, size[a] + size[b]
        D[a] = D[:, a] = _update(method, D[a], D[b], h, size[a], size[b], size)
        D[b] = D[:, b] = D[a, a] = np.inf
        size[a] += size[b]
        name[a] = n + t
        if on_step(Step(t + 1, float(merges[t, 2]), None, always(merges[: t + 1]))):
            return merges[: t + 1]
    return merges


def _update(method: str, da: Any, db: Any, h: Any, na: Any, nb: Any, nx: Any) -> Any:
    if method == "single":
        return np.minimum(da, db)
    if method == "complete":
        return np.maximum(da, db)
    if method == "average":
        return (na * da + nb * db) / (na + nb)
    if method == "weighted":
        return (da + db) / 2
    if method == "centroid":
        return (na * da + nb * db) / (na + nb) - na * nb * h / (na + nb) ** 2
    if method == "median":
        return (da + db) / 2 - h / 4
    return ((na + nx) * da + (nb + nx) * db - nx * h) / (na + nb + nx)


def bytes_needed(n: int, p: int, method: str, vectors: bool, dtype: Any = np.float64) -> int:
    """Bytes at the peak, besides X."""
    return 2 * n * n * 8
