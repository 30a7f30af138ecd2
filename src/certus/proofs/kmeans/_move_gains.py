"""What moving a row from its centre a to a centre b would do, for many pairs at once.

    q = ‖x − μ_a‖² − ‖x − μ_b‖² = 2uᵀv_b − ‖v_b‖² + ‖x − μ_a‖² − ‖u‖²        u = x − o, v = μ − o
    F = q + σ‖x − μ_a‖² (1/n_a + 1/n_b)                                      for any point o

Products of matrices give F up to a known error E; differences decide what E leaves open. Rows of
one cluster have o = μ_a. No row at ‖x − μ_a‖ ≤ r can have F > 0 for a centre at
‖v_b‖ ≥ r(1 + √(1 + σ(1/n_a + 1/n_b))), so those are left out.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense, is_sparse
from certus.proofs.types import Matrix, SparseMatrix

EXACTLY = 2**20  # elements of pairs that differences decide at a time
ENTRIES_OF = 2048  # pairs at a time, of sparse rows
LONG = 4096  # columns from which float32 would leave too many pairs in doubt
FEW_CENTERS, FEW_COLUMNS = 24, 64  # up to, and from: to round all rows costs more than it gains
SINGLE = 2.0**-24
LEAST, HELD = 1e-37, 1e30  # what float32 may lose to underflow, and a share of it that it holds
LOST = 1e-3  # of ‖μ‖²: a smaller ‖x − μ‖² is not taken from sums over entries


class Centers(NamedTuple):
    """The centres, and what follows from them and from the labels."""

    mu: np.ndarray  # (k, p)
    n: np.ndarray  # Σ s of each cluster
    over_n: np.ndarray  # 1/n, or 0
    o: np.ndarray  # a point in their midst; of sparse rows the origin
    v: np.ndarray  # μ − o
    vv: np.ndarray  # ‖v‖²
    twice: np.ndarray | None  # 2vᵀ, for sparse rows
    strict: bool  # of centres that differ by rounding alone the nearest, of equal ones the first

    @classmethod
    def of(cls, mu: np.ndarray, n: np.ndarray, sparse: bool, strict: bool) -> "Centers":
        o = np.zeros(mu.shape[1]) if sparse else mu.mean(axis=0)
        v = mu - o
        over_n = np.divide(1.0, n, out=np.zeros(len(n)), where=n > 0)
        twice = np.ascontiguousarray(2 * v.T) if sparse else None
        return cls(mu, n, over_n, o, v, squares(v), twice, strict)


class Block(NamedTuple):
    """Rows of a block in the order of their labels, so that each cluster's are together."""

    X: np.ndarray
    order: np.ndarray  # their numbers
    own: np.ndarray  # their labels
    s: np.ndarray
    sigma: np.ndarray
    d2: np.ndarray  # ‖x − μ_a‖², filled as they are looked at
    room: Any  # a Room, of dense rows


class Room(NamedTuple):
    """For the rows looked at together, used again and again: memory that is new each time costs
    more than what is computed in it."""

    rows: np.ndarray
    R: np.ndarray
    B: np.ndarray | None  # in float32, or None: products in float64
    T: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, m: int, k: int) -> "Room":
        p, rows = X.shape[1], np.empty((m, X.shape[1]), X.dtype)
        R = rows if rows.dtype == float else np.empty((m, p))
        if p >= LONG or (k <= FEW_CENTERS and p >= FEW_COLUMNS):
            return cls(rows, R, None, np.empty(m * k))
        return cls(rows, R, np.empty((m, p + 2), np.float32), np.empty(m * k, np.float32))

    def take(self, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.take(X, rows, axis=0, out=self.rows[: len(rows)], mode="clip"))


class Look(NamedTuple):
    """Some of them: F = T + t up to E, in units of 1/``unit``, for the centres in ``near``."""

    T: np.ndarray  # (centres, rows); −∞ for a row's own
    t: np.ndarray
    E: float
    near: np.ndarray
    unit: float
    r: float = np.inf  # other centres have ‖v_b‖ ≥ 2r, and all rows ‖x − μ_a‖ ≤ r

    def most(self) -> np.ndarray:
        """The largest F of each row, without E and t."""
        return np.asarray(self.T.max(axis=0) if len(self.near) else np.full(len(self.t), -np.inf))

    def margins(self, most: np.ndarray, d2: np.ndarray) -> np.ndarray:
        """Of each row, what ‖x − μ_b‖² − ‖x − μ_a‖² is not below, for any b: −F, as F ≥ q; and
        4r(r − ‖x − μ_a‖) where ‖x − μ_b‖ ≥ 2r − ‖x − μ_a‖."""
        of_near = -(most + self.t + self.E) / self.unit
        if self.r == np.inf:
            return np.asarray(of_near)
        return np.minimum(of_near, 4 * self.r * (self.r - np.sqrt(d2)))


