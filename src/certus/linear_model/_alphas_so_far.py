"""What Ctrl-C keeps of a search over penalties by folds."""

from collections.abc import Callable
from inspect import signature
from numbers import Number
from typing import Any

import numpy as np

from ..text.format import count

ATTRIBUTES = ("coef_", "intercept_", "solver_")


class AlphasSoFar:
    """A scorer that remembers the models that it scored.

    Penalties come one after another, each with all its folds, so that one is complete when the next
    one begins. In other processes (of joblib) it scores and nothing more.
    """

    def __init__(self, scorer: Callable[..., Any], n_alphas: int):
        self.scorer, self.n_alphas = scorer, n_alphas
        self.__signature__ = signature(scorer)
        self.alpha: float | None = None  # of the folds that are being fitted
        self.scores: list[float] = []  # of these folds
        self.model: Any = None  # the last of them
        self.complete = 0
        self.best: tuple[float, Any] | None = None  # mean score, and a model of it

    def __call__(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        score = self.scorer(model, *args, **kwargs)
        if model.alpha != self.alpha:
            self.finish()
            self.alpha = model.alpha
        if isinstance(score, Number):  # others are refused by the search
            self.scores.append(float(score))  # type: ignore[arg-type]
            self.model = model
        return score

    # what else a search asks of a scorer: does it take weights, and what is routed to it

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "scorer":
            raise AttributeError(name)
        return getattr(self.scorer, name)

    def __repr__(self) -> str:
        return repr(self.scorer)

    def finish(self) -> None:
        """Take the penalty whose folds came last as complete."""
        if self.scores:
            mean = float(np.mean(self.scores))
            if self.best is None or mean > self.best[0]:
                self.best = mean, self.model
            self.complete += 1
        self.scores = []

    def there(self) -> bool:
        """Return whether one fold was fitted."""
        return self.model is not None

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of the best model so far."""
        score, model = self.best or (float("nan"), self.model)
        kept = {name: getattr(model, name) for name in ATTRIBUTES}
        return {**kept, "alpha_": float(model.alpha), "best_score_": score}

    def message(self) -> str:
        """Return what was kept, in words."""
        if self.best is None:
            return "at the first alpha; the model of its last fold was kept: nothing chose alpha"
        done = f"after {self.complete} of {count(self.n_alphas, 'value')} of alpha"
        return f"{done}; the model of a fold at the best so far was kept"
