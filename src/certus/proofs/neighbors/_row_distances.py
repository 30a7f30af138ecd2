"""Distances from a few queries to many rows, by differences.

    d(a, b) = (Σ_j |a_j − b_j|^p)^(1/p)        p = ∞: the largest |a_j − b_j|

Coordinates are subtracted before anything is squared, so rows far from the origin keep their
digits. Distances of other kinds are those of ``proofs/distances.py``, or a function of the user's.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.distances import paired
from certus.proofs.linalg.linear_sums import dense, is_sparse
from certus.proofs.types import Matrix, PairFunction, SparseMatrix

POWER = {
    "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "euclidean": 2.0, "l2": 2.0,
    "chebyshev": np.inf, "infinity": np.inf,
}  # fmt: skip
AT_A_TIME = 2**18  # distances worked on at a time, so that they stay in cache
LONG = 32  # columns from which rows are worked on whole, and not column by column
ROOM = 1e-9  # for rounding, in what only passes pairs on
FEW = 8  # a pair of so many, and less, is worth being looked at alone
BOXED = 3  # columns by which all pairs are looked at
Metric = str | PairFunction  # a name, or a function of all pairs


def power(metric: Metric, params: dict[str, Any]) -> float | None:
    """p, where d is a sum of powers of differences; None where it is another distance."""
    if callable(metric) or params.get("w") is not None:
        return None
    return float(params.get("p", 2)) if metric == "minkowski" else POWER.get(metric)


def distance(A: np.ndarray, B: np.ndarray, metric: Metric, params: dict[str, Any]) -> np.ndarray:
    """d(A_i, B_i); B may be one row. A pair that cannot be compared is infinitely far apart."""
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
    """(Σ_j |A_ij − B_ij|^p)^(1/p).

    Where the power is out of reach, 2^e of the largest term is taken out before it and put back
    after the root; both are exact.
    """
    with np.errstate(over="ignore", under="ignore"):
        D = np.abs(A - B)
        if p == 1:
            return np.asarray(D.sum(axis=1))
        largest = D.max(axis=1, initial=0.0)
        if p == np.inf:
            return np.asarray(largest)
        d = _root_of_sum(D, p)
        far = (largest > 0) & (largest < np.inf) & ~((d > 1e-130) & (d < 1e130))
        if far.any():
            e = np.frexp(largest[far])[1]
            d[far] = np.ldexp(_root_of_sum(np.ldexp(D[far], -e[:, None]), p), e)
    return d


def _root_of_sum(D: np.ndarray, p: float) -> np.ndarray:
    if p == 2:
        return np.asarray(np.sqrt((D * D).sum(axis=1)))
    return np.asarray((D**p).sum(axis=1) ** (1 / p))


class Near(NamedTuple):
    """Rows i within reach of queries q, at d. i counts from the first of ``rows`` rows."""

    rows: int
    q: np.ndarray
    i: np.ndarray
    d: np.ndarray


def one_after_another(left: Near, right: Near) -> Near:
    i = right.i + left.rows
    return Near(
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
) -> Near:
    """The rows of one block at most ``reach[t]`` from query t; a row of weight 0 is absent."""
    n, columns = X.shape
    m, p = len(Q), power(metric, params)
    width = int(np.max(np.count_nonzero(Q, axis=1))) if is_sparse(X) else columns
    step = max(64, min(AT_A_TIME // m, AT_A_TIME // max(1, width)))
    found = [Near(0, *(np.empty(0, dtype=kind) for kind in (np.intp, np.intp, float)))]
    for first in range(0, n, step):
        part = X[first : first + step]
        if not isinstance(part, np.ndarray) and p in (1, 2):
            q, i = _perhaps_sparse(part, Q, reach, p)
            d = by_powers(part[i].toarray().astype(float), Q[q], p)
        elif p is not None and (p in (1, 2, np.inf) or columns < LONG):
            part = dense(part)
            q, i = _perhaps(part, Q, reach, p)
            d = by_powers(part[i].astype(float), Q[q], p)
        else:
            part = dense(part)
            D = np.stack([distance(part, row[None, :], metric, params) for row in Q])
            q, i = np.nonzero(reach[:, None] >= D)
            d = D[q, i]
        inside = d <= reach[q]
        if s is not None:
            inside &= s[first + i] > 0
        found.append(Near(part.shape[0], q[inside], i[inside] + first, d[inside]))
    return Near(n, *(np.concatenate([part[f] for part in found]) for f in (1, 2, 3)))


def _perhaps(part: np.ndarray, Q: np.ndarray, reach: np.ndarray, p: float) -> Any:
    """(q, i) of all pairs within reach, and some that are not.

    d ≥ |x_j − q_j| for every j, which leaves few pairs where there are few columns. Otherwise
    Σ |x_j − q_j|^p decides, with room for rounding.
    """
    if part.shape[1] >= LONG:
        S = np.stack([_long_rows(part, q, p) for q in Q])
        return np.nonzero(_power(reach * (1 + ROOM), p)[:, None] >= S)
    wider = reach[:, None] * (1 + ROOM)
    low, high = np.nextafter(Q - wider, -np.inf), np.nextafter(Q + wider, np.inf)
    # x ≤ high, both rounded to float32: rounding keeps the order
    with np.errstate(over="ignore"):
        Z, low, high = (np.ascontiguousarray(A.T, dtype=np.float32) for A in (part, low, high))
    inside = np.ones((len(Q), len(part)), dtype=bool)
    for j in range(min(len(Z), BOXED)):
        inside &= Z[j] >= low[j][:, None]
        inside &= Z[j] <= high[j][:, None]
        if j == 0 and np.count_nonzero(inside) * FEW > inside.size:
            return np.nonzero(_power(wider, p) >= _sums(part, Q, p))
    q, i = np.divmod(_where(inside.reshape(-1)), len(part))
    for j in range(BOXED, len(Z)):
        keep = (Z[j][i] >= low[j][q]) & (Z[j][i] <= high[j][q])
        q, i = q[keep], i[keep]
    return q, i


def _sums(part: np.ndarray, Q: np.ndarray, p: float) -> np.ndarray:
    """Σ_j |x_j − q_j|^p, or the largest, of all pairs (queries × rows), column by column."""
    S = np.zeros((len(Q), len(part)))
    term = np.empty(S.shape)
    for z, q in zip(np.ascontiguousarray(part.T, dtype=float), Q.T, strict=True):
        np.abs(np.subtract(z, q[:, None], out=term), out=term)
        (np.maximum if p == np.inf else np.add)(S, _power(term, p), out=S)
    return S


def _where(few: np.ndarray) -> np.ndarray:
    """np.flatnonzero of an array that is mostly false: eight are looked at together."""
    end = len(few) // 8 * 8
    words = np.flatnonzero(few[:end].view(np.uint64))
    at = (words[:, None] * 8 + np.arange(8)).reshape(-1)
    return np.concatenate([at[few[at]], end + np.flatnonzero(few[end:])])


def _perhaps_sparse(part: SparseMatrix, Q: np.ndarray, reach: np.ndarray, p: float) -> Any:
    """The same for sparse rows: columns where q is 0 add the powers of their entries."""
    entry_row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
    powers = _power(np.abs(part.data.astype(float)), p)
    S = np.empty((len(Q), part.shape[0]))
    for t, q in enumerate(Q):
        used = np.flatnonzero(q)
        other = (q == 0)[part.indices]
        S[t] = np.bincount(entry_row[other], powers[other], part.shape[0])
        S[t] += _long_rows(part[:, used].toarray(), q[used], p)
    return np.nonzero(_power(reach * (1 + ROOM), p)[:, None] >= S)


def _power(a: np.ndarray, p: float) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        return a * a if p == 2 else a if p in (1, np.inf) else a**p


def _long_rows(part: np.ndarray, q: np.ndarray, p: float) -> np.ndarray:
    """Σ_j |x_j − q_j|^p of each row, p = 1, 2 or ∞."""
    D = np.subtract(part, q, dtype=float)
    if p == 2:
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.einsum("ij,ij->i", D, D))
    np.abs(D, out=D)
    return np.asarray(D.sum(axis=1) if p == 1 else D.max(axis=1))
