"""The number of rows that a fitted model, or a step before it, was fitted on, where it records it.

    scalers: n_samples_seen_        SVC: shape_fit_        stochastic descent: (t_ − 1) / n_iter_

A record that does not agree with the rows given is evidence of other rows, so nothing is guessed.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from .types import FittedModel

# of LogisticRegression: those that end where no slope, divided by Σ s, is above tol
SOLVERS_BY_SLOPE = ("lbfgs", "newton-cg", "newton-cholesky")


class RecordedRows(NamedTuple):
    """A number of rows, and who recorded it."""

    who: str  # name of the class
    rows: int
    at_least: bool = False  # rows with missing values were not counted


class CenteredElsewhere(NamedTuple):
    """A column that a scaler centred, and its mean on the rows given, in standard deviations."""

    column: int
    mean: float


def recorded_rows(model: FittedModel) -> Iterator[RecordedRows]:
    """Yield what a fitted model or transformer, and everything inside it, recorded."""
    if not hasattr(model, "get_params"):
        return
    for part in _parts(model):
        yield from recorded_rows(part)
    attributes, name = vars(model), type(model).__name__
    if not _is_sklearn(model):
        return
    seen: Any = attributes.get("n_samples_seen_", attributes.get("n_samples_"))
    most = np.max(seen) if np.size(seen) else None
    if _is_count(most) and most == int(most):  # Σ s where it was given weights
        yield RecordedRows(name, int(most), at_least=np.ndim(seen) > 0)
    record = _RECORDS.get(name)
    rows = None if record is None else record(attributes)
    if rows is not None:
        yield RecordedRows(name, rows)


def _is_sklearn(model: FittedModel) -> bool:
    """Return whether the class is scikit-learn's own, whose attributes have a known meaning."""
    return type(model).__module__.startswith("sklearn.")


def _parts(model: Any) -> list[Any]:
    """Return the fitted steps of a pipeline, a union or a column transformer."""
    attributes = vars(model)
    steps = [step[1] for step in attributes.get("transformers_", ())]
    steps = steps or [step[1] for step in attributes.get("transformer_list", ())]
    return steps or [step[1] for step in attributes.get("steps", ())]


def _of_shape(attributes: dict[str, Any]) -> int | None:
    shape = attributes.get("shape_fit_")
    return int(shape[0]) if shape else None


def _length(name: str) -> Callable[[dict[str, Any]], int | None]:
    """Return the reader of an array with an entry for each row of the fit."""

    def read(attributes: dict[str, Any]) -> int | None:
        value = attributes.get(name)
        return int(value.shape[0]) if isinstance(value, np.ndarray) and value.ndim else None

    return read


def _of_updates(attributes: dict[str, Any]) -> int | None:
    """Return the rows of an epoch: t_ − 1 updates in n_iter_ epochs of one call of fit."""
    steps, epochs = attributes.get("t_"), attributes.get("n_iter_")
    if attributes.get("warm_start") or not (_is_count(steps) and _is_count(epochs)):
        return None
    rows = (float(steps) - 1) / float(epochs)
    return int(rows) if rows > 0 and rows == int(rows) else None


def _is_count(value: object) -> TypeGuard[float]:
    """Return whether an attribute, which may have been edited, is a finite number above 0."""
    return isinstance(value, int | float | np.number) and 0 < float(value) < np.inf


_RECORDS: dict[str, Callable[[dict[str, Any]], int | None]] = {
    "SVC": _of_shape,
    "HuberRegressor": _length("outliers_"),
    "RidgeCV": _length("cv_results_"),
    "RidgeClassifierCV": _length("cv_results_"),
    "KernelRidge": _length("X_fit_"),
    "SGDClassifier": _of_updates,
    "SGDRegressor": _of_updates,
}


def rows_of_folds(search: FittedModel) -> Iterator[RecordedRows]:
    """Yield the number of rows that a search's folds name, if they were given as indices."""
    folds = getattr(search, "cv", None)
    if not isinstance(folds, list | tuple):
        return
    try:
        most = max(int(np.max(part)) for fold in folds for part in fold if np.size(part))
    except (TypeError, ValueError):
        return
    yield RecordedRows(f"cv of {type(search).__name__}", most + 1, at_least=True)


def centered_elsewhere(scaler: FittedModel, X: Any) -> CenteredElsewhere | None:
    """Return the column of scaled X whose mean is farthest from 0; None if it centres none.

    On the rows of its fit, a StandardScaler leaves a mean of 0 in each column.
    """
    centers = type(scaler).__name__ == "StandardScaler" and _is_sklearn(scaler)
    if not centers or vars(scaler).get("mean_") is None or not scaler.with_mean:
        return None
    values = X.to_numpy() if hasattr(X, "to_numpy") else X
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype.kind != "f":
        return None
    if not scaler.with_std or not values.size or np.isnan(values).any():
        return None
    mean = values.mean(axis=0, dtype=float)
    j = int(np.argmax(np.abs(mean)))
    return CenteredElsewhere(j, float(mean[j]))


def slope_tol(model: FittedModel) -> float | None:
    """Return the largest slope per row at which the fit ended; None if that is not known.

    newton-cholesky may report one iteration less than max_iter where it ended there.
    """
    steps = np.max(np.asarray(vars(model).get("n_iter_", np.inf), dtype=float), initial=0.0)
    known = model.solver in SOLVERS_BY_SLOPE and steps < model.max_iter - 1
    return float(model.tol) if known else None
