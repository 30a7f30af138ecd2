"""Distances defined by a user's function of two blocks of rows, or of two rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..data.csr import SparseMatrix
from .base import Distance

BLOCK_ROWS = 256  # of each side in one call of the function

Side = np.ndarray | list[SparseMatrix]  # rows of one side, as the function takes them


class UserDistance(Distance):
    """d(a, b) = function(a, b, **params).

    Parameters
    ----------
    function : callable
        Of two blocks of rows, (r, p) and (s, p), that returns all their distances, (r, s). A
        function of two rows that returns a number, as scikit-learn takes it, is recognised by a
        trial call; it is called once for each pair, which is slow. So is a function of two sparse
        rows, (1, p) each.
    **params
        Passed to the function.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.distances import UserDistance
    >>> def most(A, B):
    ...     return np.abs(A[:, None] - B).max(axis=2)
    >>> UserDistance(most).pairwise([[0.0, 0.0]], [[1.0, 2.0], [3.0, 0.0]])
    array([[2., 3.]])
    >>> UserDistance(lambda a, b: abs(a - b).sum()).pairwise([[0.0, 0.0]], [[1.0, 2.0]])
    array([[3.]])
    """

    formula = "your function"

    def __init__(self, function: Callable[..., Any], **params: object):
        if not callable(function):
            raise TypeError(f"{function!r} is not a function of two blocks of rows")
        self.function, self.params = function, params
        self.name = str(getattr(function, "__name__", type(function).__name__))

    def _given(self) -> dict[str, Any]:
        return {"function": self.function, **self.params}

    def parameters(self) -> dict[str, Any]:
        raise TypeError(f"metric {self.name} is a user's function, which has no definition here")

    def __repr__(self) -> str:
        return f"UserDistance({self.name})"

    def _takes_blocks(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Return whether the function takes blocks, by calling it on two rows, each repeated."""
        # never p rows, so that a product of the two blocks is not mistaken for their distances
        r, s = (2, 3) if len(a) > 3 else (5, 7)
        try:
            blocks = np.tile(a, (r, 1)), np.tile(b, (s, 1))
            distances = np.asarray(self.function(*blocks, **self.params), dtype=np.float64)
        except Exception:  # a function of two rows may raise anything on blocks
            return False
        return distances.shape == (r, s)

    def _takes_sparse_rows(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Return whether the function takes two sparse rows but not two arrays, by calling it."""
        try:
            float(self.function(a, b, **self.params))
        except Exception:  # a function of sparse rows may raise anything on arrays
            try:
                float(self.function(csr_array(a[None]), csr_array(b[None]), **self.params))
            except Exception:  # it takes neither: the error on arrays is the one to show
                return False
            return True
        return False

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        n, m = len(A), len(B)
        D = np.empty((n, m))
        if n == 0 or m == 0:
            return D
        takes_blocks = self._takes_blocks(A[0], B[0])
        left: Side = A
        right: Side = B
        if not takes_blocks and self._takes_sparse_rows(A[0], B[0]):
            left, right = _sparse_rows(A), _sparse_rows(B)
        for i in range(0, n, BLOCK_ROWS):
            for j in range(0, m, BLOCK_ROWS):
                a, b = left[i : i + BLOCK_ROWS], right[j : j + BLOCK_ROWS]
                D[i : i + BLOCK_ROWS, j : j + BLOCK_ROWS] = (
                    self._block(a, b) if takes_blocks else self._pair_by_pair(a, b)
                )
        bad = np.isnan(D)
        if bad.any():
            i, j = (int(k) for k in np.argwhere(bad)[0])
            raise ValueError(f"metric {self.name} is NaN for rows {i} and {j}")
        return D

    def _block(self, a: Side, b: Side) -> np.ndarray:
        distances = np.asarray(self.function(a, b, **self.params), dtype=np.float64)
        if distances.shape != (len(a), len(b)):
            raise ValueError(
                f"metric {self.name} returned an array of shape {distances.shape} for {len(a)} and "
                f"{len(b)} rows: return all their distances, {(len(a), len(b))}"
            )
        return distances

    def _pair_by_pair(self, a: Side, b: Side) -> np.ndarray:
        distances = [[float(self.function(x, z, **self.params)) for z in b] for x in a]
        return np.array(distances)


def _sparse_rows(A: np.ndarray) -> list[SparseMatrix]:
    return [csr_array(a[None]) for a in A]
