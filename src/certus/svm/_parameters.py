"""Validation of numeric parameters."""

from numbers import Real

import numpy as np


def is_finite(value: object) -> bool:
    """Return whether a value is a finite real number, and not a bool."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    return bool(np.isfinite(float(value)))


def check_C(C: float) -> None:
    """Raise unless C is finite and positive."""
    if not is_finite(C) or C <= 0:
        raise ValueError(f"C={C!r}: give a finite number above 0")
