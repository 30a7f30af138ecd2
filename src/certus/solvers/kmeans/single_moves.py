r"""Moves of single rows, where Lloyd's steps have ended (Hartigan).

    gain of x from a to b = s n_a/(n_a − s)‖x − μ_a‖² − s n_b/(n_b + s)‖x − μ_b‖²

with the means of both clusters following. A row that gains lies between two centres, nearer to its
own by a factor of about 1 + 1/n, so there are few: O(k) of any n. Few rows are swept again and
again, and moved at once. Of many, one pass finds those that gain; they are then moved one after
another, the largest gain first, each if it still gains after those before it. J falls with every
move, and x is nearer to its new centre, where Lloyd's steps leave it:

    ‖x − μ_b'‖² = (n_b/(n_b + s))²‖x − μ_b‖² < (n_a/(n_a − s))²‖x − μ_a‖² = ‖x − μ_a'‖²

Equal rows move together, as one row of their weight does.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ...data.csr import Block
from ...data.rows import Rows, RowState

# n·k·p up to which rows are swept: a sweep takes 1 ms for 2²² on one thread, less than the Lloyd
# steps that it saves
MAX_SWEPT_WORK, MAX_SWEEPS = 1 << 22, 100
MAX_MOVES = 1024  # candidates of a pass, and of each of its blocks
# Up to so many rows equal ones are found, by 8 bytes of each row. Among more, a row's gain is a
# share of about (k/n)² of J.
MAX_ROWS_COMPARED = 1 << 16
MIN_REMAINING_SHARE = 1e-6  # of a cluster's weight: without the row it is computed as a difference
ROUNDING = 64 * 2.0**-53  # of both terms of a gain, for each column
SPARSE_TILE = 1 << 20  # distances of sparse rows at a time


class MovableRows(NamedTuple):
    """Rows that gain by moving alone, the largest gain first."""

    gain: np.ndarray  # (m,)
    x: np.ndarray  # (m, p)
    s: np.ndarray  # (m,)
    label: np.ndarray  # (m,)


class _SortedMeans(NamedTuple):
    """Means, weights of the clusters, and the other centres of each by distance."""

    C: np.ndarray
    n: np.ndarray
    unit: float
    order: np.ndarray  # (k, k − 1), or empty
    apart: np.ndarray

    @classmethod
    def of(cls, C: np.ndarray, n: np.ndarray, unit: float, rows: int) -> "_SortedMeans":
        k = len(C)
        if k * k > 4 * rows or not (n > 0).all():
            return cls(C, n, unit, np.empty((0, 0), np.int32), np.empty((0, 0)))
        D = np.array([np.sqrt(((C - c) ** 2).sum(axis=1)) for c in C])
        np.fill_diagonal(D, np.inf)
        order = np.argsort(D, axis=1, kind="stable")[:, : k - 1]
        apart = np.take_along_axis(D, order, axis=1)
        near = np.ascontiguousarray(order, dtype=np.int32)
        return cls(C, n, unit, near, np.ascontiguousarray(apart))


def move_single_rows(
    rows: Rows,
    point_weights: RowState | None,
    C: np.ndarray,
    labels: RowState,
    n: np.ndarray,
    block: int,
    least_gain: float,
) -> np.ndarray | None:
    """Return the means after moves of single rows that lower J, or None if they gain too little.

    ``point_weights``: from ``weights_of_points``. C (k, p): the means of the clusters ``labels``,
    of weights n. ``least_gain``: what all moves together must gain.
    """
    unit = 2.0 ** -float(np.frexp(n.max())[1])  # products of weights could underflow
    n, least_gain = n * unit, least_gain * unit
    if rows.shape[0] * C.size <= MAX_SWEPT_WORK:
        return _swept(rows, point_weights, C, labels, n, unit, block, least_gain)
    found = movable_rows(rows, point_weights, C, labels, n, unit, block)
    C, total = C.copy(), 0.0
    for x, s, a in zip(found.x, found.s, found.label, strict=True):
        rest = n[a] - s
        if not rest > MIN_REMAINING_SHARE * n[a]:
            continue
        d = ((x - C) ** 2).sum(axis=1)
        enter = s * (n / (n + s)) * d
        leave, enter[a] = s * (n[a] / rest) * d[a], np.inf
        b = int(enter.argmin())
        if leave - enter[b] > ROUNDING * (len(x) + 8) * leave:
            total += leave - enter[b]
            C[a] += (C[a] - x) * (s / rest)
            C[b] += (x - C[b]) * (s / (n[b] + s))
            n[a], n[b] = rest, n[b] + s
    return C if total > least_gain else None


def _swept(
    rows: Rows,
    point_weights: RowState | None,
    C: np.ndarray,
    labels: RowState,
    n: np.ndarray,
    unit: float,
    block: int,
    least_gain: float,
) -> np.ndarray | None:
    """Return the means after sweeps over all rows, or None if the moves gain too little."""
    from ...kernels.kmeans.single_moves import move_rows

    beside = (labels,) if point_weights is None else (labels, point_weights)
    # tables are read in blocks; other rows are one
    each = rows.reduce(
        _copied, beside=beside, block_rows=block if rows.streamed else rows.shape[0],
        combine=_joined, times=len(C),
    )  # fmt: skip
    X, s, own, *_ = (np.concatenate(parts) for parts in each)
    weights = _scaled(s, unit, len(X))
    C, n = C.copy(), n.copy()
    gained = move_rows(
        X, weights, C, n, own, MIN_REMAINING_SHARE,
        ROUNDING * (X.shape[1] + 8), ROUNDING * least_gain, MAX_SWEEPS,
    )  # fmt: skip
    return C if gained > least_gain else None


def _copied(
    X: Block, _y: object, s: np.ndarray | None, labels: np.ndarray, *points: np.ndarray
) -> tuple[list[np.ndarray], ...]:
    """Return the rows of a block, dense, their weights and labels."""
    x = np.array(X) if isinstance(X, np.ndarray) else X.toarray()
    if x.dtype != np.float32:
        x = x.astype(float)
    given = points[0] if points else s
    weights = np.ones(len(labels)) if given is None else np.array(given, dtype=float)
    return [np.ascontiguousarray(x)], [weights], [np.array(labels, dtype=np.int32)]


def movable_rows(
    rows: Rows,
    weights: RowState | None,
    C: np.ndarray,
    labels: RowState,
    n: np.ndarray,
    unit: float,
    block: int,
) -> MovableRows:
    """Return the rows that gain by moving alone, at most ``MAX_MOVES``.

    Weights of rows are multiplied by ``unit``, as n is.
    """
    given = _SortedMeans.of(C, n, unit, rows.shape[0])
    beside = (labels,) if weights is None else (labels, weights)
    found: MovableRows = rows.reduce(
        _movable_of_sparse_block if rows.sparse else _movable_of_block, given, beside=beside,
        block_rows=block, times=len(C), combine=_merge,
    )  # fmt: skip
    return _largest(found)


def _movable_of_block(
    X: np.ndarray, _y: object, s: np.ndarray | None, labels: np.ndarray, *given: Any
) -> MovableRows:
    """Return the candidates of a block of dense rows."""
    from ...kernels.kmeans.single_moves import best_moves

    *point_weights, centers = given
    s = _scaled(point_weights[0] if point_weights else s, centers.unit, len(labels))
    X, gain, weights = np.ascontiguousarray(X), np.empty(len(labels)), s
    best_moves(
        X, weights, centers.C, centers.n, np.ascontiguousarray(labels), centers.order,
        centers.apart, MIN_REMAINING_SHARE, gain,
    )  # fmt: skip
    return _taken(X, gain, s, labels)


def _movable_of_sparse_block(
    given_X: Block, _y: object, s: np.ndarray | None, labels: np.ndarray, *given: Any
) -> MovableRows:
    """Return the candidates of a block of sparse rows, by ‖x − μ‖² = ‖x‖² − 2xᵀμ + ‖μ‖²."""
    *point_weights, (C, n, unit, _, _) = given
    s = _scaled(point_weights[0] if point_weights else s, unit, len(labels))
    X: Any = csr_array(given_X, dtype=float)
    gain, columns = np.zeros(len(labels)), np.asfortranarray(-2 * C.T)
    square, xx = np.einsum("ij,ij->i", C, C), np.asarray(X.multiply(X).sum(axis=1))
    for start in range(0, len(labels), max(16, SPARSE_TILE // len(C))):
        part = slice(start, start + max(16, SPARSE_TILE // len(C)))
        a, w = labels[part], s[part]
        D = np.maximum(X[part] @ columns + square + xx[part, None], 0.0)
        i, rest = np.arange(len(a)), n[a] - w
        movable = (w > 0) & (rest > MIN_REMAINING_SHARE * n[a])
        leave = w * (n[a] / np.where(movable, rest, np.inf)) * D[i, a]
        enter = w[:, None] * (n / (n + w[:, None])) * D
        enter[i, a] = np.inf
        gain[part] = np.maximum(leave - enter.min(axis=1), 0.0)
    return _taken(X, gain, s, labels)


def _scaled(s: np.ndarray | None, unit: float, n: int) -> np.ndarray:
    """Return the weights in units of those of the clusters."""
    return np.full(n, unit) if s is None else np.ascontiguousarray(s, dtype=float) * unit


def _taken(X: Any, gain: np.ndarray, s: np.ndarray, labels: np.ndarray) -> MovableRows:
    i = np.flatnonzero(gain > 0)
    i = i[np.argsort(-gain[i], kind="stable")[:MAX_MOVES]]
    x = X[i].toarray() if not isinstance(X, np.ndarray) else X[i]
    return MovableRows(gain[i], x.astype(float), s[i], labels[i].astype(np.intp))


def _merge(left: MovableRows, right: MovableRows) -> MovableRows:
    return _largest(MovableRows(*(np.concatenate(both) for both in zip(left, right, strict=True))))


def _largest(found: MovableRows) -> MovableRows:
    """Return the largest gains; of equal ones those of the first rows."""
    order = np.argsort(-found.gain, kind="stable")[:MAX_MOVES]
    return MovableRows(*(part[order] for part in found))


# --- equal rows -----------------------------------------------------------------------------------


def weights_of_points(rows: Rows) -> RowState | None:
    """Return the weight of all rows equal to a row, for the first of them, and 0 for the others.

    None if all rows differ, or if there are too many to compare them.
    """
    n = rows.shape[0]
    if n > MAX_ROWS_COMPARED:
        return None
    keys, s = (np.concatenate(parts) for parts in rows.reduce(_keys, combine=_joined))
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == n:
        return None
    weights = np.zeros(n)
    weights[first] = np.bincount(inverse, s)
    kept = rows.allocate()
    kept[0:n] = weights
    return kept


def _keys(X: Block, _y: object, s: np.ndarray | None) -> tuple[list[np.ndarray], ...]:
    """Return a number for each row that is the same for equal rows, and the weights."""
    n, p = X.shape
    factor: Any = np.random.default_rng(0).integers(1, 2**63, size=p, dtype=np.uint64)
    factor |= np.uint64(1)
    if isinstance(X, np.ndarray):
        bits = np.ascontiguousarray(X + 0.0, dtype=np.float64).view(np.uint64)  # −0 is 0
        key = _mixed(bits, factor).sum(axis=1, dtype=np.uint64)
    else:
        entries = csr_array(X, dtype=float, copy=True)
        entries.sum_duplicates()
        entries.eliminate_zeros()
        bits = np.ascontiguousarray(entries.data).view(np.uint64)
        each = _mixed(bits, factor[entries.indices])
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(each, dtype=np.uint64)])
        key = total[entries.indptr[1:]] - total[entries.indptr[:-1]]
    return [key], [np.ones(n) if s is None else np.array(s, dtype=float)]


def _mixed(bits: np.ndarray, factor: Any) -> np.ndarray:
    """Return products whose high bits depend on all bits, so that their sums rarely agree."""
    mixed: np.ndarray = (bits ^ (bits >> np.uint64(32))) * factor
    return mixed ^ (mixed >> np.uint64(29))


def _joined(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the lists of both, in the order of their rows."""
    return tuple(a + b for a, b in zip(left, right, strict=True))
