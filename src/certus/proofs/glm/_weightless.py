r"""Softmax loss where a class has no weight: its intercept would be −∞.

    inf F = min F′,   F′ the same objective of the classes with weight

F(w, b) ≥ F′(w′, b′), where w′ and b′ are the columns of the classes with weight, because F has an
additional term in log Σ exp(z) and a nonnegative penalty. F comes arbitrarily close to F′ with
w = 0 and b → −∞ for the others. So a lower bound of F′ is one of F; the objective is that of the
point itself.

A Newton step from (w, b) gains more than one of F′ does, since it also lowers the probability q_i
of the classes without weight. Given that a row's class has weight, the classes have probabilities
Q′; by splitting the variance of the scores with respect to "has weight",

    ½ gᵀH⁻¹g ≤ ½ g′ᵀH′⁻¹g′ / (1 − max q) + ½ Σ ω_i q_i / (1 − q_i).
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.duality import product, slices
from certus.proofs.linalg.linear_sums import View
from certus.proofs.types import FunctionTo, Matrix, Result, RowData

NEWTON_GAIN_ROUNDING = 1e-9  # relative, of sums of positive terms


def newton_gain(
    data: RowData,
    w: np.ndarray,
    b: np.ndarray,
    view: View,
    factor: np.ndarray,
    has_weight: np.ndarray,
    weighted_gain: float,
) -> float:
    """Bound the gain of a Newton step from ``weighted_gain``, that of F′."""
    args = w, b, view, factor, has_weight
    odds, largest = data.reduce(weightless_odds, *args, combine=add_odds)
    if largest == np.inf:
        return float("inf")
    return float((weighted_gain * (1 + largest) + 0.5 * odds) * (1 + NEWTON_GAIN_ROUNDING))


def weightless_odds(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    b: np.ndarray,
    view: View,
    factor: np.ndarray,
    has_weight: np.ndarray,
) -> tuple[float, float]:
    """Return Σ ω q/(1 − q) and max q/(1 − q) over the rows of a block that have weight."""
    total, largest = 0.0, 0.0
    for part, Z in slices(X, view):
        z = np.asarray(product(Z, w)) + b
        top = z[:, has_weight].max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            e = np.exp(z - top)
        odds = e[:, ~has_weight].sum(axis=1) / e[:, has_weight].sum(axis=1)
        weight = factor[y[part, 0].astype(np.intp)]
        if s is not None:
            weight = weight * s[part]
        weight, odds = weight[weight > 0], odds[weight > 0]
        total += float(weight @ odds)
        largest = max(largest, float(odds.max(initial=0.0)))
    return total, largest


def add_odds(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Combine the sums of two blocks."""
    return first[0] + second[0], max(first[1], second[1])


class WeightedClasses:
    """Rows with classes relabelled to those with weight; rows of the others have weight 0."""

    def __init__(self, data: RowData, has_weight: np.ndarray):
        self.data, self.has_weight = data, has_weight
        self.new_index = np.cumsum(has_weight) - 1.0
        self.new_index[~has_weight] = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)

    def reduce(self, statistic: FunctionTo[Result], *args: object, **options: Any) -> Result:
        relabeled = OfWeightedClasses(statistic, self.new_index, self.has_weight)
        return self.data.reduce(relabeled, *args, **options)

    def reduce_targets(self, statistic: FunctionTo[Result], *args: object) -> Result:
        relabeled = TargetsOfWeightedClasses(statistic, self.new_index, self.has_weight)
        return self.data.reduce_targets(relabeled, *args)

    def sample(self, count: int) -> "WeightedClasses":
        return WeightedClasses(self.data.sample(count), self.has_weight)

    def take(self, i: np.ndarray) -> tuple[Any, Any, Any]:
        X, y, s = self.data.take(i)
        return X, *relabel(y, s, self.new_index, self.has_weight)


class OfWeightedClasses(NamedTuple):
    """A statistic of relabelled rows."""

    statistic: FunctionTo[Any]
    new_index: np.ndarray
    has_weight: np.ndarray

    def __call__(self, X: Matrix, y: np.ndarray, s: np.ndarray | None, *args: object) -> Any:
        return self.statistic(X, *relabel(y, s, self.new_index, self.has_weight), *args)


class TargetsOfWeightedClasses(NamedTuple):
    """A statistic of relabelled targets."""

    statistic: FunctionTo[Any]
    new_index: np.ndarray
    has_weight: np.ndarray

    def __call__(self, y: np.ndarray, s: np.ndarray | None, *args: object) -> Any:
        return self.statistic(*relabel(y, s, self.new_index, self.has_weight), *args)


def relabel(
    y: np.ndarray, s: np.ndarray | None, new_index: np.ndarray, has_weight: np.ndarray
) -> tuple[Any, Any]:
    """Return the new labels (n, 1), and weights that are 0 for classes without weight."""
    k = y[:, 0].astype(np.intp)
    weight = has_weight[k].astype(float)
    return new_index[k][:, None], weight if s is None else s * weight
