"""From a problem to merges: is there memory, and can the numbers be held?

d² must neither overflow nor vanish        bytes needed ≤ bytes free
"""

from typing import Any

import numpy as np

from ..data.memory import available_memory
from ..distances import Distance
from ..solvers.linkage import (
    METHODS,
    OF_CENTERS,
    agglomerate,
    agglomerate_distances,
    bytes_needed,
    rows_suffice,
)
from ..solvers.progress import OnStep, ignore
from ..text.format import count, number
from ._linkage_problem import Problem, divided

DTYPES: dict[str, type[np.floating]] = {"float64": np.float64, "float32": np.float32}
ALWAYS_THERE = 1 << 28  # bytes that need no asking


def dtype_of(dtype: object) -> type[np.floating]:
    """float64 or float32."""
    name = "float64" if dtype is None else getattr(dtype, "__name__", str(dtype))
    if name not in DTYPES:
        raise ValueError(f"dtype={dtype!r}: give 'float64', 'float32' or None")
    return DTYPES[name]


class _Checked(Distance):
    """The same distance of rows that it has read; what cannot be held is refused."""

    def __init__(self, distance: Distance, dtype: type[np.floating], squared: bool):
        self.distance, self.name, self.missing = distance, distance.name, distance.missing
        self.dtype, self.squared = dtype, squared

    def read(self, X: object) -> np.ndarray:
        return np.asarray(X)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        with np.errstate(over="ignore"):
            D = self.distance.compare(A, B, threads)
        require_reach(float(D.max(initial=0.0)), self.dtype, self.squared)
        return D


def require_reach(most: float, dtype: type[np.floating], squared: bool) -> None:
    """Refuse a largest distance that is no number, or that cannot be held or squared."""
    if np.isnan(most):
        raise ValueError(
            "two rows have no distance: they share no known value, or the metric gives NaN. Drop "
            "rows of which nothing is known"
        )
    held = np.finfo(dtype)
    low, high = float(held.tiny), float(held.max)
    if squared:  # sums of n of them, too
        low, high = 1e5 * low**0.5, 1e-5 * high**0.5
    if most > high or 0 < most < low:
        how = "divide" if most > high else "multiply"
        raise ValueError(
            f"distances reach {most:.3g}, beyond what {np.dtype(dtype).name} can "
            f"{'square' if squared else 'hold'}: {how} X by a power of 10"
        )


def grow(
    problem: Problem, method: str, dtype: type[np.floating], threads: int, on_step: OnStep = ignore
) -> np.ndarray:
    """The merges; refused before anything is allocated where they would not fit in memory."""
    how: dict[str, Any] = {"dtype": dtype, "threads": threads, "on_step": on_step}
    require_memory(problem, method, dtype)
    squared = method in OF_CENTERS
    if problem.distance is None:
        require_reach(float(problem.kept.max(initial=0.0)), dtype, squared)
        return agglomerate_distances(problem.kept, method, **how)
    if not rows_suffice(method, problem.distance.euclidean_like):
        checked = _Checked(problem.distance, dtype, squared)
        return agglomerate(rows_read(problem), method, checked, **how)
    rows = divided(problem.kept, problem.scale)
    with np.errstate(over="ignore"):
        reach = np.ptp(problem.distance.embed(rows), axis=0).max(initial=0.0)
    require_reach(float(reach), np.float64, True)
    return agglomerate(rows, method, problem.distance, **how)


def rows_read(problem: Problem) -> np.ndarray:
    """As the distance compares them."""
    assert problem.distance is not None
    if problem.mixed:
        return problem.distance.read(problem.kept)
    return problem.distance.read(divided(problem.kept, problem.scale))


def require_memory(problem: Problem, method: str, dtype: object) -> None:
    """MemoryError that names the bytes, what is free, and what would fit."""
    given = problem.distance is None
    n, p = problem.n, 0 if given else int(problem.kept.shape[1])

    def bytes_of(method: str, dtype: object) -> int:
        like = None if problem.distance is None else problem.distance.euclidean_like
        return bytes_needed(n, p, method, rows_suffice(method, like), dtype)

    needed = bytes_of(method, dtype)
    free = None if needed < ALWAYS_THERE else available_memory()
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
