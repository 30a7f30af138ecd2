"""Nearest rows: their definition, and the check of the neighbours that a model named.

    N_k(q) = the k rows of least d(x_i, q), of equal ones the first    N(q, r) = {i : d(x_i, q) ≤ r}

``check`` is given a model's answers to a few queries. Each stated distance is recomputed, and one
pass over all rows searches for one that is nearer and was not named:

    d(x_i, q) ≥ reach(q) = max_{j named} d(x_j, q), or r        for every i that was not named

A row of weight 0 is absent: it must not be named, and need not be.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import dense
from certus.proofs.neighbors._answers import Answer
from certus.proofs.neighbors._row_distances import (
    MIN_ROWWISE_COLUMNS,
    Metric,
    RowsInReach,
    concatenate,
    distance,
    power,
    rows_within,
)
from certus.proofs.neighbors._votes import prediction_error
from certus.proofs.types import RowData

EPSILON = 2.0**-52


# --- the definition, plain ------------------------------------------------------------------------


def nearest(
    X: np.ndarray, Q: np.ndarray, k: int, metric: Metric = "euclidean", **params: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return (distances, indices), each (m, k), by (distance, index).

    Q None: the queries are the rows of X, none its own neighbour. −1, at an infinite distance,
    where fewer than k rows are comparable with a query.
    """
    distances, indices = [], []
    for rows, d in _distances_to_each(X, Q, metric, params):
        first = np.argsort(d, kind="stable")[:k]
        distances.append(d[first])
        indices.append(np.where(np.isinf(d[first]), -1, rows[first]))
    return np.reshape(distances, (-1, k)), np.reshape(indices, (-1, k)).astype(np.intp)


