"""The document of a model file: what the model is, in JSON.

schema_version            of this layout; a newer one is refused
model                     class, parameters and fitted attributes
summary                   what ``certus show`` prints, readable without loading the model
table                     columns and types of the table that it was fitted on, if there was one
self_test                 synthetic rows, and the model's answers
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from ..audit.column_steps import column_steps
from ..certificate import Certificate
from ..exceptions import ModelFileError
from .kinds import KindTable, name_of
from .states import STATES
from .values import Encoder, Json

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

SCHEMA_VERSION = 1
LIBRARIES = ("certus", "numpy", "scipy", "scikit-learn")
MAX_LISTED_COLUMNS = 10_000
MAX_SHOWN = 80  # characters of a wrong value


class Summary(TypedDict):
    """Summary of a file, for display before it is loaded."""

    model: str
    steps: list[str]
    n_features: int | None
    feature_names: list[str] | None
    classes: list[str] | None
    certificate: dict[str, Json] | None
    contains_training_rows: bool
    self_test: bool
    versions: dict[str, str]


def steps_of(model: object) -> list[object]:
    """The model and, of a pipeline, what stands before it, in the order in which they apply."""
    if hasattr(model, "estimator_"):  # probabilities corrected for another prevalence
        return steps_of(model.estimator_)
    if type(model).__name__ != "Pipeline":
        return [model]
    steps = cast("list[tuple[str, object]]", getattr(model, "steps"))  # noqa: B009
    return [inner for _, step in steps for inner in steps_of(step) if step is not None]


def certificate_of(model: object) -> Certificate | None:
    """The certificate of a fitted model.

    Of a pipeline whose steps mix no columns, a script that is exported from it reads the table that
    the pipeline is given.
    """
    certificate: Certificate | None = getattr(steps_of(model)[-1], "certificate_", None)
    names = getattr(model, "feature_names_in_", None)
    if certificate is None or names is None or type(model).__name__ != "Pipeline":
        return certificate
    steps = column_steps([cast("Pipeline", model)[:-1]], [*map(str, names)])
    return certificate if steps is None else replace(certificate, _steps=tuple(steps))


def summary_of(model: object, self_test: bool) -> Summary:
    """The summary of a fitted model."""
    steps = steps_of(model)
    last = steps[-1]
    first = getattr(model, "n_features_in_", None)
    names = getattr(model, "feature_names_in_", None)
    classes = getattr(last, "classes_", None)
    return {
        "model": type(last).__name__,
        "steps": [_public_name(step) for step in steps],
        "n_features": None if first is None else int(first),
        "feature_names": None if names is None else [*map(str, names)][:MAX_LISTED_COLUMNS],
        "classes": None if classes is None else [str(c) for c in np.ravel(np.asarray(classes))],
        "certificate": _certificate_summary(getattr(last, "certificate_", None)),
        "contains_training_rows": any(_keeps_rows(step) for step in steps),
        "self_test": self_test,
        "versions": {name: _version(name) for name in LIBRARIES},
    }


def _public_name(step: object) -> str:
    return name_of(step) or type(step).__name__


def _keeps_rows(step: object) -> bool:
    name = name_of(step)
    return name in STATES and STATES[name].rows


def _certificate_summary(certificate: object) -> dict[str, Json] | None:
    if certificate is None:
        return None
    encoder = Encoder(KindTable())
    names = ("status", "certified", "kind", "objective", "bound", "gap", "residual", "tol",
             "formula", "shape", "definition")  # fmt: skip
    return {name: encoder.encode(_plain(getattr(certificate, name)), name) for name in names}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [*value]
    return value.item() if isinstance(value, np.generic) else value


def _version(name: str) -> str:
    from .. import __version__

    try:
        return __version__ if name == "certus" else version(name)
    except PackageNotFoundError:
        return "unknown"


def checked(document: object) -> Mapping[str, Json]:
    """The document, if this version of certus can read it."""
    if not isinstance(document, dict):
        raise ModelFileError("its document is not a JSON object")
    schema = document.get("schema_version")
    if type(schema) is not int or schema < 1:
        raise ModelFileError(f"its schema_version is {schema!r}")
    if schema > SCHEMA_VERSION:
        raise ModelFileError(
            f"it was written by a newer certus (schema {schema}; this one reads up to "
            f"{SCHEMA_VERSION}): upgrade certus"
        )
    missing = sorted({"model", "summary", "table", "self_test"} - set(document))
    if missing:
        raise ModelFileError(f"its document has no {missing[0]!r}")
    _require("summary", document["summary"], SUMMARY)
    table = document["table"]
    if table is not None:
        _require("table", table, TABLE)
        for column in table["columns"]:
            _require("column of the table", column, COLUMN)
        _require("way to read the table", table.get("reading", {}), READING)
    return document


def _require(what: str, value: object, parts: Mapping[str, Callable[[object], bool]]) -> None:
    """Refuse an object whose parts are not what commands read; others are ignored."""
    if not isinstance(value, dict):
        raise ModelFileError(f"its {what} is not an object")
    for name, is_right in parts.items():
        if not is_right(value.get(name)):
            raise ModelFileError(f"its {what} has the {name} {clipped(value.get(name))}")


def clipped(value: object) -> str:
    """A value for a message, cut off where it is long."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_none_or(is_right: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or is_right(value)


SUMMARY = {
    "model": _is_text,
    "steps": _are_texts,
    "n_features": _is_none_or(lambda value: type(value) is int),
    "feature_names": _is_none_or(_are_texts),
    "classes": _is_none_or(_are_texts),
    "certificate": _is_none_or(lambda value: isinstance(value, dict)),
    "contains_training_rows": _is_flag,
    "self_test": _is_flag,
    "versions": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
}
TABLE = {
    "columns": lambda value: isinstance(value, list),
    "used": _are_texts,
    "target": _is_none_or(_is_text),
    "weights": _is_none_or(_is_text),
    "task": _is_none_or(_is_text),
}
COLUMN = {"name": _is_text, "role": _is_text, "categories": _is_none_or(_are_texts)}
READING = {"header": _is_none_or(_is_flag), "missing": _is_none_or(_are_texts)}
