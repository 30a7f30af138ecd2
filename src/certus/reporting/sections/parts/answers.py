"""Answers to rows that their models had not seen, and intervals of what is computed from them.

Bootstrap: sets of rows that stay together are drawn with replacement; a row counts as often as its
set was drawn. The interval is from the α/2 to the 1 − α/2 quantile of the resampled value.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...content.values import Interval, MeasureEstimate
from ...prepared import Prepared
from ...procedure.encoding import target_of
from ...procedure.folds import kept_together
from ...procedure.result import OuterPredictions, ProcedureResult
from ...settings import Settings

MAX_RESAMPLED_ROWS = 20_000_000  # rows × resamples of one interval: about a second
MIN_RESAMPLES, MAX_RESAMPLES = 100, 1000
MIN_BIN_ROWS = 5  # smaller bins are merged: they would describe single rows

Weighted = Callable[[np.ndarray], float]  # weights of the rows to a value


@dataclass(frozen=True, eq=False)
class Answered:
    """The rows that have an answer, in the order of ``Prepared``."""

    rows: np.ndarray  # indices into Prepared
    target: np.ndarray  # two classes: 1 is the positive; more: index of the class; or numbers
    output: np.ndarray  # (n,) or (n, K)
    fold: np.ndarray
    weights: np.ndarray
    together: np.ndarray  # codes of sets of rows that one fold holds

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def is_independent(self) -> bool:
        """Are rows resampled one by one, and all of the same weight?"""
        alone = len(np.unique(self.together)) == self.n
        return alone and bool((self.weights == self.weights[0]).all())


def answered(
    prepared: Prepared, result: ProcedureResult, outer: OuterPredictions | None = None
) -> Answered:
    """The rows with an answer; ``outer``: answers of another model than the chosen one."""
    outer = outer or result.outer
    finite = np.isfinite(outer.output.reshape(prepared.n, -1)).all(axis=1)
    rows = np.flatnonzero((outer.fold >= 0) & finite)
    together = kept_together(prepared)[0]
    s = np.ones(prepared.n) if prepared.weights is None else prepared.weights
    return Answered(
        rows, target_of(prepared)[rows], outer.output[rows], outer.fold[rows], s[rows],
        together[rows],
    )  # fmt: skip


def guesses(prepared: Prepared, found: Answered) -> np.ndarray:
    """For each row of a target of numbers, the mean of the rows outside its fold."""
    guess = np.empty(found.n)
    for f in np.unique(found.fold):
        held_out = found.rows[found.fold == f]
        others = np.setdiff1d(np.arange(prepared.n), held_out)
        s = None if prepared.weights is None else prepared.weights[others]
        guess[found.fold == f] = np.average(prepared.y[others], weights=s)
    return guess


def interval_of(of: Weighted, found: Answered, settings: Settings) -> Interval | None:
    """Bootstrap interval; None where too few resamples have a value, or all have the same."""
    return intervals_of(lambda s: np.array([of(s)]), found, settings)[0]


def intervals_of(
    of: Callable[[np.ndarray], np.ndarray], found: Answered, settings: Settings
) -> list[Interval | None]:
    """Bootstrap intervals of several values, from the same resamples."""
    rng = np.random.default_rng(settings.seed)
    sets, place = np.unique(found.together, return_inverse=True)
    n = int(np.clip(MAX_RESAMPLED_ROWS // max(found.n, 1), MIN_RESAMPLES, MAX_RESAMPLES))
    drawn = (
        np.bincount(rng.integers(0, len(sets), len(sets)), minlength=len(sets)) for _ in range(n)
    )
    values = np.array([of(found.weights * counts[place]) for counts in drawn])
    return [_quantiles(column[np.isfinite(column)], n, settings) for column in values.T]


def _quantiles(values: np.ndarray, n_resamples: int, settings: Settings) -> Interval | None:
    if len(values) < n_resamples / 2:
        return None
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high), settings.confidence) if low < high else None


def estimated(
    name: str, of: Weighted, found: Answered, settings: Settings,
    baseline: float | None = None, text: str = "",
) -> MeasureEstimate:  # fmt: skip
    """A value with its bootstrap interval."""
    interval = interval_of(of, found, settings)
    return MeasureEstimate(name, of(found.weights), found.n, interval, baseline, text)


def mean_of(values: np.ndarray) -> Weighted:
    """The weighted mean of a value of each row."""

    def of(s: np.ndarray) -> float:
        total = float(s.sum())
        return float(s @ values) / total if total > 0 else np.nan

    return of


def bins(values: np.ndarray, most: int = 10) -> list[np.ndarray]:
    """Rows in increasing order of their values, in at most so many bins of about equal size.

    Equal values share a bin, and a bin has at least 5 rows.
    """
    order = np.argsort(values, kind="stable")
    count = int(np.clip(len(values) // MIN_BIN_ROWS, 1, most))
    ordered = values[order]
    edges = [0]
    for k in range(1, count):
        edge = int(np.searchsorted(ordered, ordered[len(values) * k // count], side="left"))
        if edge - edges[-1] >= MIN_BIN_ROWS and len(values) - edge >= MIN_BIN_ROWS:
            edges.append(edge)
    return np.split(order, edges[1:])
