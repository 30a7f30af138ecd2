"""What columns are divided by before distances are taken, and when it is time to ask.

x_ij / s_j,   s_j = the standard deviation of column j, its range, or what is given; 1 if it is 0
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..exceptions import UnitsWarning
from ..runtime.user_frame import warn_user
from ..text.format import count, magnitude, name_of, number

SCALES = ("standard", "range")
FACTOR = 100  # between spreads, beyond which the smaller column changes a distance by < 0.005 %
# of these, distances grow with the unit of a column
WITH_UNITS = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "nan_euclidean",
              "cosine")  # fmt: skip

Scale = Literal["standard", "range", False] | npt.ArrayLike | None
Told = tuple[str, type[Warning]]


def warn_each(told: list[Told]) -> None:
    """Warn of each message, at the user's line."""
    for message, kind in told:
        warn_user(message, kind)


def scale_of(scale: object, X: np.ndarray) -> np.ndarray | None:
    """s (p,), or None where columns stay as they are."""
    if scale is None or scale is False:
        return None
    if isinstance(scale, str):
        if scale not in SCALES:
            raise ValueError(
                f"scale={scale!r}: give 'standard', 'range', a number for each column, None, or "
                "False (the units are right)"
            )
        with np.errstate(invalid="ignore", over="ignore"):
            s = spreads(X) if scale == "standard" else np.nanmax(X, 0) - np.nanmin(X, 0)
        return np.where(s > 0, s, 1.0)
    return _given(scale, X.shape[1])


def _given(scale: object, p: int) -> np.ndarray:
    try:
        s = np.array(scale, dtype=np.float64)
    except (TypeError, ValueError):
        s = np.empty(())
    if s.shape != (p,):
        raise ValueError(
            f"scale has shape {s.shape}: give a number for each of {count(p, 'column')}, or "
            "'standard' or 'range'"
        )
    wrong = np.flatnonzero(~((s > 0) & np.isfinite(s)))
    if len(wrong):
        j = int(wrong[0])
        raise ValueError(f"scale[{j}] is {s[j]:g}: columns are divided by numbers above 0")
    return s


def spreads(X: np.ndarray) -> np.ndarray:
    """Standard deviations of columns; 0 of one without two known values."""
    known = ~np.isnan(X)
    n = known.sum(axis=0)
    filled = np.where(known, X, 0.0)
    first = filled[0] if len(X) else np.zeros(X.shape[1])
    shifted = np.where(known, X - first, 0.0)  # far from 0, squares of deviations keep their digits
    mean = shifted.sum(axis=0) / np.maximum(n, 1)
    d = np.where(known, shifted - mean, 0.0)
    return np.sqrt(np.einsum("ij,ij->j", d, d) / np.maximum(n, 1))


def units_differ(X: np.ndarray, names: Sequence[str] | None) -> list[Told]:
    """What to say where some columns spread more than others by a large factor."""
    with np.errstate(over="ignore", invalid="ignore"):
        s = spreads(X)
    vary = np.flatnonzero((s > 0) & np.isfinite(s))
    if len(vary) < 2:
        return []
    most, least = vary[np.argmax(s[vary])], vary[np.argmin(s[vary])]
    factor = s[most] / s[least]
    if factor <= FACTOR:
        return []
    times = magnitude(factor) if factor >= 1e4 else f"{factor:,.0f}"
    return [(
        f"the standard deviation of {name_of(most, names)} is {number(s[most], 3)}, that of "
        f"{name_of(least, names)} {number(s[least], 3)}, a factor of {times}: distances hardly "
        f"depend on the second. Give scale='standard' if their units differ, or scale=False if "
        "they are right", UnitsWarning,
    )]  # fmt: skip
