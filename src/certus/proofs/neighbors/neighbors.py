"""Nearest rows: which they are, and whether a model named them.

    N_k(q) = the k rows of least d(x_i, q), of equal ones the first    N(q, r) = {i : d(x_i, q) ≤ r}

``check`` is given what a model answered for a few queries. Each stated distance is recomputed, and
one pass over all rows looks for one that is nearer and was not named:

    d(x_i, q) ≥ reach(q) = max_{j named} d(x_j, q), or r        for every i that was not named

A row of weight 0 is absent: it must not be named, and is not missed.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import dense
from certus.proofs.neighbors._answers import Answer
from certus.proofs.neighbors._row_distances import (
    LONG,
    Metric,
    Near,
    distance,
    one_after_another,
    power,
    rows_within,
)
from certus.proofs.neighbors._votes import what_is_wrong
from certus.proofs.types import RowData

EPSILON = 2.0**-52


# --- the definition, plain ------------------------------------------------------------------------


def nearest(
    X: np.ndarray, Q: np.ndarray, k: int, metric: Metric = "euclidean", **params: Any
) -> tuple[np.ndarray, np.ndarray]:
    """(distances, indices), each (m, k), by (distance, index). Q None: X, no row its own.

    −1, at an infinite distance, where fewer rows can be compared with a query.
    """
    distances, indices = [], []
    for rows, d in _to_each(X, Q, metric, params):
        first = np.argsort(d, kind="stable")[:k]
        distances.append(d[first])
        indices.append(np.where(np.isinf(d[first]), -1, rows[first]))
    return np.reshape(distances, (-1, k)), np.reshape(indices, (-1, k)).astype(np.intp)


def within(
    X: np.ndarray, Q: np.ndarray, r: float, metric: Metric = "euclidean", **params: Any
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(distances, indices), an array for each query, by index. Q None: X, no row its own."""
    found = [(d[d <= r], rows[d <= r]) for rows, d in _to_each(X, Q, metric, params)]
    return [d for d, _ in found], [rows for _, rows in found]


def _to_each(X: np.ndarray, Q: np.ndarray | None, metric: Metric, params: dict[str, Any]) -> Any:
    X = np.asarray(X)
    every = np.arange(len(X))
    for i, q in enumerate(X if Q is None else np.asarray(Q)):
        d = distance(X, q[None, :], metric, params)
        # a row is not its own neighbour
        yield (np.delete(every, i), np.delete(d, i)) if Q is None else (every, d)


# --- what a model answered ------------------------------------------------------------------------


