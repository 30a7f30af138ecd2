"""Models by the names that people type."""

import inspect
import json
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from ..exceptions import UsageError
from ..tables.suggestions import did_you_mean, unknown

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Task = Literal["classes", "numbers", "none"]

# short name: class of a target of classes, of numbers, of no target
SHORT_NAMES: dict[str, tuple[str | None, str | None, str | None]] = {
    "logistic": ("linear_model.LogisticRegression", None, None),
    "softmax": ("linear_model.LogisticRegression", None, None),
    "firth": ("linear_model.FirthLogisticRegression", None, None),
    "ordinal": ("linear_model.OrdinalRegression", None, None),
    "linear": (None, "linear_model.LinearRegression", None),
    "ridge": (None, "linear_model.Ridge", None),
    "lasso": (None, "linear_model.Lasso", None),
    "elastic-net": (None, "linear_model.ElasticNet", None),
    "knn": ("neighbors.KNeighborsClassifier", "neighbors.KNeighborsRegressor", None),
    "svm": ("svm.LinearSVC", None, None),
    "ls-svm": ("svm.LSSVC", "svm.LSSVR", None),
    "ncfs": ("feature_selection.NCFSClassifier", "feature_selection.NCFSRegressor", None),
    "kmeans": (None, None, "cluster.KMeans"),
    "mixture": (None, None, "mixture.GaussianMixture"),
    "agglomerative": (None, None, "cluster.AgglomerativeClustering"),
}
DEFAULTS: dict[Task, str] = {"classes": "logistic", "numbers": "linear", "none": "kmeans"}
MODULES = ("linear_model", "neighbors", "svm", "feature_selection", "cluster", "mixture")
KINDS: tuple[Task, ...] = ("classes", "numbers", "none")
WORDS = {"classes": "classes", "numbers": "numbers", "none": "a table without a target"}


def class_names() -> dict[str, str]:
    """Public estimators: name to module and name."""
    names = {}
    for module in MODULES:
        public = import_module(f"certus.{module}")
        for name in public.__all__:
            cls = getattr(public, name)
            if inspect.isclass(cls) and hasattr(cls, "fit"):
                names[name] = f"{module}.{name}"
    return names


def model_class(name: str | None, task: Task) -> "type[BaseEstimator]":
    """The class of a short name or class name, for a task."""
    name = name or DEFAULTS[task]
    if name.casefold() in SHORT_NAMES:
        place = SHORT_NAMES[name.casefold()][KINDS.index(task)]
        if place is None:
            fitting = [short for short, row in SHORT_NAMES.items() if row[KINDS.index(task)]]
            raise UsageError(f"{name} is not a model of {WORDS[task]}: try {', '.join(fitting)}")
    else:
        classes = class_names()
        same = {k.casefold(): k for k in classes}
        if name.casefold() not in same:
            raise UsageError(unknown("model", name, [*SHORT_NAMES, *classes]))
        place = classes[same[name.casefold()]]
    module, _, cls = place.rpartition(".")
    found: type[BaseEstimator] = getattr(import_module(f"certus.{module}"), cls)
    return found


def made(
    cls: "type[BaseEstimator]", flags: Sequence[str], parameters: str | None
) -> "BaseEstimator":
    """The estimator with parameters from ``--name value`` flags and from a JSON object."""
    values = _from_json(parameters)
    values.update(_from_flags(cls, flags))
    known = inspect.signature(cls).parameters
    for name in values:
        if name not in known:
            raise UsageError(unknown(f"parameter of {cls.__name__}", name, known))
    return cls(**values)


def _from_json(text: str | None) -> dict[str, object]:
    if text is None:
        return {}
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--params is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise UsageError("--params must be a JSON object, such as '{\"C\": 0.5}'")
    return values


def _from_flags(cls: type, flags: Sequence[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    words = list(flags)
    while words:
        flag = words.pop(0)
        if not flag.startswith("--"):
            raise UsageError(f"'{flag}' was not understood")
        name, equals, value = flag[2:].partition("=")
        name = _parameter(cls, name)
        if not equals:
            if not words:
                raise UsageError(f"--{name} needs a value")
            value = words.pop(0)
        values[name] = _value(value)
    return values


def _parameter(cls: type, flag: str) -> str:
    known = [*inspect.signature(cls).parameters]
    name = flag.replace("-", "_")
    if name in known:
        return name
    close = did_you_mean(name, known)
    hint = f" Did you mean --{close}?" if close else f" {cls.__name__} has: {', '.join(known)}."
    raise UsageError(f"No option --{flag}.{hint}")


def _value(text: str) -> object:
    """A JSON value where the text is one, else the text."""
    special = {"none": None, "true": True, "false": False, "inf": float("inf")}
    if text.casefold() in special:
        return special[text.casefold()]
    try:
        return json.loads(text)
    except ValueError:
        return text
