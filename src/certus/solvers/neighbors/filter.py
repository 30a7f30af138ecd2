"""Products of float32 rows with queries, their error bound, and lists of the smallest values."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ...runtime.pool import give_up_if_stopped

TILE_ROWS = 1024  # rows of a tile of products
MAX_SWEPT_COLUMNS = 64  # up to here, one compiled loop computes products and updates the lists
SWEEP_ROWS = 1 << 16  # rows of that loop between two checks for an interrupt
UNIT_ROUNDOFF = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
SQUARES = 0  # kernels/neighbors/nearest.py


class Filter(NamedTuple):
    """Rows of which ‖x‖² − 2xᵀq selects candidates, with a bound on its error."""

    copy: np.ndarray  # (n, p) in float32, padded with columns of zeros
    square: np.ndarray  # (n,): ‖x‖²
    p: int
    slack: float = 0.0  # further error of a squared distance, as a multiple of (M + ‖q‖)²

    @property
    def norm(self) -> float:
        """M = max‖x‖."""
        return float(np.sqrt(self.square.max(initial=0.0)))

    def error(self, length: np.ndarray, dtype: np.dtype) -> Any:
        """Return E of ``products.py`` for queries of norm ``length``."""
        M, p = self.norm, self.p
        E = 1.02 * UNIT_ROUNDOFF[dtype] * ((2 * p + 8) * M * length + (p + 4) * M**2)
        return E + 1e-37 * p + self.slack * (M + length) ** 2

    def sweep(self, Z: np.ndarray, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Fill the lists in one compiled loop, for few columns; return the largest of each list."""
        from ...kernels.neighbors.nearest import LANES, sweep

        copy, m = self.copy, len(Z)
        Q = np.zeros((copy.shape[1], LANES), dtype=np.float32)
        Q[: Z.shape[1], :m] = -2 * Z.T
        worst = np.full(LANES, -np.inf, dtype=np.float32)
        worst[:m] = np.inf
        square = self.square.astype(np.float32)
        for a in range(0, len(copy), SWEEP_ROWS):
            give_up_if_stopped()
            part = slice(a, a + SWEEP_ROWS)
            sweep(copy[part], square[part], Q, a, worst, values, rows)
        return worst[:m]

    def scan(
        self, Z: np.ndarray, values: np.ndarray, rows: np.ndarray, read: Any = None
    ) -> np.ndarray:
        """Fill the lists from BLAS products, tile by tile; return the largest of each list.

        ``read``: a function from a slice to rows, instead of the float32 copy.
        """
        from ...kernels.neighbors.nearest import scan

        worst = np.full(len(Z), np.inf, dtype=values.dtype)

        def update(T: np.ndarray, square: np.ndarray, a: int) -> None:
            scan(T, square, a, worst, values, rows)

        self.tiles(Z, update, values.dtype, read)
        return worst

    def tiles(
        self, Z: np.ndarray, visit: Any, dtype: DTypeLike = np.float32, read: Any = None
    ) -> None:
        """Call ``visit`` with −2xᵀq (rows × queries), ‖x‖² and the first row of each tile."""
        columns = np.ascontiguousarray(-2 * Z.T, dtype=dtype)
        square = self.square.astype(dtype, copy=False)
        T = np.empty((TILE_ROWS, len(Z)), dtype=dtype)
        for a in range(0, len(self.copy), TILE_ROWS):
            give_up_if_stopped()
            part = slice(a, min(a + TILE_ROWS, len(self.copy)))
            tile = T[: part.stop - a]
            np.dot(self.copy[part] if read is None else read(part), columns, out=tile)
            visit(tile, square[part], a)


def recheck(X: np.ndarray, q: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return squared distances by differences; inf where a row is −1."""
    from ...kernels.neighbors.nearest import pairs

    squares = np.full(rows.shape, np.inf)
    pairs(X, q, SQUARES, 2.0, rows, squares)
    return squares


def smallest_k(true: np.ndarray, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k smallest of each query, ascending by (distance, row)."""
    order = np.lexsort((rows, true), axis=1)[:, :k]
    return np.take_along_axis(true, order, 1), np.take_along_axis(rows, order, 1)
