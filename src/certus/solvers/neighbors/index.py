"""An index that finds the nearest rows by whichever exact engine is fastest.

    tree          k-d tree, for few columns
    products      products of matrices, rechecked, for Euclidean distances of more columns
    differences   all differences, for other Minkowski distances and for few rows or queries
    tiles         tiles of the matrix of distances, for every other distance

All give the same answer: rows ordered by (distance, row number), so that ties go to the smallest
number. The choice of the engine changes only the time.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ...distances import Distance
from ...runtime.config import effective_threads
from .differences import Differences
from .lists import NearestLists, RadiusLists, within_radius, without_self
from .products import Products
from .tiles import Tiles
from .tree import KDTree

SQUARES, ABSOLUTE, MAXIMUM, POWER = range(4)  # kernels/neighbors/nearest.py
METRIC_CODES = {
    "euclidean": SQUARES, "sqeuclidean": SQUARES, "manhattan": ABSOLUTE, "chebyshev": MAXIMUM,
    "minkowski": POWER,
}  # fmt: skip
MINKOWSKI_NAMES = {1.0: "manhattan", 2.0: "euclidean", float("inf"): "chebyshev"}  # by p
MAX_TREE_COLUMNS = 15  # above, a tree visits most rows
MAX_ANY_QUERY_TREE_COLUMNS = 5  # up to here a tree is built for any number of queries …
MIN_TREE_QUERIES = 100  # … and above, for at least this many
TRIAL_QUERIES = 32  # searched first, to measure which share of the rows the tree visits
# Cost of a row visited by the tree, in rows compared one after another by the other engine
# (measured, 100,000 rows of 3 to 12 columns)
TREE_ROW_COST = {"products": 64, "differences": 16}
MIN_PRODUCT_ROWS = 1024  # with fewer, differences are as fast as products
MIN_PRODUCT_QUERIES = 8  # likewise
MAX_POWER = 16  # higher powers of ordinary numbers underflow
RADIUS_TRIAL_NEIGHBORS = 10  # k of the trial that chooses the engine of a radius search


class DenseIndex:
    """Index of dense rows.

    Parameters
    ----------
    X : ndarray of shape (n, p), or what the distance's ``read`` takes
    distance : Distance
        Prepared with these rows.
    algorithm : "auto", "kd_tree" or "brute"
    threads : int, optional
    """

    def __init__(
        self,
        X: np.ndarray,
        distance: Distance,
        *,
        algorithm: str = "auto",
        threads: int | None = None,
    ):
        self.X, self.distance, self.threads = X, distance, threads or effective_threads()
        self.n = X.shape[0]
        self.metric = distance.embedded_metric
        self.requested = algorithm
        self.algorithm = algorithm  # replaced by the one that ran last
        self._max_abs_Z: float | None = None
        self._engines: dict[str, Any] = {}
        self._tree_is_faster: bool | None = None  # unknown before the trial
        if self.metric is not None:
            self.power = float(distance.embedded_p or 2.0)
            self.metric = (
                MINKOWSKI_NAMES.get(self.power, "minkowski")
                if self.metric == "minkowski"
                else self.metric
            )
            self.code = METRIC_CODES[self.metric]
            self.Z = self._embedded(X, keep_float32=True)

    def kneighbors(self, Q: np.ndarray | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distances, rows), each (queries, k), ascending.

        Q None: the rows themselves, each without itself. Row −1, at infinity, where fewer than k
        rows can be compared with the query.
        """
        if Q is None:
            return without_self(*self._nearest(self.X, k + 1))
        return self._nearest(Q, k)

    def radius(self, Q: np.ndarray | None, r: float) -> RadiusLists:
        """Return all rows at a distance of at most r, ascending by row for each query."""
        is_self = Q is None
        Q = self.X if Q is None else Q
        engine, queries = self._engine(Q, RADIUS_TRIAL_NEIGHBORS)
        if isinstance(engine, Tiles):
            lists = engine.within(queries, r)
            distances = lists.values
        else:
            # the sum that belongs to r is rounded: search slightly farther, then filter by distance
            lists = engine.within(queries, self._value_at(r) * (1 + 1e-14))
            distances = self._distances(lists.values)
        return within_radius(lists, distances, r, is_self)

    def _nearest(self, Q: np.ndarray, k: int) -> NearestLists:
        """Return the k nearest rows, with distances as values."""
        k_rows = min(k, self.n)
        engine, queries = self._engine(Q, k_rows)
        best: NearestLists = engine.nearest(queries, k_rows)
        if isinstance(engine, Tiles):
            return best
        return best._replace(values=self._distances(best.values))

    # --- choice of the engine -------------------------------------------------------------------

    def _engine(self, Q: np.ndarray, k: int) -> tuple[Any, np.ndarray]:
        """Return the engine for these queries, and the queries in the form it takes."""
        if self.metric is None or not self._in_range(self.Z):
            return self._engine_named("tiles"), self._read_queries(Q)
        queries = self.Z if Q is self.X else self._embedded(Q)
        queries = np.ascontiguousarray(queries, dtype=float)
        if not self._in_range(queries):
            return self._engine_named("tiles"), self._read_queries(Q)
        name = "tree" if self._by_tree(queries, k) else self._brute(len(queries))
        return self._engine_named(name), queries

    def _in_range(self, Z: np.ndarray) -> bool:
        """Return whether sums of powers neither overflow nor underflow.

        Where they do, tiles are used: ``Distance.compare`` guards against both.
        """
        known = Z is self.Z and self._max_abs_Z is not None
        max_abs = self._max_abs_Z if known else _max_abs(Z)
        if Z is self.Z:
            self._max_abs_Z = max_abs
        power = self.power if self.code in (SQUARES, POWER) else 1.0
        low, high = 1e-280 ** (1 / power), 1e290 ** (1 / power) / (1 + Z.shape[1])
        assert max_abs is not None
        return max_abs < high and (max_abs > low or max_abs == 0) and power <= MAX_POWER

    def _by_tree(self, Q: np.ndarray, k: int) -> bool:
        n, p = self.Z.shape
        if self.requested == "brute" or n == 0 or p == 0:
            return False
        if self.requested == "kd_tree":
            return True
        too_few_queries = (
            p > MAX_ANY_QUERY_TREE_COLUMNS
            and "tree" not in self._engines
            and len(Q) < MIN_TREE_QUERIES
        )
        if p > MAX_TREE_COLUMNS or too_few_queries:
            return False
        if self._tree_is_faster is None:
            step = max(1, len(Q) // TRIAL_QUERIES)
            sample = np.ascontiguousarray(Q[::step][:TRIAL_QUERIES])
            visited = self._engine_named("tree").mean_visited_rows(sample, k)
            self._tree_is_faster = visited * TREE_ROW_COST[self._brute(len(Q))] < n
        return self._tree_is_faster

    def _brute(self, queries: int) -> str:
        enough = (
            self.n >= MIN_PRODUCT_ROWS and queries >= MIN_PRODUCT_QUERIES and self.Z.shape[1] > 0
        )
        return "products" if self.code == SQUARES and enough else "differences"

    def _engine_named(self, name: str) -> Any:
        self.algorithm = "kd_tree" if name == "tree" else "brute"
        if name not in self._engines:
            self._engines[name] = self._make(name)
        return self._engines[name]

    def _make(self, name: str) -> Any:
        if name == "tiles":
            compare = self.distance.compare
            return Tiles(self._read, lambda A, B: compare(A, B, 1), self.threads)
        if name == "products":
            return Products(self.Z, self.threads)
        kind = KDTree if name == "tree" else Differences
        return kind(self.Z, self.code, self.power, self.threads)

    @cached_property
    def _read(self) -> np.ndarray:
        return self.distance.read(self.X)

    def _read_queries(self, Q: np.ndarray) -> np.ndarray:
        return self._read if Q is self.X else self.distance.read(Q)

    # --- rows and distances ---------------------------------------------------------------------

    def _embedded(self, X: np.ndarray, keep_float32: bool = False) -> np.ndarray:
        """Return rows whose plain Minkowski distance is the distance.

        ``keep_float32``: float32 is not converted where the rows need no transformation.
        """
        is_minkowski = self.distance.name in {*METRIC_CODES, "minkowski"}
        unchanged = is_minkowski and getattr(self.distance, "w", None) is None
        if keep_float32 and unchanged and isinstance(X, np.ndarray) and X.dtype == np.float32:
            return np.ascontiguousarray(X)
        return np.ascontiguousarray(self.distance.embed(X), dtype=float)

    def _distances(self, values: np.ndarray) -> np.ndarray:
        """Return the distances that belong to sums over columns."""
        if self.metric == "euclidean":
            return np.sqrt(values)
        if self.metric == "minkowski":
            roots: np.ndarray = values ** (1 / self.power)
            return roots
        return values

    def _value_at(self, r: float) -> float:
        """Return the sum over columns that belongs to the distance r."""
        if self.metric == "euclidean":
            return r * r
        return r**self.power if self.metric == "minkowski" else r


def _max_abs(Z: np.ndarray) -> float:
    """Return max|z| without copying Z."""
    return float(max(Z.max(initial=0.0), -Z.min(initial=0.0)))
