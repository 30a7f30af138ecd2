"""Parameters that are numbers."""

from numbers import Real

import numpy as np


def is_finite(value: object) -> bool:
    """Is it a real number, no truth value, and finite?"""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    return bool(np.isfinite(float(value)))


def check_C(C: float) -> None:
    if not is_finite(C) or C <= 0:
        raise ValueError(f"C={C!r}: give a finite number above 0")
