r"""A lower bound of distances from few numbers a row, for rows of many columns.

In orthogonal coordinates y of x − c, split into the leading r and the rest,

    ‖x − q‖² = ‖y_x − y_q‖² + ‖rest_x − rest_q‖² ≥ ‖y_x − y_q‖² + (‖rest_x‖ − ‖rest_q‖)²

which is the squared distance of rows of r + 1 numbers, (y, ‖rest‖). With principal axes of some of
the rows the leading numbers carry most of a distance. Rows with the least bounds are kept, as many
more than k as the rest may hide, and rechecked as in ``products.py``.

*Rounding.* ‖rest‖² = ‖x − c‖² − ‖y‖² is off by at most γ‖x − c‖², so that ‖rest‖ is off by
√γ‖x − c‖ and a squared distance by 3√γ(M + ‖q − c‖)², M = max‖x − c‖, at most, what y is off by
included.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..._pool import run_on_threads
from ...rows import spread
from .lists import lanes

if TYPE_CHECKING:
    from .products import Products

COLUMNS, ROWS, QUERIES = 256, 4096, 1024  # from which the axes are worth their price
NUMBERS = 128  # of a row: r + 1
SPARE = 246  # rows that are kept beside the k
SAMPLE = 4096  # rows whose axes are taken


def pays(n: int, p: int, queries: int) -> bool:
    return p >= COLUMNS and n >= ROWS and queries >= QUERIES


class Leading:
    """O(p³ + n·p·r) once, and memory for n·r float32."""

    def __init__(self, of: "Products"):
        from .products import UNIT, Filter

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

    def rotated(self, Z: np.ndarray) -> np.ndarray:
        """(y, ‖rest‖) of rows about c."""
        y = np.dot(Z, self.axes)
        rest = np.einsum("ij,ij->i", Z, Z) - np.einsum("ij,ij->i", y, y)
        return np.column_stack([y, np.sqrt(np.maximum(rest, 0.0))])