def squares(A: np.ndarray) -> np.ndarray:
    return np.asarray(np.vecdot(A, A))


def of_one(block: Block, some: slice, at: Centers, shift: np.ndarray) -> Look:
    """Rows of one cluster: o = μ_a, and near centres only."""
    a, room = block.own[some.start], block.room
    X = room.take(block.X, block.order[some])
    R = np.subtract(X, at.mu[a], out=room.R[: len(X)])
    d2, sigma = squares(R), block.sigma[some]
    block.d2[some] = d2
    shift[a] += np.dot(block.s[some], R)
    v = at.mu - at.mu[a]
    vv = squares(v)
    r2, most = d2.max(), sigma.max() * (at.over_n[a] + at.over_n)
    near = vv < r2 * (1 + np.sqrt(1 + most)) ** 2 * (1 + 1e-9)
    near[a] = False  # a row's own is no other
    b = np.flatnonzero(near)
    sd = sigma * d2
    look = _by_products(room, R, r2, sd, sd * at.over_n[a], v[b], vv[b], b, at)
    return look if len(b) == len(v) - 1 else look._replace(r=float(np.sqrt(r2)))


def of_several(block: Block, some: slice, at: Centers, shift: np.ndarray) -> Look:
    """Rows of several clusters: all centres."""
    own, room = block.own[some], block.room
    X = room.take(block.X, block.order[some])
    R = X - at.mu[own]
    d2 = squares(R)
    block.d2[some] = d2
    first = np.flatnonzero(np.diff(own, prepend=-1))
    R *= block.s[some, None]
    shift[own[first]] += np.add.reduceat(R, first, axis=0)
    sd = block.sigma[some] * d2
    u = np.subtract(X, at.o, out=R)
    uu, every = squares(u), np.arange(len(at.mu))
    t = d2 - uu + sd * at.over_n[own]
    look = _by_products(room, u, uu.max(), sd, t, at.v, at.vv, every, at)
    look.T[own, np.arange(len(own))] = -np.inf
    return look


def _by_products(
    room: Room,
    u: np.ndarray,
    uu: float,
    sd: np.ndarray,
    t: np.ndarray,
    v: np.ndarray,
    vv: np.ndarray,
    near: np.ndarray,
    at: Centers,
) -> Look:
    """T = 2uᵀv − ‖v‖² + σd²/n_b. ``uu``: the largest ‖u‖²."""
    if not len(near):
        return Look(np.empty((0, len(u))), t, 0.0, near, 1.0)
    (m, p), over_n = u.shape, at.over_n[near]
    most, T = over_n.max() or 1.0, room.T[: len(near) * m].reshape(len(near), m)
    if room.B is None or most * sd.max() / HELD > uu:  # σ/n beyond what float32 holds
        T = np.dot(2 * v, u.T, out=T if room.B is None else None)
        T += over_n[:, None] * sd - vv[:, None]
        largest = 2 * np.sqrt(uu) * np.sqrt(vv.max()) + vv.max() + most * sd.max()
        return Look(T, t, float(5.1 * (p + 8) * UNIT * (uu + largest)), near, 1.0)
    exponent = np.clip(np.frexp(np.sqrt(uu))[1], -500, 500)
    scale = 2.0 ** -float(exponent)  # by it nothing leaves the range of float32
    unit = scale * scale
    A, B = np.empty((len(near), p + 2), np.float32), room.B[:m]
    np.multiply(v, 2 * scale, out=A[:, :p], casting="same_kind")
    A[:, p], A[:, p + 1] = over_n / most, -unit * vv
    np.multiply(u, scale, out=B[:, :p], casting="same_kind")
    B[:, p], B[:, p + 1] = (unit * most) * sd, 1
    U, V = np.sqrt(unit * uu), np.sqrt(unit * vv.max())
    largest = 2 * U * V + V * V + unit * most * sd.max()
    # p + 2 products and sums of numbers that were rounded twice; t, in float64
    E = 1.01 * (p + 8) * (SINGLE * largest + 4 * UNIT * (U * U + largest) + LEAST)
    return Look(np.dot(A, B.T, out=T), unit * t, float(E), near, unit)


