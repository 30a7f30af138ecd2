r"""Lower bounds on distances from the leading principal coordinates, for rows of many columns.

In orthogonal coordinates y of x − c, split into the leading r and the rest,

    ‖x − q‖² = ‖y_x − y_q‖² + ‖rest_x − rest_q‖² ≥ ‖y_x − y_q‖² + (‖rest_x‖ − ‖rest_q‖)²

which is the squared distance of rows of r + 1 numbers, (y, ‖rest‖). The axes are the principal axes
of a sample of the rows, so that the leading coordinates account for most of a distance. Two passes
over the short rows:

1. the distances of the few rows with the smallest bounds are computed; the k-th of them is U, and
   no neighbour is farther away;
2. all rows whose bound is at most U are collected. Float32 products of whole rows exclude most of
   them, and the distances of those that remain are computed by differences. All other rows are
   proven to be farther.

Queries with more than ``MAX_CANDIDATES`` such rows are left to ``products.py``.

*Rounding.* ‖rest‖² = ‖x − c‖² − ‖y‖² has an error of at most γ‖x − c‖², so that of ‖rest‖ is at
most √γ‖x − c‖ and that of a squared distance at most 3√γ(M + ‖q − c‖)², M = max‖x − c‖, the error
of y included.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data.rows import spread
from ...runtime.pool import run_on_threads
from .filter import UNIT_ROUNDOFF, Filter, recheck, smallest_k
from .lists import empty_lists, even_slices

if TYPE_CHECKING:
    from .products import Products

MIN_COLUMNS, MIN_ROWS, MIN_QUERIES = (
    256,
    4096,
    1024,
)  # below, the axes cost more than they save
N_COORDINATES = 160  # numbers kept of a row: r + 1
SAMPLE_ROWS = 4096  # rows whose principal axes are computed
FIRST_COORDINATES = 32  # leading coordinates of the first pass, which finds U from …
SPARE_ROWS = 22  # … the distances of k rows and this many more
MAX_CANDIDATES = 1024  # rows that may be collected for a query
GROUP_QUERIES = 256  # queries of a tile of products
FLOAT32 = np.dtype(np.float32)


def is_worthwhile(n: int, p: int, queries: int) -> bool:
    """Return whether the bounds save more time than the axes cost."""
    return p >= MIN_COLUMNS and n >= MIN_ROWS and queries >= MIN_QUERIES


class PrincipalCoordinates:
    """Principal coordinates of all rows: O(p³ + n·p·r) time, n·r float32 of memory."""

    def __init__(self, products: "Products"):
        n, p = products.X.shape
        sample = products.centered(products.X[spread(n, min(SAMPLE_ROWS, n))])
        _, axes = np.linalg.eigh(np.dot(sample.T, sample))
        self.axes = np.ascontiguousarray(axes[:, :-N_COORDINATES:-1])  # (p, r), the longest first
        copy, square = np.empty((n, N_COORDINATES), dtype=np.float32), np.empty(n)
        parts = even_slices(n, 1024)

        def rotate(i: int) -> None:
            Y = self.rotated(products.centered(products.X[parts[i]]))
            copy[parts[i]] = Y
            square[parts[i]] = np.einsum("ij,ij->i", Y, Y)

        run_on_threads(rotate, len(parts), products.threads)
        # the axes are orthogonal up to a small multiple of p roundings
        gamma = 16 * p * UNIT_ROUNDOFF[np.dtype(float)]
        self.filter = Filter(copy, square, N_COORDINATES, 3 * np.sqrt(gamma))
        first = copy[:, :FIRST_COORDINATES]
        square = np.einsum("ij,ij->i", first, first).astype(float)
        self.first = Filter(first, square, FIRST_COORDINATES)

    def rotated(self, Z: np.ndarray) -> np.ndarray:
        """Return (y, ‖rest‖) of centred rows Z."""
        y = np.dot(Z, self.axes)
        remainder = np.einsum("ij,ij->i", Z, Z) - np.einsum("ij,ij->i", y, y)
        return np.column_stack([y, np.sqrt(np.maximum(remainder, 0.0))])


class PrincipalSearch(NamedTuple):
    """Search of groups of queries by principal coordinates."""

    products: "Products"
    Q: np.ndarray
    k: int
    coordinates: PrincipalCoordinates
    queries: int = GROUP_QUERIES

    def group(self, i: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the values and rows of queries i, and whether they are proven."""
        products, q = self.products, np.ascontiguousarray(self.Q[i])
        Z = products.centered(q)
        Y = self.coordinates.rotated(Z)
        values, rows = empty_lists(len(q), self.k + SPARE_ROWS, FLOAT32)
        self.coordinates.first.scan(Y[:, :FIRST_COORDINATES], values, rows)
        U = smallest_k(recheck(products.X, q, rows), rows, self.k)[0][:, -1] * products.scale**2
        rows, counts = self._candidates(Y, U)
        proven = counts <= MAX_CANDIDATES
        counts[~proven] = 0
        self._narrow(Z, U, rows, counts)
        rows = np.ascontiguousarray(rows[:, : max(self.k, int(counts.max(initial=0)))])
        rows[np.arange(rows.shape[1]) >= counts[:, None]] = -1
        return *smallest_k(recheck(products.X, q, rows), rows, self.k), proven

    def _candidates(self, Y: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows whose bound is at most U, and how many each query has."""
        from ...kernels.neighbors.nearest import collect

        limit = self._limit(self.coordinates.filter, Y, U)
        counts = np.zeros(len(Y), dtype=np.intp)
        rows = np.empty((len(Y), MAX_CANDIDATES), dtype=np.intp)
        self.coordinates.filter.tiles(Y, lambda T, n, a: collect(T, n, a, limit, counts, rows))
        return rows, counts

    def _narrow(self, Z: np.ndarray, U: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> None:
        """Drop the candidates that products of whole rows show to be farther than U."""
        from ...kernels.neighbors.nearest import narrow

        copy, square = self.products.filter.copy, self.products.filter.square.astype(FLOAT32)
        limit = self._limit(self.products.filter, Z, U)
        narrow(copy, square, (-2 * Z).astype(FLOAT32), limit, counts, rows)

    @staticmethod
    def _limit(filter: Filter, Z: np.ndarray, U: np.ndarray) -> np.ndarray:
        """Return the largest ‖x‖² − 2xᵀq that a row within U can have, rounded up."""
        length: Any = np.einsum("ij,ij->i", Z, Z)
        limit = U * (1 + 1e-9) - length + filter.error(np.sqrt(length), FLOAT32)
        return np.nextafter(limit.astype(FLOAT32), np.float32(np.inf))
