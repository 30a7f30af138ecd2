"""Find the model inside what people pass around: pipelines, searches, transformed targets."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline


class Unwrapped(NamedTuple):
    model: Any
    X: Any
    y: Any
    way: tuple[str, ...]  # what was passed through, outermost first


def unwrap(model: Any, X: Any, y: Any) -> Unwrapped:
    """The innermost model, with X and y as it met them."""
    way: list[str] = []
    while True:
        if isinstance(model, Pipeline):
            way.append("Pipeline")
            X, model = model[:-1].transform(X) if len(model) > 1 else X, model[-1]
        elif isinstance(model, TransformedTargetRegressor):
            way.append("TransformedTargetRegressor")
            y = np.asarray(y, dtype=float)
            squeezed = y.reshape(-1, 1) if y.ndim == 1 else y
            y = model.transformer_.transform(squeezed).reshape(y.shape)
            model = model.regressor_
        elif "best_estimator_" in vars(model):
            way.append(type(model).__name__)
            model = model.best_estimator_
        else:
            return Unwrapped(model, X, y, tuple(way))
