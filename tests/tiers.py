"""Which cases of a test the README's command runs, and which are left to ``-m exhaustive``.

A parametrised test keeps a few of its cases, spread over all of them; one that is about estimators
keeps a few for each class (and, of scikit-learn's checks, for each check); one that is marked
``costly`` keeps the first. The others are marked ``exhaustive``. A test function that is marked so
itself has a cheaper test of the same thing beside it. Every case runs in the two tiers together.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from sklearn.base import BaseEstimator

CASES = 2  # of a test
CASES_OF_A_CLASS = 2  # the default and a contrast


def mark_exhaustive(items: Iterable[pytest.Item]) -> None:
    groups: dict[tuple[str, ...], list[pytest.Item]] = defaultdict(list)
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and item.get_closest_marker("slow") is None:
            subjects = filter(None, map(subject, callspec.params.values()))
            groups[(str(item.path), item.originalname, *subjects)].append(item)  # type: ignore[attr-defined]
    for key, cases in groups.items():
        if cases[0].get_closest_marker("costly") is not None:
            kept = {0}
        else:
            kept = spread(len(cases), CASES if len(key) == 2 else CASES_OF_A_CLASS)
        for number, item in enumerate(cases):
            if number not in kept:
                item.add_marker(pytest.mark.exhaustive)


def subject(value: Any) -> str:
    """The name of the class, or of the check, that a parameter of a test stands for."""
    if isinstance(value, partial):
        return subject(value.func)
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, BaseEstimator):
        return type(value).__name__
    if hasattr(value, "make") and hasattr(value, "name"):  # a row of laws.py
        return type(value.make()).__name__
    return getattr(value, "__name__", "") if getattr(value, "__name__", "")[:6] == "check_" else ""


def spread(count: int, most: int) -> set[int]:
    """At most ``most`` of the numbers below ``count``: the first, the last, and some between."""
    if count <= most:
        return set(range(count))
    return {round(i * (count - 1) / (most - 1)) for i in range(most)}
