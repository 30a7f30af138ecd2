"""Predictions for a row without voters: none in the radius, none comparable, all of weight 0.

"prior"   the shares of the classes, or the mean, in the fit
a label   that label, or that number
"raise"   an error that names the rows
"""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..text.format import count, listed


class Fallback(NamedTuple):
    """Prediction of one output of a classifier where a row has no voters."""

    label: object
    shares: np.ndarray  # (classes,)
    known: bool  # whether the label is one of the classes


def class_fallbacks(
    name: str, instead: object, classes: list[np.ndarray], prior: list[np.ndarray]
) -> list[Fallback] | None:
    """Return a fallback for each output; None: such rows are an error.

    ``prior``: the weight of each class in the fit.
    """
    if instead is None or (isinstance(instead, str) and instead == "raise"):
        return None
    if isinstance(instead, str) and instead in ("prior", "most_frequent"):
        return [_by_frequency(instead, c, w) for c, w in zip(classes, prior, strict=True)]
    if isinstance(instead, (list, tuple, np.ndarray)) and np.ndim(instead) == 1:
        labels = list(instead)
        if len(labels) != len(classes):
            raise ValueError(
                f"The length of {name}: {instead} is inconsistent with the output length: "
                f"{len(classes)}. Give one label for each output, or one for all"
            )
    else:
        labels = [instead] * len(classes)
    return [_by_label(name, label, c) for label, c in zip(labels, classes, strict=True)]


def _by_frequency(how: str, classes: np.ndarray, weight: np.ndarray) -> Fallback:
    most = int(weight.argmax())
    shares = weight / weight.sum() if how == "prior" else np.eye(len(classes))[most]
    return Fallback(classes[most], shares, True)


def _by_label(name: str, label: Any, classes: np.ndarray) -> Fallback:
    if np.ndim(label) > 0:
        raise TypeError(f"The {name} of classes {classes} is supposed to be a scalar, got {label}.")
    text = classes.dtype.kind in "OUT"
    fits = isinstance(label, str) if text else np.append(classes, label).dtype == classes.dtype
    if not fits:
        raise TypeError(
            f"The dtype of {name} {label!r} is inconsistent with classes {classes} in y."
        )
    same = classes == label
    return Fallback(label, same.astype(float), bool(same.any()))


def value_fallbacks(name: str, instead: Any, mean: np.ndarray) -> np.ndarray | None:
    """Return a fallback for each target of a regressor, whose ``mean`` is that of y.

    None: such rows are NaN with a warning, or an error.
    """
    if instead is None or (isinstance(instead, str) and instead == "raise"):
        return None
    if isinstance(instead, str) and instead == "prior":
        return mean
    several = isinstance(instead, (list, tuple, np.ndarray)) and len(instead) == len(mean)
    values = list(instead) if several else [instead]
    if not all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
        raise ValueError(
            f"{name}={instead!r}: give None, 'prior', 'raise', or a number (or one for each of "
            f"{count(len(mean), 'target')})"
        )
    return np.broadcast_to(np.asarray(values, dtype=float), mean.shape)


def name_rows(rows: np.ndarray) -> str:
    """Return a phrase such as "row 3" or "rows 3, 7 and 9 more"."""
    noun = "row" if len(rows) == 1 else "rows"
    return f"{noun} {listed([str(i) for i in rows])}"
