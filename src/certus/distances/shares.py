"""Distances that are ratios: Hamming, Canberra and Bray–Curtis."""

import numpy as np

from ..runtime.user_frame import warn_user
from . import blocks
from .base import Distance, Flag
from .reading import as_rows, nonnegative_weights, require_columns


class _Share(Distance):
    """A distance with unsquared feature weights w, as in SciPy."""

    def __init__(self, w: object = None):
        self.w = None if w is None else nonnegative_weights(w)

    def _weights(self, p: int) -> np.ndarray:
        if self.w is None:
            return np.ones(p)
        require_columns(len(self.w), p, "w")
        return self.w


class Hamming(_Share):
    """d(a, b) = the share of features in which a_l ≠ b_l; also called "matching".

    For codes and whole numbers. Floats are compared exactly (0.1 + 0.2 is not 0.3): numbers that
    are not whole cause a warning.

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights: a weighted share. None: all 1.

    Examples
    --------
    >>> from certus.distances import Hamming
    >>> Hamming().pairwise([[1, 2, 3, 4]], [[1, 2, 0, 4]])
    array([[0.25]])
    """

    name = "hamming"
    formula = "Σ w·1[a ≠ b] / Σ w"

    def pairwise(
        self, A: np.ndarray, B: np.ndarray | None = None, *, threads: int | None = None
    ) -> np.ndarray:
        for X in (A, B):
            if X is not None:
                for _, _, message in self.flags(X):
                    warn_user(message, UserWarning)
                    break
        return super().pairwise(A, B, threads=threads)

    def flags(self, X: object) -> list[Flag]:
        """Return rows with numbers that are not whole."""
        rows = as_rows(X)
        fractional = np.flatnonzero((rows != np.floor(rows)).any(axis=1))
        if not len(fractional):
            return []
        i = int(fractional[0])
        j = int(np.flatnonzero(rows[i] != np.floor(rows[i]))[0])
        return [(
            "not whole",
            fractional,
            f"hamming compares numbers exactly, and row {i}, column {j} contains {rows[i, j]:g}, "
            "which is not whole (0.1 + 0.2 is not 0.3): round X, or use metric=\"manhattan\"",
        )]  # fmt: skip

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        w = self._weights(A.shape[1])

        def share(block: np.ndarray) -> None:
            block /= w.sum()

        return blocks.sums_of_pairs(blocks.MISMATCH, A, B, w, finish=share, threads=threads)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        w = self._weights(A.shape[1])
        return ((A != B) * w).sum(axis=1) / w.sum()


class Canberra(_Share):
    """d(a, b) = Σ_l w_l |a_l − b_l| / (|a_l| + |b_l|), 0/0 = 0.

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights. None: all 1.

    Examples
    --------
    >>> from certus.distances import Canberra
    >>> Canberra().pairwise([[1.0, 0.0]], [[3.0, 0.0]])
    array([[0.5]])
    """

    name = "canberra"
    formula = "Σ w|Δ| / (|a| + |b|)"

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        w = self._weights(A.shape[1])
        return blocks.sums_of_pairs(blocks.CANBERRA, A, B, w, threads=threads)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        size = np.abs(A) + np.abs(B)
        shares = np.divide(np.abs(A - B), size, out=np.zeros_like(size), where=size > 0)
        return (shares * self._weights(A.shape[1])).sum(axis=1)


class BrayCurtis(_Share):
    """d(a, b) = Σ_l w_l |a_l − b_l| / Σ_l w_l |a_l + b_l|, 0/0 = 0.

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights. None: all 1.

    Examples
    --------
    >>> from certus.distances import BrayCurtis
    >>> BrayCurtis().pairwise([[1.0, 2.0]], [[3.0, 2.0]])
    array([[0.25]])
    """

    name = "braycurtis"
    formula = "Σ w|a − b| / Σ w|a + b|"

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        w = self._weights(A.shape[1])
        above = blocks.sums_of_pairs(blocks.ABSOLUTE, A, B, w, threads=threads)
        below = blocks.sums_of_pairs(blocks.ABSOLUTE, A, -B, w, threads=threads)
        return self._ratio(above, below)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        w = self._weights(A.shape[1])
        return self._ratio((np.abs(A - B) * w).sum(axis=1), (np.abs(A + B) * w).sum(axis=1))

    @staticmethod
    def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.divide(above, below, out=np.zeros_like(above), where=above > 0)
