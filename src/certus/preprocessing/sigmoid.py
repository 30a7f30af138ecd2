"""Sigmoid basis functions of each column: 1/(1 + exp(−a(x − μ)))."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from ..data.validation import one_of
from ._basis import Basis
from ._centers import broadcast_to_centers, flatten, numbers_per_column, place_centers, spacing

# 1/a relative to the distance of neighbouring steps. The slope of a sum of equal steps is then
# constant to 4π²·0.5/sinh(2π²·0.5) = 0.2 %; 0.25 leaves ripples of 14 %, and at 1 steps are nearly
# collinear.
WIDTH_TO_SPACING = 0.5


class SigmoidBasis(Basis):
    r"""Sigmoid steps along each column: φⱼ(x) = 1/(1 + exp(−aⱼ(x − μⱼ))).

    A linear model of them is a curve that is constant far outside the centres, where polynomials
    diverge.

    Parameters
    ----------
    n_centers : int, default=10
        Centres per column, if ``centers`` is a rule. Equal centres (of a column with few distinct
        values) are used once, with a ``DegenerateWarning``.
    centers : {"quantile", "uniform"}, array-like or None, default="quantile"
        As in :class:`GaussianBasis`. None: steps centred at 0, 1/(1 + exp(−aⱼx)), one for each of
        the given ``slopes``.
    slopes : "spacing", float or array-like, default="spacing"
        aⱼ, not 0. "spacing": 2 divided by the mean distance of μⱼ to its neighbours, for which
        equally spaced steps add up to a line whose slope is constant to 0.2 %. An array has one for
        each centre: (k,) or (n_features, k).
    lazy : bool, default=False
        ``transform`` returns rows that are computed when they are read: certus estimators then
        never hold more than a few blocks of them.

    Attributes
    ----------
    centers_, slopes_ : list of ndarray
        μ and a of each column; μ is 0 with ``centers=None``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    A single centre has a slope of 2 divided by the column's range (2, if the range is 0).
    O(n·p·n_centers) operations and memory; with ``lazy`` the operations are repeated in every pass
    over the rows.

    Examples
    --------
    >>> from certus.preprocessing import SigmoidBasis
    >>> SigmoidBasis(centers=[0, 1], slopes=2).fit_transform([[0.0], [1]]).round(3)
    array([[0.5  , 0.119],
           [0.881, 0.5  ]])
    >>> SigmoidBasis(centers=None, slopes=[1, 2]).fit_transform([[0.0], [1]]).round(3)
    array([[0.5  , 0.5  ],
           [0.731, 0.881]])
    """

    def __init__(
        self,
        n_centers: int = 10,
        *,
        centers: str | npt.ArrayLike | None = "quantile",
        slopes: str | npt.ArrayLike = "spacing",
        lazy: bool = False,
    ):
        self.n_centers = n_centers
        self.centers = centers
        self.slopes = slopes
        self.lazy = lazy

    def _fit_functions(self, X: np.ndarray, names: Sequence[str] | None) -> None:
        if self.centers is None:
            if isinstance(self.slopes, str):
                raise ValueError(
                    f"slopes={self.slopes!r}: without centres there is no spacing. Give the slopes "
                    "themselves, e.g. slopes=[0.5, 1, 2]"
                )
            self.slopes_ = self._given_slopes(X)
            self.centers_ = [np.zeros(len(a)) for a in self.slopes_]
            return
        self.centers_ = place_centers(X, self.n_centers, self.centers, names)
        if isinstance(self.slopes, str):
            one_of("slopes", self.slopes, ("spacing",))
            h = [spacing(X[:, j], mu) for j, mu in enumerate(self.centers_)]
            self.slopes_ = [
                1 / np.maximum(WIDTH_TO_SPACING * spacings, np.finfo(float).tiny) for spacings in h
            ]
        else:
            self.slopes_ = broadcast_to_centers("slopes", self._given_slopes(X), self.centers_)

    def _given_slopes(self, X: np.ndarray) -> list[np.ndarray]:
        a = numbers_per_column("slopes", self.slopes, X.shape[1], "'spacing'")
        if any((values == 0).any() for values in a):
            raise ValueError(f"slopes={self.slopes!r}: a slope of 0 gives no step, leave it out")
        return a

    def _functions(self) -> Callable[[np.ndarray], np.ndarray]:
        column, mu = flatten(self.centers_)
        return partial(_steps, column=column, mu=mu, a=flatten(self.slopes_)[1])

    def _function_names(self, name: str, j: int) -> list[str]:
        return [f"{name}_sigmoid_{i}" for i in range(len(self.centers_[j]))]

    def _require_finite(self, X: np.ndarray) -> None:
        """Do nothing: all values of Φ are between 0 and 1."""


def _steps(X: np.ndarray, column: np.ndarray, mu: np.ndarray, a: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):  # far from a centre: 0 or 1
        t = X[:, column] - mu
        t *= a
        Phi: np.ndarray = expit(t, out=t)
    return Phi
