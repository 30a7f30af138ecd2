"""The same door for rows that come in parts: not every class need be in each of them."""

from typing import Any

import numpy as np

from ._finite import require_finite
from ._frames import from_series
from ._labels import encode, encode_as, read_labels, require_two_classes
from ._validation import (
    names_of,
    require_target,
    rows_of,
    rows_of_targets,
    validated,
    warn_of_a_column,
    weights,
)
from .rows import Rows


def classes_of_part(
    model: Any, X: Any, y: Any, classes: Any, sample_weight: Any
) -> tuple[Rows, np.ndarray]:
    """Rows of a classification whose rows come in parts: not every class need be in each."""
    require_target(model, y)
    first = "classes_" not in vars(model)
    X = validated(model, X, reset=first)
    labels, column = read_labels(y, X.shape[0])
    if column:
        warn_of_a_column(0)
    known = _known_classes(model, classes, first)
    k = encode_as(labels, known)
    s = weights(sample_weight, X.shape[0])
    require_finite(X, names_of(model))
    return Rows(X, k.astype(float)[:, None], s), known


def _known_classes(model: Any, classes: Any, first: bool) -> np.ndarray:
    if classes is None and first:
        raise ValueError(
            "classes must be passed on the first call to partial_fit: give every label that y can "
            "hold, as in partial_fit(X, y, classes=[0, 1])"
        )
    if classes is None:
        known: np.ndarray = model.classes_
        return known
    given, _ = encode(read_labels(classes, len(classes))[0])
    require_two_classes(given, len(classes))
    if not first and not np.array_equal(given, model.classes_):
        raise ValueError(
            f"`classes={given.tolist()}` is not the same as on last call to partial_fit, was: "
            f"{model.classes_.tolist()}"
        )
    return given


def targets_of_part(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, bool]:
    """Rows of a regression whose rows come in parts; and was y 1d?"""
    require_target(model, y)
    first = "coef_" not in vars(model)
    X = validated(model, X, reset=first)
    y = np.asarray(from_series(y, "y"))
    rows = (
        rows_of(model, X, y, sample_weight, None)
        if first
        else rows_of_targets(model, X, y, sample_weight)
    )
    require_finite(X, names_of(model))
    return rows, y.ndim == 1
