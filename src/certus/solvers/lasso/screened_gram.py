"""Squared loss of many rows whose solution uses few columns: sums of products of these alone.

    f(w) = ½‖ŷ − X̂w‖²                                            (see ``squared_columns.py``)

A subsample of the rows is fitted first. The columns with a nonzero coefficient there, and those
whose slope is within z standard errors of l1,

    |v_j| > l1 − z √(‖x̂_j‖²‖r̂‖²/m)          (m rows in the subsample),

are the first working set A. Their sums of products over all rows cost n·|A|² instead of n·p². The
optimum on A is the optimum of the whole problem if no other column is needed, which the
certificate decides; if it fails, all columns are evaluated. If many columns are needed, all sums
are computed.
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ..linalg.gram import gram
from .coordinate_penalty import NON_NEGATIVE, CoordinatePenalty
from .elastic_net import ElasticNetResult, solve
from .squared_columns import MAX_MEAN_TO_SPREAD, FullGram, LocalQuadratic, Residuals

MIN_SCREENING_WORK = 1 << 30  # n·p² from which screening pays
# the subsample has one row in 32, but at least 16 rows for each column
ROWS_PER_SUBSAMPLE_ROW, MIN_ROWS_PER_COLUMN = 32, 16
SUBSAMPLE_RTOL = 1e-3  # excess of the subsample's fit, relative to ‖ŷ‖²
CHUNK_ROWS = 64  # adjacent rows, so that columns are read from few cache lines
SLOPE_STANDARD_ERRORS = 0.5  # z: a missed column costs one more pass; 2.5 took nearly all columns
MIN_COLUMNS_PER_SCREENED = 3  # |A| ≤ p/3; beyond that all sums cost little more


class ScreenedGram:
    """Sums of products of the screened columns A.

    O(n·p + n·|A|²) operations and O(|A|²) memory per thread; X is not copied.
    """

    accurate = True

    def __init__(self, rows: Rows, divisor: float, fit_intercept: bool):
        assert rows.y is not None
        self.rows, self.divisor, self.fit_intercept = rows, divisor, fit_intercept
        self.p = rows.shape[1]
        y, s = rows.y[:, 0], np.ones(rows.shape[0]) if rows.s is None else rows.s
        self.mean_y = float(s @ y / s.sum()) if fit_intercept else 0.0
        self.yy = float(s @ (y - self.mean_y) ** 2) / divisor
        self.A, self.w = np.empty(0, dtype=np.intp), np.zeros(self.p)
        self.screened: Any = None  # sums of products of A
        self.full: FullGram | None = None  # of all columns, once they are needed
        self.sizes = np.ones(self.p)

    @staticmethod
    def suits(rows: Rows) -> bool:
        """Return whether X is a dense array of many rows, with one target."""
        n, p = rows.shape
        assert rows.y is not None
        many = n >= 4 * MIN_ROWS_PER_COLUMN * p and float(n) * p * p >= MIN_SCREENING_WORK
        return many and rows.y.shape[1] == 1 and isinstance(rows.X, np.ndarray)

    @property
    def takes_all_columns(self) -> bool:
        return self.full is not None

    def first_fit(self, penalty: CoordinatePenalty, goal: float) -> ElasticNetResult | None:
        """Return the fit on the first working set, without a bound: no other column was evaluated.
        None if all sums are needed."""
        A = self._guess(penalty)
        if A is None:
            self._use_full_gram()
            return None
        self._include(A)
        result = solve(self.screened, penalty.take(self.A), goal)
        w = np.zeros(self.p)
        w[self.A] = result.w
        return result._replace(w=w, bound=None)

    def _guess(self, penalty: CoordinatePenalty) -> np.ndarray | None:
        """First working set; None if the subsample shows that all sums are needed."""
        rows = chunked_subsample(
            self.rows,
            max(MIN_ROWS_PER_COLUMN * self.p, self.rows.shape[0] // ROWS_PER_SUBSAMPLE_ROW),
        )
        if not rows.S > 0:
            return None
        sums = gram(rows, self.fit_intercept)
        far = sums.S * sums.mean**2 > MAX_MEAN_TO_SPREAD**2 * np.diagonal(sums.G)
        if sums.q is not None or (self.fit_intercept and far.any()):
            return None
        S = sums.S * self.divisor / self.rows.S
        columns = FullGram(sums, sums.G / S, 0, S)
        self.sizes = np.sqrt(np.diagonal(columns.H))
        result = solve(columns, penalty, SUBSAMPLE_RTOL * columns.yy)
        v = result.residuals.v if penalty.code == NON_NEGATIVE else np.abs(result.residuals.v)
        error = SLOPE_STANDARD_ERRORS * self.sizes * np.sqrt(result.residuals.rr / rows.shape[0])
        A = np.flatnonzero((result.w != 0) | (v > penalty.l1 - error))
        return A if 0 < MIN_COLUMNS_PER_SCREENED * len(A) <= self.p else None

    def _use_full_gram(self) -> None:
        """Compute the sums of all columns, which replace those of A."""
        if self.full is None:
            sums = gram(self.rows, self.fit_intercept)
            self.full = FullGram(sums, sums.G / self.divisor, 0, self.divisor)

    def _include(self, features: np.ndarray) -> None:
        """Add columns to A."""
        A = np.union1d(self.A, features)
        if self.full is not None or (len(A) == len(self.A) and self.screened is not None):
            return
        if MIN_COLUMNS_PER_SCREENED * len(A) > self.p:
            self._use_full_gram()
            return
        rows = self.rows
        sums = gram(Rows(_ColumnSubset(rows.X, A), rows.y, rows.s, threads=rows.threads),
                    self.fit_intercept)  # fmt: skip
        self.A, self.screened = A, FullGram(sums, sums.G / self.divisor, 0, self.divisor)

    def evaluate(self, w: np.ndarray) -> Residuals:
        """Return residuals and gradients in one pass over X."""
        self.w = w
        if self.screened is None:  # there was no first fit to choose A
            self._use_full_gram()
        self._include(np.flatnonzero(w))
        if self.full is not None:
            return self.full.evaluate(w)
        screened, u = self.screened, w[self.A]
        b = screened.mean_y - float(screened.mean @ u)
        with np.errstate(over="ignore", invalid="ignore"):
            rr, yr, v = self.rows.reduce(_residual_sums, self.A, u, b, screened.mean_y)
        v = v / self.divisor
        v[self.A] = screened.evaluate(u).v  # centred, so nothing cancels
        if not np.isfinite(v).all():
            self._use_full_gram()
            return self.evaluate(w)
        return Residuals(float(rr) / self.divisor, float(yr) / self.divisor, v)

    def quadratic_on(self, A: np.ndarray, residuals: Residuals) -> LocalQuadratic:
        """Return the quadratic in A, which must include the support of the last ``evaluate``."""
        self._include(A)
        if self.full is not None:
            return self.full.quadratic_on(A, self.full.evaluate(self.w))
        at = np.searchsorted(self.A, A)
        residuals = self.screened.evaluate(self.w[self.A])
        quadratic: LocalQuadratic = self.screened.quadratic_on(at, residuals)
        return quadratic

    @property
    def target_norm(self) -> float:
        return float(np.sqrt(self.yy))

    def column_norms(self, features: np.ndarray) -> np.ndarray:
        """‖x̂_j‖, estimated from the subsample."""
        sizes = self.sizes[features]
        return np.where(sizes > 0, sizes, 1.0)

    def intercept(self, w: np.ndarray) -> float:
        self._include(np.flatnonzero(w))
        if self.full is not None:
            return self.full.intercept(w)
        result: float = self.screened.intercept(w[self.A])
        return result


class _ColumnSubset:
    """View of a few columns of X, copied block by block."""

    def __init__(self, X: np.ndarray, features: np.ndarray):
        self.X, self.features = X, features
        self.shape, self.dtype = (len(X), len(features)), X.dtype

    def __getitem__(self, rows: slice) -> np.ndarray:
        return _take_columns(self.X[rows], self.features)


def _take_columns(X: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Copy columns of X, in the memory order of X. ``take`` on a strided X would copy all of it."""
    by_columns = X.strides[0] == X.itemsize
    subset: np.ndarray = X.T[features].T if by_columns else X.take(features, axis=1)
    return subset