def of_sparse(block: Block, some: slice, at: Centers, shift: np.ndarray) -> Look:
    """Sparse rows: o = 0, all centres, in float64."""
    X, own, s = block.X[block.order[some]], block.own[some], block.s[some]
    m, p = X.shape
    entry, difference, d2 = _by_entries(X, own, at)
    small = np.flatnonzero(d2 < LOST * at.vv[own])
    d2[small] = _by_differences(X, small, own[small], at)
    block.d2[some] = d2
    xx = np.bincount(entry, X.data.astype(float) ** 2, m)
    first = np.flatnonzero(np.diff(own, prepend=-1))
    for a, start, stop in zip(own[first], first, [*first[1:], m], strict=True):
        e = slice(X.indptr[start], X.indptr[stop])
        shift[a] += np.bincount(X.indices[e], s[entry[e]] * difference[e], p)
        shift[a] -= _weight_of_zeros(X.indices[e], entry[e] - start, s[start:stop], p) * at.mu[a]
    sd = block.sigma[some] * d2
    T = np.ascontiguousarray((X.astype(float) @ at.twice).T)
    T += sd * at.over_n[:, None] - at.vv[:, None]
    T[own, np.arange(m)] = -np.inf
    largest = (np.sqrt(xx.max()) + np.sqrt(at.vv.max())) ** 2 + sd.max() * 2 * at.over_n.max()
    E = 4 * (p + 8) * UNIT * largest
    return Look(T, d2 - xx + sd * at.over_n[own], E, np.arange(len(at.mu)), 1.0)


def _weight_of_zeros(column: np.ndarray, row: np.ndarray, s: np.ndarray, p: int) -> np.ndarray:
    """Weight of the rows without an entry, of each column; ``column``, ``row``: of the entries.

    It is Σ s less the weight of the rows with one. Where little is left of that, the digits of Σ s
    would count as weight, and the rows without an entry are added up themselves.
    """
    weight = s.sum() - np.bincount(column, s[row], p)
    cancelled = np.flatnonzero(weight < s.sum() / 2)
    place = np.full(p, -1)
    step = max(1, EXACTLY // max(1, len(s)))
    for start in range(0, len(cancelled), step):
        columns = cancelled[start : start + step]
        place[:] = -1
        place[columns] = np.arange(len(columns))
        inside = place[column] >= 0
        zero = np.ones((len(s), len(columns)))
        zero[row[inside], place[column[inside]]] = 0.0
        weight[columns] = np.dot(s, zero)
    return weight


def _by_entries(X: SparseMatrix, label: np.ndarray, at: Centers) -> tuple[Any, Any, Any]:
    """Rows of all entries, x_j − μ_j of these, and of each row

    Σ_j (x_j − μ_j)² = ‖μ‖² + Σ over entries of (x_j − μ_j)² − μ_j²
    """
    entry = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    mu = at.mu[label[entry], X.indices]
    difference = X.data - mu
    d2 = at.vv[label] + np.bincount(entry, difference * difference - mu * mu, X.shape[0])
    return entry, difference, d2


def _by_differences(X: Matrix, rows: np.ndarray, label: np.ndarray, at: Centers) -> np.ndarray:
    """‖x − μ‖² of rows, each with one centre."""
    d2, step = np.empty(len(rows)), max(1, EXACTLY // X.shape[1])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        d2[part] = squares(dense(X[rows[part]]) - at.mu[label[part]])
    return d2


def other_distances(block: Block, i: np.ndarray, b: np.ndarray, at: Centers) -> np.ndarray:
    """‖x − μ_b‖². Sums over entries lose a few digits: where these decide, ``block.d2`` is
    computed by differences too."""
    X, rows, own = block.X, block.order[i], block.own[i]
    if not is_sparse(X):
        return _by_differences(X, rows, b, at)
    d2_b, d2 = np.empty(len(b)), block.d2[i]
    for start in range(0, len(b), ENTRIES_OF):
        part = slice(start, start + ENTRIES_OF)
        d2_b[part] = _by_entries(X[rows[part]], b[part], at)[2]
    F = d2 - d2_b + block.sigma[i] * d2 * (at.over_n[own] + at.over_n[b])
    lost = 32 * (X.shape[1] + 8) * UNIT * (d2 + d2_b + at.vv[own] + at.vv[b])
    close = np.flatnonzero((np.abs(F) <= lost) | (np.abs(d2 - d2_b) <= lost))
    d2_b[close] = _by_differences(X, rows[close], b[close], at)
    block.d2[i[close]] = _by_differences(X, rows[close], own[close], at)
    return d2_b
