"""Squared loss by columns: gradients of all of them, sums of products of a few.

    f(w) = ½‖ŷ − X̂w‖²,   x̂_i = √(s_i/D)·(x_i − x̄),   ŷ_i = √(s_i/D)·(y_i − ȳ)

With the means taken out the intercept is b = ȳ − x̄ᵀw; without an intercept, x̄ = ȳ = 0. Sums of
products do not change from step to step, or from one penalty to the next, so each is computed once
and cached.
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
from .gram_cache import CachedDenseColumns, CachedSparseColumns

if TYPE_CHECKING:
    from .coordinate_penalty import CoordinatePenalty
    from .elastic_net import ElasticNetResult

TILE_COLUMNS = 128  # columns of a block that stay in cache
MAX_FULL_GRAM_COLUMNS = 600  # up to which all columns are one working set
# contiguous columns are read once for all of their sums, in tiles of …
TILE_ELEMENTS, MIN_TILE_COLUMNS = 1 << 17, 16
MIN_SHARED_ELEMENTS = 1 << 19  # of X, from which threads pay
MAX_MEAN_TO_SPREAD = 1e4  # |mean|/deviation beyond which sparse columns must be centred


class Residuals(NamedTuple):
    """f at w and its gradient."""

    rr: float  # ‖ŷ − X̂w‖²
    yr: float  # ŷᵀ(ŷ − X̂w)
    v: np.ndarray  # (p,): X̂ᵀ(ŷ − X̂w) = −∇f


class LocalQuadratic(NamedTuple):
    """f restricted to a few columns, in u = w/q."""

    H: np.ndarray  # (m, m)
    g: np.ndarray  # (m,): slope
    q: np.ndarray  # (m,): a power of two for columns whose squares are out of range


class SquaredLossColumns(Protocol):
    """Interface of the squared loss of one X, for any target and any penalty."""

    p: int
    accurate: bool  # gradients are accurate to rounding

    @property
    def takes_all_columns(self) -> bool:
        """Whether every working set is all columns."""
        ...

    def evaluate(self, w: np.ndarray) -> Residuals:
        """Return the residuals' norm and the gradient of every column, in one pass over X."""
        ...

    def quadratic_on(self, A: np.ndarray, residuals: Residuals) -> LocalQuadratic:
        """Return the quadratic in the columns A, from cached sums of products."""
        ...

    def first_fit(self, penalty: "CoordinatePenalty", goal: float) -> "ElasticNetResult | None":
        """Return a first fit from a subset of the columns, or None if there is no shortcut."""
        ...

    @property
    def target_norm(self) -> float:
        """‖ŷ‖."""
        ...

    def column_norms(self, features: np.ndarray) -> np.ndarray:
        """‖x̂_j‖ of the given columns."""
        ...

    def intercept(self, w: np.ndarray) -> float:
        """b = ȳ − x̄ᵀw."""
        ...


class FullGram:
    """All sums of products, for few columns or streamed rows, which are not needed afterwards."""

    accurate = True

    def __init__(self, sums: Gram, H: np.ndarray, target: int, divisor: float):
        self.H, self.Xy = H, sums.Xy[:, target] / divisor  # H serves all targets
        self.yy, self.p = float(sums.yy[target]) / divisor, len(sums.mean)
        self.q = np.ones(self.p) if sums.q is None else sums.q
        self.mean, self.mean_y = sums.mean / self.q, float(sums.mean_y[target])
        self.takes_all_columns = self.p <= MAX_FULL_GRAM_COLUMNS

    def evaluate(self, w: np.ndarray) -> Residuals:
        u = w / self.q
        used = np.flatnonzero(u)
        v = self.Xy - self.H[:, used] @ u[used]
        yr = self.yy - float(u @ self.Xy)
        return Residuals(max(yr - float(u @ v), 0.0), yr, v / self.q)

    def quadratic_on(self, A: np.ndarray, residuals: Residuals) -> LocalQuadratic:
        from ...kernels.lasso.coordinate_descent import square

        H = self.H if len(A) == self.p else square(self.H, A)
        return LocalQuadratic(H, -residuals.v[A] * self.q[A], self.q[A])

    def first_fit(self, _penalty: object, _goal: float) -> None:
        """Return None: this representation has no shortcut."""

    @property
    def target_norm(self) -> float:
        """‖ŷ‖."""
        return float(np.sqrt(self.yy))

    def column_norms(self, features: np.ndarray) -> np.ndarray:
        """‖x̂_j‖."""
        norms: np.ndarray = np.sqrt(np.diagonal(self.H)[features]) / self.q[features]
        return norms

    def intercept(self, w: np.ndarray) -> float:
        return self.mean_y - float(self.mean @ w)


