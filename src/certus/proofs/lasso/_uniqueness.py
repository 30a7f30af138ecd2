r"""Are the lasso's coefficients the only ones? Predictions are; w need not be.

    Xw = Xu and ‖w‖₁ = ‖u‖₁:   both are optimal, for F sees no more of them

Only columns with |v_j| = l1 can have w_j ≠ 0. If some combination n of these is constant,
Σ_j n_j x̃_j = 0, then Σ_j n_j sign(v_j) = 0 as well, and w + tn is as good as w as long as no
coefficient changes its sign against v_j: there is such a t ≠ 0 if sign(v_j)·n_j has one sign
wherever w_j = 0.

Some of the rows can show that no combination exists. Where they do not, all rows are looked at, and
what is found is confirmed by Σ_i s_i (Σ_j n_j x̃_ij)², again over all rows.
"""

from typing import Any

import numpy as np

from certus.proofs.lasso._slopes import ResidualFit
from certus.proofs.least_squares._passes import squares
from certus.proofs.linalg.linear_sums import View, column_numbers
from certus.proofs.types import Matrix, RowData

MOST_COLUMNS = 2000  # that can be other than 0, for which this is looked at
MOST_TARGETS = 8
MOST_WORK = 2**33  # multiplications over all rows: a few seconds
DEPENDENT = 1e-11  # what is left of a squared norm, of which rounding leaves less
CONFIRMED = 1e-9  # ‖Σ n x‖ beside Σ |n| ‖x‖


def not_unique(fit: ResidualFit, v: np.ndarray, l1: float) -> list[dict[str, Any]] | None:
    """Columns that can take over from others, and from which; None if there are none, or if they
    were not looked for. v: minus the slope of the loss, (p, k)."""
    for t in range(min(v.shape[1], MOST_TARGETS)):
        found = _of_target(fit, fit.penalised[:, t], v[:, t], l1)
        if found:
            return found
    return None


def _of_target(fit: ResidualFit, w: np.ndarray, v: np.ndarray, l1: float) -> list[dict[str, Any]]:
    active = w != 0
    # as near to l1 as the slopes of coefficients that are not 0
    slack = np.max(np.abs(np.abs(v[active]) - l1), initial=0.0) / l1
    columns = np.flatnonzero(active | (np.abs(v) >= l1 * (1 - 2 * slack - 1e-9)))
    count, n = len(columns), fit.data.shape[0]
    if not 1 < count <= MOST_COLUMNS or not active.any():
        return []
    columns = columns[np.argsort(-np.abs(w[columns]), kind="stable")]
    if not fit.data.sparse:  # most columns of a few sparse rows are all 0
        some = fit.data.sample(2 * count + 256)
        if not _dependent(some, columns, fit)[0] or n * count**2 > MOST_WORK:
            return []
    found = []
    for j, others, c in zip(*_dependent(fit.data, columns, fit), strict=True):
        change = np.zeros(len(w))
        change[j], change[others] = 1.0, -c
        if _can_move(w, v, change) and _confirmed(fit, change):
            found.append({"column": int(j), "of": others.tolist(), "times": c.tolist()})
    return found


def _dependent(
    data: RowData, columns: np.ndarray, fit: ResidualFit
) -> tuple[list[Any], list[Any], list[Any]]:
    """Columns that repeat those before them: which, which others, and how many times each."""
    S, Sx, C = data.reduce(gram_of_some, columns, fit.view, square=True)
    if fit.fit_intercept:
        C = C - np.multiply.outer(Sx, Sx) / max(S, np.finfo(float).tiny)
    norm = np.sqrt(np.maximum(np.diagonal(C), 0.0))
    unit = np.where(norm > 0, norm, 1.0)
    C = C / unit / unit[:, None]
    which: list[Any] = []
    others: list[Any] = []
    times: list[Any] = []
    if norm.all() and independent(C):
        return which, others, times
    L, kept = np.zeros_like(C), np.zeros(0, dtype=int)
    for i in range(len(C)):  # Cholesky, a column at a time; those that add nothing are left out
        r = len(kept)
        row = L[i, :r]
        left = C[i, i] - row @ row
        if left > DEPENDENT:
            L[:, r] = (C[:, i] - L[:, :r] @ row) / np.sqrt(left)
            kept = np.append(kept, i)
        elif norm[i] > 0:
            c = np.linalg.solve(L[kept, :r].T, row) * norm[i] / norm[kept]
            part = np.abs(c) * norm[kept] > 1e-9 * norm[i]
            which.append(columns[i])
            others.append(columns[kept[part]])
            # of the columns in the user's units
            times.append((c * fit.q[columns[kept]] / fit.q[columns[i]])[part])
    return which, others, times


def independent(C: np.ndarray) -> bool:
    """No combination of columns is all but 0."""
    try:
        np.linalg.cholesky(C - 2 * DEPENDENT * np.eye(len(C)))
    except np.linalg.LinAlgError:
        return False
    return True


def gram_of_some(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, columns: np.ndarray, view: View
) -> tuple[Any, Any, Any]:
    """Σ s, Σ s x and Σ s x xᵀ of some columns as viewed."""
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
    still = (w == 0) & (change != 0)
    way = np.sign(v[still]) * np.sign(change[still])
    return bool((way >= 0).all() or (way <= 0).all())


def _confirmed(fit: ResidualFit, change: np.ndarray) -> bool:
    fit.take_columns()
    u = change / fit.q
    size = np.abs(u) @ fit.size
    level = np.atleast_1d(fit.mean @ u if fit.fit_intercept else 0.0)
    (left,) = fit.data.reduce(squares, u[:, None], level, fit.view)
    return bool(np.sqrt(left[0]) <= CONFIRMED * size)
