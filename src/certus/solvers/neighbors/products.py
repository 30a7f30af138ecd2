r"""Nearest rows by products of matrices, made exact: Euclidean distances of many columns.

    ‖x − q‖² = ‖x‖² − 2xᵀq + ‖q‖²

of data about their mean c is fast by float32 products, and off by at most

    E = 1.02u((2p + 8)·M‖q‖ + (p + 4)M²),     M = max‖x‖,   u = 2⁻²⁴ (float64: 2⁻⁵³)

since rounding x and q costs 2u‖x‖‖q‖, a sum of p products pu‖x‖‖q‖ in any order, twice; ‖x‖² is
rounded once, and once more with each product that is added to it. The m > k rows with the least of
these are kept. With worst the largest that was kept, every other row is at least worst + ‖q‖² − E
away, squared. The kept ones get their distances by differences. If the k-th is less than that, no
other row is among the k nearest: proven, and exact. Where it is not, float64 takes its turn, and
where even that says too little (rows that repeat, or lie close together and far from the mean) the
differences of all rows.

Of many columns, leading ones of rotated rows are looked at first (``principal_bounds.py``).

Whole numbers whose sums fit are computed without any rounding: then E = 0, and ties are no trouble.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...runtime.pool import give_up_if_stopped, run_on_threads
from . import principal_bounds
from .differences import Differences
from .filter import SQUARES, SWEPT, TILE, Filter, least, recheck
from .lists import LANES, Best, Within, empty, joined, lanes

SPARE = 6  # rows that are kept beside the k, at least
GROUP = 256  # queries of a tile of products
MANY_COLUMNS, LARGE_GROUP = 256, 1024  # of which a product is long enough for larger tiles
FIRST, PILOT = 128, 0.5  # of the first queries, the share that must be proven
ROOM = {np.dtype(np.float32): 2.0**24, np.dtype(np.float64): 2.0**53}  # for whole numbers


class Products:
    """O(n·p) a query, mostly as products of matrices, and memory for a float32 copy of X."""

    def __init__(self, X: np.ndarray, threads: int):
        self.X, self.threads = X, threads
        self.by_differences = Differences(X, SQUARES, 2.0, threads)
        n, p = X.shape
        self.c, whole = X.mean(axis=0, dtype=float), whole_numbers(X)
        if whole:
            self.c = np.rint(self.c)
        largest = max(np.abs(X.max(axis=0) - self.c).max(), np.abs(X.min(axis=0) - self.c).max())
        self.whole = bool(whole and p * 8.0 * largest**2 < 2.0**53)
        self.largest = float(largest)
        # by a power of two, so that squares of float32 stay in range; whole numbers stay whole
        self.scale = 1.0 if self.whole or not largest > 0 else 2.0 ** -np.floor(np.log2(largest))
        # columns of zeros fill up eights, which few columns are taken by
        width = -(-p // 8) * 8 if p <= SWEPT else p
        copy, square = np.zeros((n, width), dtype=np.float32), np.empty(n)

        def centre(i: int) -> None:
            part = parts[i]
            Z = self.viewed(X[part])
            copy[part, :p] = Z
            square[part] = np.einsum("ij,ij->i", Z, Z)

        parts = lanes(n, max(256, (1 << 17) // p))
        run_on_threads(centre, len(parts), threads)
        self.filter = Filter(copy, square, p)
        self._leading: Any = None

    def viewed(self, X: np.ndarray) -> np.ndarray:
        Z = np.subtract(X, self.c, dtype=float)
        if self.scale != 1.0:
            Z *= self.scale
        return Z

    def nearest(self, Q: np.ndarray, k: int) -> Best:
        n = len(self.X)
        if 4 * k >= n:
            return self.by_differences.nearest(Q, k)
        best = empty(len(Q), k)
        proven = np.zeros(len(Q), dtype=bool)
        for search in self._searches(Q, k):
            left = np.flatnonzero(~proven)
            if not len(left):
                return best
            self._some(search, left[:FIRST], best, proven)
            if proven[left[:FIRST]].mean() < PILOT:
                continue  # the others would fare no better
            left = left[FIRST:]
            groups = lanes(len(left), search.queries)

            def rest(
                i: int, search: Any = search, left: np.ndarray = left, groups: Any = groups
            ) -> None:
                self._some(search, left[groups[i]], best, proven)

            run_on_threads(rest, len(groups) if len(left) else 0, self.threads)
        left = np.flatnonzero(~proven)
        if len(left):
            found = self.by_differences.nearest(np.ascontiguousarray(Q[left]), k)
            best.values[left], best.rows[left] = found
        return best

    def _searches(self, Q: np.ndarray, k: int) -> Iterator[Any]:
        """From the cheapest to the one that proves most."""
        n, spare = len(self.X), max(SPARE, k // 2)
        if principal_bounds.pays(n, self.X.shape[1], len(Q)):
            self._leading = self._leading or principal_bounds.Leading(self)
            yield principal_bounds.LeadingSearch(self, Q, k, self._leading)
        for dtype, more in ((np.float32, 1), (np.float64, 4)):
            yield _Search(self, Q, k, min(n, k + more * spare), np.dtype(dtype))

    @staticmethod
    def _some(search: Any, i: np.ndarray, best: Best, proven: np.ndarray) -> None:
        values, rows, good = search.group(i)
        best.values[i], best.rows[i], proven[i] = values, rows, good

    def within(self, Q: np.ndarray, radius: float) -> Within:
        """Candidates by float64 products, then by differences."""
        from ...kernels.neighbors.nearest import pairs

        groups = lanes(len(Q))
        parts: list[Any] = [None] * len(groups)
        limit = radius * self.scale**2

        def search(i: int) -> None:
            q = Q[groups[i]]
            Z = self.viewed(q)
            length = np.einsum("ij,ij->i", Z, Z)
            most = (
                limit * (1 + 1e-12) - length + self.filter.error(np.sqrt(length), np.dtype(float))
            )
            columns = np.ascontiguousarray(-2 * Z.T)
            found: list[tuple[np.ndarray, np.ndarray]] = []
            for a in range(0, len(self.X), TILE):
                give_up_if_stopped()
                T = np.dot(self.viewed(self.X[a : a + TILE]), columns)
                T += self.filter.square[a : a + TILE, None]
                row, query = np.nonzero(most >= T)
                found.append((query, row + a))
            query, row = (np.concatenate(part) for part in zip(*found, strict=True))
            values = np.empty((len(row), 1))
            pairs(self.X, np.ascontiguousarray(q[query]), SQUARES, 2.0, row[:, None], values)
            good = values[:, 0] <= radius
            query, row, values = query[good], row[good], values[good]
            order = np.lexsort((row, query))
            counts = np.bincount(query, minlength=len(q))
            parts[i] = values[order, 0], row[order], counts

        run_on_threads(search, len(groups), self.threads)
        return joined(parts)


class _Search(NamedTuple):
    """The search of groups of queries, in one precision."""

    of: Products
    Q: np.ndarray
    k: int
    m: int
    dtype: np.dtype

    @property
    def swept(self) -> bool:
        return bool(self.dtype == np.float32 and self.of.filter.p <= SWEPT)

    @property
    def queries(self) -> int:
        """That are looked at together."""
        if self.swept:
            return LANES
        return LARGE_GROUP if self.of.filter.p >= MANY_COLUMNS else GROUP

    def group(self, i: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """values, rows, and whether they are proven, of queries i."""
        of, q = self.of, np.ascontiguousarray(self.Q[i])
        Z = of.viewed(q)
        length = np.einsum("ij,ij->i", Z, Z)
        exact = self._without_rounding(q)
        values, rows = empty(len(q), self.m, self.dtype)
        worst = self._lists(Z, values, rows)
        error = 0.0 if exact else of.filter.error(np.sqrt(length), self.dtype)
        bound = values.astype(float) + (length - error)[:, None]  # squared, what rows are away
        order = np.argsort(bound, axis=1, kind="stable")
        bound, rows = np.take_along_axis(bound, order, 1), np.take_along_axis(rows, order, 1)
        few = 2 * self.k  # enough to know about how far the k-th is
        true = recheck(of.X, q, rows[:, :few].copy())
        most = np.partition(true, self.k - 1, axis=1)[:, self.k - 1 : self.k]
        rounding = 1 + 4 * q.shape[1] * 2.0**-53
        rest = np.where(bound[:, few:] <= most * of.scale**2 * rounding, rows[:, few:], -1)
        true, rows = least(np.hstack([true, recheck(of.X, q, rest)]), rows, self.k)
        limit = worst.astype(float) + length - error
        kth = true[:, -1] * of.scale**2
        proven = kth <= limit if exact else kth * rounding < limit
        if self.m == len(of.X):
            proven[:] = True
        return true, rows, proven

    def _lists(self, Z: np.ndarray, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Filled; the worst of each."""
        of = self.of
        if self.swept:
            return of.filter.sweep(Z, values, rows)
        if self.dtype == np.float32:
            return of.filter.scan(Z, values, rows)
        return of.filter.scan(Z, values, rows, lambda part: of.viewed(of.X[part]))

    def _without_rounding(self, q: np.ndarray) -> bool:
        """Are all sums whole numbers that fit?"""
        of = self.of
        if not of.whole or not whole_numbers(q):
            return False
        largest = max(of.largest, float(np.abs(q - of.c).max(initial=0.0)))
        return q.shape[1] * 4.0 * largest**2 < ROOM[self.dtype]


def whole_numbers(X: np.ndarray) -> bool:
    if X.dtype.kind in "iub":
        return True
    some = X[:64]
    return bool((some == np.rint(some)).all() and (np.rint(X) == X).all())
