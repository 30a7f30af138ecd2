r"""A lower bound of distances from few numbers a row, for rows of many columns.

In orthogonal coordinates y of x − c, split into the leading r and the rest,

    ‖x − q‖² = ‖y_x − y_q‖² + ‖rest_x − rest_q‖² ≥ ‖y_x − y_q‖² + (‖rest_x‖ − ‖rest_q‖)²

which is the squared distance of rows of r + 1 numbers, (y, ‖rest‖). With principal axes of some of
the rows the leading numbers carry most of a distance. Two passes over the short rows:

1. the few rows with the least bounds are measured; the k-th of them is U, and no neighbour is
   farther away;
2. all rows whose bound is not above U are collected. Float32 products of whole rows leave few of
   them, which are measured by differences. All others are proven to be farther.

Queries with more than ``ROOM`` such rows are left to ``products.py``.

*Rounding.* ‖rest‖² = ‖x − c‖² − ‖y‖² is off by at most γ‖x − c‖², so that ‖rest‖ is off by
√γ‖x − c‖ and a squared distance by 3√γ(M + ‖q − c‖)², M = max‖x − c‖, at most, what y is off by
included.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data.rows import spread
from ...runtime.pool import run_on_threads
from .filter import UNIT, Filter, least, recheck
from .lists import empty, lanes

if TYPE_CHECKING:
    from .products import Products

COLUMNS, ROWS, QUERIES = 256, 4096, 1024  # from which the axes are worth their price
NUMBERS = 160  # of a row: r + 1
SAMPLE = 4096  # rows whose axes are taken
FEW, SPARE = 32, 22  # for U: leading numbers, and rows that are measured beside the k
ROOM = 1024  # rows that may be collected for a query
GROUP = 256  # queries that are looked at together
SINGLE = np.dtype(np.float32)


def pays(n: int, p: int, queries: int) -> bool:
    return p >= COLUMNS and n >= ROWS and queries >= QUERIES


class Leading:
    """O(p³ + n·p·r) once, and memory for n·r float32."""

    def __init__(self, of: "Products"):
        n, p = of.X.shape
        some = of.viewed(of.X[spread(n, min(SAMPLE, n))])
        _, axes = np.linalg.eigh(np.dot(some.T, some))
        self.axes = np.ascontiguousarray(axes[:, :-NUMBERS:-1])  # (p, r), the longest first
        copy, square = np.empty((n, NUMBERS), dtype=np.float32), np.empty(n)
        parts = lanes(n, 1024)

        def rotate(i: int) -> None:
            Y = self.rotated(of.viewed(of.X[parts[i]]))
            copy[parts[i]] = Y
            square[parts[i]] = np.einsum("ij,ij->i", Y, Y)

        run_on_threads(rotate, len(parts), of.threads)
        # axes are orthogonal to a few p roundings
        gamma = 16 * p * UNIT[np.dtype(float)]
        self.filter = Filter(copy, square, NUMBERS, 3 * np.sqrt(gamma))
        few = copy[:, :FEW]
        self.first = Filter(few, np.einsum("ij,ij->i", few, few).astype(float), FEW)

    def rotated(self, Z: np.ndarray) -> np.ndarray:
        """(y, ‖rest‖) of rows about c."""
        y = np.dot(Z, self.axes)
        rest = np.einsum("ij,ij->i", Z, Z) - np.einsum("ij,ij->i", y, y)
        return np.column_stack([y, np.sqrt(np.maximum(rest, 0.0))])


class LeadingSearch(NamedTuple):
    """The search of groups of queries."""

    of: "Products"
    Q: np.ndarray
    k: int
    leading: Leading
    queries: int = GROUP

    def group(self, i: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """values, rows, and whether they are proven, of queries i."""
        of, q = self.of, np.ascontiguousarray(self.Q[i])
        Z = of.viewed(q)
        Y = self.leading.rotated(Z)
        values, rows = empty(len(q), self.k + SPARE, SINGLE)
        self.leading.first.scan(Y[:, :FEW], values, rows)
        U = least(recheck(of.X, q, rows), rows, self.k)[0][:, -1] * of.scale**2
        rows, counts = self._not_farther(Y, U)
        proven = counts <= ROOM
        counts[~proven] = 0
        self._narrow(Z, U, rows, counts)
        rows = np.ascontiguousarray(rows[:, : max(self.k, int(counts.max(initial=0)))])
        rows[np.arange(rows.shape[1]) >= counts[:, None]] = -1
        return *least(recheck(of.X, q, rows), rows, self.k), proven

    def _not_farther(self, Y: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of which the bound is not above U, and how many."""
        from ...kernels.neighbors.nearest import collect

        limit = self._limit(self.leading.filter, Y, U)
        counts = np.zeros(len(Y), dtype=np.intp)
        rows = np.empty((len(Y), ROOM), dtype=np.intp)
        self.leading.filter.tiles(Y, lambda T, n, a: collect(T, n, a, limit, counts, rows))
        return rows, counts

    def _narrow(self, Z: np.ndarray, U: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> None:
        """Drop those that are farther by products of whole rows."""
        from ...kernels.neighbors.nearest import narrow

        copy, square = self.of.filter.copy, self.of.filter.square.astype(SINGLE)
        limit = self._limit(self.of.filter, Z, U)
        narrow(copy, square, (-2 * Z).astype(SINGLE), limit, counts, rows)

    @staticmethod
    def _limit(filter: Filter, Z: np.ndarray, U: np.ndarray) -> np.ndarray:
        """What ‖x‖² − 2xᵀq of a row within U may be, rounded up."""
        length: Any = np.einsum("ij,ij->i", Z, Z)
        most = U * (1 + 1e-9) - length + filter.error(np.sqrt(length), SINGLE)
        return np.nextafter(most.astype(SINGLE), np.float32(np.inf))
