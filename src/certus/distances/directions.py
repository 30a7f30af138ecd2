"""Distances between directions: cosine, correlation (Pearson) and rank correlation (Spearman).

    1 − cos(a, b) = ½ ‖a/‖a‖ − b/‖b‖‖²

so that each is the squared Euclidean distance of rows of length 1/√2, accurate for small angles. A
row without a direction (zeros; for the correlations: a constant) is given an extra direction
orthogonal to all others: its distance to another such row is 0, to every other row 1. ``flags``
names such rows.
"""

import numpy as np

from ..text.format import count, listed
from .base import Distance, Flag
from .minkowski import squared_differences
from .reading import as_rows, nonnegative_weights, require_columns

SQRT_HALF = np.sqrt(0.5)


class Cosine(Distance):
    """d(a, b) = 1 − Σ a_l b_l / (‖a‖‖b‖).

    A row of zeros is at distance 0 from another one and at 1 from every other row.

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights in the three sums, as in SciPy. None: all 1.

    Examples
    --------
    >>> from certus.distances import Cosine
    >>> Cosine().pairwise([[1.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]).round(12)
    array([[0., 1.],
           [1., 1.]])
    """

    name = "cosine"
    formula = "1 − cos(a, b)"
    embedded_metric = "sqeuclidean"
    embedded_p = 2.0
    no_direction = (
        "zero row",
        "{} of zeros ({}): {} at cosine distance 1 from every row that has a direction",
    )

    def __init__(self, w: object = None):
        self.w = None if w is None else nonnegative_weights(w)

    def embed(self, X: np.ndarray) -> np.ndarray:
        """Return rows of length 1/√2 with p + 1 columns, the last for rows without a direction."""
        return self._embedded(as_rows(X))

    def _embedded(self, rows: np.ndarray) -> np.ndarray:
        vectors = self._vectors(rows)
        n, p = vectors.shape
        out = np.zeros((n, p + 1))
        most = np.max(np.abs(vectors), axis=1, initial=0.0)
        no_direction = most == 0
        unit = np.divide(vectors, most[:, None], out=out[:, :p], where=~no_direction[:, None])
        length = np.sqrt(np.einsum("ij,ij->i", unit, unit))
        unit *= np.divide(SQRT_HALF, length, out=np.zeros(n), where=~no_direction)[:, None]
        out[no_direction, p] = SQRT_HALF
        return out

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        if self.w is None:
            return rows
        require_columns(len(self.w), rows.shape[1], "w")
        return rows * np.sqrt(self.w)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        same = A is B
        A = self._embedded(A)
        return squared_differences(A, A if same else self._embedded(B), None, threads)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return ((self._embedded(A) - self._embedded(B)) ** 2).sum(axis=1)

    def flags(self, X: object) -> list[Flag]:
        """Return the rows that have no direction."""
        rows = np.flatnonzero(~self._vectors(as_rows(X)).any(axis=1))
        if not len(rows):
            return []
        code, template = self.no_direction
        which = f"{'row' if len(rows) == 1 else 'rows'} {listed([str(i) for i in rows], 5)}"
        are = "it is" if len(rows) == 1 else "they are"
        return [(code, rows, template.format(count(len(rows), "row"), which, are))]


class Correlation(Cosine):
    """d(a, b) = 1 − Pearson's correlation of a and b: the cosine distance of centred rows.

    A constant row is at distance 0 from another one and at 1 from every other row.

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights in means and sums, as in SciPy. None: all 1.

    Examples
    --------
    >>> from certus.distances import Correlation
    >>> Correlation().pairwise([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]], [[3.0, 2.0, 1.0]]).round(12)
    array([[2.],
           [1.]])
    """

    name = "correlation"
    formula = "1 − corr(a, b)"
    no_direction = (
        "constant row",
        "{} constant ({}): {} at correlation distance 1 from every row that varies",
    )

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        if self.w is not None:
            require_columns(len(self.w), rows.shape[1], "w")
        shifted = rows - rows[:, :1]  # a constant row becomes exactly 0
        w = np.ones(rows.shape[1]) if self.w is None else self.w
        varies = shifted.any(axis=1)
        mean = (shifted * w).sum(axis=1) / w.sum()
        shifted -= np.where(varies, mean, 0.0)[:, None]
        return shifted if self.w is None else shifted * np.sqrt(w)


class Spearman(Correlation):
    """d(a, b) = 1 − Spearman's rank correlation: the correlation of midranks within each row.

    A constant row is at distance 0 from another one and at 1 from every other row.

    Examples
    --------
    >>> from certus.distances import Spearman
    >>> Spearman().pairwise([[1.0, 2.0, 30.0]], [[1.0, 10.0, 20.0], [3.0, 2.0, 1.0]]).round(12)
    array([[0., 2.]])
    """

    name = "spearman"
    formula = "1 − corr(rank a, rank b)"

    def __init__(self) -> None:
        super().__init__()

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        from scipy.stats import rankdata

        return super()._vectors(rankdata(rows, axis=1))
