r"""Which columns are selected, by their weights W.

W_l > 0  and  W_l ≥ threshold,        or the k largest W_l > 0, of equal ones the first
"""

import re
from collections.abc import Callable
from numbers import Integral, Real

import numpy as np

OF: dict[str, Callable[[np.ndarray], float]] = {"max": np.max, "mean": np.mean, "median": np.median}
PATTERN = re.compile(r"(?:(?P<times>[^*]+)\*)?\s*(?P<of>[a-z]+)\s*")


def check_selection(threshold: object, n_features_to_select: object, p: int) -> None:
    _read_threshold(threshold)
    _read_count(n_features_to_select, p)


def selected(W: np.ndarray, threshold: object, n_features_to_select: object) -> np.ndarray:
    """(P,) of bool."""
    count = _read_count(n_features_to_select, len(W))
    if count is not None:
        support = np.zeros(len(W), dtype=bool)
        support[np.argsort(-W, kind="stable")[:count]] = True
        return support & (W > 0)
    times, of = _read_threshold(threshold)
    least = times if of is None else times * float(OF[of](W))
    return (W > 0) & (least <= W)


def fewer_than_asked(W: np.ndarray, n_features_to_select: object) -> int | None:
    """How many were asked for, if so many have no weight."""
    count = _read_count(n_features_to_select, len(W))
    return None if count is None or np.count_nonzero(W) >= count else count


def _read_threshold(threshold: object) -> tuple[float, str | None]:
    """(c, None) of a number; (c, "max") of "c*max"."""
    if isinstance(threshold, Real) and not isinstance(threshold, bool):
        times, of = float(threshold), None
    else:
        found = PATTERN.fullmatch(threshold.strip()) if isinstance(threshold, str) else None
        of = found["of"] if found else None
        try:
            times = float(found["times"] or 1.0) if found else np.nan
        except ValueError:
            times = np.nan
    if not 0 <= times < np.inf or of not in (None, *OF):
        raise ValueError(
            f"threshold={threshold!r}: give a number of at least 0, or text such as '0.01*max', "
            "'mean' or '2*median'"
        )
    return times, of


def _read_count(n: object, p: int) -> int | None:
    if n is None:
        return None
    whole = int(n) if isinstance(n, Integral) and not isinstance(n, bool) else 0
    if 1 <= whole <= p:
        return whole
    if whole > p:
        raise ValueError(f"n_features_to_select={n!r}: X has {p:,} columns, ask for at most {p:,}")
    if isinstance(n, Real) and not isinstance(n, (bool, Integral)) and 0 < float(n) <= 1:
        return max(1, int(float(n) * p))
    raise ValueError(
        f"n_features_to_select={n!r}: give a whole number above 0, a share of the columns above 0 "
        "and up to 1.0, or None"
    )
