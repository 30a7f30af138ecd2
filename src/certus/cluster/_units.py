"""Scales of columns before distances are computed, and a warning where units differ.

x_ij / s_j,   s_j = the standard deviation of column j, its range, or a given number; 1 if it is 0
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..exceptions import UnitsWarning
from ..runtime.user_frame import warn_user
from ..text.format import count, magnitude, name_of, number

SCALES = ("standard", "range")
# Beyond this ratio of spreads, the column of smaller spread changes a distance by < 0.005 %.
MAX_SPREAD_RATIO = 100
# metrics that depend on the units of columns
WITH_UNITS = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "nan_euclidean",
              "cosine")  # fmt: skip

Scale = Literal["standard", "range", False] | npt.ArrayLike | None
PendingWarning = tuple[str, type[Warning]]


def emit_warnings(pending: list[PendingWarning]) -> None:
    """Emit each warning at the user's line."""
    for message, kind in pending:
        warn_user(message, kind)


def scale_of(scale: object, X: np.ndarray) -> np.ndarray | None:
    """Return the scales s (p,), or None if columns are not divided."""
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
    """Return the standard deviations of columns, 0 for one without two known values."""
    known = ~np.isnan(X)
    n = known.sum(axis=0)
    filled = np.where(known, X, 0.0)
    first = filled[0] if len(X) else np.zeros(X.shape[1])
    shifted = np.where(known, X - first, 0.0)  # accurate far from 0
    mean = shifted.sum(axis=0) / np.maximum(n, 1)
    d = np.where(known, shifted - mean, 0.0)
    return np.sqrt(np.einsum("ij,ij->j", d, d) / np.maximum(n, 1))


def unit_warnings(X: np.ndarray, names: Sequence[str] | None) -> list[PendingWarning]:
    """Return a warning if the spreads of two columns differ by more than MAX_SPREAD_RATIO."""
    with np.errstate(over="ignore", invalid="ignore"):
        s = spreads(X)
    vary = np.flatnonzero((s > 0) & np.isfinite(s))
    if len(vary) < 2:
        return []
    most, least = vary[np.argmax(s[vary])], vary[np.argmin(s[vary])]
    factor = s[most] / s[least]
    if factor <= MAX_SPREAD_RATIO:
        return []
    times = magnitude(factor) if factor >= 1e4 else f"{factor:,.0f}"
    return [(
        f"the standard deviation of {name_of(most, names)} is {number(s[most], 3)}, that of "
        f"{name_of(least, names)} {number(s[least], 3)}, a factor of {times}: distances hardly "
        f"depend on the second. Give scale='standard' if their units differ, or scale=False if "
        "they are right", UnitsWarning,
    )]  # fmt: skip
