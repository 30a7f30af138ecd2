"""Squared loss seen by its columns: gradients of all of them, sums of products of a few.

    f(w) = ½‖ŷ − X̂w‖²,   x̂_i = √(s_i/D)·(x_i − x̄),   ŷ_i = √(s_i/D)·(y_i − ȳ)

With the means taken out the intercept is b = ȳ − x̄ᵀw; without one, x̄ = ȳ = 0. Sums of products do
not change from step to step, or from one penalty to the next, so each is computed once and kept.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ...data.csr import SparseMatrix
from ...data.rows import Rows, rows_of_transpose
from ...runtime.pool import run_on_threads
from ..linalg.gram import Gram, NonFiniteError
from .active_columns import gradient_of_columns
from .gram_cache import DenseColumns, SparseColumns

if TYPE_CHECKING:
    from .coordinate_penalty import CoordinatePenalty
    from .elastic_net import Found

NARROW = 128  # columns that stay near the core
ALL = 600  # columns up to which all are taken at once
TILE, LEAST_TILE = 1 << 17, 16  # elements, and columns, that are read once for all of their sums
SHARED = 1 << 19  # elements from which threads are worth it
FAR = 1e4  # deviations from 0 beyond which sparse columns are looked at about their mean


class Look(NamedTuple):
    """f at w, and how it changes with every coefficient."""

    rr: float  # ‖ŷ − X̂w‖²
    yr: float  # ŷᵀ(ŷ − X̂w)
    v: np.ndarray  # (p,): X̂ᵀ(ŷ − X̂w) = −∇f


class Near(NamedTuple):
    """f along a few columns, in u = w/q."""

    H: np.ndarray  # (m, m)
    g: np.ndarray  # (m,): slope
    q: np.ndarray  # (m,): a power of two for columns whose squares are out of range


class Columns(Protocol):
    """The squared loss of one X, for any target and any penalty."""

    p: int
    accurate: bool  # gradients have all their digits

    @property
    def at_once(self) -> bool:
        """Are all columns taken into the working set at once?"""
        ...

    def look(self, w: np.ndarray) -> Look:
        """One pass over X: the residuals' norm and the gradient of every column."""
        ...

    def near(self, A: np.ndarray, look: Look) -> Near:
        """The quadratic along the columns A, from sums of products that are kept."""
        ...

    def first_fit(self, penalty: "CoordinatePenalty", goal: float) -> "Found | None":
        """A shorter way to the first fit, or None where there is none."""
        ...

    @property
    def length(self) -> float:
        """‖ŷ‖."""
        ...

    def size(self, features: np.ndarray) -> np.ndarray:
        """‖x̂_j‖ of some columns."""
        ...

    def intercept(self, w: np.ndarray) -> float:
        """b = ȳ − x̄ᵀw."""
        ...


class WholeGram:
    """Few columns: all sums of products, after which the rows are not needed."""

    accurate = at_once = True

    def __init__(self, sums: Gram, H: np.ndarray, target: int, divisor: float):
        self.H, self.Xy = H, sums.Xy[:, target] / divisor  # H serves all targets
        self.yy, self.p = float(sums.yy[target]) / divisor, len(sums.mean)
        self.q = np.ones(self.p) if sums.q is None else sums.q
        self.mean, self.mean_y = sums.mean / self.q, float(sums.mean_y[target])

    def look(self, w: np.ndarray) -> Look:
        u = w / self.q
        used = np.flatnonzero(u)
        v = self.Xy - self.H[:, used] @ u[used]
        yr = self.yy - float(u @ self.Xy)
        return Look(max(yr - float(u @ v), 0.0), yr, v / self.q)

    def near(self, A: np.ndarray, look: Look) -> Near:
        from ...kernels.lasso.coordinate_descent import square

        H = self.H if len(A) == self.p else square(self.H, A)
        return Near(H, -look.v[A] * self.q[A], self.q[A])

    def first_fit(self, _penalty: object, _goal: float) -> None:
        """None: there is no way that is shorter."""

    @property
    def length(self) -> float:
        """‖ŷ‖."""
        return float(np.sqrt(self.yy))

    def size(self, features: np.ndarray) -> np.ndarray:
        """‖x̂_j‖."""
        size: np.ndarray = np.sqrt(np.diagonal(self.H)[features]) / self.q[features]
        return size

    def intercept(self, w: np.ndarray) -> float:
        return self.mean_y - float(self.mean @ w)


