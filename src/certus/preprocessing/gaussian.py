"""Gaussian basis functions of each column: exp(−(x − μ)²/2s²)."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ..data.validation import one_of
from ._basis import Basis
from ._centers import broadcast_to_centers, flatten, numbers_per_column, place_centers, spacing

# The sum of bumps at distance h with s = 0.7·h is constant to 2·exp(−2π²·0.7²) = 1.3e-4, and their
# Gram matrix has condition number ½exp(π²·0.7²) = 63. Narrower bumps leave ripples (0.5: 1.4 %),
# wider ones are nearly collinear (1: condition 1e4).
WIDTH_TO_SPACING = 0.7


class GaussianBasis(Basis):
    r"""Gaussian bumps along each column: φⱼ(x) = exp(−(x − μⱼ)²/2sⱼ²).

    A linear model of them is a smooth curve that returns to its intercept far from all centres.
    Many centres with a ridge penalty chosen by leave-one-out (``RidgeCV``) are easier than finding
    the right number of centres.

    Parameters
    ----------
    n_centers : int, default=10
        Centres per column, if ``centers`` is a rule. Equal centres (of a column with few distinct
        values) are used once, with a ``DegenerateWarning``.
    centers : {"quantile", "uniform"} or array-like, default="quantile"
        "quantile": equally many rows between neighbours; "uniform": equal distances. Both extend
        from the smallest value to the largest. Or the μⱼ themselves: (k,) for all columns, or
        (n_features, k).
    width : "spacing", float or array-like, default="spacing"
        sⱼ. "spacing": 0.7 times the mean distance of μⱼ to its neighbours, for which the sum of
        equally spaced bumps is constant to 1.3e-4 and the bumps are not nearly collinear. An array
        has one for each centre: (k,) or (n_features, k).
    lazy : bool, default=False
        ``transform`` returns rows that are computed when they are read: certus estimators then
        never hold more than a few blocks of them.

    Attributes
    ----------
    centers_, widths_ : list of ndarray
        μ and s of each column.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    A single centre has 0.7 times the column's range as its width (0.7, if the range is 0).
    O(n·p·n_centers) operations and memory; with ``lazy`` the operations are repeated in every pass
    over the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.linear_model import RidgeCV
    >>> from certus.preprocessing import GaussianBasis
    >>> from sklearn.pipeline import make_pipeline
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(12 * X[:, 0])
    >>> model = make_pipeline(GaussianBasis(20), RidgeCV(np.logspace(-6, 2, 9))).fit(X, y)
    >>> round(model.score(X, y), 4), model[-1].certificate_.certified
    (1.0, True)
    """

    def __init__(
        self,
        n_centers: int = 10,
        *,
        centers: str | npt.ArrayLike = "quantile",
        width: str | npt.ArrayLike = "spacing",
        lazy: bool = False,
    ):
        self.n_centers = n_centers
        self.centers = centers
        self.width = width
        self.lazy = lazy

    def _fit_functions(self, X: np.ndarray, names: Sequence[str] | None) -> None:
        self.centers_ = place_centers(X, self.n_centers, self.centers, names)
        self.widths_ = self._widths(X)

    def _widths(self, X: np.ndarray) -> list[np.ndarray]:
        if isinstance(self.width, str):
            one_of("width", self.width, ("spacing",))
            return [WIDTH_TO_SPACING * spacing(X[:, j], mu) for j, mu in enumerate(self.centers_)]
        s = numbers_per_column("width", self.width, X.shape[1], "'spacing'")
        if any((values <= 0).any() for values in s):
            raise ValueError(f"width={self.width!r}: give widths above 0")
        return broadcast_to_centers("width", s, self.centers_)

    def _functions(self) -> Callable[[np.ndarray], np.ndarray]:
        column, mu = flatten(self.centers_)
        return partial(_bumps, column=column, mu=mu, s=flatten(self.widths_)[1])

    def _function_names(self, name: str, j: int) -> list[str]:
        return [f"{name}_gaussian_{i}" for i in range(len(self.centers_[j]))]

    def _require_finite(self, X: np.ndarray) -> None:
        """Do nothing: all values of Φ are between 0 and 1."""


def _bumps(X: np.ndarray, column: np.ndarray, mu: np.ndarray, s: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):  # far from a centre: exp(−∞) = 0
        t = X[:, column] - mu
        t /= s
        t *= t
        t *= -0.5
        Phi: np.ndarray = np.exp(t, out=t)
    return Phi
