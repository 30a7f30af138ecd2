"""The nearest rows of a data set, by whichever exact way is fastest.

    tree          k-d tree, for few columns
    products      products of matrices, rechecked, for Euclidean distances of more columns
    differences   all differences, for other Minkowski distances and for few rows or queries
    tiles         tiles of the matrix of distances, for all else

All give the same answer: rows by (distance, number), so that ties go to the smallest number. Which
of them runs decides about time alone.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ...distances import Distance
from ...runtime.config import effective_threads
from .differences import Differences
from .lists import Best, Within, those, without_own
from .products import Products
from .tiles import Tiles
from .tree import Tree

SQUARES, ABSOLUTE, LARGEST, POWER = range(4)  # kernels/neighbors/nearest.py
CODE = {
    "euclidean": SQUARES, "sqeuclidean": SQUARES, "manhattan": ABSOLUTE, "chebyshev": LARGEST,
    "minkowski": POWER,
}  # fmt: skip
SAME = {1.0: "manhattan", 2.0: "euclidean", float("inf"): "chebyshev"}  # of Minkowski's p
TREE_COLUMNS = 15  # up to which a tree is thought of
AT_ONCE = 5  # columns up to which a tree is built for any number of queries …
MANY = 100  # … and beyond, for as many
TRIAL = 32  # queries that show how much of the tree is looked at
# A row that a tree looks at costs as much as this many rows looked at one after another (measured,
# 100,000 rows of 3 to 12 columns): by products, or by differences
ROW_OF_TREE = {"products": 64, "differences": 16}
FEW_ROWS = 1024  # below which differences are as fast as products
FEW_QUERIES = 8
MOST_POWER = 16  # beyond which powers of ordinary numbers vanish
OF_RADIUS = 10  # neighbours that stand for a radius in the trial


class DenseIndex:
    """Rows to be searched.

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
        self.asked = self.algorithm = algorithm  # the second: what ran last
        self._reach: float | None = None
        self._engines: dict[str, Any] = {}
        self._measured: bool | None = None  # is the tree faster?
        if self.metric is not None:
            self.power = float(distance.embedded_p or 2.0)
            self.metric = (
                SAME.get(self.power, "minkowski") if self.metric == "minkowski" else self.metric
            )
            self.code = CODE[self.metric]
            self.Z = self._embedded(X, keep=True)

    def kneighbors(self, Q: np.ndarray | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(distances, rows), each (queries, k), ascending. Q None: the rows themselves, each
        without itself. Rows of −1, at infinity: there are fewer that can be compared."""
        if Q is None:
            return without_own(*self._nearest(self.X, k + 1))
        return self._nearest(Q, k)

    def radius(self, Q: np.ndarray | None, r: float) -> Within:
        """All rows at a distance of at most r, those of a query by number."""
        own = Q is None
        Q = self.X if Q is None else Q
        engine, queries = self._engine(Q, OF_RADIUS)
        if isinstance(engine, Tiles):
            found = engine.within(queries, r)
            distances = found.values
        else:
            # the sum that belongs to r is rounded: look a little farther, then at the distance
            found = engine.within(queries, self._sum_of(r) * (1 + 1e-14))
            distances = self._distances(found.values)
        return those(found, distances, r, own)

    def _nearest(self, Q: np.ndarray, k: int) -> Best:
        """With distances for values."""
        k_here = min(k, self.n)
        engine, queries = self._engine(Q, k_here)
        best: Best = engine.nearest(queries, k_here)
        if isinstance(engine, Tiles):
            return best
        return best._replace(values=self._distances(best.values))

    # --- which way ------------------------------------------------------------------------------

    def _engine(self, Q: np.ndarray, k: int) -> tuple[Any, np.ndarray]:
        """What searches, and the queries as it takes them."""
        if self.metric is None or not self._in_range(self.Z):
            return self._made("tiles"), self._read_queries(Q)
        queries = self.Z if Q is self.X else self._embedded(Q)
        queries = np.ascontiguousarray(queries, dtype=float)
        if not self._in_range(queries):
            return self._made("tiles"), self._read_queries(Q)
        name = "tree" if self._by_tree(queries, k) else self._brute(len(queries))
        return self._made(name), queries

    def _in_range(self, Z: np.ndarray) -> bool:
        """Do sums of powers neither overflow nor vanish? ``compare`` is right in any case."""
        known = Z is self.Z and self._reach is not None
        reach = self._reach if known else _largest(Z)
        if Z is self.Z:
            self._reach = reach
        power = self.power if self.code in (SQUARES, POWER) else 1.0
        low, high = 1e-280 ** (1 / power), 1e290 ** (1 / power) / (1 + Z.shape[1])
        assert reach is not None
        return reach < high and (reach > low or reach == 0) and power <= MOST_POWER

    def _by_tree(self, Q: np.ndarray, k: int) -> bool:
        n, p = self.Z.shape
        if self.asked == "brute" or n == 0 or p == 0:
            return False
        if self.asked == "kd_tree":
            return True
        few = p > AT_ONCE and "tree" not in self._engines and len(Q) < MANY
        if p > TREE_COLUMNS or few:
            return False
        if self._measured is None:
            step = max(1, len(Q) // TRIAL)
            seen = self._made("tree").seen(np.ascontiguousarray(Q[::step][:TRIAL]), k)
            self._measured = seen * ROW_OF_TREE[self._brute(len(Q))] < n
        return self._measured

    def _brute(self, queries: int) -> str:
        enough = self.n >= FEW_ROWS and queries >= FEW_QUERIES and self.Z.shape[1] > 0
        return "products" if self.code == SQUARES and enough else "differences"

    def _made(self, name: str) -> Any:
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
        kind = Tree if name == "tree" else Differences
        return kind(self.Z, self.code, self.power, self.threads)

    @cached_property
    def _read(self) -> np.ndarray:
        return self.distance.read(self.X)

    def _read_queries(self, Q: np.ndarray) -> np.ndarray:
        return self._read if Q is self.X else self.distance.read(Q)

    # --- rows and distances ---------------------------------------------------------------------

    def _embedded(self, X: np.ndarray, keep: bool = False) -> np.ndarray:
        """``keep``: float32 stays float32 where rows are compared as they are."""
        plain = self.distance.name in {*CODE, "minkowski"}
        as_they_are = plain and getattr(self.distance, "w", None) is None
        if keep and as_they_are and isinstance(X, np.ndarray) and X.dtype == np.float32:
            return np.ascontiguousarray(X)
        return np.ascontiguousarray(self.distance.embed(X), dtype=float)

    def _distances(self, values: np.ndarray) -> np.ndarray:
        if self.metric == "euclidean":
            return np.sqrt(values)
        if self.metric == "minkowski":
            roots: np.ndarray = values ** (1 / self.power)
            return roots
        return values

    def _sum_of(self, r: float) -> float:
        if self.metric == "euclidean":
            return r * r
        return r**self.power if self.metric == "minkowski" else r


def _largest(Z: np.ndarray) -> float:
    """max|z|, without a copy."""
    return float(max(Z.max(initial=0.0), -Z.min(initial=0.0)))