class ManyColumns:
    """Columns kept, and multiplied with each other, when they are first asked for."""

    accurate = False

    def __init__(
        self,
        rows: Rows,
        target: int,
        divisor: float,
        fit_intercept: bool,
        by_columns: SparseMatrix | None = None,
    ):
        assert rows.y is not None
        n, self.p = rows.shape
        self.rows, self.by_columns, self.fit_intercept = rows, by_columns, fit_intercept
        y = rows.y[:, target].astype(float)
        weight = np.full(n, 1.0 / divisor) if rows.s is None else rows.s / divisor
        self.root = np.sqrt(weight)
        self.mean_y = float(weight @ y / weight.sum()) if fit_intercept else 0.0
        self.y = self.r = self.root * (y - self.mean_y)
        self.slot = np.full(self.p, -1, dtype=np.intp)  # where a column is kept
        self.cache = (
            DenseColumns(rows, self.root, fit_intercept)
            if by_columns is None
            else SparseColumns(by_columns, self.root, fit_intercept)
        )
        self.features = np.empty(0, dtype=np.intp)
        self._columns: Rows | None = None
        self.at_once = self.p <= ALL

    def look(self, w: np.ndarray) -> Look:
        """One pass over X. The residuals are kept for ``near``."""
        used = np.flatnonzero(w)
        at = self._slots(used)
        r = self.y - self.cache.times(at, w[used] / self.cache.q[at]) if len(at) else self.y
        if self.fit_intercept:  # far from 0, a mean of r that is rounding would be multiplied
            r = r - float(self.root @ r) / float(self.root @ self.root) * self.root
        self.r = r
        v = self._gradient(self.root * self.r)
        if len(self.features):  # about the mean: nothing cancels
            v[self.features] = self.cache.transposed(self.r) / self.cache.q
        if not np.isfinite(v).all():
            raise NonFiniteError
        return Look(float(self.r @ self.r), float(self.y @ self.r), v)

    def _gradient(self, r: np.ndarray) -> np.ndarray:
        """Xᵀr; with an intercept Σ r = 0, so that no mean is missing."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.by_columns is not None:
                return self._of_columns(lambda x, *_: x @ r, np.empty(self.p))
            if "_moments" not in vars(self):  # the first pass looks at squares as well
                g, total, square = self._three_sums(r, self.root**2)
                self._moments = square, total**2 / float(self.root @ self.root)
                return g
            if self.in_one_piece:
                return self._tile_by_tile(lambda A: (np.dot(A, r),), 1)[0]
            return gradient_of_columns(self.rows, r[:, None])[:, 0]

    def _three_sums(self, r: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
        """Xᵀr, Xᵀweight and Σ weight·x², column by column."""
        if self.in_one_piece:
            same = bool((weight == weight[0]).all())

            def sums(A: np.ndarray) -> tuple[np.ndarray, ...]:
                square = weight[0] * np.vecdot(A, A) if same else np.dot(A * A, weight)
                return np.dot(A, r), np.dot(A, weight), square

            return tuple(self._tile_by_tile(sums, 3))
        g, square = self.rows.with_targets(np.column_stack([r, weight])).reduce(_with_squares)
        return np.ascontiguousarray(g[:, 0]), g[:, 1], square

    @property
    def in_one_piece(self) -> bool:
        """Does each column lie in one piece, so that threads can share columns?"""
        X = self.rows.X
        return isinstance(X, np.ndarray) and X.dtype == float and X.flags.f_contiguous

    def _tile_by_tile(
        self, sums: Callable[[np.ndarray], tuple[np.ndarray, ...]], count: int
    ) -> np.ndarray:
        """Sums of each column, (count, p), from some columns at a time, which are rows of A."""
        X, (n, p) = self.rows.X.T, self.rows.shape
        found, step = np.empty((count, p)), max(LEAST_TILE, TILE // max(n, 1))
        tiles = [slice(start, start + step) for start in range(0, p, step)]

        def fill(i: int) -> None:
            for at, value in enumerate(sums(X[tiles[i]])):
                found[at, tiles[i]] = value

        run_on_threads(fill, len(tiles), self.rows.threads if X.size > SHARED else 1)
        return found

    def _of_columns(self, function: Callable[..., np.ndarray], out: np.ndarray) -> np.ndarray:
        """A function of sparse columns, which are rows of Xᵀ."""
        if self._columns is None:
            assert self.by_columns is not None
            self._columns = rows_of_transpose(self.by_columns, self.rows.threads)
        return self._columns.map(function, out)

    def near(self, A: np.ndarray, look: Look) -> Near:
        from ...kernels.lasso.coordinate_descent import square

        at = self._slots(A)
        g = -self.cache.transposed(self.r)[at]  # of columns just added, look.v has fewer digits
        return Near(square(self.cache.H, at), g, self.cache.q[at])

    def first_fit(self, _penalty: object, _goal: float) -> None:
        """None: as above."""

    def _slots(self, features: np.ndarray) -> np.ndarray:
        new = features[self.slot[features] < 0]
        if len(new):
            self.slot[new] = len(self.features) + np.arange(len(new))
            self.features = np.append(self.features, new)
            self.cache.add(new)
        return self.slot[features]

    @property
    def length(self) -> float:
        return float(np.linalg.norm(self.y))

    def size(self, features: np.ndarray) -> np.ndarray:
        """‖x̂_j‖, as accurate as priorities need: what a column's gradient is measured by."""
        sizes: np.ndarray = self._sizes[features]
        return sizes

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Σ (s/D)x² and W x̄², column by column."""
        if self.by_columns is None:
            self._gradient(self.root)
            return self._moments
        weight = self.root**2
        with np.errstate(over="ignore", invalid="ignore"):
            square, total = self._of_columns(
                lambda x, *_: np.stack([x.power(2) @ weight, x @ weight], axis=1),
                np.empty((self.p, 2)),
            ).T
            return square, total**2 / weight.sum()

    @property
    def far(self) -> bool:
        """Does some column lie so far from 0 that its sums about 0 say too little?"""
        square, mean = self._moments
        return self.fit_intercept and bool((mean > FAR**2 * (square - mean)).any())

    @cached_property
    def _sizes(self) -> np.ndarray:
        """√(Σ (s/D)x² − W x̄²), one pass; where that is 0 or lost to rounding, what is usual."""
        square, mean = self._moments
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.sqrt(np.maximum(square - self.fit_intercept * mean, 0.0))
        good = np.isfinite(size) & (size > 0)
        return np.where(good, size, np.median(size[good]) if good.any() else 1.0)

    def intercept(self, w: np.ndarray) -> float:
        used = np.flatnonzero(w)
        return self.mean_y - float(self.cache.c[self._slots(used)] @ w[used])


def _with_squares(
    X: np.ndarray, slope: np.ndarray, _s: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Xᵀ slope, whose last column is the weight, and Σ weight·x², column by column."""
    g, square = np.empty((X.shape[1], slope.shape[1])), np.empty(X.shape[1])
    weight = slope[:, -1]
    same = bool((weight == weight[0]).all())
    for start in range(0, X.shape[1], NARROW):
        part = slice(start, start + NARROW)
        A = X[:, part].T.astype(float, copy=False)
        g[part] = A @ slope
        square[part] = weight[0] * np.vecdot(A, A) if same else (A * A) @ weight
    return g, square
