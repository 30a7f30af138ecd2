"""Prove for every row which centre is nearest, and bound what moving one row would gain.

    a(i) = argmin_k ‖x_i − μ_k‖²        J = Σ_i s_i ‖x_i − μ_a(i)‖²

Labels are given and are to be proven. For a row x, its centre a and another centre b,

    q = ‖x − μ_a‖² − ‖x − μ_b‖²                                  > 0: b is nearer
    F = q + σ‖x − μ_a‖² (1/n_a + 1/n_b),   σ = s n_a/(n_a − s)   > 0: J falls by s n_b/(n_b + s)·F
                                                                 if x alone moves from a to b

(Hartigan; n_k the weight of cluster k, whose centre is its mean). Matrix products give F up to a
known error (``_move_gains.py``). Pairs that this leaves undecided are compared by differences,
which are accurate far from the origin.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.kmeans._move_gains import (
    Block,
    GainBounds,
    KMeansCenters,
    WorkArrays,
    gains_of_cluster,
    gains_of_clusters,
    gains_of_sparse_rows,
    other_distances,
    squares,
)
from certus.proofs.kmeans._neighbor_lists import Neighbors, pairs_in_doubt
from certus.proofs.linalg.linear_sums import UNIT, is_sparse
from certus.proofs.types import Matrix, RowData, RowValues

MAX_POOLED_ROWS = 64  # smaller clusters are compared together: 16 and 256 were slower
MAX_POOLED_ROWS_CROWDED = 1024  # the same if most centres are near to most rows
PROBE_ROWS = 64  # rows by which that is decided
POOLED_GROUP_ROWS = 2048  # rows of several clusters in one group
MAX_GROUP_ROWS = 8192  # rows of one cluster in one group, and rows a block should have of each
MAX_BLOCK_ELEMENTS = 2**23  # of a block, as long as it has MAX_POOLED_ROWS rows of each cluster
# With fewer elements in a task, threads would mostly wait for Python's lock.
MIN_THREADED_ELEMENTS = 2**14
GROUP_ELEMENTS = 2**19  # elements of the rows of one group; with fewer, threads wait for the lock
TILE_PRODUCTS = 2**21  # products computed at a time
NEIGHBOR_TILE_ROWS = 2**15  # rows of few columns processed at a time
NEIGHBOR_COMPARISONS = 16  # centres that such a row is compared with, about
MAX_STRICT_PASSES = 10  # two or three passes prove any labels
MAX_PASSES = 50  # in case rounding should lead to a cycle
MAX_PAIRS_PER_ROW = 4  # of undecided pairs, above which only the decisive ones are compared
MIN_BLOCKS = 2
# Share of a cluster's weight that must remain without the row: it is computed as a difference.
MIN_REMAINING_SHARE = 1e-6


class Move(NamedTuple):
    """A row that would lower J by ``gain`` in cluster ``to``; rows are numbered in their block."""

    gain: float
    row: int
    to: int


NO_MOVE = Move(0.0, -1, -1)


class ProvenAssignment(NamedTuple):
    """Result of ``prove_labels``."""

    sums: "AssignmentSums"
    n: np.ndarray  # Σ s of each cluster
    # (n, 2): ‖x − μ_a‖², and a lower bound of ‖x − μ_b‖² − ‖x − μ_a‖² over all other b
    margins: RowValues | None


class AssignmentSums(NamedTuple):
    """Sums and extremes over a block of rows, or over all."""

    rows: int
    J: float  # Σ s ‖x − μ_a‖²
    shift: np.ndarray  # Σ s (x − μ_a) over each cluster, (k, p)
    moved: int  # labels that were wrong and have been changed
    movable: int  # rows that would lower J by moving alone
    best: Move  # the move that lowers J most
    max_gain: float  # no move of one row lowers J by more, up to rounding
    split_off: Move  # the row that lowers J most by getting its own centre
    ties: np.ndarray  # (rows, others): other centres at the same distance, up to rounding

    def exact(self, n: np.ndarray) -> float:
        """Return Σ_k n_k ‖μ_k − m_k‖², the gain of a step to unrounded means."""
        return float(((self.shift * self.shift).sum(axis=1) / np.where(n > 0, n, np.inf)).sum())


def prove_labels(
    data: RowData, mu: np.ndarray, labels: RowValues, strict: bool = False
) -> ProvenAssignment:
    """Change ``labels`` until a pass proves that each is the nearest centre; return its sums.

    A label whose centre is as near as another up to rounding is kept, unless ``strict``.
    """
    passes, (m, p), k = 0, data.shape, len(mu)
    most = max(MAX_BLOCK_ELEMENTS // p, MAX_POOLED_ROWS * k)
    least = min(MAX_GROUP_ROWS * k, -(-m // MIN_BLOCKS), most)  # the same on any number of threads
    at_once = min(least // len(mu), MAX_GROUP_ROWS) * p  # elements
    neighbors = None if data.sparse else Neighbors.of(mu)
    margins = data.allocate((2,)) if neighbors is None else None
    beside = (labels,) if margins is None else (labels, margins)
    while True:
        (n,) = data.reduce_beside(_masses, labels, data.s, k)
        # strict passes are limited, in case rounding differs between passes
        centers = KMeansCenters.of(mu, n, data.sparse, strict and passes < MAX_STRICT_PASSES)
        if neighbors is None:
            sums = data.reduce(
                examine_block, centers, combine=combine_sums, beside=beside, times=len(mu),
                least=least,
                most_threads=None if data.sparse or at_once >= MIN_THREADED_ELEMENTS else 1,
            )  # fmt: skip
        else:
            sums = data.reduce(
                examine_block_by_neighbors,
                centers,
                neighbors,
                combine=combine_sums,
                beside=beside,
                times=NEIGHBOR_COMPARISONS,
                least=least,
            )
        passes += 1
        # every change lowers a distance, so this terminates
        if not sums.moved or passes == MAX_PASSES:
            return ProvenAssignment(sums, n, margins)


def _masses(labels: np.ndarray, s: np.ndarray | None, k: int) -> tuple[np.ndarray]:
    """Return Σ s of each label."""
    return (np.bincount(labels, s, minlength=k).astype(float),)


def combine_sums(left: AssignmentSums, right: AssignmentSums) -> AssignmentSums:
    left.shift[...] += right.shift
    best, split_off = (
        max(a, b._replace(row=b.row + left.rows), key=lambda move: move.gain)
        for a, b in ((left.best, right.best), (left.split_off, right.split_off))
    )
    return AssignmentSums(
        left.rows + right.rows, left.J + right.J, left.shift, left.moved + right.moved,
        left.movable + right.movable, best, max(left.max_gain, right.max_gain), split_off,
        np.concatenate([left.ties, right.ties + np.array([[left.rows], [0]])], axis=1),
    )  # fmt: skip


def examine_block(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    labels: np.ndarray,
    margins: np.ndarray,
    centers: KMeansCenters,
) -> AssignmentSums:
    """Examine one block; labels that are proven wrong are changed in place, margins are filled."""
    (k, p), m = centers.mu.shape, len(labels)
    order = np.argsort(labels.astype(np.int16) if k < 2**15 else labels, kind="stable")
    own = labels[order]
    s = np.ones(m) if s is None else s[order]
    sparse = is_sparse(X)
    max_pooled = (
        MAX_POOLED_ROWS_CROWDED
        if not sparse and _is_crowded(X, labels, centers)
        else MAX_POOLED_ROWS
    )
    groups = list(_groups(np.bincount(labels, minlength=k), 1 if sparse else p, max_pooled))
    most = max((stop - start for start, stop in groups), default=0)
    work = None if sparse else WorkArrays.of(X, most, k)
    block = Block(X, order, own, s, leaving(s, centers.n[own]), np.empty(m), work)
    shift = np.zeros((k, p))
    pairs = [np.empty((2, 0), dtype=np.intp)]
    for start, stop in groups:
        gains_of = (
            gains_of_sparse_rows
            if sparse
            else gains_of_cluster
            if own[start] == own[stop - 1]
            else gains_of_clusters
        )
        bounds = gains_of(block, slice(start, stop), centers, shift)
        most = bounds.largest()
        margins[order[start:stop], 1] = bounds.margins(most, block.d2[start:stop])
        i, b = _undecided_pairs(bounds, most, block, start, centers)
        if len(i):
            pairs.append(np.stack([start + i, b]))
    sums = _summarize(labels, block, np.concatenate(pairs, axis=1), centers, shift)
    margins[order, 0] = block.d2
    return sums


def examine_block_by_neighbors(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    labels: np.ndarray,
    centers: KMeansCenters,
    neighbors: Neighbors,
) -> AssignmentSums:
    """Examine one block of few columns, by lists of neighbouring centres."""
    (k, p), m = centers.mu.shape, len(labels)
    s, own, pairs = np.ones(m) if s is None else s, labels.copy(), []
    block = Block(X, np.arange(m), own, s, leaving(s, centers.n[own]), np.empty(m), None)
    shift = np.zeros((k, p))
    for start in range(0, m, NEIGHBOR_TILE_ROWS):
        part = slice(start, min(start + NEIGHBOR_TILE_ROWS, m))
        R = X[part] - centers.mu[own[part]]
        for j in range(p):
            shift[:, j] += np.bincount(own[part], s[part] * R[:, j], k)
        block.d2[part] = squares(R)
        i, b = pairs_in_doubt(
            X[part], own[part], block.d2[part], block.sigma[part], centers, neighbors
        )
        pairs.append(np.stack([start + i, b]))
    return _summarize(labels, block, np.concatenate(pairs, axis=1), centers, shift)


def _summarize(
    labels: np.ndarray, block: Block, pairs: np.ndarray, centers: KMeansCenters, shift: np.ndarray
) -> AssignmentSums:
    wrong, nearer, movable, best, most, ties = _decide(block, pairs[0], pairs[1], centers)
    labels[wrong] = nearer
    gain = block.sigma * block.d2
    farthest = int(gain.argmax())
    J = float(np.dot(block.s, block.d2))
    split_off = Move(float(gain[farthest]), int(block.order[farthest]), -1)
    return AssignmentSums(len(labels), J, shift, len(wrong), movable, best, most, split_off, ties)


def _is_crowded(X: np.ndarray, labels: np.ndarray, centers: KMeansCenters) -> bool:
    """Whether most centres are too near to be excluded by distances between centres."""
    i = np.linspace(0, len(labels) - 1, min(PROBE_ROWS, len(labels))).astype(np.intp)
    a = labels[i]
    d2 = squares(X[i] - centers.mu[a])
    between = centers.vv[a, None] + centers.vv - 2 * np.dot(centers.v[a], centers.v.T)
    return bool(np.mean(between < 4 * d2[:, None]) > 0.5)


def _groups(count: np.ndarray, p: int, max_pooled: int) -> Any:
    """Yield ranges start, stop of rows sorted by label: of one large cluster, or of small ones."""
    most = min(
        MAX_GROUP_ROWS,
        max(MAX_POOLED_ROWS, GROUP_ELEMENTS // p),
        max(MAX_POOLED_ROWS, TILE_PRODUCTS // len(count)),
    )
    start = stop = 0
    for rows in count[count > 0].tolist():
        if rows < max_pooled:
            stop += rows
            if stop - start >= min(POOLED_GROUP_ROWS, most):
                yield start, stop
                start = stop
            continue
        if stop > start:
            yield start, stop
        for first in range(stop, stop + rows, most):
            yield first, min(first + most, stop + rows)
        start = stop = stop + rows
    if stop > start:
        yield start, stop


def leaving(s: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return σ, or 0 for a row that has nearly all the weight of its cluster."""
    others = n - s
    return np.divide(s * n, others, out=np.zeros(len(s)), where=others > MIN_REMAINING_SHARE * n)


