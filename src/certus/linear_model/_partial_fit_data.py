"""Validation of rows that arrive in parts: columns, classes and targets as in the first part."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.finite import require_finite
from ..data.labels import encode, encode_as, read_labels, require_two_classes
from ..data.rows import Rows
from ..data.validation import data_for_search, require_target, target, warn_of_a_column, weights
from ..text.format import count

if TYPE_CHECKING:
    from ._base import LinearRegressor
    from ._classifier import LinearClassifier


def classes_of_part(
    model: "LinearClassifier", X: object, y: object, classes: object, sample_weight: object
) -> tuple[Rows, np.ndarray]:
    """Return the rows of a classification, y (n, 1) holding class indices, and all classes.

    Some classes may be absent from these rows.
    """
    require_target(model, y)
    first = "classes_" not in vars(model)
    data = data_for_search(model, X, reset=first)
    labels, column = read_labels(y, data.shape[0])
    if column:
        warn_of_a_column()
    known = _known_classes(model, classes, first)
    k = encode_as(labels, known)
    s = weights(sample_weight, data.shape[0])
    _require_finite(model, data)
    return Rows(data, k.astype(float)[:, None], s), known


def _known_classes(model: "LinearClassifier", classes: Any, first: bool) -> np.ndarray:
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


def targets_of_part(
    model: "LinearRegressor", X: Any, y: Any, sample_weight: object
) -> tuple[Rows, bool]:
    """Return the rows of a regression, y (n, k), and whether ``coef_`` is one-dimensional."""
    require_target(model, y)
    first = "coef_" not in vars(model)
    X = data_for_search(model, X, reset=first)
    values = target(y, X.shape[0])
    flat = np.ndim(y) == 1
    if not first:
        k, flat = len(np.atleast_2d(model.coef_)), np.ndim(model.coef_) == 1
        if values.shape[1] != k:
            raise ValueError(
                f"the model has {count(k, 'target')}, y has {values.shape[1]}: give as many as in "
                "the parts before"
            )
    s = weights(sample_weight, X.shape[0])
    _require_finite(model, X)
    return Rows(X, values, s), flat


def _require_finite(model: object, X: object) -> None:
    require_finite(X, vars(model).get("feature_names_in_"))