def chunked_subsample(rows: Rows, count: int) -> Rows:
    """Copy of about ``count`` rows, in evenly spread chunks of adjacent rows."""
    n = rows.shape[0]
    starts = np.linspace(0, n - CHUNK_ROWS, max(1, count // CHUNK_ROWS)).astype(np.intp)
    at = (starts[:, None] + np.arange(CHUNK_ROWS)).ravel()
    X = np.empty((len(at), rows.shape[1]), rows.X.dtype, "F" if rows.X.flags.f_contiguous else "C")
    for i, start in enumerate(starts):
        X[i * CHUNK_ROWS : (i + 1) * CHUNK_ROWS] = rows.X[start : start + CHUNK_ROWS]
    y, s = rows.y, rows.s
    return Rows(X, None if y is None else y[at], None if s is None else s[at], threads=rows.threads)


def _residual_sums(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    A: np.ndarray,
    u: np.ndarray,
    b: float,
    mean_y: float,
) -> tuple[Any, Any, np.ndarray]:
    """Σ s r², Σ s r(y − ȳ) and Σ s r x, r = y − xᵀw − b."""
    r = y[:, 0] - b - np.dot(u, _take_columns(X, A).T.astype(float, copy=False))
    sr = r if s is None else s * r
    X = X.astype(float, copy=False)
    by_columns = X.strides[0] == X.itemsize
    v = np.vecdot(X.T, sr) if by_columns else np.dot(sr, X)  # @ would keep other threads waiting
    return np.dot(sr, r), np.dot(sr, y[:, 0] - mean_y), v
