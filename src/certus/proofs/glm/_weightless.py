r"""Softmax loss where a class has no weight: its intercept would be −∞.

    inf F = min F′,   F′ the same objective of the classes with weight

F(w, b) ≥ F′(w′, b′), where w′ and b′ are the columns of the classes with weight, because F has an
additional term in log Σ exp(z) and a nonnegative penalty. F comes arbitrarily close to F′ with
w = 0 and b → −∞ for the others. So a lower bound of F′ is one of F; the objective is that of the
point itself.
"""

from typing import Any

import numpy as np

from certus.proofs.types import FunctionTo, Result, RowData


class WeightedClasses:
    """Rows with classes relabelled to those with weight; rows of the others have weight 0."""

    def __init__(self, data: RowData, has_weight: np.ndarray):
        self.data, self.has_weight = data, has_weight
        self.new_index = np.cumsum(has_weight) - 1.0
        self.new_index[~has_weight] = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)

    def reduce(self, statistic: FunctionTo[Result], *args: object, **options: Any) -> Result:
        def numbered(X: np.ndarray, y: np.ndarray, s: np.ndarray, *args: object) -> Result:
            return statistic(*self._relabelled(X, y, s), *args)

        return self.data.reduce(numbered, *args, **options)

    def sample(self, count: int) -> "WeightedClasses":
        return WeightedClasses(self.data.sample(count), self.has_weight)

    def take(self, i: np.ndarray) -> tuple[Any, Any, Any]:
        return self._relabelled(*self.data.take(i))

    def _relabelled(
        self, X: np.ndarray, y: np.ndarray, s: np.ndarray | None
    ) -> tuple[Any, Any, Any]:
        k = y[:, 0].astype(np.intp)
        weight = self.has_weight[k].astype(float)
        return X, self.new_index[k][:, None], weight if s is None else s * weight
