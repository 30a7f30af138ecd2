r"""Uniqueness of the lasso's coefficients. Predictions are unique; w need not be.

    Xw = Xu and ‖w‖₁ = ‖u‖₁:   F(w) = F(u), so both are optimal

Only columns with |v_j| = l1 can have w_j ≠ 0. If some combination n of these is constant,
Σ_j n_j x̃_j = 0, then Σ_j n_j sign(v_j) = 0 as well, and w + tn is optimal, too, as long as no
coefficient gets a sign opposite to v_j: there is such a t ≠ 0 if sign(v_j)·n_j has one sign
wherever w_j = 0.

A subset of the rows can show that no combination exists. If it does not, all rows are used, and
each combination is confirmed by Σ_i s_i (Σ_j n_j x̃_ij)² over all rows.
"""

from typing import Any

import numpy as np

from certus.proofs.lasso._slopes import ResidualFit
from certus.proofs.least_squares._passes import squares
from certus.proofs.linalg.linear_sums import View, column_numbers
from certus.proofs.types import Matrix, RowData

MAX_ACTIVE_COLUMNS = 2000  # that can be nonzero; with more, uniqueness is not checked
MAX_CHECKED_TARGETS = 8
MAX_GRAM_WORK = 2**33  # multiplications over all rows: a few seconds
MAX_DEPENDENT_SQUARE = 1e-11  # relative residual of a squared norm; rounding leaves less
MAX_CONFIRMED_SHARE = 1e-9  # ‖Σ n x‖ relative to Σ |n| ‖x‖


def not_unique(fit: ResidualFit, v: np.ndarray, l1: float) -> list[dict[str, Any]] | None:
    """Columns that can replace others, and which; None if there are none, or if this was not
    checked. v (p, k): minus the slope of the loss."""
    for t in range(min(v.shape[1], MAX_CHECKED_TARGETS)):
        exchanges = _exchanges_of_target(fit, fit.penalized[:, t], v[:, t], l1)
        if exchanges:
            return exchanges
    return None


def _exchanges_of_target(
    fit: ResidualFit, w: np.ndarray, v: np.ndarray, l1: float
) -> list[dict[str, Any]]:
    active = w != 0
    # tolerance: as close to l1 as the slopes of nonzero coefficients
    slack = np.max(np.abs(np.abs(v[active]) - l1), initial=0.0) / l1
    columns = np.flatnonzero(active | (np.abs(v) >= l1 * (1 - 2 * slack - 1e-9)))
    count, n = len(columns), fit.data.shape[0]
    if not 1 < count <= MAX_ACTIVE_COLUMNS or not active.any():
        return []
    columns = columns[np.argsort(-np.abs(w[columns]), kind="stable")]
    if not fit.data.sparse:  # in a sparse subset most columns are 0
        subset = fit.data.sample(2 * count + 256)
        if not _dependent(subset, columns, fit)[0] or n * count**2 > MAX_GRAM_WORK:
            return []
    exchanges = []
    for j, others, c in zip(*_dependent(fit.data, columns, fit), strict=True):
        change = np.zeros(len(w))
        change[j], change[others] = 1.0, -c
        if _can_move(w, v, change) and _confirmed(fit, change):
            exchanges.append({"column": int(j), "of": others.tolist(), "times": c.tolist()})
    return exchanges


def _dependent(
    data: RowData, columns: np.ndarray, fit: ResidualFit
) -> tuple[list[Any], list[Any], list[Any]]:
    """Columns that are combinations of earlier ones: their indices, the others', and the
    coefficients."""
    S, Sx, C = data.reduce(gram_of_columns, columns, fit.view, square=True)
    if fit.fit_intercept:
        C = C - np.multiply.outer(Sx, Sx) / max(S, np.finfo(float).tiny)
    norm = np.sqrt(np.maximum(np.diagonal(C), 0.0))
    unit = np.where(norm > 0, norm, 1.0)
    C = C / unit / unit[:, None]
    dependent: list[Any] = []
    others: list[Any] = []
    factors: list[Any] = []
    if norm.all() and independent(C):
        return dependent, others, factors
    L, retained = np.zeros_like(C), np.zeros(0, dtype=int)
    for i in range(len(C)):  # Cholesky, column by column, without dependent columns
        r = len(retained)
        row = L[i, :r]
        remaining = C[i, i] - row @ row
        if remaining > MAX_DEPENDENT_SQUARE:
            L[:, r] = (C[:, i] - L[:, :r] @ row) / np.sqrt(remaining)
            retained = np.append(retained, i)
        elif norm[i] > 0:
            c = np.linalg.solve(L[retained, :r].T, row) * norm[i] / norm[retained]
            part = np.abs(c) * norm[retained] > 1e-9 * norm[i]
            dependent.append(columns[i])
            others.append(columns[retained[part]])
            # in the user's units
            factors.append((c * fit.q[columns[retained]] / fit.q[columns[i]])[part])
    return dependent, others, factors


def independent(C: np.ndarray) -> bool:
    """Return whether no combination of the columns is nearly 0."""
    try:
        np.linalg.cholesky(C - 2 * MAX_DEPENDENT_SQUARE * np.eye(len(C)))
    except np.linalg.LinAlgError:
        return False
    return True


def gram_of_columns(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, columns: np.ndarray, view: View
) -> tuple[Any, Any, Any]:
    """Σ s, Σ s x and Σ s x xᵀ of the given columns, as viewed."""
    if not isinstance(X, np.ndarray):
        A = X[:, columns].astype(float)
        if view.q is not None:
            A.data *= view.q[columns[column_numbers(A)]]
        sA = A if s is None else A.multiply(s[:, None]).tocsc()
        return float(A.shape[0]) if s is None else s.sum(), sA.sum(axis=0), (A.T @ sA).toarray()
    Z = X[:, columns].astype(float)
    if view.c is not None:
        Z -= view.c[columns]
    if view.q is not None:
        Z *= view.q[columns]
    sZ = Z if s is None else s[:, None] * Z
    return float(len(Z)) if s is None else s.sum(), sZ.sum(axis=0), Z.T @ sZ


def _can_move(w: np.ndarray, v: np.ndarray, change: np.ndarray) -> bool:
    is_fixed = (w == 0) & (change != 0)
    directions = np.sign(v[is_fixed]) * np.sign(change[is_fixed])
    return bool((directions >= 0).all() or (directions <= 0).all())


def _confirmed(fit: ResidualFit, change: np.ndarray) -> bool:
    fit.take_columns()
    u = change / fit.q
    size = np.abs(u) @ fit.size
    constant = np.atleast_1d(fit.mean @ u if fit.fit_intercept else 0.0)
    (remaining,) = fit.data.reduce(squares, u[:, None], constant, fit.view)
    return bool(np.sqrt(remaining[0]) <= MAX_CONFIRMED_SHARE * size)
