"""A distance of your own: a function of two blocks of rows, or of two rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..data.csr import SparseMatrix
from .base import Distance

ROWS = 256  # of each side in one call

Side = np.ndarray | list[SparseMatrix]  # rows of one side, as the function takes them


class UserDistance(Distance):
    """d(a, b) = function(a, b, **params).

    Parameters
    ----------
    function : callable
        Of two blocks of rows, (r, p) and (s, p), that returns all their distances, (r, s). A
        function of two rows that returns a number, as scikit-learn takes, is recognised by trying
        and served; it is called once for each pair, which is slow. So is a function of two sparse
        rows, (1, p) each.
    **params
        Passed on to it.

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
            raise TypeError(f"{function!r} is no function of two blocks of rows")
        self.function, self.params = function, params
        self.name = str(getattr(function, "__name__", type(function).__name__))

    def _given(self) -> dict[str, Any]:
        return {"function": self.function, **self.params}

    def parameters(self) -> dict[str, Any]:
        raise TypeError(f"metric {self.name} is a function of yours: it has no definition here")

    def __repr__(self) -> str:
        return f"UserDistance({self.name})"

    def _of_blocks(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Does the function take blocks? Tried on one pair of rows, each repeated."""
        # never p rows: a product of the two blocks would be taken for their distances
        r, s = (2, 3) if len(a) > 3 else (5, 7)
        try:
            blocks = np.tile(a, (r, 1)), np.tile(b, (s, 1))
            found = np.asarray(self.function(*blocks, **self.params), dtype=np.float64)
        except Exception:  # whatever a function of two rows does with blocks
            return False
        return found.shape == (r, s)

    def _of_sparse_rows(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Does the function take two sparse rows, and not two arrays? Tried on one pair."""
        try:
            float(self.function(a, b, **self.params))
        except Exception:  # whatever a function of sparse rows does with arrays
            try:
                float(self.function(csr_array(a[None]), csr_array(b[None]), **self.params))
            except Exception:  # it takes neither: the first answer is the one to see
                return False
            return True
        return False

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        n, m = len(A), len(B)
        D = np.empty((n, m))
        if n == 0 or m == 0:
            return D
        of_blocks = self._of_blocks(A[0], B[0])
        left: Side = A
        right: Side = B
        if not of_blocks and self._of_sparse_rows(A[0], B[0]):
            left, right = _sparse_rows(A), _sparse_rows(B)
        for i in range(0, n, ROWS):
            for j in range(0, m, ROWS):
                a, b = left[i : i + ROWS], right[j : j + ROWS]
                D[i : i + ROWS, j : j + ROWS] = self._block(a, b) if of_blocks else self._ones(a, b)
        bad = np.isnan(D)
        if bad.any():
            i, j = (int(k) for k in np.argwhere(bad)[0])
            raise ValueError(f"metric {self.name} is not a number for rows {i} and {j}")
        return D

    def _block(self, a: Side, b: Side) -> np.ndarray:
        found = np.asarray(self.function(a, b, **self.params), dtype=np.float64)
        if found.shape != (len(a), len(b)):
            raise ValueError(
                f"metric {self.name} returned an array of shape {found.shape} for {len(a)} and "
                f"{len(b)} rows: return all their distances, {(len(a), len(b))}"
            )
        return found

    def _ones(self, a: Side, b: Side) -> np.ndarray:
        found = [[float(self.function(x, z, **self.params)) for z in b] for x in a]
        return np.array(found)


def _sparse_rows(A: np.ndarray) -> list[SparseMatrix]:
    return [csr_array(a[None]) for a in A]