# --- pairs that products leave undecided ----------------------------------------------------------


def _undecided_pairs(
    bounds: GainBounds, most: np.ndarray, block: Block, start: int, centers: KMeansCenters
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs (rows, centres) that must be compared by differences."""
    T, t, E, candidates, unit, _ = bounds
    i = np.flatnonzero(most > -E - t)
    if not len(i):
        return i, i
    F = T[:, i] + t[i]
    pairs = F > -E
    if np.count_nonzero(pairs) > MAX_PAIRS_PER_ROW * len(i):
        # one pair that proves a label wrong, or a gain, makes the row's other pairs unnecessary
        at_row = start + i
        d2, sd = block.d2[at_row], block.sigma[at_row] * block.d2[at_row]
        q = F - unit * sd * (
            centers.over_n[block.own[at_row]] + centers.over_n[candidates][:, None]
        )
        wrong = q.max(axis=0) > 3 * E + unit * _rounding(d2, centers)
        pairs = ((q > -E) | ((F > -E) & (F.max(axis=0) <= E))) & ~wrong
        pairs[q.argmax(axis=0), np.arange(len(i))] = True
        pairs[F.argmax(axis=0), np.arange(len(i))] = True
    b, j = np.nonzero(pairs)
    return i[j], candidates[b]


def _rounding(d2: np.ndarray, centers: KMeansCenters) -> Any:
    return 4 * (centers.mu.shape[1] + 8) * UNIT * d2


def _decide(
    block: Block, i: np.ndarray, b: np.ndarray, centers: KMeansCenters
) -> tuple[np.ndarray, np.ndarray, int, Move, float, np.ndarray]:
    """Compare pairs by differences.

    Returns rows with a nearer centre and these centres; how many rows gain by a move, the best
    move, an upper bound of all gains; and ties.
    """
    order, own, s = block.order, block.own, block.s
    d2_b = other_distances(block, i, b, centers)
    d2 = block.d2[i]
    nearest = np.lexsort((b, d2_b, i))
    nearest = nearest[np.diff(i[nearest], prepend=-1) > 0]  # the first of each row
    closer = d2_b < d2 - _rounding(d2, centers)
    if centers.strict:
        closer = (d2_b < d2) | ((d2_b == d2) & (b < own[i]))
    wrong = nearest[closer[nearest]]
    F = d2 - d2_b + block.sigma[i] * d2 * (centers.over_n[own[i]] + centers.over_n[b])
    F -= 8 * (centers.mu.shape[1] + 8) * UNIT * (d2 + d2_b)
    gain = s[i] * centers.n[b] / np.maximum(centers.n[b] + s[i], 1e-300) * F
    best = NO_MOVE
    if (gain > 0).any():
        most = int(gain.argmax())
        best = Move(float(gain[most]), int(order[i[most]]), int(b[most]))
    tie = np.abs(d2 - d2_b) <= _rounding(d2, centers)
    ties = np.stack([order[i[tie]], b[tie]])
    limit = float((s[i] * F).max(initial=0.0))  # pairs of a row with smaller F may be omitted
    return order[i[wrong]], b[wrong], len(np.unique(i[gain > 0])), best, limit, ties


# --- initial labels -------------------------------------------------------------------------------


def approximate_labels(
    X: Matrix, _y: np.ndarray | None, _s: np.ndarray | None, labels: np.ndarray, mu: np.ndarray
) -> tuple[int]:
    """Fill the nearest centres of a block up to rounding, by products: argmax_k 2xᵀμ_k − ‖μ_k‖²."""
    o = np.zeros(mu.shape[1]) if is_sparse(X) else mu.mean(axis=0)
    v = mu - o
    step = max(16, GROUP_ELEMENTS // max(mu.shape))
    for start in range(0, len(labels), step):
        x = X[start : start + step]
        products = np.dot(x - o, 2 * v.T) if isinstance(x, np.ndarray) else x @ (2 * v.T)
        products -= squares(v)
        products.argmax(axis=1, out=labels[start : start + step])
    return (0,)
