"""Temperatures of deterministic annealing, from the parameter ``annealing``.

T_1 > T_2 > … ≥ 1,   r_k ∝ (π_k p_k)^(1/T)
"""

import numpy as np
import numpy.typing as npt

from ..data.validation import not_negative

Annealing = bool | npt.ArrayLike | None

# annealing=True; with a first temperature of 4, groups that shared a centre stayed together
DEFAULT_TEMPERATURES = (8.0, 4.0, 2.0, 1.4)


def temperatures(annealing: Annealing) -> tuple[float, ...]:
    """Return the temperatures in order: none for None and False, the defaults for True."""
    if annealing is None or annealing is False:
        return ()
    if annealing is True:
        return DEFAULT_TEMPERATURES
    T = not_negative("annealing", annealing).ravel()
    if not (len(T) and (T >= 1).all() and (np.diff(T) < 0).all()):
        raise ValueError(f"annealing={annealing!r}: give True, or temperatures that fall towards 1")
    return tuple(float(t) for t in T)
