"""Distances from a few queries to many rows, by differences.

    d(a, b) = (Σ_j |a_j − b_j|^p)^(1/p)        p = ∞: the largest |a_j − b_j|

Coordinates are subtracted before anything is squared, so rows far from the origin keep their
digits. Other distances are those of ``proofs/distances.py``, or a user's function.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.distances import paired
from certus.proofs.linalg.linear_sums import dense, is_sparse
from certus.proofs.types import Matrix, PairFunction, SparseMatrix

MINKOWSKI_POWERS = {
    "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "euclidean": 2.0, "l2": 2.0,
    "chebyshev": np.inf, "infinity": np.inf,
}  # fmt: skip
BLOCK_DISTANCES = 2**18  # computed at a time, so that they stay in cache
MIN_ROWWISE_COLUMNS = 32  # from here on distances are computed row by row, else column by column
REACH_MARGIN = 1e-9  # relative, for rounding where candidates are only selected
MIN_PAIRS_PER_CANDIDATE = 8  # with more candidates, computing all sums is faster than selecting
BOX_COLUMNS = 3  # columns that are compared for all pairs; further ones only for candidates
Metric = str | PairFunction  # a name, or a function of all pairs


def power(metric: Metric, params: dict[str, Any]) -> float | None:
    """Return p if d is a Minkowski distance without weights, else None."""
    if callable(metric) or params.get("w") is not None:
        return None
    return float(params.get("p", 2)) if metric == "minkowski" else MINKOWSKI_POWERS.get(metric)


def distance(A: np.ndarray, B: np.ndarray, metric: Metric, params: dict[str, Any]) -> np.ndarray:
    """Return d(A_i, B_i); B may be one row. A pair that is not comparable is at infinity."""
    A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    p = power(metric, params)
    if p is not None:
        return by_powers(A, B, p)
    if callable(metric):  # metric(A, B) → all pairs
        if len(B) == 1:
            d = np.ravel(metric(A, B))
        else:
            d = np.array([np.ravel(metric(a[None], b[None]))[0] for a, b in zip(A, B, strict=True)])
    else:
        d = paired(A, np.broadcast_to(B, A.shape), metric, **params)
    return np.where(np.isnan(d), np.inf, d)


def by_powers(A: np.ndarray, B: np.ndarray, p: float) -> np.ndarray:
    """Return (Σ_j |A_ij − B_ij|^p)^(1/p).

    Where powers overflow or underflow, the differences are divided by 2^e of the largest before and
    the root is multiplied by it after; both are exact.
    """
    with np.errstate(over="ignore", under="ignore"):
        D = np.abs(A - B)
        if p == 1:
            return np.asarray(D.sum(axis=1))
        largest = D.max(axis=1, initial=0.0)
        if p == np.inf:
            return np.asarray(largest)
        d = _root_of_sum(D, p)
        out_of_range = (largest > 0) & (largest < np.inf) & ~((d > 1e-130) & (d < 1e130))
        if out_of_range.any():
            e = np.frexp(largest[out_of_range])[1]
            d[out_of_range] = np.ldexp(_root_of_sum(np.ldexp(D[out_of_range], -e[:, None]), p), e)
    return d


def _root_of_sum(D: np.ndarray, p: float) -> np.ndarray:
    if p == 2:
        return np.asarray(np.sqrt((D * D).sum(axis=1)))
    return np.asarray((D**p).sum(axis=1) ** (1 / p))


class RowsInReach(NamedTuple):
    """Rows i within reach of queries q, at distances d; i counts within ``rows`` rows."""

    rows: int
    q: np.ndarray
    i: np.ndarray
    d: np.ndarray


def concatenate(left: RowsInReach, right: RowsInReach) -> RowsInReach:
    """Join two blocks of consecutive rows."""
    i = right.i + left.rows
    return RowsInReach(
        left.rows + right.rows,
        np.concatenate([left.q, right.q]),
        np.concatenate([left.i, i]),
        np.concatenate([left.d, right.d]),
    )


def rows_within(
    X: Matrix,
    _y: np.ndarray,
    s: np.ndarray | None,
    Q: np.ndarray,
    reach: np.ndarray,
    metric: Metric,
    params: dict[str, Any],
) -> RowsInReach:
    """Return the rows of one block within ``reach[t]`` of query t; rows of weight 0 are absent."""
    n, columns = X.shape
    m, p = len(Q), power(metric, params)
    width = int(np.max(np.count_nonzero(Q, axis=1))) if is_sparse(X) else columns
    step = max(64, min(BLOCK_DISTANCES // m, BLOCK_DISTANCES // max(1, width)))
    blocks_found = [
        RowsInReach(0, *(np.empty(0, dtype=kind) for kind in (np.intp, np.intp, float)))
    ]
    for first in range(0, n, step):
        part = X[first : first + step]
        if not isinstance(part, np.ndarray) and p in (1, 2):
            q, i = _sparse_candidates(part, Q, reach, p)
            d = by_powers(part[i].toarray().astype(float), Q[q], p)
        elif p is not None and (p in (1, 2, np.inf) or columns < MIN_ROWWISE_COLUMNS):
            part = dense(part)
            q, i = _candidates(part, Q, reach, p)
            d = by_powers(part[i].astype(float), Q[q], p)
        else:
            part = dense(part)
            D = np.stack([distance(part, row[None, :], metric, params) for row in Q])
            q, i = np.nonzero(reach[:, None] >= D)
            d = D[q, i]
        inside = d <= reach[q]
        if s is not None:
            inside &= s[first + i] > 0
        blocks_found.append(RowsInReach(part.shape[0], q[inside], i[inside] + first, d[inside]))
    return RowsInReach(n, *(np.concatenate([part[f] for part in blocks_found]) for f in (1, 2, 3)))


def _candidates(part: np.ndarray, Q: np.ndarray, reach: np.ndarray, p: float) -> Any:
    """Return (q, i) of all pairs within reach, and possibly others.

    d ≥ |x_j − q_j| for every j, which excludes most pairs where there are few columns. Otherwise
    Σ |x_j − q_j|^p decides, with a margin for rounding.
    """
    if part.shape[1] >= MIN_ROWWISE_COLUMNS:
        S = np.stack([_row_sums(part, q, p) for q in Q])
        return np.nonzero(_power(reach * (1 + REACH_MARGIN), p)[:, None] >= S)
    wider = reach[:, None] * (1 + REACH_MARGIN)
    low, high = np.nextafter(Q - wider, -np.inf), np.nextafter(Q + wider, np.inf)
    # x ≤ high, both rounded to float32: rounding keeps the order
    with np.errstate(over="ignore"):
        Z, low, high = (np.ascontiguousarray(A.T, dtype=np.float32) for A in (part, low, high))
    inside = np.ones((len(Q), len(part)), dtype=bool)
    for j in range(min(len(Z), BOX_COLUMNS)):
        inside &= Z[j] >= low[j][:, None]
        inside &= Z[j] <= high[j][:, None]
        if j == 0 and np.count_nonzero(inside) * MIN_PAIRS_PER_CANDIDATE > inside.size:
            return np.nonzero(_power(wider, p) >= _sums(part, Q, p))
    q, i = np.divmod(_flatnonzero(inside.reshape(-1)), len(part))
    for j in range(BOX_COLUMNS, len(Z)):
        in_box = (Z[j][i] >= low[j][q]) & (Z[j][i] <= high[j][q])
        q, i = q[in_box], i[in_box]
    return q, i


def _sums(part: np.ndarray, Q: np.ndarray, p: float) -> np.ndarray:
    """Return Σ_j |x_j − q_j|^p, or the maximum, of all pairs (queries × rows), by columns."""
    S = np.zeros((len(Q), len(part)))
    term = np.empty(S.shape)
    for z, q in zip(np.ascontiguousarray(part.T, dtype=float), Q.T, strict=True):
        np.abs(np.subtract(z, q[:, None], out=term), out=term)
        (np.maximum if p == np.inf else np.add)(S, _power(term, p), out=S)
    return S


def _flatnonzero(mask: np.ndarray) -> np.ndarray:
    """Return np.flatnonzero of a mask that is mostly false, testing eight bytes at a time."""
    end = len(mask) // 8 * 8
    words = np.flatnonzero(mask[:end].view(np.uint64))
    at = (words[:, None] * 8 + np.arange(8)).reshape(-1)
    return np.concatenate([at[mask[at]], end + np.flatnonzero(mask[end:])])


def _sparse_candidates(part: SparseMatrix, Q: np.ndarray, reach: np.ndarray, p: float) -> Any:
    """Return the candidates among sparse rows: where q is 0, powers of the entries are added."""
    entry_row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
    powers = _power(np.abs(part.data.astype(float)), p)
    S = np.empty((len(Q), part.shape[0]))
    for t, q in enumerate(Q):
        used = np.flatnonzero(q)
        other = (q == 0)[part.indices]
        S[t] = np.bincount(entry_row[other], powers[other], part.shape[0])
        S[t] += _row_sums(part[:, used].toarray(), q[used], p)
    return np.nonzero(_power(reach * (1 + REACH_MARGIN), p)[:, None] >= S)


def _power(a: np.ndarray, p: float) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        return a * a if p == 2 else a if p in (1, np.inf) else a**p


def _row_sums(part: np.ndarray, q: np.ndarray, p: float) -> np.ndarray:
    """Return Σ_j |x_j − q_j|^p of each row, or the maximum, for p = 1, 2 or ∞."""
    D = np.subtract(part, q, dtype=float)
    if p == 2:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.einsum("ij,ij->i", D, D))
    np.abs(D, out=D)
    return np.asarray(D.sum(axis=1) if p == 1 else D.max(axis=1))