def within(
    X: np.ndarray, Q: np.ndarray, r: float, metric: Metric = "euclidean", **params: Any
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return (distances, indices), each a list with an array for each query, by index.

    Q None: the queries are the rows of X, none its own neighbour.
    """
    results = [(d[d <= r], rows[d <= r]) for rows, d in _distances_to_each(X, Q, metric, params)]
    return [d for d, _ in results], [rows for _, rows in results]


def _distances_to_each(
    X: np.ndarray, Q: np.ndarray | None, metric: Metric, params: dict[str, Any]
) -> Any:
    X = np.asarray(X)
    all_rows = np.arange(len(X))
    for i, q in enumerate(X if Q is None else np.asarray(Q)):
        d = distance(X, q[None, :], metric, params)
        # a row is not its own neighbour
        yield (np.delete(all_rows, i), np.delete(d, i)) if Q is None else (all_rows, d)


# --- the answers of a model -----------------------------------------------------------------------


def check(
    data: RowData,
    query_pairs: np.ndarray,
    start: np.ndarray,
    distances: np.ndarray,
    indices: np.ndarray,
    k: int | None = None,
    radius: float | None = None,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    ours: bool = False,
    votes: dict[str, Any] | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Check the nearest rows that a model named (``radius`` None: the k nearest; else all within).

    Query t is the point halfway between the rows ``query_pairs[t] = (a, b)``; a = b is the row
    itself. Its answer is ``distances`` and ``indices`` at start[t]:start[t + 1]. ``votes``: the
    model's predictions from them (see ``_votes``).

    For a model of certus (``ours``) only rounding is tolerated where d is a sum of powers of
    differences, and ties must go to the first row. For others a relative error of ``tol`` is
    tolerated, and any order of ties.

    O(m·n·p) operations for m queries.
    """
    params = metric_params or {}
    exact = metric == "precomputed" or power(metric, params) is not None
    only_rounding = bool(exact and ours)
    Q = queries(data, query_pairs)
    distances = np.where(np.isnan(distances), np.inf, distances)  # NaN: not comparable
    query = np.repeat(np.arange(len(query_pairs)), np.diff(start))
    is_row = (indices >= 0) & (indices < data.shape[0])
    row_or_zero = np.where(is_row, indices, 0)
    X, y, s = data.take(row_or_zero)
    absent = np.zeros(len(indices), dtype=bool) if s is None else is_row & (s == 0)
    X = np.asarray(dense(X), dtype=float)
    if metric == "precomputed":  # a query's row is its distances
        true, spread = Q[query, row_or_zero], 0.0
    else:
        true = distance(X, Q[query], metric, params)
        apart = distance(Q, Q[:1], metric, params)
        spread = float(np.max(apart[np.isfinite(apart)], initial=0.0))
    true = np.where(is_row, true, np.inf)
    reach = np.full(len(query_pairs), 0.0 if radius is None else float(radius))
    if radius is None:
        np.maximum.at(reach, query, true)
    finite = np.where(np.isfinite(reach), reach, 0.0)
    # a radius far beyond all rows must not loosen the tolerance of their distances
    farthest = np.zeros(len(query_pairs))
    np.maximum.at(farthest, query, np.where(np.isfinite(true), true, 0.0))
    # d = 0 computed as ‖x‖² − 2xᵀq + ‖q‖² by other libraries: the root of its rounding error
    scale = np.maximum(np.minimum(farthest, finite), spread / 10)
    if only_rounding:
        rounding = _rounding(data, metric, params)
        tolerance, slack = rounding * np.where(np.isfinite(true), true, 0.0), rounding * finite
    else:
        rounding_floor = 0.0 if exact else (data.shape[1] + 64) * EPSILON
        tolerance, slack = (tol * scale + rounding_floor)[query], tol * finite + rounding_floor
    named = np.where(is_row, query * data.shape[0] + indices, -1)
    unnamed = _unnamed_rows(data, Q, reach + slack, metric, params, named)
    error = _difference(distances, true)
    vote_tol = max(1e-9 if data.eps <= EPSILON else 1e-5, 0.0 if ours else tol)
    wrong, residual = [], 0.0
    for t, (a, b) in enumerate(query_pairs):
        at, of_query = slice(start[t], start[t + 1]), unnamed.q == t
        answer = Answer(
            distances[at], indices[at], true[at], error[at], tolerance[at], reach[t], slack[t],
            unnamed.i[of_query], unnamed.d[of_query], data.shape[0], radius is not None, ours,
        )  # fmt: skip
        message = answer.first_error()
        if absent[at].any():
            message = f"row {indices[at][absent[at]][0]} is named, but it has weight 0"
        if message is None and only_rounding and len(answer.earlier):
            X_earlier = np.asarray(dense(data.take(answer.earlier)[0]), dtype=float)
            message = answer.passed_over(X_earlier, X[at], Q[t])
        # in a model of another library, a different tied row may have voted
        if message is None and votes is not None and (ours or not len(answer.tied)):
            s_at = None if s is None else s[at]
            message = prediction_error(votes, t, at, distances[at], y[at], s_at, ours, vote_tol)
        if message is not None:
            wrong.append(f"{_query_name(a, b)}: {message}")
        residual = max(residual, answer.residual(scale[t]))
    return {
        "objective": float(len(wrong)), "bound": 0.0, "gap": float(len(wrong)),
        "residual": float(residual), "kind": "exact", "wrong": wrong, "answers": len(indices),
        "far": float(np.nanmax(np.abs(Q), initial=0.0)) / spread if spread > 0 else 0.0,
    }  # fmt: skip


def _rounding(data: RowData, metric: Metric, params: dict[str, Any]) -> float:
    """Return a bound on the relative error of a distance, for any order of summation."""
    p = power(metric, params)
    root_rounding = 0 if p in (None, 1, 2, np.inf) else 1500  # error of 1/p times log Σ|Δ|^p
    return float(8 * data.eps + (2 * data.shape[1] + 32 + root_rounding) * EPSILON)


def _unnamed_rows(
    data: RowData,
    Q: np.ndarray,
    reach: np.ndarray,
    metric: Metric,
    params: dict[str, Any],
    named: np.ndarray,
) -> RowsInReach:
    """Return the rows within reach of a query that were not ``named`` (q·n + i), nearest first."""
    n = data.shape[0]
    if metric == "precomputed":
        q, i = np.nonzero(reach[:, None] >= Q)
        present = data.reduce(are_present, combine=_joined)[i]
        q, i = q[present], i[present]
        in_reach = RowsInReach(n, q, i, Q[q, i])
    else:
        # with few columns, comparing a block with all queries costs little more than reading it
        passes = len(Q) if data.shape[1] >= MIN_ROWWISE_COLUMNS else 1
        in_reach = data.reduce(
            rows_within, Q, reach, metric, params, combine=concatenate, times=passes
        )
    other = np.flatnonzero(~np.isin(in_reach.q * n + in_reach.i, named))
    other = other[np.lexsort((in_reach.i[other], in_reach.d[other], in_reach.q[other]))]
    return RowsInReach(n, in_reach.q[other], in_reach.i[other], in_reach.d[other])


def are_present(X: np.ndarray, _y: np.ndarray, s: np.ndarray | None) -> np.ndarray:
    """Return, for each row of one block, whether its weight is above 0."""
    return np.ones(X.shape[0], dtype=bool) if s is None else np.asarray(s > 0)


def _joined(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.concatenate([left, right])


def _difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return |a − b|; 0 for two infinities."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.abs(a - b))


def queries(data: RowData, query_pairs: np.ndarray) -> np.ndarray:
    """Return x_a + (x_b − x_a)/2 for each pair of rows (a, b)."""
    a, b = (dense(data.take(query_pairs[:, side])[0]) for side in (0, 1))
    return np.asarray(halfway(a, b), dtype=float)


def halfway(a: np.ndarray, b: np.ndarray) -> Any:
    """Return a + (b − a)/2, and exactly a where a = b."""
    return np.where(a == b, a, a + (b - a) / 2)


def _query_name(a: int, b: int) -> str:
    return f"row {a}" if a == b else f"the point halfway between rows {a} and {b}"
