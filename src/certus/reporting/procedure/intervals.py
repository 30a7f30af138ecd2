"""Intervals of a measure: a bootstrap over rows, or over the sets of rows that stay together.

Resample b draws as many sets as there are, with replacement: a row's weight is multiplied by how
often its set was drawn. The answers of the held-out rows stay as they are; that they come from
models with overlapping training rows is paid for by ``WIDENING``.
"""

import numpy as np

from ..content.values import Estimate, Interval
from .measures import Measure, Weighted

N_RESAMPLES = 1000
MIN_RESAMPLES = 200
MAX_ROWS_RESAMPLED = 20_000_000  # rows × resamples × contests; about a minute
WIDENING = 1.0


def estimate(
    measure: Measure, target: np.ndarray, output: np.ndarray, fold: np.ndarray,
    guess: np.ndarray, s: np.ndarray | None, together: np.ndarray, confidence: float, seed: int,
    text: str = "",
) -> Estimate:  # fmt: skip
    """The measure of the answered rows with its interval."""
    known = fold >= 0
    weights = np.ones(int(known.sum())) if s is None else s[known]
    of = measure.weighted(target[known], output[known], fold[known], guess[known])
    value = of(weights)
    interval = None
    if np.isfinite(value):
        contests = 1 if output.ndim == 1 else output.shape[1] * (output.shape[1] - 1)
        n = n_resamples(int(known.sum()) * contests)
        interval = bootstrap(of, weights, together[known], value, confidence, n, seed)
    return Estimate(measure.name, value, int(known.sum()), interval, measure.baseline, text)


def n_resamples(work: int) -> int:
    """Number of resamples where each reads so many rows."""
    return int(np.clip(MAX_ROWS_RESAMPLED // max(work, 1), MIN_RESAMPLES, N_RESAMPLES))


def bootstrap(
    of: Weighted, weights: np.ndarray, together: np.ndarray, value: float, confidence: float,
    n: int, seed: int,
) -> Interval | None:  # fmt: skip
    """Percentiles of the resampled measure, stretched about the value by ``WIDENING``."""
    rng = np.random.default_rng(seed)
    sets, place = np.unique(together, return_inverse=True)
    found = []
    for _ in range(n):
        drawn = np.bincount(rng.integers(0, len(sets), len(sets)), minlength=len(sets))
        found.append(of(weights * drawn[place]))
    known = np.array(found)[np.isfinite(found)]
    if len(known) < MIN_RESAMPLES // 2:
        return None
    tail = (1 - confidence) / 2
    low, high = value + WIDENING * (np.quantile(known, [tail, 1 - tail]) - value)
    return Interval(float(low), float(min(high, 1.0)), confidence)
