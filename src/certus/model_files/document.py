"""The document of a model file: what the model is, in JSON.

schema_version            of this layout; a newer one is refused
model                     class, parameters and fitted attributes
summary                   what ``certus show`` prints, readable without loading the model
table                     columns and types of the table that it was fitted on, if there was one
self_test                 synthetic rows, and the model's answers
"""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TypedDict, cast

import numpy as np

from ..exceptions import ModelFileError
from .kinds import KindTable, name_of
from .states import STATES
from .values import Encoder, Json

SCHEMA_VERSION = 1
LIBRARIES = ("certus", "numpy", "scipy", "scikit-learn")
MAX_LISTED_COLUMNS = 10_000


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
    return document
