"""Squared loss of many rows, when few columns will be used: sums of products of these alone.

    f(w) = ½‖ŷ − X̂w‖²                                            (see ``squared_columns.py``)

Some of the rows are fitted first. The columns that have a coefficient there, and those whose slope
is within a few standard errors of l1,

    |v_j| > l1 − z √(‖x̂_j‖²‖r̂‖²/m)          (m rows looked at),

are the first working set. Their sums of products over all rows cost n·|A|² instead of n·p². What is
best on them is best of all if no other column is needed, which the certificate then finds out;
where it does not hold, all columns are looked at. Where many are needed, all sums are taken.
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ..linalg.gram import gram
from .coordinate_penalty import NON_NEGATIVE, CoordinatePenalty
from .elastic_net import Found, solve
from .squared_columns import FAR, Look, Near, WholeGram

LEAST_WORK = 1 << 30  # n·p² from which this pays
SHARE, ROWS_A_COLUMN = 32, 16  # one row in 32 is fitted first, and at least 16 for each column
ROUGHLY = 1e-3  # of ‖ŷ‖²: the excess of the fit of some rows
CHUNK = 64  # rows that are neighbours, so that a column's are read from few cache lines
ERRORS = 0.5  # z: a column that is missed costs one more look, and 2.5 would take nearly all
FEW = 3  # at most p/3 columns; beyond, all sums cost little more


class TallColumns:
    """O(n·p + n·|A|²) operations and O(|A|²) memory a thread; X is not copied."""

    accurate = True

    def __init__(self, rows: Rows, divisor: float, fit_intercept: bool):
        assert rows.y is not None
        self.rows, self.divisor, self.fit_intercept = rows, divisor, fit_intercept
        self.p = rows.shape[1]
        y, s = rows.y[:, 0], np.ones(rows.shape[0]) if rows.s is None else rows.s
        self.mean_y = float(s @ y / s.sum()) if fit_intercept else 0.0
        self.yy = float(s @ (y - self.mean_y) ** 2) / divisor
        self.A, self.w = np.empty(0, dtype=np.intp), np.zeros(self.p)
        self.few: Any = None  # the sums of A
        self.whole: WholeGram | None = None  # … of all, if these were needed
        self.sizes = np.ones(self.p)

    @staticmethod
    def suits(rows: Rows) -> bool:
        """Is X a dense array of many rows, with one target?"""
        n, p = rows.shape
        assert rows.y is not None
        many = n >= 4 * ROWS_A_COLUMN * p and float(n) * p * p >= LEAST_WORK
        return many and rows.y.shape[1] == 1 and isinstance(rows.X, np.ndarray)

    @property
    def at_once(self) -> bool:
        return self.whole is not None

    def first_fit(self, penalty: CoordinatePenalty, goal: float) -> Found | None:
        """On the first working set alone: no other column was looked at, and no bound is known.
        None where all sums are needed."""
        A = self._guess(penalty)
        if A is None:
            self._all()
            return None
        self._take(A)
        found = solve(self.few, penalty.take(self.A), goal)
        w = np.zeros(self.p)
        w[self.A] = found.w
        return found._replace(w=w, bound=None)

    def _guess(self, penalty: CoordinatePenalty) -> np.ndarray | None:
        """The first working set; None where some of the rows say that all sums are needed."""
        rows = chunks(self.rows, max(ROWS_A_COLUMN * self.p, self.rows.shape[0] // SHARE))
        if not rows.S > 0:
            return None
        sums = gram(rows, self.fit_intercept)
        far = sums.S * sums.mean**2 > FAR**2 * np.diagonal(sums.G)
        if sums.q is not None or (self.fit_intercept and far.any()):
            return None
        S = sums.S * self.divisor / self.rows.S
        columns = WholeGram(sums, sums.G / S, 0, S)
        self.sizes = np.sqrt(np.diagonal(columns.H))
        found = solve(columns, penalty, ROUGHLY * columns.yy)
        v = found.look.v if penalty.code == NON_NEGATIVE else np.abs(found.look.v)
        error = ERRORS * self.sizes * np.sqrt(found.look.rr / rows.shape[0])
        A = np.flatnonzero((found.w != 0) | (v > penalty.l1 - error))
        return A if 0 < FEW * len(A) <= self.p else None

    def _all(self) -> None:
        """From here on, the sums of all columns."""
        if self.whole is None:
            sums = gram(self.rows, self.fit_intercept)
            self.whole = WholeGram(sums, sums.G / self.divisor, 0, self.divisor)

    def _take(self, features: np.ndarray) -> None:
        """Sums of these columns too."""
        A = np.union1d(self.A, features)
        if self.whole is not None or (len(A) == len(self.A) and self.few is not None):
            return
        if FEW * len(A) > self.p:
            self._all()
            return
        rows = self.rows
        sums = gram(Rows(_Some(rows.X, A), rows.y, rows.s, threads=rows.threads),
                    self.fit_intercept)  # fmt: skip
        self.A, self.few = A, WholeGram(sums, sums.G / self.divisor, 0, self.divisor)

    def look(self, w: np.ndarray) -> Look:
        """One pass over X."""
        self.w = w
        if self.few is None:  # no first fit: of where this begins nothing is known
            self._all()
        self._take(np.flatnonzero(w))
        if self.whole is not None:
            return self.whole.look(w)
        few, u = self.few, w[self.A]
        b = few.mean_y - float(few.mean @ u)
        with np.errstate(over="ignore", invalid="ignore"):
            rr, yr, v = self.rows.reduce(_look_at_block, self.A, u, b, few.mean_y)
        v = v / self.divisor
        v[self.A] = few.look(u).v  # about the mean: nothing cancels
        if not np.isfinite(v).all():
            self._all()
            return self.look(w)
        return Look(float(rr) / self.divisor, float(yr) / self.divisor, v)

    def near(self, A: np.ndarray, look: Look) -> Near:
        """Along columns that include all with a coefficient at the last look."""
        self._take(A)
        if self.whole is not None:
            return self.whole.near(A, self.whole.look(self.w))
        at = np.searchsorted(self.A, A)
        near: Near = self.few.near(at, self.few.look(self.w[self.A]))
        return near

    @property
    def length(self) -> float:
        return float(np.sqrt(self.yy))

    def size(self, features: np.ndarray) -> np.ndarray:
        """‖x̂_j‖, of some of the rows."""
        sizes = self.sizes[features]
        return np.where(sizes > 0, sizes, 1.0)

    def intercept(self, w: np.ndarray) -> float:
        self._take(np.flatnonzero(w))
        if self.whole is not None:
            return self.whole.intercept(w)
        found: float = self.few.intercept(w[self.A])
        return found


class _Some:
    """Some columns of X, copied block by block."""

    def __init__(self, X: np.ndarray, features: np.ndarray):
        self.X, self.features = X, features
        self.shape, self.dtype = (len(X), len(features)), X.dtype

    def __getitem__(self, rows: slice) -> np.ndarray:
        return _taken(self.X[rows], self.features)


def _taken(X: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Columns of X, in the order in memory that X has. ``take`` of rows that lie apart would copy
    all of X first."""
    by_columns = X.strides[0] == X.itemsize
    some: np.ndarray = X.T[features].T if by_columns else X.take(features, axis=1)
    return some


