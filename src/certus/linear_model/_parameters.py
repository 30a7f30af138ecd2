"""Checks of parameters that several linear estimators share; the penalty of LogisticRegression."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.validation import one_of
from ..runtime.user_frame import warn_user

if TYPE_CHECKING:
    from .logistic import LogisticRegression

PENALTIES = ("l1", "l2", "elasticnet", None, "deprecated")


def positive(name: str, value: object) -> float:
    """Return a finite number above 0, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name}={value!r}: give a finite number above 0")
    return float(value)


def whole_number(name: str, value: object) -> int:
    """Return a whole number, 0 or above, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name}={value!r}: give a whole number, 0 or above")
    return int(value)


class Strength(NamedTuple):
    """Factors of the losses and of the two parts of the penalty."""

    C: float
    l1: float
    l2: float


def strength_of(model: "LogisticRegression") -> Strength:
    """Return C, l1 and l2 of a model's parameters; C = 1 without a penalty."""
    one_of("penalty", model.penalty, PENALTIES)
    C = model.C
    if isinstance(C, bool) or not isinstance(C, Real) or not C > 0:
        raise ValueError(f"C={C!r}: give a number above 0, or inf for no penalty")
    ratio = model.l1_ratio
    if ratio is None:
        warn_user("'l1_ratio=None' is deprecated: give a number from 0 to 1", FutureWarning)
        ratio = 0.0
    if isinstance(ratio, bool) or not isinstance(ratio, Real) or not 0 <= ratio <= 1:
        raise ValueError(f"l1_ratio={ratio!r}: give a number from 0 (ridge) to 1 (lasso)")
    if model.penalty != "deprecated":
        warn_user(
            "'penalty' is deprecated in scikit-learn 1.8: use l1_ratio=0 for 'l2', l1_ratio=1 "
            "for 'l1', a number between for 'elasticnet', and C=inf for None",
            FutureWarning,
        )
        ratio = {"l1": 1.0, "l2": 0.0}.get(str(model.penalty), ratio)
        C = np.inf if model.penalty is None else C
    if np.isinf(C):
        return Strength(1.0, 0.0, 0.0)
    return Strength(float(C), float(ratio), 1.0 - float(ratio))
