"""The gain of moving a row from its centre a to a centre b, for many pairs at once.

    q = ‖x − μ_a‖² − ‖x − μ_b‖² = 2uᵀv_b − ‖v_b‖² + ‖x − μ_a‖² − ‖u‖²        u = x − o, v = μ − o
    F = q + σ‖x − μ_a‖² (1/n_a + 1/n_b)                                      for any point o

Matrix products give F up to a known error E; differences decide what E leaves open. For rows of one
cluster, o = μ_a: no row with ‖x − μ_a‖ ≤ r can have F > 0 for a centre with
‖v_b‖ ≥ r(1 + √(1 + σ(1/n_a + 1/n_b))), so those are left out.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense, is_sparse
from certus.proofs.types import Matrix, SparseMatrix

DIFFERENCE_ELEMENTS = 2**20  # elements of pairs that are compared by differences at a time
SPARSE_PAIRS = 2048  # pairs of sparse rows at a time
FLOAT64_COLUMNS = 4096  # from so many columns float32 would leave too many pairs undecided
# Up to so many centres and from so many columns, rounding all rows to float32 costs more than the
# faster product saves.
FLOAT64_FEW_CENTERS, FLOAT64_FEW_CENTER_COLUMNS = 24, 64
FLOAT32_UNIT = 2.0**-24  # unit roundoff of float32
FLOAT32_UNDERFLOW = 1e-37  # error that underflow in float32 can cause
FLOAT32_RANGE = 1e30  # ratio of terms that float32 can hold
MIN_RELATIVE_SQUARE = 1e-3  # of ‖μ‖²: a smaller ‖x − μ‖² is recomputed by differences


class KMeansCenters(NamedTuple):
    """The centres, with quantities derived from them and from the labels."""

    mu: np.ndarray  # (k, p)
    n: np.ndarray  # Σ s of each cluster
    over_n: np.ndarray  # 1/n, or 0
    o: np.ndarray  # the mean of the centres; for sparse rows the origin
    v: np.ndarray  # μ − o
    vv: np.ndarray  # ‖v‖²
    twice: np.ndarray | None  # 2vᵀ, for sparse rows
    strict: bool  # change labels even where centres are equally near up to rounding

    @classmethod
    def of(cls, mu: np.ndarray, n: np.ndarray, sparse: bool, strict: bool) -> "KMeansCenters":
        o = np.zeros(mu.shape[1]) if sparse else mu.mean(axis=0)
        v = mu - o
        over_n = np.divide(1.0, n, out=np.zeros(len(n)), where=n > 0)
        twice = np.ascontiguousarray(2 * v.T) if sparse else None
        return cls(mu, n, over_n, o, v, squares(v), twice, strict)


class Block(NamedTuple):
    """Rows of a block, sorted by label."""

    X: np.ndarray
    order: np.ndarray  # row numbers, sorted by label
    own: np.ndarray  # labels in that order
    s: np.ndarray
    sigma: np.ndarray
    d2: np.ndarray  # ‖x − μ_a‖², filled group by group
    work: Any  # a Room, of dense rows


class WorkArrays(NamedTuple):
    """Work arrays for one group of rows, reused: allocating them each time costs more than the
    computation."""

    rows: np.ndarray
    R: np.ndarray
    B: np.ndarray | None  # in float32, or None: products in float64
    T: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, m: int, k: int) -> "WorkArrays":
        p, rows = X.shape[1], np.empty((m, X.shape[1]), X.dtype)
        R = rows if rows.dtype == float else np.empty((m, p))
        if p >= FLOAT64_COLUMNS or (k <= FLOAT64_FEW_CENTERS and p >= FLOAT64_FEW_CENTER_COLUMNS):
            return cls(rows, R, None, np.empty(m * k))
        return cls(rows, R, np.empty((m, p + 2), np.float32), np.empty(m * k, np.float32))

    def take(self, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.asarray(np.take(X, rows, axis=0, out=self.rows[: len(rows)], mode="clip"))


class GainBounds(NamedTuple):
    """F = T + t up to E, in units of 1/``unit``, for a group of rows and candidate centres."""

    T: np.ndarray  # (centres, rows); −∞ for a row's own
    t: np.ndarray
    E: float
    candidates: np.ndarray
    unit: float
    r: float = np.inf  # other centres have ‖v_b‖ ≥ 2r, and all rows ‖x − μ_a‖ ≤ r

    def largest(self) -> np.ndarray:
        """Return the largest F of each row, without E and t."""
        return np.asarray(
            self.T.max(axis=0) if len(self.candidates) else np.full(len(self.t), -np.inf)
        )

    def margins(self, most: np.ndarray, d2: np.ndarray) -> np.ndarray:
        """Return lower bounds of ‖x − μ_b‖² − ‖x − μ_a‖² over all b, for each row.

        This is −F for candidates, as F ≥ q, and 4r(r − ‖x − μ_a‖) for other centres, as
        ‖x − μ_b‖ ≥ 2r − ‖x − μ_a‖.
        """
        of_candidates = -(most + self.t + self.E) / self.unit
        if self.r == np.inf:
            return np.asarray(of_candidates)
        return np.minimum(of_candidates, 4 * self.r * (self.r - np.sqrt(d2)))


def squares(A: np.ndarray) -> np.ndarray:
    return np.asarray(np.vecdot(A, A))


def gains_of_cluster(
    block: Block, part: slice, centers: KMeansCenters, shift: np.ndarray
) -> GainBounds:
    """Bound the gains of rows of one cluster: o = μ_a, and near centres only."""
    a, work = block.own[part.start], block.work
    X = work.take(block.X, block.order[part])
    R = np.subtract(X, centers.mu[a], out=work.R[: len(X)])
    d2, sigma = squares(R), block.sigma[part]
    block.d2[part] = d2
    shift[a] += np.dot(block.s[part], R)
    v = centers.mu - centers.mu[a]
    vv = squares(v)
    r2, most = d2.max(), sigma.max() * (centers.over_n[a] + centers.over_n)
    candidates = vv < r2 * (1 + np.sqrt(1 + most)) ** 2 * (1 + 1e-9)
    candidates[a] = False  # a row's own centre is no candidate
    b = np.flatnonzero(candidates)
    sd = sigma * d2
    bounds = _by_products(work, R, r2, sd, sd * centers.over_n[a], v[b], vv[b], b, centers)
    return bounds if len(b) == len(v) - 1 else bounds._replace(r=float(np.sqrt(r2)))


def gains_of_clusters(
    block: Block, part: slice, centers: KMeansCenters, shift: np.ndarray
) -> GainBounds:
    """Bound the gains of rows of several clusters, for all centres."""
    own, work = block.own[part], block.work
    X = work.take(block.X, block.order[part])
    R = X - centers.mu[own]
    d2 = squares(R)
    block.d2[part] = d2
    first = np.flatnonzero(np.diff(own, prepend=-1))
    R *= block.s[part, None]
    shift[own[first]] += np.add.reduceat(R, first, axis=0)
    sd = block.sigma[part] * d2
    u = np.subtract(X, centers.o, out=R)
    uu, every = squares(u), np.arange(len(centers.mu))
    t = d2 - uu + sd * centers.over_n[own]
    bounds = _by_products(work, u, uu.max(), sd, t, centers.v, centers.vv, every, centers)
    bounds.T[own, np.arange(len(own))] = -np.inf
    return bounds


def _by_products(
    work: WorkArrays,
    u: np.ndarray,
    uu: float,
    sd: np.ndarray,
    t: np.ndarray,
    v: np.ndarray,
    vv: np.ndarray,
    candidates: np.ndarray,
    centers: KMeansCenters,
) -> GainBounds:
    """Compute T = 2uᵀv − ‖v‖² + σd²/n_b and its error. ``uu``: the largest ‖u‖²."""
    if not len(candidates):
        return GainBounds(np.empty((0, len(u))), t, 0.0, candidates, 1.0)
    (m, p), over_n = u.shape, centers.over_n[candidates]
    most, T = over_n.max() or 1.0, work.T[: len(candidates) * m].reshape(len(candidates), m)
    if work.B is None or most * sd.max() / FLOAT32_RANGE > uu:  # σ/n beyond what float32 holds
        T = np.dot(2 * v, u.T, out=T if work.B is None else None)
        T += over_n[:, None] * sd - vv[:, None]
        largest = 2 * np.sqrt(uu) * np.sqrt(vv.max()) + vv.max() + most * sd.max()
        return GainBounds(T, t, float(5.1 * (p + 8) * UNIT * (uu + largest)), candidates, 1.0)
    exponent = np.clip(np.frexp(np.sqrt(uu))[1], -500, 500)
    scale = 2.0 ** -float(exponent)  # brings all numbers into the range of float32
    unit = scale * scale
    A, B = np.empty((len(candidates), p + 2), np.float32), work.B[:m]
    np.multiply(v, 2 * scale, out=A[:, :p], casting="same_kind")
    A[:, p], A[:, p + 1] = over_n / most, -unit * vv
    np.multiply(u, scale, out=B[:, :p], casting="same_kind")
    B[:, p], B[:, p + 1] = (unit * most) * sd, 1
    U, V = np.sqrt(unit * uu), np.sqrt(unit * vv.max())
    largest = 2 * U * V + V * V + unit * most * sd.max()
    # p + 2 products and sums of numbers that were rounded twice; t is in float64
    E = 1.01 * (p + 8) * (FLOAT32_UNIT * largest + 4 * UNIT * (U * U + largest) + FLOAT32_UNDERFLOW)
    return GainBounds(np.dot(A, B.T, out=T), unit * t, float(E), candidates, unit)


def gains_of_sparse_rows(
    block: Block, part: slice, centers: KMeansCenters, shift: np.ndarray
) -> GainBounds:
    """Bound the gains of sparse rows: o = 0, all centres, in float64."""
    X, own, s = block.X[block.order[part]], block.own[part], block.s[part]
    m, p = X.shape
    entry, difference, d2 = _by_entries(X, own, centers)
    small = np.flatnonzero(d2 < MIN_RELATIVE_SQUARE * centers.vv[own])
    d2[small] = _by_differences(X, small, own[small], centers)
    block.d2[part] = d2
    xx = np.bincount(entry, X.data.astype(float) ** 2, m)
    first = np.flatnonzero(np.diff(own, prepend=-1))
    for a, start, stop in zip(own[first], first, [*first[1:], m], strict=True):
        e = slice(X.indptr[start], X.indptr[stop])
        shift[a] += np.bincount(X.indices[e], s[entry[e]] * difference[e], p)
        shift[a] -= (
            _weight_of_zeros(X.indices[e], entry[e] - start, s[start:stop], p) * centers.mu[a]
        )
    sd = block.sigma[part] * d2
    T = np.ascontiguousarray((X.astype(float) @ centers.twice).T)
    T += sd * centers.over_n[:, None] - centers.vv[:, None]
    T[own, np.arange(m)] = -np.inf
    largest = (
        np.sqrt(xx.max()) + np.sqrt(centers.vv.max())
    ) ** 2 + sd.max() * 2 * centers.over_n.max()
    E = 4 * (p + 8) * UNIT * largest
    return GainBounds(T, d2 - xx + sd * centers.over_n[own], E, np.arange(len(centers.mu)), 1.0)


def _weight_of_zeros(column: np.ndarray, row: np.ndarray, s: np.ndarray, p: int) -> np.ndarray:
    """Return, for each column, the weight of the rows without an entry.

    ``column`` and ``row`` are those of the entries. The weight is Σ s minus that of the rows with
    an entry; where this cancels, the rows without an entry are summed instead.
    """
    weight = s.sum() - np.bincount(column, s[row], p)
    canceled = np.flatnonzero(weight < s.sum() / 2)
    place = np.full(p, -1)
    step = max(1, DIFFERENCE_ELEMENTS // max(1, len(s)))
    for start in range(0, len(canceled), step):
        columns = canceled[start : start + step]
        place[:] = -1
        place[columns] = np.arange(len(columns))
        inside = place[column] >= 0
        zero = np.ones((len(s), len(columns)))
        zero[row[inside], place[column[inside]]] = 0.0
        weight[columns] = np.dot(s, zero)
    return weight


def _by_entries(X: SparseMatrix, label: np.ndarray, centers: KMeansCenters) -> tuple[Any, Any, Any]:
    """Return the row and x_j − μ_j of every entry, and for each row

    Σ_j (x_j − μ_j)² = ‖μ‖² + Σ over entries of (x_j − μ_j)² − μ_j²
    """
    entry = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    mu = centers.mu[label[entry], X.indices]
    difference = X.data - mu
    d2 = centers.vv[label] + np.bincount(entry, difference * difference - mu * mu, X.shape[0])
    return entry, difference, d2


def _by_differences(
    X: Matrix, rows: np.ndarray, label: np.ndarray, centers: KMeansCenters
) -> np.ndarray:
    """Return ‖x − μ‖² of rows, each with one centre."""
    d2, step = np.empty(len(rows)), max(1, DIFFERENCE_ELEMENTS // X.shape[1])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        d2[part] = squares(dense(X[rows[part]]) - centers.mu[label[part]])
    return d2


def other_distances(
    block: Block, i: np.ndarray, b: np.ndarray, centers: KMeansCenters
) -> np.ndarray:
    """Return ‖x − μ_b‖² of pairs.

    Sums over entries lose a few digits: where these decide, both distances are recomputed by
    differences, and ``block.d2`` is updated.
    """
    X, rows, own = block.X, block.order[i], block.own[i]
    if not is_sparse(X):
        return _by_differences(X, rows, b, centers)
    d2_b, d2 = np.empty(len(b)), block.d2[i]
    for start in range(0, len(b), SPARSE_PAIRS):
        part = slice(start, start + SPARSE_PAIRS)
        d2_b[part] = _by_entries(X[rows[part]], b[part], centers)[2]
    F = d2 - d2_b + block.sigma[i] * d2 * (centers.over_n[own] + centers.over_n[b])
    lost = 32 * (X.shape[1] + 8) * UNIT * (d2 + d2_b + centers.vv[own] + centers.vv[b])
    close = np.flatnonzero((np.abs(F) <= lost) | (np.abs(d2 - d2_b) <= lost))
    d2_b[close] = _by_differences(X, rows[close], b[close], centers)
    block.d2[i[close]] = _by_differences(X, rows[close], own[close], centers)
    return d2_b
