"""Scorer that records the fits of a search over penalties, so that Ctrl-C can keep the best."""

from collections.abc import Callable
from inspect import signature
from numbers import Number
from typing import Any

import numpy as np

from ..text.format import count

ATTRIBUTES = ("coef_", "intercept_", "solver_")


class RecordingScorer:
    """Wrapper of a scorer that records the models it scored.

    A search fits all folds of a penalty before the next penalty, so a penalty is complete when
    another one begins. In worker processes of joblib nothing is recorded for the parent.
    """

    def __init__(self, scorer: Callable[..., Any], n_alphas: int):
        self.scorer, self.n_alphas = scorer, n_alphas
        self.__signature__ = signature(scorer)
        self.alpha: float | None = None  # the penalty that is being fitted
        self.scores: list[float] = []  # of its folds
        self.model: Any = None  # of its last fold
        self.complete = 0
        self.best: tuple[float, Any] | None = None  # mean score and a model with that penalty

    def __call__(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        score = self.scorer(model, *args, **kwargs)
        if model.alpha != self.alpha:
            self.finish()
            self.alpha = model.alpha
        if isinstance(score, Number):  # the search rejects other types
            self.scores.append(float(score))  # type: ignore[arg-type]
            self.model = model
        return score

    # a search also asks whether the scorer takes weights, and what is routed to it

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "scorer":
            raise AttributeError(name)
        return getattr(self.scorer, name)

    def __repr__(self) -> str:
        return repr(self.scorer)

    def finish(self) -> None:
        """Mark the last penalty as complete."""
        if self.scores:
            mean = float(np.mean(self.scores))
            if self.best is None or mean > self.best[0]:
                self.best = mean, self.model
            self.complete += 1
        self.scores = []

    def has_model(self) -> bool:
        """Return whether at least one fold was fitted."""
        return self.model is not None

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of the best model so far."""
        score, model = self.best or (float("nan"), self.model)
        fitted = {name: getattr(model, name) for name in ATTRIBUTES}
        return {**fitted, "alpha_": float(model.alpha), "best_score_": score}

    def message(self) -> str:
        """Describe the model that was kept."""
        if self.best is None:
            return "at the first alpha, before any was chosen; the model of its last fold was kept"
        done = f"after {self.complete} of {count(self.n_alphas, 'value')} of alpha"
        return f"{done}; the model of a fold at the best so far was kept"
