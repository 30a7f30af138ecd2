"""Powers of each column: t^d, t = (x − c)/r."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ..data.finite import column_name
from ..data.validation import boolean, positive_whole
from ._basis import Basis


class PolynomialBasis(Basis):
    r"""Powers of each column: t, t², …, t^degree, t = (x − c)/r.

    c and r are the midpoint and half the range of the column at fit, so that t is in [−1, 1]:
    powers of x itself can differ by many orders of magnitude and be nearly collinear. With an
    intercept, both span the same curves, so least squares gives the same predictions; a penalised
    fit does not, since the coefficients differ.

    There is no column of ones, which is the model's intercept, and there are no products of
    columns: for those use scikit-learn's ``PolynomialFeatures``.

    Parameters
    ----------
    degree : int, default=3
        The highest power.
    raw : bool, default=False
        Use powers of x itself: c = 0, r = 1.
    lazy : bool, default=False
        ``transform`` returns rows that are computed when they are read: certus estimators then
        never hold more than a few blocks of them.

    Attributes
    ----------
    center_, scale_ : ndarray of shape (n_features,)
        c and r. r is 1 for a constant column.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    O(n·p·degree) operations and memory; with ``lazy`` the operations are repeated in every pass
    over the rows.

    Examples
    --------
    >>> from certus.preprocessing import PolynomialBasis
    >>> X = [[0.0], [1], [4]]
    >>> PolynomialBasis(degree=2).fit_transform(X)
    array([[-1.  ,  1.  ],
           [-0.5 ,  0.25],
           [ 1.  ,  1.  ]])
    >>> PolynomialBasis(degree=3, raw=True).fit(X).get_feature_names_out()
    array(['x0', 'x0^2', 'x0^3'], dtype=object)
    """

    def __init__(self, degree: int = 3, *, raw: bool = False, lazy: bool = False):
        self.degree = degree
        self.raw = raw
        self.lazy = lazy

    def _fit_functions(self, X: np.ndarray, names: Sequence[str] | None) -> None:
        self._degree = positive_whole("degree", self.degree)
        self._raw = boolean("raw", self.raw)
        low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
        if self._raw:
            self.center_, self.scale_ = np.zeros_like(low), np.ones_like(low)
        else:
            self.center_ = low / 2 + high / 2  # low + high may overflow
            self.scale_ = np.where(high > low, high / 2 - low / 2, 1.0)
        self._require_finite(X)

    def _functions(self) -> Callable[[np.ndarray], np.ndarray]:
        return partial(_powers, c=self.center_, r=self.scale_, degree=self._degree)

    def _function_names(self, name: str, j: int) -> list[str]:
        t = name if self._raw else f"{name}_scaled"
        return [t, *(f"{t}^{d}" for d in range(2, self._degree + 1))]

    def _require_finite(self, X: np.ndarray) -> None:
        limit = float(np.finfo(np.float32 if X.dtype == np.float32 else np.float64).max)
        with np.errstate(over="ignore"):
            ends = np.stack([X.min(axis=0), X.max(axis=0)]).astype(float)
            largest = np.abs((ends - self.center_) / self.scale_).max(axis=0)
            overflowing = np.flatnonzero(~(largest**self._degree <= limit))
        if len(overflowing):
            j, names = overflowing[0], vars(self).get("feature_names_in_")
            remedy = "use raw=False" if self._raw else "it is far outside the range of the fit"
            raise ValueError(
                f"{column_name(j, names)} reaches {np.abs(ends[:, j]).max():.3g}, whose power "
                f"{self._degree} overflows: {remedy}, or lower degree"
            )


def _powers(X: np.ndarray, c: np.ndarray, r: np.ndarray, degree: int) -> np.ndarray:
    t = (X - c) / r
    Phi = np.empty((*t.shape, degree))
    Phi[..., 0] = t
    for d in range(1, degree):
        np.multiply(Phi[..., d - 1], t, out=Phi[..., d])
    return Phi.reshape(len(X), -1)
