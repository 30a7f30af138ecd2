"""The model inside pipelines, searches and transformed targets, and the names of its columns."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InferenceError
from ..text.format import listed

PENALTIES = ("alpha", "C", "l1_ratio", "penalty")


class Steps:
    """What pipelines do with rows before the model."""

    def __init__(self, pipelines: Sequence[Pipeline]):
        self.pipelines = tuple(pipelines)

    def __call__(self, X: Any) -> Any:
        for pipeline in self.pipelines:
            X = pipeline.transform(X)
        # their names are those of the steps, not those of the results
        return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


class Walked(NamedTuple):
    """The innermost model, with X and y as it was given them."""

    model: Any
    X: Any
    y: Any
    steps: Steps
    names: tuple[str, ...] | None  # of the columns of X, if steps made them
    remarks: tuple[str, ...]


def walk(model: Any, X: Any, y: Any) -> Walked:
    """Return the innermost model; refuse one whose penalty was chosen on its own rows."""
    pipelines: list[Pipeline] = []
    names: tuple[str, ...] | None = None
    remarks: list[str] = []
    while True:
        if isinstance(model, Pipeline):
            check_is_fitted(model)
            before, last = model[:-1], model[-1]
            if len(before):
                names = _names_out(before, X, names)
                X = before.transform(X)
                pipelines.append(before)
                remarks += _step_remarks(before)
            model = last
        elif isinstance(model, TransformedTargetRegressor):
            check_is_fitted(model)
            y = np.asarray(y, dtype=float)
            y = model.transformer_.transform(y.reshape(len(y), -1)).reshape(y.shape)
            remarks.append("coefficients and predictions are of the transformed target")
            model = model.regressor_
        elif _is_search(model):
            check_is_fitted(model)
            if not hasattr(model, "best_estimator_"):
                raise InferenceError(
                    f"{type(model).__name__}(refit=False) has no fitted model: fit the chosen one"
                )
            remarks += _choice_remarks(model)
            model = model.best_estimator_
        else:
            return Walked(model, X, y, Steps(pipelines), names, tuple(remarks))


def _is_search(model: Any) -> bool:
    parameters = getattr(model, "get_params", dict)
    return {"estimator", "cv", "refit"} <= set(parameters(deep=False) if parameters else ())


def _names_out(before: Pipeline, X: Any, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the names of the columns that the steps make, without the prefix of their step."""
    inputs = getattr(X, "columns", names)
    try:
        full = [str(name) for name in before.get_feature_names_out(inputs)]
    except (AttributeError, ValueError):  # a step that does not name its columns
        return None
    short = [name.split("__", 1)[-1] for name in full]
    return tuple(short if len(set(short)) == len(short) else full)


def _step_remarks(before: Pipeline) -> list[str]:
    """Return in what units the columns are, and which steps made or chose them by y."""
    steps = list(_single_steps(before))
    remarks = []
    scalers = sorted({type(step).__name__ for step in steps if hasattr(step, "scale_")})
    if scalers:
        by = listed(scalers)
        remarks.append(f"coefficients are per unit of the columns as {by} scaled them")
    supervised = sorted({type(step).__name__ for step in steps if _uses_target(step)})
    if supervised:
        remarks.append(
            f"{listed(supervised)} chose or made columns by y on these rows, which these errors "
            "ignore: they are too small"
        )
    return remarks


def _single_steps(step: Any) -> Iterator[Any]:
    """Yield the fitted transformers inside pipelines, unions and column transformers."""
    parts = getattr(step, "transformers_", None) or getattr(step, "transformer_list", None)
    if isinstance(step, Pipeline):
        parts = step.steps
    if parts is None:
        yield step
        return
    for part in parts:
        if not isinstance(part[1], str):  # "passthrough", "drop"
            yield from _single_steps(part[1])


def _uses_target(step: Any) -> bool:
    """Return whether a step looked at y: it needs one, or selects columns by a model."""
    selects = hasattr(step, "get_support") and not isinstance(step, VarianceThreshold)
    return selects or (isinstance(step, BaseEstimator) and get_tags(step).target_tags.required)


def _choice_remarks(search: Any) -> list[str]:
    """Return what the errors ignore; refuse a chosen penalty."""
    chosen = getattr(search, "best_params_", {})
    if len(getattr(search, "cv_results_", {}).get("params", [{}, {}])) < 2 or not chosen:
        return []
    shown = listed([f"{name.split('__')[-1]}={value!r}" for name, value in chosen.items()])
    kind = type(search).__name__
    penalties = [value for name, value in chosen.items() if name.split("__")[-1] in PENALTIES]
    if any(value is not None and value not in (0, np.inf) for value in penalties):
        raise InferenceError(
            f"{shown} was chosen on these rows by {kind}, so standard errors from the same rows "
            "are too small. Split the data: choose on one part, and call certus.inference("
            "clone(search.best_estimator_).fit(X2, y2), X2, y2) on the other"
        )
    return [f"{shown} was chosen on these rows by {kind}, which these errors ignore: they are too "
            "small"]  # fmt: skip
