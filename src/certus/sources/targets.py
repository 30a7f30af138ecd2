"""What the target of a table is: numbers, or labels with their classes."""

from typing import Any

import numpy as np

from ..exceptions import TableError
from .columns import Columns
from .encoding import BatchEncoder
from .first_pass import MAX_DISTINCT_TARGETS, MAX_STATED_CLASSES, DistinctTargets, FirstPass
from .table import TargetCodes


def holds_labels(chosen: Columns, classes: Any) -> bool:
    """Return whether targets are labels: text, True and False, or what ``classes`` says."""
    kinds = [chosen.kinds[name] for name in chosen.targets]
    text = [name for name in chosen.targets if chosen.kinds[name] == "text"]
    if len(kinds) > 1 and (text or classes is True):
        raise TableError(
            f"several targets must be numbers ({text[0] if text else chosen.targets[0]!r} is "
            "not): of several labels each is a model of its own"
        )
    if text and classes is False:
        raise TableError(f"column '{text[0]}' holds text, and classes=False needs numbers")
    if classes is True and not kinds:
        raise ValueError("classes=True, but there is no target: name its column, target='…'")
    return bool(text) or classes is True or (kinds == ["truth"] and classes == "auto")


def distinct_targets(chosen: Columns, classes: Any) -> DistinctTargets | None:
    """Return the counter of different targets; None where they are text, or several."""
    if len(chosen.targets) != 1 or classes is False or chosen.kinds[chosen.targets[0]] == "text":
        return None
    return DistinctTargets(MAX_STATED_CLASSES if classes is True else MAX_DISTINCT_TARGETS)


def codes_of_target(
    encoder: BatchEncoder, chosen: Columns, labels: bool, found: FirstPass, classes: Any
) -> TargetCodes | None:
    """Return how targets become indices of classes; None for numbers."""
    if not chosen.targets:
        return None
    kind = chosen.kinds[chosen.targets[0]]
    if encoder.target is not None:
        values, ranks = encoder.target.ranked()
        is_text = all(isinstance(value, str) for value in values)
        return TargetCodes(np.array(values, dtype=object if is_text else None), ranks, None)
    distinct = found.distinct
    if distinct is None:
        return None
    if kind == "whole" and distinct.values is not None:
        distinct.dtype = np.dtype(np.int64)
    if not labels:
        return None
    if distinct.values is None:
        raise TableError(
            f"classes=True, but column '{chosen.targets[0]}' holds {distinct.reason}: labels are "
            "text, or whole numbers"
        )
    dtype = bool if kind == "truth" else distinct.dtype
    return TargetCodes(distinct.values.astype(dtype), None, distinct.values)
