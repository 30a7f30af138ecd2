"""Checks of parameters that several linear estimators share."""

from numbers import Integral, Real

import numpy as np


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
