r"""Selection of columns by their weights W.

W_l > 0  and  W_l ≥ threshold,        or the k largest W_l > 0; ties go to the first
"""

import re
from collections.abc import Callable
from numbers import Integral, Real

import numpy as np

STATISTICS: dict[str, Callable[[np.ndarray], float]] = {
    "max": np.max, "mean": np.mean, "median": np.median,
}  # fmt: skip
PATTERN = re.compile(r"(?:(?P<times>[^*]+)\*)?\s*(?P<of>[a-z]+)\s*")


def check_selection(threshold: object, n_features_to_select: object, p: int) -> None:
    _read_threshold(threshold)
    _read_count(n_features_to_select, p)


def selected(W: np.ndarray, threshold: object, n_features_to_select: object) -> np.ndarray:
    """Mask of the selected columns, (P,)."""
    count = _read_count(n_features_to_select, len(W))
    if count is not None:
        support = np.zeros(len(W), dtype=bool)
        support[np.argsort(-W, kind="stable")[:count]] = True
        return support & (W > 0)
    factor, statistic = _read_threshold(threshold)
    minimum = factor if statistic is None else factor * float(STATISTICS[statistic](W))
    return (W > 0) & (minimum <= W)


def unmet_selection(W: np.ndarray, n_features_to_select: object) -> int | None:
    """Return the requested number of columns if fewer have weight, else None."""
    count = _read_count(n_features_to_select, len(W))
    return None if count is None or np.count_nonzero(W) >= count else count


def _read_threshold(threshold: object) -> tuple[float, str | None]:
    """Parse a threshold: (c, None) for a number c, (c, "max") for "c*max"."""
    if isinstance(threshold, Real) and not isinstance(threshold, bool):
        factor, statistic = float(threshold), None
    else:
        match = PATTERN.fullmatch(threshold.strip()) if isinstance(threshold, str) else None
        statistic = match["of"] if match else None
        try:
            factor = float(match["times"] or 1.0) if match else np.nan
        except ValueError:
            factor = np.nan
    if not 0 <= factor < np.inf or statistic not in (None, *STATISTICS):
        raise ValueError(
            f"threshold={threshold!r}: give a number of at least 0, or text such as '0.01*max', "
            "'mean' or '2*median'"
        )
    return factor, statistic


def _read_count(n: object, p: int) -> int | None:
    if n is None:
        return None
    requested = int(n) if isinstance(n, Integral) and not isinstance(n, bool) else 0
    if 1 <= requested <= p:
        return requested
    if requested > p:
        raise ValueError(f"n_features_to_select={n!r}: X has {p:,} columns, ask for at most {p:,}")
    if isinstance(n, Real) and not isinstance(n, (bool, Integral)) and 0 < float(n) <= 1:
        return max(1, int(float(n) * p))
    raise ValueError(
        f"n_features_to_select={n!r}: give a whole number above 0, a share of the columns above 0 "
        "and up to 1.0, or None"
    )
