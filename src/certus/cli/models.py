"""Models by the names that people type."""

import argparse
import inspect
import json
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from ..exceptions import UsageError
from ..text.suggestions import did_you_mean, unknown

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ..model_files import ModelFile

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
    "poisson": (None, "linear_model.PoissonRegressor", None),
    "gamma": (None, "linear_model.GammaRegressor", None),
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
FIT_OPTIONS = (
    "target", "model", "out", "weights", "columns", "drop", "params", "force", "json", "delimiter",
    "decimal", "encoding", "header", "missing",
)  # fmt: skip
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


def model_class(name: str | None, tasks: Sequence[Task]) -> "tuple[type[BaseEstimator], Task]":
    """The class of a short name or class name, and its task, the first that it has."""
    name = name or DEFAULTS[tasks[0]]
    if name.casefold() in SHORT_NAMES:
        row = SHORT_NAMES[name.casefold()]
        for task in tasks:
            place = row[KINDS.index(task)]
            if place is not None:
                return _class(place), task
        k = KINDS.index(tasks[0])
        fitting = [short for short, places in SHORT_NAMES.items() if places[k]]
        raise UsageError(f"{name} is not a model of {WORDS[tasks[0]]}: try {', '.join(fitting)}")
    classes = class_names()
    same = {k.casefold(): k for k in classes}
    if name.casefold() not in same:
        raise UsageError(unknown("model", name, [*SHORT_NAMES, *classes]))
    cls = _class(classes[same[name.casefold()]])
    return cls, _task_of(cls, tasks)


def _class(place: str) -> "type[BaseEstimator]":
    module, _, name = place.rpartition(".")
    found: type[BaseEstimator] = getattr(import_module(f"certus.{module}"), name)
    return found


def _task_of(cls: "type[BaseEstimator]", tasks: Sequence[Task]) -> Task:
    from sklearn.utils import get_tags

    wanted: dict[str | None, Task] = {"classifier": "classes", "regressor": "numbers"}
    task = wanted.get(get_tags(cls()).estimator_type)
    if task is None or tasks[0] == "none":
        return tasks[0]
    if task in tasks:
        return task
    raise UsageError(f"{cls.__name__} is a model of {WORDS[task]}, and the target holds "
                     f"{WORDS[tasks[0]]}")  # fmt: skip


def needs_target(model: "BaseEstimator") -> bool:
    """Does a fit of the model need a target?"""
    from sklearn.utils import get_tags

    return bool(get_tags(model).target_tags.required)


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


def split_flags(
    arguments: Sequence[str], parser: argparse.ArgumentParser
) -> tuple[list[str], list[str]]:
    """Arguments that the parser knows, and the parameters of a model among them."""
    known = parser._option_string_actions
    options, flags = [], []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if not word.startswith("--") or word == "--" or word.partition("=")[0] in known:
            options.append(word)
            continue
        flags.append(word)
        if "=" not in word and words and not words[0].startswith("--"):
            flags.append(words.pop(0))
    return options, flags


def require_options(flags: Sequence[str]) -> None:
    """Refuse a flag that looks like a mistyped option of ``certus fit``."""
    for flag in flags:
        close = did_you_mean(flag[2:], FIT_OPTIONS) if flag.startswith("--") else None
        if close is not None:
            raise UsageError(f"No option {flag}. Did you mean --{close}?")


def _from_flags(cls: type, flags: Sequence[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    words = list(flags)
    while words:
        flag, equals, value = words.pop(0)[2:].partition("=")
        name = _parameter(cls, flag)
        if not equals:
            if not words or words[0].startswith("--"):
                raise UsageError(f"--{flag} needs a value")
            value = words.pop(0)
        values[name] = _value(value)
    return values


def _parameter(cls: type, flag: str) -> str:
    known = [*inspect.signature(cls).parameters]
    name = flag.replace("-", "_")
    if name in known:
        return name
    close = did_you_mean(name, [*known, *FIT_OPTIONS])
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


def target_and_weights(
    args: argparse.Namespace, file: "ModelFile"
) -> tuple[str | None, str | None]:
    """Names of the columns, by the options or as in the fit."""
    schema = file.table if isinstance(file.table, dict) else {}
    target, weights = args.target or schema.get("target"), args.weights or schema.get("weights")
    if target is None and needs_target(file.model):
        raise UsageError("the file does not say which column was the target: give --target")
    return None if target is None else str(target), None if weights is None else str(weights)