class LazyGram:
    """Sums of products of columns, computed and cached when first needed."""

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
        self.slot = np.full(self.p, -1, dtype=np.intp)  # position in the cache
        self.cache = (
            CachedDenseColumns(rows, self.root, fit_intercept)
            if by_columns is None
            else CachedSparseColumns(by_columns, self.root, fit_intercept)
        )
        self.features = np.empty(0, dtype=np.intp)
        self._columns: Rows | None = None
        self.takes_all_columns = self.p <= MAX_FULL_GRAM_COLUMNS

    def evaluate(self, w: np.ndarray) -> Residuals:
        """Return residuals and gradients in one pass over X; keep r for ``quadratic_on``."""
        used = np.flatnonzero(w)
        at = self._slots(used)
        r = self.y - self.cache.times(at, w[used] / self.cache.q[at]) if len(at) else self.y
        if self.fit_intercept:  # columns far from 0 would amplify a mean of r left by rounding
            r = r - float(self.root @ r) / float(self.root @ self.root) * self.root
        self.r = r
        v = self._gradient(self.root * self.r)
        if len(self.features):  # cached columns are centred, so nothing cancels
            v[self.features] = self.cache.transposed(self.r) / self.cache.q
        if not np.isfinite(v).all():
            raise NonFiniteError
        return Residuals(float(self.r @ self.r), float(self.y @ self.r), v)

    def _gradient(self, r: np.ndarray) -> np.ndarray:
        """Xᵀr, which equals X̃ᵀr: with an intercept Σ r = 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.by_columns is not None:
                return self._map_columns(_products, np.empty(self.p), r)
            if "_moments" not in vars(self):  # the first pass sums squares as well
                g, total, square = self._three_sums(r, self.root**2)
                self._moments = square, total**2 / float(self.root @ self.root)
                return g
            if self.is_column_contiguous:
                return self._tile_by_tile(lambda A: (np.dot(A, r),), 1)[0]
            return gradient_of_columns(self.rows, r[:, None])[:, 0]

    def _three_sums(self, r: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
        """Xᵀr, Xᵀweight and Σ weight·x², column by column."""
        if self.is_column_contiguous:
            uniform = bool((weight == weight[0]).all())

            def sums(A: np.ndarray) -> tuple[np.ndarray, ...]:
                square = weight[0] * np.vecdot(A, A) if uniform else np.dot(A * A, weight)
                return np.dot(A, r), np.dot(A, weight), square

            return tuple(self._tile_by_tile(sums, 3))
        g, square = self.rows.with_targets(np.column_stack([r, weight])).reduce(_with_squares)
        return np.ascontiguousarray(g[:, 0]), g[:, 1], square

    @property
    def is_column_contiguous(self) -> bool:
        """Whether columns are contiguous, so that threads can share them."""
        X = self.rows.X
        return isinstance(X, np.ndarray) and X.dtype == float and X.flags.f_contiguous

    def _tile_by_tile(
        self, sums: Callable[[np.ndarray], tuple[np.ndarray, ...]], count: int
    ) -> np.ndarray:
        """Column sums, (count, p), from tiles of columns, which are the rows of A."""
        X, (n, p) = self.rows.X.T, self.rows.shape
        found, step = np.empty((count, p)), max(MIN_TILE_COLUMNS, TILE_ELEMENTS // max(n, 1))
        tiles = [slice(start, start + step) for start in range(0, p, step)]

        def fill(i: int) -> None:
            for at, value in enumerate(sums(X[tiles[i]])):
                found[at, tiles[i]] = value

        run_on_threads(fill, len(tiles), self.rows.threads if X.size > MIN_SHARED_ELEMENTS else 1)
        return found

    def _map_columns(
        self, function: Callable[..., np.ndarray], out: np.ndarray, *args: np.ndarray
    ) -> np.ndarray:
        """Apply a function to blocks of sparse columns, which are rows of Xᵀ."""
        if self._columns is None:
            assert self.by_columns is not None
            self._columns = rows_of_transpose(self.by_columns, self.rows.threads)
        return self._columns.map(function, out, *args)

    def quadratic_on(self, A: np.ndarray, residuals: Residuals) -> LocalQuadratic:
        from ...kernels.lasso.coordinate_descent import square

        at = self._slots(A)
        g = -self.cache.transposed(self.r)[at]  # residuals.v of new columns has fewer digits
        return LocalQuadratic(square(self.cache.H, at), g, self.cache.q[at])

    def first_fit(self, _penalty: object, _goal: float) -> None:
        """Return None: this representation has no shortcut."""

    def _slots(self, features: np.ndarray) -> np.ndarray:
        new = features[self.slot[features] < 0]
        if len(new):
            self.slot[new] = len(self.features) + np.arange(len(new))
            self.features = np.append(self.features, new)
            self.cache.add(new)
        return self.slot[features]

    @property
    def target_norm(self) -> float:
        return float(np.linalg.norm(self.y))

    def column_norms(self, features: np.ndarray) -> np.ndarray:
        """‖x̂_j‖, which scales gradients; accurate enough to rank columns."""
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
            square, total = self._map_columns(_moments, np.empty((self.p, 2)), weight).T
            return square, total**2 / weight.sum()

    @property
    def is_far_from_origin(self) -> bool:
        """Whether some column is so far from 0 that its sums about 0 lose too many digits."""
        square, mean = self._moments
        return self.fit_intercept and bool((mean > MAX_MEAN_TO_SPREAD**2 * (square - mean)).any())

    @cached_property
    def _sizes(self) -> np.ndarray:
        """√(Σ (s/D)x² − W x̄²); the median where that is 0 or lost to rounding."""
        square, mean = self._moments
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.sqrt(np.maximum(square - self.fit_intercept * mean, 0.0))
        valid = np.isfinite(norms) & (norms > 0)
        return np.where(valid, norms, np.median(norms[valid]) if valid.any() else 1.0)

    def intercept(self, w: np.ndarray) -> float:
        used = np.flatnonzero(w)
        return self.mean_y - float(self.cache.c[self._slots(used)] @ w[used])


def _products(x: SparseMatrix, _y: object, _s: object, r: np.ndarray) -> np.ndarray:
    """x_jᵀr of sparse columns, which are rows here."""
    return x @ r


def _moments(x: SparseMatrix, _y: object, _s: object, weight: np.ndarray) -> np.ndarray:
    """Σ weight·x² and Σ weight·x of sparse columns, (columns, 2)."""
    return np.stack([x.power(2) @ weight, x @ weight], axis=1)


def _with_squares(
    X: np.ndarray, slope: np.ndarray, _s: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Xᵀ slope, and Σ weight·x² of each column; the last column of ``slope`` is the weight."""
    g, square = np.empty((X.shape[1], slope.shape[1])), np.empty(X.shape[1])
    weight = slope[:, -1]
    uniform = bool((weight == weight[0]).all())
    for start in range(0, X.shape[1], TILE_COLUMNS):
        part = slice(start, start + TILE_COLUMNS)
        A = X[:, part].T.astype(float, copy=False)
        g[part] = A @ slope
        square[part] = weight[0] * np.vecdot(A, A) if uniform else (A * A) @ weight
    return g, square
