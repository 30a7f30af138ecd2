"""Intervals of a measure: a bootstrap over rows, or over the sets of rows that stay together.

Resample b draws as many sets as there are, with replacement: a row's weight is multiplied by how
often its set was drawn. The answers of the held-out rows stay as they are, so the bootstrap misses
that other rows would have trained other models, and that what a fold holds in excess is missing
from the rows that trained its model (Bates, Hastie and Tibshirani 2024, Cross-validation: what
does it estimate and how well does it do it?). The interval must hold the mean score over
fresh training sets of the same size. It is therefore stretched about the value, by the more the
closer the value is to guessing, t = |value − guess|/standard error away from it:

    stretch that covers 95 % in simulations of logistic regression, 300 rows, 8 columns

    t            0     3     7     12            1,500 rows, t = 5: 1.0
    factor      1.5   1.5   1.1   1.0            30 columns, t = 4: 1.7

Nested cross-validation estimates the factor from one table. With 10 repetitions, 150 fits, it gave
1.0 to 1.8 for tables of one kind, and covered 87 % where there was no signal.
"""

import numpy as np

from ..content.values import Interval, MeasureEstimate
from .measures import Measure, Weighted

N_RESAMPLES = 1000
MIN_RESAMPLES = 200
MAX_ROWS_RESAMPLED = 20_000_000  # rows × resamples × contests; about a minute
WIDENING = ((4.0, 1.4), (10.0, 1.1))  # (t, factor): constant beyond, linear between


def estimate(
    measure: Measure, target: np.ndarray, output: np.ndarray, fold: np.ndarray,
    guess: np.ndarray, s: np.ndarray | None, together: np.ndarray, confidence: float, seed: int,
    text: str = "",
) -> MeasureEstimate:  # fmt: skip
    """The measure of the answered rows with its interval."""
    known = fold >= 0
    weights = np.ones(int(known.sum())) if s is None else s[known]
    of = measure.weighted(target[known], output[known], fold[known], guess[known])
    value = of(weights)
    interval = None
    if np.isfinite(value):
        contests = 1 if output.ndim == 1 else output.shape[1] * (output.shape[1] - 1)
        n = n_resamples(int(known.sum()) * contests)
        interval = bootstrap(
            of, weights, together[known], value, measure.baseline, confidence, n, seed
        )
    if interval is not None:
        low = max(interval.low, measure.least)
        interval = Interval(low, min(interval.high, 1.0), confidence)
    return MeasureEstimate(measure.name, value, int(known.sum()), interval, measure.baseline, text)


def n_resamples(work: int) -> int:
    """Number of resamples where each reads so many rows."""
    return int(np.clip(MAX_ROWS_RESAMPLED // max(work, 1), MIN_RESAMPLES, N_RESAMPLES))


def bootstrap(
    of: Weighted, weights: np.ndarray, together: np.ndarray, value: float, guess: float,
    confidence: float, n: int, seed: int,
) -> Interval | None:  # fmt: skip
    """Percentiles of the resampled measure, stretched about the value by ``widening``."""
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
    factor = widening(value, guess, float(known.std()))
    low, high = value + factor * (np.quantile(known, [tail, 1 - tail]) - value)
    return Interval(float(low), float(high), confidence)


def widening(value: float, guess: float, standard_error: float) -> float:
    """By how much the bootstrap's interval is stretched."""
    t = abs(value - guess) / standard_error if standard_error > 0 else np.inf
    distances, factors = zip(*WIDENING, strict=True)
    return float(np.interp(t, distances, factors))
