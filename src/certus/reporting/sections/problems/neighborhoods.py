"""Rows as points, and their nearest neighbours: missing values filled, columns standardised.

Used by checks only; models fill and scale inside each fold.
"""

import numpy as np

from .view import DataView

MAX_DIMENSIONS = 500


def points(view: DataView, rows: np.ndarray) -> np.ndarray:
    """Return rows as points; a column has variance 1, and so have those of a category together."""
    parts = []
    X = view.numbers[rows][:, _widest(view)]
    if X.shape[1]:
        with np.errstate(invalid="ignore"):
            center = np.array([np.median(x[~np.isnan(x)]) if (~np.isnan(x)).any() else 0.0
                               for x in X.T])  # fmt: skip
        X = np.where(np.isnan(X), center, X)
        spread = X.std(axis=0)
        parts.append((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    for column in view.categories.values():
        one_hot = (column.codes[rows, None] == np.arange(len(column.levels))).astype(float)
        variance = one_hot.var(axis=0).sum()
        if variance > 0:
            parts.append((one_hot - one_hot.mean(axis=0)) / np.sqrt(variance))
    return np.hstack(parts) if parts else np.zeros((len(rows), 0))


def _widest(view: DataView) -> np.ndarray:
    """Columns of numbers that vary; of many, those with the most distinct values."""
    varies = np.flatnonzero(view.n_distinct > 1)
    if len(varies) <= MAX_DIMENSIONS:
        return varies
    order = np.argsort(-view.n_distinct[varies], kind="stable")
    return np.sort(varies[order[:MAX_DIMENSIONS]])


def nearest(
    X: np.ndarray, k: int, queries: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances from queries (indices of rows; None: all) to their k nearest other rows.

    And which rows these are; the nearest comes first.
    """
    from ....neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=k).fit(X)
    if queries is None or len(queries) == len(X):
        distances, indices = search.kneighbors(None)
        return distances, indices
    distances, indices = search.kneighbors(X[queries], k + 1)
    is_itself = indices == queries[:, None]
    is_itself[~is_itself.any(axis=1), -1] = True  # among more than k equal rows
    kept = ~is_itself
    return distances[kept].reshape(-1, k), indices[kept].reshape(-1, k)