def chunks(rows: Rows, count: int) -> Rows:
    """About ``count`` rows in chunks of neighbours, evenly spread: a copy."""
    n = rows.shape[0]
    starts = np.linspace(0, n - CHUNK, max(1, count // CHUNK)).astype(np.intp)
    at = (starts[:, None] + np.arange(CHUNK)).ravel()
    X = np.empty((len(at), rows.shape[1]), rows.X.dtype, "F" if rows.X.flags.f_contiguous else "C")
    for i, start in enumerate(starts):
        X[i * CHUNK : (i + 1) * CHUNK] = rows.X[start : start + CHUNK]
    y, s = rows.y, rows.s
    return Rows(X, None if y is None else y[at], None if s is None else s[at], threads=rows.threads)


def _look_at_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    A: np.ndarray,
    u: np.ndarray,
    b: float,
    mean_y: float,
) -> tuple[Any, Any, np.ndarray]:
    """Σ s r², Σ s r(y − ȳ) and Σ s r x, r = y − xᵀw − b."""
    r = y[:, 0] - b - np.dot(u, _taken(X, A).T.astype(float, copy=False))
    sr = r if s is None else s * r
    X = X.astype(float, copy=False)
    by_columns = X.strides[0] == X.itemsize
    v = np.vecdot(X.T, sr) if by_columns else np.dot(sr, X)  # @ would keep other threads waiting
    return np.dot(sr, r), np.dot(sr, y[:, 0] - mean_y), v