def check(
    data: RowData,
    asked: np.ndarray,
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
    """Are these the nearest rows (``radius`` None: the k nearest; else all within it)?

    Query t is the point halfway between the rows ``asked[t] = (a, b)``; a = b is the row itself.
    Its answer is ``distances`` and ``indices`` at start[t]:start[t + 1]. ``votes``: what a model
    predicted from them (see ``_votes``).

    Of a model of certus (``ours``) nothing but rounding is forgiven where d is a sum of powers of
    differences, and ties go to the first row. Of others a share ``tol`` is forgiven, and any order
    of ties.

    O(m·n·p) operations for m queries.
    """
    params = metric_params or {}
    exact = metric == "precomputed" or power(metric, params) is not None
    strict = bool(exact and ours)
    Q = queries(data, asked)
    distances = np.where(np.isnan(distances), np.inf, distances)  # NaN: cannot be compared
    whose = np.repeat(np.arange(len(asked)), np.diff(start))
    inside = (indices >= 0) & (indices < data.shape[0])
    there = np.where(inside, indices, 0)
    X, y, s = data.take(there)
    absent = np.zeros(len(indices), dtype=bool) if s is None else inside & (s == 0)
    X = np.asarray(dense(X), dtype=float)
    if metric == "precomputed":  # a query's row is its distances
        true, spread = Q[whose, there], 0.0
    else:
        true = distance(X, Q[whose], metric, params)
        apart = distance(Q, Q[:1], metric, params)
        spread = float(np.max(apart[np.isfinite(apart)], initial=0.0))
    true = np.where(inside, true, np.inf)
    reach = np.full(len(asked), 0.0 if radius is None else float(radius))
    if radius is None:
        np.maximum.at(reach, whose, true)
    finite = np.where(np.isfinite(reach), reach, 0.0)
    # a radius far beyond all rows says nothing of how well their distances must be known
    farthest = np.zeros(len(asked))
    np.maximum.at(farthest, whose, np.where(np.isfinite(true), true, 0.0))
    # √ of what rounding leaves of ‖x‖² − 2xᵀq + ‖q‖² is how others may see d = 0
    scale = np.maximum(np.minimum(farthest, finite), spread / 10)
    if strict:
        rounding = _rounding(data, metric, params)
        may_be_off, short = rounding * np.where(np.isfinite(true), true, 0.0), rounding * finite
    else:
        flat = 0.0 if exact else (data.shape[1] + 64) * EPSILON
        may_be_off, short = (tol * scale + flat)[whose], tol * finite + flat
    named = np.where(inside, whose * data.shape[0] + indices, -1)
    left = _left_out(data, Q, reach + short, metric, params, named)
    off = _difference(distances, true)
    loose = max(1e-9 if data.eps <= EPSILON else 1e-5, 0.0 if ours else tol)
    wrong, residual = [], 0.0
    for t, (a, b) in enumerate(asked):
        at, these = slice(start[t], start[t + 1]), left.q == t
        answer = Answer(
            distances[at], indices[at], true[at], off[at], may_be_off[at], reach[t], short[t],
            left.i[these], left.d[these], data.shape[0], radius is not None, ours,
        )  # fmt: skip
        said = answer.wrong()
        if absent[at].any():
            said = f"row {indices[at][absent[at]][0]} is named, but it has weight 0"
        if said is None and strict and len(answer.earlier):
            X_earlier = np.asarray(dense(data.take(answer.earlier)[0]), dtype=float)
            said = answer.passed_over(X_earlier, X[at], Q[t])
        # of a tie in another's model, another row may have voted
        if said is None and votes is not None and (ours or not len(answer.tied)):
            s_at = None if s is None else s[at]
            said = what_is_wrong(votes, t, at, distances[at], y[at], s_at, ours, loose)
        if said is not None:
            wrong.append(f"{_name(a, b)}: {said}")
        residual = max(residual, answer.residual(scale[t]))
    return {
        "objective": float(len(wrong)), "bound": 0.0, "gap": float(len(wrong)),
        "residual": float(residual), "kind": "exact", "wrong": wrong, "answers": len(indices),
        "far": float(np.nanmax(np.abs(Q), initial=0.0)) / spread if spread > 0 else 0.0,
    }  # fmt: skip


def _rounding(data: RowData, metric: Metric, params: dict[str, Any]) -> float:
    """The relative error of a distance by any order of its sums."""
    p = power(metric, params)
    of_a_root = 0 if p in (None, 1, 2, np.inf) else 1500  # that of 1/p, times log Σ|x_j − q_j|^p
    return float(8 * data.eps + (2 * data.shape[1] + 32 + of_a_root) * EPSILON)


def _left_out(
    data: RowData,
    Q: np.ndarray,
    reach: np.ndarray,
    metric: Metric,
    params: dict[str, Any],
    named: np.ndarray,
) -> Near:
    """Rows within reach of each query that were not ``named`` (q·n + i), the nearest first."""
    n = data.shape[0]
    if metric == "precomputed":
        q, i = np.nonzero(reach[:, None] >= Q)
        there = data.reduce(are_present, combine=_joined)[i]
        q, i = q[there], i[there]
        near = Near(n, q, i, Q[q, i])
    else:
        looks = len(Q) if data.shape[1] >= LONG else 1  # of few columns, looks cost little
        near = data.reduce(
            rows_within, Q, reach, metric, params, combine=one_after_another, times=looks
        )
    other = np.flatnonzero(~np.isin(near.q * n + near.i, named))
    other = other[np.lexsort((near.i[other], near.d[other], near.q[other]))]
    return Near(n, near.q[other], near.i[other], near.d[other])


def are_present(X: np.ndarray, _y: np.ndarray, s: np.ndarray | None) -> np.ndarray:
    """Return, for each row of one block, whether its weight is above 0."""
    return np.ones(X.shape[0], dtype=bool) if s is None else np.asarray(s > 0)


def _joined(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.concatenate([left, right])


def _difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """|a − b|; of two infinities 0."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.abs(a - b))


def queries(data: RowData, asked: np.ndarray) -> np.ndarray:
    """x_a + (x_b − x_a)/2 for each pair of rows."""
    a, b = (dense(data.take(asked[:, side])[0]) for side in (0, 1))
    return np.asarray(halfway(a, b), dtype=float)


def halfway(a: np.ndarray, b: np.ndarray) -> Any:
    return np.where(a == b, a, a + (b - a) / 2)


def _name(a: int, b: int) -> str:
    return f"row {a}" if a == b else f"the point halfway between rows {a} and {b}"
