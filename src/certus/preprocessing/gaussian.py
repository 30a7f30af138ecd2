"""Bumps along each column: exp(−(x − μ)²/2s²)."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ..data.validation import one_of
from ._basis import Basis
from ._centers import centers_of, flat, numbers_for, one_for_each, spacing

# Of bumps a distance h apart and s = 0.7·h wide the sum is level to 2·exp(−2π²·0.7²) = 1.3e-4, and
# their products have condition ½exp(π²·0.7²) = 63. Narrower ones leave ripples (0.5: 1.4 %), wider
# ones can hardly be told apart (1: condition 1e4).
WIDTH = 0.7


class GaussianBasis(Basis):
    r"""Bumps along each column: φⱼ(x) = exp(−(x − μⱼ)²/2sⱼ²).

    A model of them is a curve that bends where the data do, and falls back to its intercept far
    from all centres. Many centres and a ridge penalty chosen by leave-one-out (``RidgeCV``) are
    easier than the right number of centres.

    Parameters
    ----------
    n_centers : int, default=10
        Centres a column, where ``centers`` is a rule. Centres that would be equal (a column with
        fewer values, or one that repeats itself) are taken once, with a ``DegenerateWarning``.
    centers : {"quantile", "uniform"} or array-like, default="quantile"
        "quantile": as many rows between any two neighbours; "uniform": the same distance. Both
        begin at the least value and end at the largest. Or the μⱼ themselves: (k,) for every
        column, (n_features, k) for each its own.
    width : "spacing", float or array-like, default="spacing"
        sⱼ. "spacing": 0.7 times the mean distance of μⱼ to its neighbours, at which the sum of
        equally spaced bumps is level to 1.3e-4 and no bump is nearly a sum of others. An array has
        one for each centre: (k,) or (n_features, k).
    lazy : bool, default=False
        ``transform`` returns rows that are made when they are read: certus estimators then never
        hold more than a block of them.

    Attributes
    ----------
    centers_, widths_ : list of ndarray
        μ and s of each column.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    A centre without neighbours is as wide as 0.7 times the column's range (1, if that is 0).
    O(n·p·n_centers) operations and memory; with ``lazy`` the operations once for every pass over
    the rows.

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

    def _learn(self, X: np.ndarray, names: Sequence[str] | None) -> None:
        self.centers_ = centers_of(X, self.n_centers, self.centers, names)
        self.widths_ = self._widths(X)

    def _widths(self, X: np.ndarray) -> list[np.ndarray]:
        if isinstance(self.width, str):
            one_of("width", self.width, ("spacing",))
            return [WIDTH * spacing(X[:, j], mu) for j, mu in enumerate(self.centers_)]
        s = numbers_for("width", self.width, X.shape[1], "'spacing'")
        if any((values <= 0).any() for values in s):
            raise ValueError(f"width={self.width!r}: give widths above 0")
        return one_for_each("width", s, self.centers_)

    def _functions(self) -> Callable[[np.ndarray], np.ndarray]:
        column, mu = flat(self.centers_)
        return partial(_bumps, column=column, mu=mu, s=flat(self.widths_)[1])

    def _called(self, name: str, j: int) -> list[str]:
        return [f"{name}_gaussian_{i}" for i in range(len(self.centers_[j]))]

    def _require_reach(self, X: np.ndarray) -> None:
        """Nothing to refuse: every value of Φ lies between 0 and 1."""


def _bumps(X: np.ndarray, column: np.ndarray, mu: np.ndarray, s: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):  # far from a centre: exp(−∞) = 0
        t = X[:, column] - mu
        t /= s
        t *= t
        t *= -0.5
        Phi: np.ndarray = np.exp(t, out=t)
    return Phi
