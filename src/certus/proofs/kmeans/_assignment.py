"""Which centre is nearest to each row, and what moving one row would gain, proven for all of them.

    a(i) = argmin_k ‖x_i − μ_k‖²        J = Σ_i s_i ‖x_i − μ_a(i)‖²

Labels are given, and to be proven. Of a row x, its centre a and another centre b,

    q = ‖x − μ_a‖² − ‖x − μ_b‖²                                  > 0: b is nearer
    F = q + σ‖x − μ_a‖² (1/n_a + 1/n_b),   σ = s n_a/(n_a − s)   > 0: J falls by s n_b/(n_b + s)·F
                                                                 if x alone moves from a to b

(Hartigan; n_k the weight of cluster k, whose centre is its mean). Products of matrices give F up to
a known error (``_move_gains.py``). Pairs that it leaves in doubt are decided by differences,
which no distance from the origin can spoil.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.kmeans._move_gains import (
    Block,
    Centers,
    Look,
    Room,
    of_one,
    of_several,
    of_sparse,
    other_distances,
    squares,
)
from certus.proofs.kmeans._neighbor_lists import Neighbors, pairs_in_doubt
from certus.proofs.linalg.linear_sums import UNIT, is_sparse
from certus.proofs.types import Matrix, RowData

FEW = 64  # rows of a cluster up to which it is looked at with others: 16 and 256 were slower,
FEW_AMIDST = 1024  # but not where most centres are near to most rows
PROBED = 64  # rows that tell
TOGETHER = 2048  # rows of several clusters
MOST = 8192  # rows of one, which is also what a block should have of each cluster
SHARED = 2**14  # elements: work on fewer is over so soon that threads would wait for Python's lock
ELEMENTS = 2**19  # of the rows looked at together: fewer, and threads wait for Python's lock
TILE = 2**21  # products at a time
TAKEN, NEAR = 2**15, 16  # rows of few columns at a time, and centres they are compared with, about
STRICT = 10  # passes; two or three settle any labels
PASSES = 50  # should rounding ever lead around in a circle
MANY = 4  # pairs a row
SHARES = 2  # blocks that there are at least
HEAVY = 1e-6  # share of a cluster that a row must leave to others: their weight is a difference


class Move(NamedTuple):
    """A row that would lower J by ``gain`` in cluster ``to``. Rows are counted in their block."""

    gain: float
    row: int
    to: int


NOWHERE = Move(0.0, -1, -1)


class Settled(NamedTuple):
    seen: "Seen"
    n: np.ndarray  # Σ s of each cluster
    # (n, 2): ‖x − μ_a‖², and what ‖x − μ_b‖² is above that at least
    known: np.ndarray | None


class Seen(NamedTuple):
    """What some of the rows say about centres and labels."""

    rows: int
    J: float  # Σ s ‖x − μ_a‖²
    shift: np.ndarray  # Σ s (x − μ_a) over each cluster, (k, p)
    moved: int  # labels that were wrong, and have been changed
    movable: int  # rows whose move alone lowers J
    best: Move  # the one that lowers it most
    most: float  # no move of one row lowers it by more, but for rounding
    apart: Move  # the row that lowers J most where it gets a centre of its own
    ties: np.ndarray  # (rows, others): other centres at the same distance, up to rounding

    def exact(self, n: np.ndarray) -> float:
        """Σ_k n_k ‖μ_k − m_k‖²: what a step to the means gains, were they stored exactly."""
        return float(((self.shift * self.shift).sum(axis=1) / np.where(n > 0, n, np.inf)).sum())


def settle(data: RowData, mu: np.ndarray, labels: np.ndarray, strict: bool = False) -> Settled:
    """Change ``labels`` until each is that of the nearest centre, which the last pass proves, and
    say what that saw. A label at the same distance, up to rounding, stands unless ``strict``."""
    passes, (m, p) = 0, data.shape
    least = min(MOST * len(mu), -(-m // SHARES))  # not by threads: sums are the same on any number
    at_once = min(least // len(mu), MOST) * p  # elements
    near = None if data.sparse else Neighbors.of(mu)
    known = np.empty((m, 2)) if near is None else None
    beside = (labels,) if known is None else (labels, known)
    while True:
        n = np.bincount(labels, data.s, minlength=len(mu)).astype(float)
        # if rounding were not the same in each pass, strictness need not come to an end
        centers = Centers.of(mu, n, data.sparse, strict and passes < STRICT)
        if near is None:
            seen = data.reduce(
                see, centers, combine=join, beside=beside, times=len(mu), least=least,
                most_threads=None if data.sparse or at_once >= SHARED else 1,
            )  # fmt: skip
        else:
            seen = data.reduce(
                see_near, centers, near, combine=join, beside=beside, times=NEAR, least=least
            )
        passes += 1
        # each change came nearer, so there is an end
        if not seen.moved or passes == PASSES:
            return Settled(seen, n, known)


def join(left: Seen, right: Seen) -> Seen:
    left.shift[...] += right.shift
    best, apart = (
        max(a, b._replace(row=b.row + left.rows), key=lambda move: move.gain)
        for a, b in ((left.best, right.best), (left.apart, right.apart))
    )
    return Seen(
        left.rows + right.rows, left.J + right.J, left.shift, left.moved + right.moved,
        left.movable + right.movable, best, max(left.most, right.most), apart,
        np.concatenate([left.ties, right.ties + np.array([[left.rows], [0]])], axis=1),
    )  # fmt: skip


def see(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    labels: np.ndarray,
    known: np.ndarray,
    at: Centers,
) -> Seen:
    """One block. Labels that are proven wrong are changed in place; ``known`` is filled."""
    (k, p), m = at.mu.shape, len(labels)
    order = np.argsort(labels.astype(np.int16) if k < 2**15 else labels, kind="stable")
    own = labels[order]
    s = np.ones(m) if s is None else s[order]
    sparse = is_sparse(X)
    few = FEW_AMIDST if not sparse and _amidst(X, labels, at) else FEW
    groups = list(_groups(np.bincount(labels, minlength=k), 1 if sparse else p, few))
    most = max((stop - start for start, stop in groups), default=0)
    room = None if sparse else Room.of(X, most, k)
    block = Block(X, order, own, s, leaving(s, at.n[own]), np.empty(m), room)
    shift = np.zeros((k, p))
    pairs = [np.empty((2, 0), dtype=np.intp)]
    for start, stop in groups:
        look = of_sparse if sparse else of_one if own[start] == own[stop - 1] else of_several
        found = look(block, slice(start, stop), at, shift)
        most = found.most()
        known[order[start:stop], 1] = found.margins(most, block.d2[start:stop])
        i, b = _doubtful(found, most, block, start, at)
        if len(i):
            pairs.append(np.stack([start + i, b]))
    seen = _conclude(labels, block, np.concatenate(pairs, axis=1), at, shift)
    known[order, 0] = block.d2
    return seen


def see_near(
    X: np.ndarray,
    _y: np.ndarray,
    s: np.ndarray | None,
    labels: np.ndarray,
    at: Centers,
    near: Neighbors,
) -> Seen:
    """The same for few columns."""
    (k, p), m = at.mu.shape, len(labels)
    s, own, pairs = np.ones(m) if s is None else s, labels.copy(), []
    block = Block(X, np.arange(m), own, s, leaving(s, at.n[own]), np.empty(m), None)
    shift = np.zeros((k, p))
    for start in range(0, m, TAKEN):
        part = slice(start, min(start + TAKEN, m))
        R = X[part] - at.mu[own[part]]
        for j in range(p):
            shift[:, j] += np.bincount(own[part], s[part] * R[:, j], k)
        block.d2[part] = squares(R)
        i, b = pairs_in_doubt(X[part], own[part], block.d2[part], block.sigma[part], at, near)
        pairs.append(np.stack([start + i, b]))
    return _conclude(labels, block, np.concatenate(pairs, axis=1), at, shift)


def _conclude(
    labels: np.ndarray, block: Block, pairs: np.ndarray, at: Centers, shift: np.ndarray
) -> Seen:
    wrong, nearer, movable, best, most, ties = _decide(block, pairs[0], pairs[1], at)
    labels[wrong] = nearer
    apart = block.sigma * block.d2
    alone = int(apart.argmax())
    J = float(np.dot(block.s, block.d2))
    alone_there = Move(float(apart[alone]), int(block.order[alone]), -1)
    return Seen(len(labels), J, shift, len(wrong), movable, best, most, alone_there, ties)


def _amidst(X: np.ndarray, labels: np.ndarray, at: Centers) -> bool:
    """Are most centres so near that no distance among centres leaves them out?"""
    i = np.linspace(0, len(labels) - 1, min(PROBED, len(labels))).astype(np.intp)
    a = labels[i]
    d2 = squares(X[i] - at.mu[a])
    between = at.vv[a, None] + at.vv - 2 * np.dot(at.v[a], at.v.T)
    return bool(np.mean(between < 4 * d2[:, None]) > 0.5)


def _groups(count: np.ndarray, p: int, few: int) -> Any:
    """start:stop of rows, in the order of their labels: of one large cluster, or of small ones."""
    most = min(MOST, max(FEW, ELEMENTS // p), max(FEW, TILE // len(count)))
    start = stop = 0
    for rows in count[count > 0].tolist():
        if rows < few:
            stop += rows
            if stop - start >= min(TOGETHER, most):
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
    """σ; 0 for a row that is alone in its cluster, or nearly so."""
    others = n - s
    return np.divide(s * n, others, out=np.zeros(len(s)), where=others > HEAVY * n)


# --- what products leave in doubt -----------------------------------------------------------------


def _doubtful(
    look: Look, most: np.ndarray, block: Block, start: int, at: Centers
) -> tuple[np.ndarray, np.ndarray]:
    """(row, centre): pairs that differences must decide."""
    T, t, E, near, unit, _ = look
    i = np.flatnonzero(most > -E - t)
    if not len(i):
        return i, i
    F = T[:, i] + t[i]
    pairs = F > -E
    if np.count_nonzero(pairs) > MANY * len(i):
        # a pair that shows a label to be wrong, or that a row gains, makes up for its others
        at_row = start + i
        d2, sd = block.d2[at_row], block.sigma[at_row] * block.d2[at_row]
        q = F - unit * sd * (at.over_n[block.own[at_row]] + at.over_n[near][:, None])
        wrong = q.max(axis=0) > 3 * E + unit * _rounding(d2, at)
        pairs = ((q > -E) | ((F > -E) & (F.max(axis=0) <= E))) & ~wrong
        pairs[q.argmax(axis=0), np.arange(len(i))] = True
        pairs[F.argmax(axis=0), np.arange(len(i))] = True
    b, j = np.nonzero(pairs)
    return i[j], near[b]


def _rounding(d2: np.ndarray, at: Centers) -> Any:
    return 4 * (at.mu.shape[1] + 8) * UNIT * d2


def _decide(
    block: Block, i: np.ndarray, b: np.ndarray, at: Centers
) -> tuple[np.ndarray, np.ndarray, int, Move, float, np.ndarray]:
    """By differences: rows with a nearer centre, these centres; how many rows gain by a move, the
    best move, a limit of all; and ties."""
    order, own, s = block.order, block.own, block.s
    d2_b = other_distances(block, i, b, at)
    d2 = block.d2[i]
    nearest = np.lexsort((b, d2_b, i))
    nearest = nearest[np.diff(i[nearest], prepend=-1) > 0]  # the first of each row
    closer = d2_b < d2 - _rounding(d2, at)
    if at.strict:
        closer = (d2_b < d2) | ((d2_b == d2) & (b < own[i]))
    wrong = nearest[closer[nearest]]
    F = d2 - d2_b + block.sigma[i] * d2 * (at.over_n[own[i]] + at.over_n[b])
    F -= 8 * (at.mu.shape[1] + 8) * UNIT * (d2 + d2_b)
    gain = s[i] * at.n[b] / np.maximum(at.n[b] + s[i], 1e-300) * F
    best = NOWHERE
    if (gain > 0).any():
        most = int(gain.argmax())
        best = Move(float(gain[most]), int(order[i[most]]), int(b[most]))
    tie = np.abs(d2 - d2_b) <= _rounding(d2, at)
    ties = np.stack([order[i[tie]], b[tie]])
    limit = float((s[i] * F).max(initial=0.0))  # of a row, the pairs with less F may be left out
    return order[i[wrong]], b[wrong], len(np.unique(i[gain > 0])), best, limit, ties


# --- labels to begin with -------------------------------------------------------------------------


def guess(
    X: Matrix, _y: np.ndarray | None, _s: np.ndarray | None, labels: np.ndarray, mu: np.ndarray
) -> tuple[int]:
    """The nearest centres of a block by products, up to rounding: argmax_k 2xᵀμ_k − ‖μ_k‖²."""
    o = np.zeros(mu.shape[1]) if is_sparse(X) else mu.mean(axis=0)
    v = mu - o
    step = max(16, ELEMENTS // max(mu.shape))
    for start in range(0, len(labels), step):
        x = X[start : start + step]
        products = np.dot(x - o, 2 * v.T) if isinstance(x, np.ndarray) else x @ (2 * v.T)
        products -= squares(v)
        products.argmax(axis=1, out=labels[start : start + step])
    return (0,)
