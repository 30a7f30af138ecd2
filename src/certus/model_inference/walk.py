"""The model inside pipelines, searches and transformed targets, and the names of its columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
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
                remarks += _scaling_remarks(before)
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


def _scaling_remarks(before: Pipeline) -> list[str]:
    scalers = [type(step).__name__ for _, step in before.steps if hasattr(step, "scale_")]
    for _, step in before.steps:
        for _, part, _ in getattr(step, "transformers_", ()):
            parts = [one for _, one in part.steps] if isinstance(part, Pipeline) else [part]
            scalers += [type(one).__name__ for one in parts if hasattr(one, "scale_")]
    if not scalers:
        return []
    return [
        f"coefficients are per unit of the columns as {listed(sorted(set(scalers)))} scaled them"
    ]


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
