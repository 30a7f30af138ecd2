"""Starts of EM: a partition of the rows, or responsibilities drawn at random.

kmeans             labels of k-means from one k-means++ start, until a step gains little
k-means++          each row to the nearest of k rows drawn by k-means++
random_from_data   each row to the nearest of k rows drawn at random
random             r_ik drawn uniformly, then normalised for each row

Rows in memory have a label or k responsibilities each. Streamed rows have none: k centres come from
a sample, and every block assigns its rows to the nearest of them when it is read.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows, spread
from ...data.streamed import sample_rows
from ..kmeans import KMeansFit, lloyd, nearest_centers
from ..kmeans.starts import plus_plus, random_rows
from ..progress import Step

KMEANS_MAX_ITER = 300  # the default of KMeans
# share of J that a step gains where k-means ends. Beside a fixed point, over 40 seeds on digits: 15
# to 60 % less time and as high a density (−0.0005 ± 0.0005 nats a row; with 1e-3, −0.01 ± 0.005)
MIN_START_GAIN = 1e-4
SAMPLE_ROWS_PER_COMPONENT = 16  # of streamed rows, at least
MAX_SAMPLE_GROWTH = 64  # of the sample, to find k rows with a weight above 0

StartFunction = Callable[[Rows, int, np.random.RandomState], np.ndarray]
AssignmentRule = Callable[..., np.ndarray]  # of (X, *beside): responsibilities of a block (k, rows)


class Assignment(NamedTuple):
    """Responsibilities of all rows at a start, made block by block."""

    rule: AssignmentRule
    beside: tuple[np.ndarray, ...] = ()  # what the rule needs of each row besides X


class _LittleGained:
    """Callback that ends k-means at the first step that gains little: EM moves on from there."""

    def __init__(self) -> None:
        self.last = np.inf

    def __call__(self, step: Step) -> bool:
        gained, self.last = self.last - step.objective, step.objective
        return bool(gained <= MIN_START_GAIN * step.objective)


def _loose_kmeans(rows: Rows, k: int, rng: np.random.RandomState) -> KMeansFit:
    """Run k-means from one k-means++ start, short of its fixed point."""
    start = plus_plus(rows, k, rng)[0]
    return lloyd(rows, start, max_iter=KMEANS_MAX_ITER, on_step=_LittleGained())


# --- rows in memory -------------------------------------------------------------------------------


def by_kmeans(rows: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Labels of k-means."""
    return _loose_kmeans(rows, k, rng).labels


def by_plus_plus(rows: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Labels of the nearest of k rows drawn by k-means++."""
    return nearest_centers(rows, plus_plus(rows, k, rng)[0])[0]


def from_rows(rows: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Labels of the nearest of k rows drawn at random."""
    return nearest_centers(rows, random_rows(rows, k, rng)[0])[0]


def at_random(rows: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Responsibilities drawn uniformly and normalised."""
    R = rng.uniform(size=(rows.shape[0], k))
    R /= R.sum(axis=1, keepdims=True)
    return R


STARTS: dict[str, StartFunction] = {
    "kmeans": by_kmeans,
    "k-means++": by_plus_plus,
    "random": at_random,
    "random_from_data": from_rows,
}


@dataclass(frozen=True, eq=False)
class _Given:
    """Labels (rows,) or responsibilities (rows, k) that are kept for every row."""

    k: int

    def __call__(self, X: np.ndarray, R: np.ndarray) -> np.ndarray:
        if R.ndim == 2:
            return np.ascontiguousarray(R.T, dtype=float)
        return np.asarray(1.0 * (np.arange(self.k)[:, None] == R))


def fill_missing(rows: Rows, mean: np.ndarray) -> Rows:
    """Return rows in memory with missing entries replaced by the columns' means."""
    X = np.asarray(rows.X[: rows.shape[0]], dtype=float)
    return Rows(_filled(X, mean), None, rows.s, threads=rows.threads)


# --- streamed rows --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _NearestCenter:
    """Each row belongs to the nearest of k centres, missing entries replaced by means."""

    centers: np.ndarray
    mean: np.ndarray | None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        X = X if self.mean is None else _filled(X, self.mean)
        labels = nearest_centers(Rows(X, threads=1), self.centers)[0]
        return np.asarray(1.0 * (np.arange(len(self.centers))[:, None] == labels))


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Responsibilities drawn uniformly for each block, from a seed and a checksum of its rows."""

    k: int
    seed: int

    def __call__(self, X: np.ndarray) -> np.ndarray:
        block = zlib.crc32(np.ascontiguousarray(X).data)
        R = np.random.default_rng([self.seed, block]).uniform(size=(self.k, len(X)))
        R /= R.sum(axis=0)
        return R


def _kmeans_centers(sample: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    return _loose_kmeans(sample, k, rng).centers


def _plus_plus_centers(sample: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    return plus_plus(sample, k, rng)[0]


def _random_centers(sample: Rows, k: int, rng: np.random.RandomState) -> np.ndarray:
    return random_rows(sample, k, rng)[0]


CENTERS: dict[str, StartFunction] = {
    "kmeans": _kmeans_centers,
    "k-means++": _plus_plus_centers,
    "random_from_data": _random_centers,
}


def sample_with_weight(rows: Rows, k: int) -> Rows:
    """Return a sample of streamed rows as arrays, with at least k rows of a weight above 0."""
    n, p = rows.shape
    count = least = max(sample_rows(p), SAMPLE_ROWS_PER_COMPONENT * k)
    while True:
        sample = rows.take(spread(n, count) if count < n else np.arange(n))
        counted = sample.shape[0] if sample.s is None else int(np.count_nonzero(sample.s))
        if counted >= k:
            return sample
        if count >= MAX_SAMPLE_GROWTH * least:
            raise ValueError(
                f"only {counted:,} of {sample.shape[0]:,} sampled rows have a weight above 0, and "
                f"{k} components start from a sample: leave rows without weight out of the "
                "table, or give means_init, weights_init and precisions_init"
            )
        count *= 4


# --- any rows -------------------------------------------------------------------------------------


def assignments(
    rows: Rows, name: str, k: int, rng: np.random.RandomState, mean: np.ndarray | None = None
) -> Callable[[], Assignment]:
    """Return a function that gives the next start by the method ``name``.

    ``mean``: of the columns, in place of missing entries; None if there are none.
    """
    made: list[Rows] = []  # what all starts are drawn from, made for the first

    def drawn_from(make: Callable[[], Rows]) -> Rows:
        if not made:
            found = make()
            made.append(found if mean is None else fill_missing(found, mean))
        return made[0]

    def of_memory() -> Assignment:
        return Assignment(_Given(k), (STARTS[name](drawn_from(lambda: rows), k, rng),))

    def of_sample() -> Assignment:
        if name == "random":
            return Assignment(_Drawn(k, int(rng.randint(2**31))))
        sample = drawn_from(lambda: sample_with_weight(rows, k))
        return Assignment(_NearestCenter(CENTERS[name](sample, k, rng), mean))

    return of_sample if rows.streamed else of_memory


def _filled(X: np.ndarray, mean: Any) -> np.ndarray:
    return np.where(np.isnan(X), mean, X)
