r"""Exact Euclidean search by products of matrices, for many columns.

    ‖x − q‖² = ‖x‖² − 2xᵀq + ‖q‖²

of rows centred at their mean c is computed by float32 products, with an error of at most

    E = 1.02u((2p + 8)·M‖q‖ + (p + 4)M²),     M = max‖x‖,   u = 2⁻²⁴ (float64: 2⁻⁵³)

since rounding x and q costs 2u‖x‖‖q‖, a sum of p products pu‖x‖‖q‖ in any order, twice; ‖x‖² is
rounded once, and once more with each product that is added to it. The m > k rows with the smallest
values are retained. With ``worst`` the largest retained value, the squared distance of every other
row is at least worst + ‖q‖² − E. The distances of the retained rows are recomputed by differences.
If the k-th of them is below that limit, no other row is among the k nearest: the answer is proven,
and exact. Queries that remain are searched in float64, and those that still remain (repeated rows,
or rows close together and far from the mean) by the differences of all rows.

With many columns, the leading principal coordinates come first (``principal_bounds.py``).

Integers whose sums fit into the floats are computed without rounding: E = 0, and ties are proven.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...runtime.pool import give_up_if_stopped, run_on_threads
from . import principal_bounds
from .differences import Differences
from .filter import MAX_SWEPT_COLUMNS, SQUARES, TILE_ROWS, Filter, recheck, smallest_k
from .lists import LANE_QUERIES, NearestLists, RadiusLists, empty_lists, even_slices, join_groups

MIN_SPARE_ROWS = 6  # rows retained beyond the k
TILE_QUERIES = 256  # queries of a tile of products
MIN_LARGE_TILE_COLUMNS = 256  # from here on, products are long enough for larger tiles …
LARGE_TILE_QUERIES = 1024  # … of this many queries
PILOT_QUERIES = 128  # searched first; the others follow only if …
MIN_PILOT_SHARE = 0.5  # … this share of them is proven
EXACT_INTEGER_LIMIT = {np.dtype(np.float32): 2.0**24, np.dtype(np.float64): 2.0**53}


class Products:
    """Engine by matrix products: O(n·p) for each query, memory for a float32 copy of X."""

    def __init__(self, X: np.ndarray, threads: int):
        self.X, self.threads = X, threads
        self.by_differences = Differences(X, SQUARES, 2.0, threads)
        n, p = X.shape
        self.c, whole = X.mean(axis=0, dtype=float), all_integers(X)
        if whole:
            self.c = np.rint(self.c)
        largest = max(np.abs(X.max(axis=0) - self.c).max(), np.abs(X.min(axis=0) - self.c).max())
        self.whole = bool(whole and p * 8.0 * largest**2 < 2.0**53)
        self.largest = float(largest)
        # a power of two, so that squares of float32 stay in range; integers are not scaled
        self.scale = 1.0 if self.whole or not largest > 0 else 2.0 ** -np.floor(np.log2(largest))
        # the sweep kernel takes columns by eights: pad with zeros
        width = -(-p // 8) * 8 if p <= MAX_SWEPT_COLUMNS else p
        copy, square = np.zeros((n, width), dtype=np.float32), np.empty(n)

        def copy_rows(i: int) -> None:
            part = parts[i]
            Z = self.centered(X[part])
            copy[part, :p] = Z
            square[part] = np.einsum("ij,ij->i", Z, Z)

        parts = even_slices(n, max(256, (1 << 17) // p))
        run_on_threads(copy_rows, len(parts), threads)
        self.filter = Filter(copy, square, p)
        self._principal: Any = None

    def centered(self, X: np.ndarray) -> np.ndarray:
        """Return (X − c)·scale in float64."""
        Z = np.subtract(X, self.c, dtype=float)
        if self.scale != 1.0:
            Z *= self.scale
        return Z

    def nearest(self, Q: np.ndarray, k: int) -> NearestLists:
        """Return the k nearest rows of each query, by (squared distance, row)."""
        n = len(self.X)
        if 4 * k >= n:
            return self.by_differences.nearest(Q, k)
        best = empty_lists(len(Q), k)
        proven = np.zeros(len(Q), dtype=bool)
        for search in self._searches(Q, k):
            left = np.flatnonzero(~proven)
            if not len(left):
                return best
            self._search_group(search, left[:PILOT_QUERIES], best, proven)
            if proven[left[:PILOT_QUERIES]].mean() < MIN_PILOT_SHARE:
                continue  # most other queries would not be proven either
            left = left[PILOT_QUERIES:]
            groups = even_slices(len(left), search.queries)

            def search_group(
                i: int, search: Any = search, left: np.ndarray = left, groups: Any = groups
            ) -> None:
                self._search_group(search, left[groups[i]], best, proven)

            run_on_threads(search_group, len(groups) if len(left) else 0, self.threads)
        left = np.flatnonzero(~proven)
        if len(left):
            remaining = self.by_differences.nearest(np.ascontiguousarray(Q[left]), k)
            best.values[left], best.rows[left] = remaining
        return best

    def _searches(self, Q: np.ndarray, k: int) -> Iterator[Any]:
        """Yield searches from the cheapest to the one that proves most queries."""
        n, spare = len(self.X), max(MIN_SPARE_ROWS, k // 2)
        if principal_bounds.is_worthwhile(n, self.X.shape[1], len(Q)):
            self._principal = self._principal or principal_bounds.PrincipalCoordinates(self)
            yield principal_bounds.PrincipalSearch(self, Q, k, self._principal)
        for dtype, spare_factor in ((np.float32, 1), (np.float64, 4)):
            yield _Search(self, Q, k, min(n, k + spare_factor * spare), np.dtype(dtype))

    @staticmethod
    def _search_group(search: Any, i: np.ndarray, best: NearestLists, proven: np.ndarray) -> None:
        """Search the queries i and store their lists."""
        best.values[i], best.rows[i], proven[i] = search.group(i)

    def within(self, Q: np.ndarray, radius: float) -> RadiusLists:
        """Return all rows whose squared distance is at most ``radius``.

        Float64 products select the candidates, differences decide.
        """
        from ...kernels.neighbors.nearest import pairs

        groups = even_slices(len(Q))
        parts: list[Any] = [None] * len(groups)
        limit = radius * self.scale**2

        def search(i: int) -> None:
            q = Q[groups[i]]
            Z = self.centered(q)
            length = np.einsum("ij,ij->i", Z, Z)
            error = self.filter.error(np.sqrt(length), np.dtype(float))
            most = limit * (1 + 1e-12) - length + error
            columns = np.ascontiguousarray(-2 * Z.T)
            candidates: list[tuple[np.ndarray, np.ndarray]] = []
            for a in range(0, len(self.X), TILE_ROWS):
                give_up_if_stopped()
                T = np.dot(self.centered(self.X[a : a + TILE_ROWS]), columns)
                T += self.filter.square[a : a + TILE_ROWS, None]
                row, query = np.nonzero(most >= T)
                candidates.append((query, row + a))
            query, row = (np.concatenate(part) for part in zip(*candidates, strict=True))
            values = np.empty((len(row), 1))
            pairs(self.X, np.ascontiguousarray(q[query]), SQUARES, 2.0, row[:, None], values)
            inside = values[:, 0] <= radius
            query, row, values = query[inside], row[inside], values[inside]
            order = np.lexsort((row, query))
            counts = np.bincount(query, minlength=len(q))
            parts[i] = values[order, 0], row[order], counts

        run_on_threads(search, len(groups), self.threads)
        return join_groups(parts)


class _Search(NamedTuple):
    """Search of groups of queries by products in one precision, with m retained rows each."""

    products: Products
    Q: np.ndarray
    k: int
    m: int
    dtype: np.dtype

    @property
    def is_swept(self) -> bool:
        return bool(self.dtype == np.float32 and self.products.filter.p <= MAX_SWEPT_COLUMNS)

    @property
    def queries(self) -> int:
        """Number of queries in a group."""
        if self.is_swept:
            return LANE_QUERIES
        return (
            LARGE_TILE_QUERIES if self.products.filter.p >= MIN_LARGE_TILE_COLUMNS else TILE_QUERIES
        )

    def group(self, i: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the values and rows of queries i, and whether they are proven."""
        products, q = self.products, np.ascontiguousarray(self.Q[i])
        Z = products.centered(q)
        length = np.einsum("ij,ij->i", Z, Z)
        exact = self._is_exact(q)
        values, rows = empty_lists(len(q), self.m, self.dtype)
        worst = self._lists(Z, values, rows)
        error = 0.0 if exact else products.filter.error(np.sqrt(length), self.dtype)
        bound = values.astype(float) + (length - error)[:, None]  # on the squared distance
        order = np.argsort(bound, axis=1, kind="stable")
        bound, rows = np.take_along_axis(bound, order, 1), np.take_along_axis(rows, order, 1)
        first = 2 * self.k  # enough for a good upper bound on the k-th distance
        true = recheck(products.X, q, rows[:, :first].copy())
        most = np.partition(true, self.k - 1, axis=1)[:, self.k - 1 : self.k]
        rounding = 1 + 4 * q.shape[1] * 2.0**-53
        close = bound[:, first:] <= most * products.scale**2 * rounding
        others = recheck(products.X, q, np.where(close, rows[:, first:], -1))
        true, rows = smallest_k(np.hstack([true, others]), rows, self.k)
        limit = worst.astype(float) + length - error
        kth = true[:, -1] * products.scale**2
        proven = kth <= limit if exact else kth * rounding < limit
        if self.m == len(products.X):
            proven[:] = True
        return true, rows, proven

    def _lists(self, Z: np.ndarray, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Fill the lists and return the largest value of each."""
        products = self.products
        if self.is_swept:
            return products.filter.sweep(Z, values, rows)
        if self.dtype == np.float32:
            return products.filter.scan(Z, values, rows)
        return products.filter.scan(
            Z, values, rows, lambda part: products.centered(products.X[part])
        )

    def _is_exact(self, q: np.ndarray) -> bool:
        """Return whether all sums are integers that the floats hold exactly."""
        products = self.products
        if not products.whole or not all_integers(q):
            return False
        largest = max(products.largest, float(np.abs(q - products.c).max(initial=0.0)))
        return q.shape[1] * 4.0 * largest**2 < EXACT_INTEGER_LIMIT[self.dtype]


def all_integers(X: np.ndarray) -> bool:
    """Return whether all entries are whole numbers; a few rows are tried first."""
    if X.dtype.kind in "iub":
        return True
    first_rows = X[:64]
    return bool((first_rows == np.rint(first_rows)).all() and (np.rint(X) == X).all())
