"""A target without variance, of which every penalty gives the same model: w = 0, b = y."""

from typing import Any

import numpy as np

from ..data.rows import Rows
from ..exceptions import DegenerateWarning
from ..runtime.user_frame import warn_user


def warn_of_a_constant_target(rows: Rows, fit_intercept: bool, alpha: Any) -> None:
    """Warn that cross-validation compared equal models, where y has a single value."""
    if not fit_intercept:
        return
    low, high = rows.reduce_targets(_range, combine=_wider)
    if not (low == high).all():
        return
    value = f"{low[0]:.6g}" if len(low) == 1 else "a constant of each target"
    chosen = ", ".join(f"{one:.6g}" for one in np.atleast_1d(alpha).tolist()[:3])
    warn_user(
        f"y is constant ({value} in every row), so every alpha gives w = 0 and the same error: "
        f"cross-validation had nothing to choose from, and alpha_ = {chosen} means nothing. The "
        f"model predicts {value} for every row. Check that y is the intended column",
        DegenerateWarning,
    )


def _range(y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any]:
    """Least and largest target of the rows with weight, (targets,) each."""
    y = y.reshape(len(y), -1)
    counted = y if s is None else y[s > 0]
    return counted.min(axis=0, initial=np.inf), counted.max(axis=0, initial=-np.inf)


def _wider(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])
