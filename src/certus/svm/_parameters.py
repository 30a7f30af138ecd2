"""Parameters that are numbers."""

from numbers import Real
from typing import Any

import numpy as np


def is_finite(value: Any) -> bool:
    """Is it a real number, no truth value, and finite?"""
    real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    return real and bool(np.isfinite(float(value)))


def check_C(C: Any) -> None:
    if not is_finite(C) or C <= 0:
        raise ValueError(f"C={C!r}: give a finite number above 0")
