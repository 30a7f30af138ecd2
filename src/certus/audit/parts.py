"""The models inside a model that fits several, each with the rows and targets it was given.

    OneVsRestClassifier      y = k, of each class k     OneVsOneClassifier   rows of two classes
    MultiOutputRegressor, …  a column of y each         VotingClassifier, …  all rows
    StackingClassifier, …    all rows (first layer)     BaggingClassifier, … the rows drawn
    CalibratedClassifierCV   all rows without a fold

What the outer model does with their answers (votes, calibrators, a last layer fitted on answers for
rows left out) is not part of their claims, and is named as left out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from .types import FittedModel


@dataclass(frozen=True)
class InnerModel:
    """A model inside another one, and what it was fitted on."""

    name: str
    model: FittedModel
    X: Any
    y: Any
    sample_weight: Any


@dataclass(frozen=True)
class InnerModels:
    """The models inside a model, and what of it their claims leave out."""

    found: tuple[InnerModel, ...]
    left_out: str


Given = tuple[Any, Any, Any]  # X, y and weights of the outer model


def parts_of(model: Any, X: Any, y: Any, sample_weight: Any) -> InnerModels | None:
    """Return the models that ``model`` holds; None if it is none that fits several.

    Raises ValueError where it cannot be known on which rows they were fitted.
    """
    reader = _reader_of(model)
    if reader is None:
        return None
    check_is_fitted(model)
    if y is None:
        raise ValueError(f"{type(model).__name__} was fitted on targets: give y")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    read, left_out = reader
    found = tuple(map(_without_names, read(model, (X, np.asarray(y), weights))))
    if not found:
        raise ValueError(f"{type(model).__name__} holds no fitted model that can be audited")
    return InnerModels(found, left_out)


def _without_names(part: InnerModel) -> InnerModel:
    """Return the part with an array for X, if that is what its model was given."""
    is_array = hasattr(part.X, "to_numpy") and not hasattr(part.model, "feature_names_in_")
    return replace(part, X=part.X.to_numpy()) if is_array else part


def fits_several(model: Any) -> bool:
    """Return whether a model, fitted or not, is of a class that fits several models."""
    return _reader_of(model) is not None


def _reader_of(model: Any) -> "tuple[Callable[..., Iterator[InnerModel]], str] | None":
    for cls in type(model).__mro__:
        if cls.__module__.startswith("sklearn.") and cls.__name__ in _READERS:
            return _READERS[cls.__name__]
    return None


def _one_vs_rest(model: FittedModel, given: Given) -> Iterator[InnerModel]:
    X, y, s = given
    indicators = model.label_binarizer_.transform(y)
    Y = np.asarray(indicators.todense() if hasattr(indicators, "todense") else indicators)
    for k, part in enumerate(model.estimators_):
        if hasattr(part, "get_params") and len(np.unique(Y[:, k])) == 2:  # a class that occurs
            yield InnerModel(f"class {_label(model, k)} against the rest", part, X, Y[:, k], s)


def _label(model: FittedModel, k: int) -> str:
    classes = model.classes_
    return str(classes[-1] if len(model.estimators_) == 1 else classes[k])


def _one_vs_one(model: FittedModel, given: Given) -> Iterator[InnerModel]:
    X, y, s = given
    classes = model.classes_
    pairs = [(i, j) for i in range(len(classes)) for j in range(i + 1, len(classes))]
    for (i, j), part in zip(pairs, model.estimators_, strict=True):
        at = np.flatnonzero((y == classes[i]) | (y == classes[j]))
        name = f"class {classes[i]} against {classes[j]}"
        yield InnerModel(
            name, part, _rows(X, at), (y[at] == classes[j]).astype(int), _weights(s, at)
        )


def _multi_output(model: FittedModel, given: Given) -> Iterator[InnerModel]:
    X, y, s = given
    Y = y.reshape(len(y), -1)
    for k, part in enumerate(model.estimators_):
        yield InnerModel(f"target {k}", part, X, Y[:, k], s)


def _all_rows(model: FittedModel, given: Given) -> Iterator[InnerModel]:
    """Voting and stacking: every model on all rows, of classes as text or as indices."""
    if getattr(model, "cv", None) == "prefit":
        raise ValueError("with cv='prefit' it is not known on which rows the models were fitted")
    X, y, s = given
    chosen = [(name, one) for name, one in model.estimators if not isinstance(one, str)]
    for (name, _), part in zip(chosen, model.estimators_, strict=True):
        yield InnerModel(str(name), part, X, _as_fitted(y, part), s)


def _bagged(model: FittedModel, given: Given) -> Iterator[InnerModel]:
    X, y, s = given
    if s is not None:
        raise ValueError(f"rows of a weighted {type(model).__name__} are drawn by their weights: "
                         "audit its estimators_ by themselves")  # fmt: skip
    columns = model.estimators_features_
    for b, (part, at) in enumerate(zip(model.estimators_, model.estimators_samples_, strict=True)):
        drawn = _rows(X, np.asarray(at))
        if len(columns[b]) != model.n_features_in_ or model.bootstrap_features:
            drawn = _columns(drawn, columns[b])
        yield InnerModel(f"sample {b}", part, drawn, _as_fitted(y[at], part, model), None)


def _calibrated(model: FittedModel, given: Given) -> Iterator[InnerModel]:
    X, y, s = given
    pairs = model.calibrated_classifiers_
    ensemble = model.ensemble is True or (model.ensemble == "auto" and len(pairs) > 1)
    if not ensemble and len(pairs) == 1:
        if type(pairs[0].estimator).__name__ == "FrozenEstimator":
            raise ValueError("it is not known on which rows a frozen estimator was fitted")
        yield InnerModel(
            "the classifier", pairs[0].estimator, X, _as_fitted(y, pairs[0].estimator), s
        )
        return
    folds = check_cv(model.cv, y, classifier=True)
    if getattr(folds, "shuffle", False) and not isinstance(folds.random_state, int):
        raise ValueError(
            "its folds were drawn without a seed and are not kept: give cv a splitter with "
            "random_state"
        )
    for k, ((train, _), pair) in enumerate(zip(folds.split(X, y), pairs, strict=True)):
        target = _as_fitted(y[train], pair.estimator)
        name = f"the classifier without fold {k}"
        yield InnerModel(name, pair.estimator, _rows(X, train), target, _weights(s, train))


def _as_fitted(y: np.ndarray, part: FittedModel, outer: FittedModel | None = None) -> np.ndarray:
    """Return the targets as a classifier was given them: as they are, or as indices of classes."""
    classes = getattr(part, "classes_", None)  # of a pipeline, those of its last step
    if classes is None:
        return y
    known, indices = np.unique(y, return_inverse=True)
    if outer is not None:  # a sample may lack a class
        known = np.asarray(outer.classes_)
        indices = np.searchsorted(known, y)
    if np.isin(known, classes).all() and np.isin(classes, known).all():
        return y
    return indices if np.isin(classes, np.arange(len(known))).all() else y


def _rows(X: Any, at: np.ndarray) -> Any:
    return X.iloc[at] if hasattr(X, "iloc") else X[at]


def _columns(X: Any, at: np.ndarray) -> Any:
    return X.iloc[:, at].to_numpy() if hasattr(X, "iloc") else X[:, at]


def _weights(s: np.ndarray | None, at: np.ndarray) -> np.ndarray | None:
    return None if s is None else s[at]


_VOTES = "how their answers are put together"
_LAST_LAYER = (
    "the last model, which was fitted on answers for rows left out of fits that are not kept"
)
_CALIBRATORS = "the calibrators, which were fitted on the rows of the other fold"
_READERS: dict[str, tuple[Callable[..., Iterator[InnerModel]], str]] = {
    "OneVsRestClassifier": (_one_vs_rest, _VOTES),
    "OneVsOneClassifier": (_one_vs_one, _VOTES),
    "MultiOutputRegressor": (_multi_output, ""),
    "MultiOutputClassifier": (_multi_output, ""),
    "VotingClassifier": (_all_rows, _VOTES),
    "VotingRegressor": (_all_rows, _VOTES),
    "StackingClassifier": (_all_rows, _LAST_LAYER),
    "StackingRegressor": (_all_rows, _LAST_LAYER),
    "BaggingClassifier": (_bagged, _VOTES),
    "BaggingRegressor": (_bagged, _VOTES),
    "CalibratedClassifierCV": (_calibrated, _CALIBRATORS),
}
