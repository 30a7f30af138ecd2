"""Compute the merges of a problem, after checking the range of its distances and the memory.

d² must neither overflow nor underflow        bytes needed ≤ bytes free
"""

from typing import Any

import numpy as np

from ..data.memory import available_memory
from ..distances import Distance, Euclidean
from ..solvers.linkage import (
    CENTER_METHODS,
    METHODS,
    agglomerate,
    agglomerate_distances,
    bytes_needed,
    rows_suffice,
)
from ..solvers.progress import OnStep, ignore
from ..text.format import count, number
from ._linkage_problem import LinkageProblem, divided

DTYPES: dict[str, type[np.floating]] = {"float64": np.float64, "float32": np.float32}
MIN_CHECKED_BYTES = 1 << 28  # smaller needs are met without asking how much memory is free


def dtype_of(dtype: object) -> type[np.floating]:
    """Return the float type that ``dtype`` names; None is float64."""
    name = "float64" if dtype is None else getattr(dtype, "__name__", str(dtype))
    if name not in DTYPES:
        raise ValueError(f"dtype={dtype!r}: give 'float64', 'float32' or None")
    return DTYPES[name]


class _RangeCheckedDistance(Distance):
    """A distance between rows already read, which refuses values out of range."""

    def __init__(self, distance: Distance, dtype: type[np.floating], squared: bool):
        self.distance, self.name, self.missing = distance, distance.name, distance.missing
        self.dtype, self.squared = dtype, squared

    def read(self, X: object) -> np.ndarray:
        return np.asarray(X)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        with np.errstate(over="ignore"):
            D = self.distance.compare(A, B, threads)
        require_range(float(D.max(initial=0.0)), self.dtype, self.squared)
        return D


def require_range(most: float, dtype: type[np.floating], squared: bool) -> None:
    """Raise an error if the largest distance is NaN, or cannot be represented or squared."""
    if np.isnan(most):
        raise ValueError(
            "two rows have no distance: they share no known value, or the metric gives NaN. Drop "
            "rows without known values"
        )
    held = np.finfo(dtype)
    low, high = float(held.tiny), float(held.max)
    if squared:  # with room for sums of n squares
        low, high = 1e5 * low**0.5, 1e-5 * high**0.5
    if most > high or 0 < most < low:
        remedy = "divide" if most > high else "multiply"
        raise ValueError(
            f"distances reach {most:.3g}, beyond what {np.dtype(dtype).name} can "
            f"{'square' if squared else 'hold'}: {remedy} X by a power of 10"
        )


def build_merges(
    problem: LinkageProblem,
    method: str,
    dtype: type[np.floating],
    threads: int,
    on_step: OnStep = ignore,
) -> np.ndarray:
    """Return the merges; raises ``MemoryError`` before anything is allocated if they do not fit."""
    options: dict[str, Any] = {"dtype": dtype, "threads": threads, "on_step": on_step}
    require_memory(problem, method, dtype)
    squared = method in CENTER_METHODS
    if problem.distance is None:
        most = float(problem.X.max(initial=0.0))
        require_range(most, np.float64 if squared else dtype, False)
        unit = unit_of_squares(most, dtype) if squared else 1.0
        return with_heights_times(
            agglomerate_distances(problem.X, method, unit=unit, **options), unit
        )
    if not rows_suffice(method, problem.distance.euclidean_like):
        checked = _RangeCheckedDistance(problem.distance, dtype, squared)
        return agglomerate(rows_for_distance(problem), method, checked, **options)
    rows, distance = divided(problem.X, problem.scale), problem.distance
    with np.errstate(over="ignore"):
        embedded = distance.embed(rows)
        reach = 2 * float(np.ptp(embedded / 2, axis=0).max(initial=0.0))
    lengths = distance.euclidean_like == "euclidean"  # or their squares
    require_range(reach, np.float64, not lengths)
    unit = unit_of_squares(reach) if lengths else 1.0
    if unit == 1.0:
        return agglomerate(rows, method, distance, **options)
    # dividing by a power of two is exact
    return with_heights_times(agglomerate(embedded / unit, method, Euclidean(), **options), unit)


def unit_of_squares(most: float, dtype: type[np.floating] = np.float64) -> float:
    """Return 2^k to divide lengths by so that squares of all can be summed; 1 where they can.

    ``most``: the longest. ``dtype``: that of the squares.
    """
    held = np.finfo(dtype)
    if most == 0 or 1e5 * float(held.tiny) ** 0.5 <= most <= 1e-5 * float(held.max) ** 0.5:
        return 1.0
    return 2.0 ** float(np.frexp(most)[1] - 1)


def with_heights_times(merges: np.ndarray, unit: float) -> np.ndarray:
    """Return the merges with heights times ``unit``, which float64 must hold."""
    if unit == 1.0:
        return merges
    with np.errstate(over="ignore"):
        merges[:, 2] *= unit
    if not np.isfinite(merges[:, 2]).all():
        raise ValueError(
            f"heights of the tree exceed {np.finfo(merges.dtype).max:.3g}: divide X by a power of "
            "10"
        )
    return merges


def rows_for_distance(problem: LinkageProblem) -> np.ndarray:
    """Return the rows in the form that the distance compares."""
    assert problem.distance is not None
    if problem.mixed:
        return problem.distance.read(problem.X)
    return problem.distance.read(divided(problem.X, problem.scale))


def require_memory(problem: LinkageProblem, method: str, dtype: object) -> None:
    """Raise a ``MemoryError`` that names the memory needed and free, and what would fit."""
    given = problem.distance is None
    n, p = problem.n, 0 if given else int(problem.X.shape[1])

    def bytes_of(method: str, dtype: object) -> int:
        like = None if problem.distance is None else problem.distance.euclidean_like
        return bytes_needed(n, p, method, rows_suffice(method, like), dtype)

    needed = bytes_of(method, dtype)
    free = None if needed < MIN_CHECKED_BYTES else available_memory()
    if free is None or needed <= free:
        return
    fits = [
        f"linkage='{other}'"
        for other in METHODS
        if not given and other != method and bytes_of(other, dtype) <= free
    ]
    if dtype is not np.float32 and bytes_of(method, np.float32) <= free:
        fits.append("dtype='float32'")
    would = f"What would fit: {', '.join(fits)}" if fits else "Use fewer rows, e.g. a sample"
    raise MemoryError(
        f"{method} linkage of {count(n, 'row')} needs {_gib(needed)} and {_gib(free)} are free. "
        f"{would}"
    )


def _gib(size: int) -> str:
    return f"{number(size / 2**30, 3)} GiB"
