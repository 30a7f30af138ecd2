"""Targets with offsets as rates, whose loss solvers know: they know no offsets.

    s ℓ(y, o + z) = s·e ℓ(y/e, z) + constant (counts),   s ℓ(y/e, z) (amounts),   e = exp(o)

Where there is an intercept, e = exp(o − c), c = log(Σ s eᵒ/Σ s), and the intercept is c higher: an
offset of 500 then overflows nothing.
"""

from typing import Any

import numpy as np

from ...data.rows import Rows


def as_rates(rows: Rows, mean_has_weight: bool, fit_intercept: bool) -> tuple[Rows, float]:
    """Return rows of rates, and what to add to their intercept for that of the targets.

    y is (n, 1), or (n, 2) with the offsets. ``mean_has_weight``: of counts.
    """
    assert rows.y is not None
    if rows.y.shape[1] == 1:
        return rows, 0.0
    c = _center(rows) if fit_intercept else 0.0
    return rows.recoded(_rates, mean_has_weight, c), -c


def _center(rows: Rows) -> float:
    """Return log(Σ s eᵒ/Σ s); 0 where no row has weight."""
    (highest,) = rows.reduce_targets(_highest_offset, combine=_larger)
    if not np.isfinite(highest):
        return 0.0
    e, total = rows.reduce_targets(_sum_of_exposures, highest)
    return float(highest + np.log(e / total))


def _highest_offset(y: np.ndarray, s: np.ndarray | None) -> tuple[float]:
    return (float((y[:, 1] if s is None else y[s > 0, 1]).max(initial=-np.inf)),)


def _larger(a: tuple[float], b: tuple[float]) -> tuple[float]:
    return (max(a[0], b[0]),)


def _sum_of_exposures(y: np.ndarray, s: np.ndarray | None, highest: float) -> tuple[float, float]:
    if s is None:
        return float(np.exp(y[:, 1] - highest).sum()), float(len(y))
    o, s = y[s > 0, 1], s[s > 0]
    return float(s @ np.exp(o - highest)), float(s.sum())


def _rates(
    y: np.ndarray, s: np.ndarray | None, mean_has_weight: bool, c: float
) -> tuple[np.ndarray, Any]:
    """Return y/e (n, 1) and the weights."""
    e = np.exp(y[:, 1] - c)
    if mean_has_weight:
        s = e if s is None else s * e
    return y[:, :1] / e[:, None], s
