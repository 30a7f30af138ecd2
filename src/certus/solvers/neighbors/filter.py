"""Rows in float32, how far off their products are, and lists of the least of them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ...runtime.pool import give_up_if_stopped

TILE = 1024  # rows of a tile of products
SWEPT = 64  # columns up to which products and lists are one loop
SWEEP = 1 << 16  # rows of it between two chances to stop
UNIT = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
SQUARES = 0  # kernels/neighbors/nearest.py


class Filter(NamedTuple):
    copy: np.ndarray  # (n, p) in float32, p filled up with zeros
    square: np.ndarray  # (n,): ‖x‖²
    p: int
    slack: float = 0.0  # times (M + ‖q‖)²: what else squared distances are off by

    @property
    def norm(self) -> float:
        return float(np.sqrt(self.square.max(initial=0.0)))

    def error(self, length: np.ndarray, dtype: np.dtype) -> Any:
        """E of ``products.py`` for queries of these lengths."""
        M, p = self.norm, self.p
        E = 1.02 * UNIT[dtype] * ((2 * p + 8) * M * length + (p + 4) * M**2)
        return E + 1e-37 * p + self.slack * (M + length) ** 2

    def sweep(self, Z: np.ndarray, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Few columns: products and lists in one. The worst of each list."""
        from ...kernels.neighbors.nearest import LANES, sweep

        copy, m = self.copy, len(Z)
        Q = np.zeros((copy.shape[1], LANES), dtype=np.float32)
        Q[: Z.shape[1], :m] = -2 * Z.T
        worst = np.full(LANES, -np.inf, dtype=np.float32)
        worst[:m] = np.inf
        square = self.square.astype(np.float32)
        for a in range(0, len(copy), SWEEP):
            give_up_if_stopped()
            part = slice(a, a + SWEEP)
            sweep(copy[part], square[part], Q, a, worst, values, rows)
        return worst[:m]

    def scan(
        self, Z: np.ndarray, values: np.ndarray, rows: np.ndarray, read: Any = None
    ) -> np.ndarray:
        """Products by BLAS, tile by tile, of what ``read`` gives; or of the copy."""
        from ...kernels.neighbors.nearest import scan

        worst = np.full(len(Z), np.inf, dtype=values.dtype)

        def look(T: np.ndarray, square: np.ndarray, a: int) -> None:
            scan(T, square, a, worst, values, rows)

        self.tiles(Z, look, values.dtype, read)
        return worst

    def tiles(
        self, Z: np.ndarray, look: Any, dtype: DTypeLike = np.float32, read: Any = None
    ) -> None:
        """−2xᵀq (rows × queries) and ‖x‖² for ``look``, a tile of rows at a time."""
        columns = np.ascontiguousarray(-2 * Z.T, dtype=dtype)
        square = self.square.astype(dtype, copy=False)
        T = np.empty((TILE, len(Z)), dtype=dtype)
        for a in range(0, len(self.copy), TILE):
            give_up_if_stopped()
            part = slice(a, min(a + TILE, len(self.copy)))
            tile = T[: part.stop - a]
            np.dot(self.copy[part] if read is None else read(part), columns, out=tile)
            look(tile, square[part], a)


def recheck(X: np.ndarray, q: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Squared distances by differences, inf for rows of −1."""
    from ...kernels.neighbors.nearest import pairs

    found = np.full(rows.shape, np.inf)
    pairs(X, q, SQUARES, 2.0, rows, found)
    return found


def least(true: np.ndarray, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k least of each line, ascending by (distance, row)."""
    order = np.lexsort((rows, true), axis=1)[:, :k]
    return np.take_along_axis(true, order, 1), np.take_along_axis(rows, order, 1)
