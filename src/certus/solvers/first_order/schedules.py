"""Step-length schedules: factors of α after t passes over the data.

"constant"    1
"geometric"   decay^⌊t⌋, a factor after each pass
"1/t"         1/(1 + t)
"1/sqrt(t)"   1/√(1 + t)
"""

from collections.abc import Callable

import numpy as np

Schedule = Callable[[np.ndarray], np.ndarray]


def constant(t: np.ndarray) -> np.ndarray:
    return np.ones_like(t)


def inverse(t: np.ndarray) -> np.ndarray:
    return 1 / (1 + t)


def inverse_root(t: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt(1 + t)


def geometric(decay: float) -> Schedule:
    return lambda t: decay ** np.floor(t)


SCHEDULE_NAMES = ("constant", "geometric", "1/t", "1/sqrt(t)")


def make_schedule(given: object, decay: float) -> Schedule:
    """Return the schedule of that name, or the given function of t (an array)."""
    known = {
        "constant": constant, "geometric": geometric(decay), "1/t": inverse,
        "1/sqrt(t)": inverse_root,
    }  # fmt: skip
    if isinstance(given, str) and given in known:
        return known[given]
    if callable(given):
        return given
    raise ValueError(
        f"schedule={given!r}: give one of {', '.join(map(repr, SCHEDULE_NAMES))}, or a function of "
        "the passes made so far"
    )
