"""The model inside a pipeline, a search, a calibration or a transformed target."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .column_steps import ColumnStep, column_steps
from .rows_of_fit import (
    CenteredElsewhere,
    RecordedRows,
    centered_elsewhere,
    recorded_rows,
    rows_of_folds,
)
from .shapes import require_parameters
from .types import FittedModel

# parameters of certus.metrics.CalibratedClassifier and of certus.Audited
HOLDERS = ({"estimator", "slope", "intercept"}, {"estimator", "on_fail"})


class Unwrapped(NamedTuple):
    model: FittedModel
    X: object
    y: object
    path: tuple[str, ...]  # the classes around the model, outermost first
    steps: list[ColumnStep] | None = None  # columns that a pipeline computes, if it mixes none
    recorded: tuple[RecordedRows, ...] = ()  # numbers of rows that parts were fitted on
    centered: CenteredElsewhere | None = None  # by the scaler right before the model
    evidence: tuple[str, ...] = ()  # where the rows differ from those that the model recorded
    same_rows: bool = False  # they are the recorded ones


def unwrap(model: Any, X: object, y: object) -> Unwrapped:
    """Return the innermost model, with X and y as it was given them."""
    path: list[str] = []
    piped, steps, centered = False, None, None
    recorded: list[RecordedRows] = []
    while True:
        require_parameters(model)
        if isinstance(model, Pipeline):
            path.append("Pipeline")
            if len(model) > 1:
                before = model[:-1]
                numbers = range(getattr(before, "n_features_in_", 0))
                names = list(getattr(X, "column_names", getattr(X, "columns", numbers)))
                # the columns of a pipeline within another one are not those of the table
                steps = None if piped else column_steps([before], names)
                X, piped = before.transform(X), True
                recorded += recorded_rows(before)
                centered = centered_elsewhere(before[-1], X)
            model = model[-1]
        elif isinstance(model, TransformedTargetRegressor):
            check_is_fitted(model)
            path.append("TransformedTargetRegressor")
            y = np.asarray(y, dtype=float)
            squeezed = y.reshape(-1, 1) if y.ndim == 1 else y
            y = model.transformer_.transform(squeezed).reshape(y.shape)
            recorded += recorded_rows(model.transformer_)
            model = model.regressor_
        elif isinstance(model, BaseEstimator) and _is_search(model):
            check_is_fitted(model)
            path.append(type(model).__name__)
            recorded += rows_of_folds(model)
            model = model.best_estimator_
        elif isinstance(model, BaseEstimator) and _holds_model(model):
            check_is_fitted(model)
            path.append(type(model).__name__)
            model = model.estimator_
        else:
            recorded += recorded_rows(model)
            return Unwrapped(model, X, y, tuple(path), steps, tuple(recorded), centered)


def _is_search(model: FittedModel) -> bool:
    """Return whether the model is a search, like GridSearchCV: it takes an estimator and folds."""
    return {"estimator", "cv", "refit"} <= set(model.get_params(deep=False))


def _holds_model(model: FittedModel) -> bool:
    """Return whether the model fits another one and leaves its parameters alone."""
    parameters = set(model.get_params(deep=False))
    return any(names <= parameters for names in HOLDERS)
