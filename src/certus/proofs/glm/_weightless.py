r"""Softmax loss where a class has no weight: its intercept would be −∞.

    inf F = min F′,   F′ the same objective of the classes with weight

For F(w, b) ≥ F′(w′, b′), w′ and b′ the columns of the classes with weight: a term more in
log Σ exp(z), and a penalty that is not negative. And F comes as near to F′ as one likes, with w = 0
and b → −∞ for the others. So a bound on F′ is one on F; the objective is that of the point itself.
"""

from typing import Any

import numpy as np

from certus.proofs.types import FunctionTo, Result, RowData


class WithWeight:
    """Rows of which only the classes ``there`` are left, numbered anew; others' rows weigh 0."""

    def __init__(self, data: RowData, there: np.ndarray):
        self.data, self.there = data, there
        self.number = np.cumsum(there) - 1.0
        self.number[~there] = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)

    def reduce(self, statistic: FunctionTo[Result], *args: object, **how: Any) -> Result:
        def numbered(X: np.ndarray, y: np.ndarray, s: np.ndarray, *args: object) -> Result:
            return statistic(*self._anew(X, y, s), *args)

        return self.data.reduce(numbered, *args, **how)

    def sample(self, count: int) -> "WithWeight":
        return WithWeight(self.data.sample(count), self.there)

    def take(self, i: np.ndarray) -> tuple[Any, Any, Any]:
        return self._anew(*self.data.take(i))

    def _anew(self, X: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any, Any]:
        k = y[:, 0].astype(np.intp)
        weight = self.there[k].astype(float)
        return X, self.number[k][:, None], weight if s is None else s * weight
