"""The check of every part: values that are not finite, weights, classes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...engines.dask import Opaque

MAX_NUMBER_CLASSES = 1000  # different whole numbers that may be class labels


class PartCheck(NamedTuple):
    """What the first pass over a part found."""

    n_targets: int
    labels: bool  # whether the target is text
    classes: np.ndarray | None  # distinct targets; None if too many
    weights: tuple[float, float] | None  # least and largest
    bad: str | None  # the first value that is not finite


def classes_of(looks: Sequence[PartCheck]) -> np.ndarray | None:
    found = [look.classes for look in looks]
    if any(classes is None for classes in found):
        return None
    distinct = np.unique(np.concatenate([classes for classes in found if classes is not None]))
    return distinct if looks[0].labels or len(distinct) <= MAX_NUMBER_CLASSES else None


def refuse_bad_values(looks: Sequence[PartCheck], names: Sequence[str] | None) -> None:
    for i, look in enumerate(looks):
        if look.bad is not None:
            raise ValueError(f"part {i} of {len(looks)}: {look.bad}")
        if look.weights is not None and look.weights[0] < 0:
            raise ValueError(
                f"part {i} of {len(looks)}: Negative values in data passed to `sample_weight` "
                f"(least: {look.weights[0]:g}); use 0 to leave a row out"
            )
    weights = [look.weights for look in looks if look.weights is not None]
    if weights and max(high for _, high in weights) == 0:
        raise ValueError("Sample weights must contain at least one non-zero number: all are 0")


# --- what runs on the workers ---------------------------------------------------------------------


def check_part(part: tuple[Any, Any, Any]) -> PartCheck:
    """Check the values of a part."""
    X, y, s = part
    bad = _not_finite(X, "X")
    k = 0 if y is None else y.shape[1]
    labels = y is not None and y.dtype.kind != "f"
    classes = None
    if y is not None and not labels:
        bad = bad or _not_finite(y, "y")
    if k == 1 and bad is None:
        classes = np.unique(y)
        if not labels and (len(classes) > MAX_NUMBER_CLASSES or (classes % 1 != 0).any()):
            classes = None
    if s is not None:
        bad = bad or _not_finite(s[:, None], "sample_weight")
    weights = None if s is None else (float(s.min()), float(s.max()))
    return PartCheck(k, labels, classes, weights, bad)


def _not_finite(values: np.ndarray, what: str) -> str | None:
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return None
    row, column = np.argwhere(wrong)[0]
    return (
        f"{what} holds {values[row, column]} (row {row} of the part, column {column}): impute it "
        "or drop the row"
    )


def encoded(part: tuple[Any, Any, Any], classes: Opaque) -> tuple[Any, Any, Any]:
    """Return the part with class indices as targets."""
    X, y, s = part
    return X, np.searchsorted(classes.value, y[:, 0]).astype(float)[:, None], s
