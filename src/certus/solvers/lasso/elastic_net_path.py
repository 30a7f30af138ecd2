"""Penalised regressions on one X: any target, any penalty, or a path of penalties.

F(w, b) = (1/2D) Σ_i s_i (y_i − x_iᵀw − b)² + Σ_j pen_j(w_j)
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import give_up_if_stopped
from ..linalg import sparse_columns
from ..linalg.gram import Gram, gram
from ..loop import GOAL_SAFETY_FACTOR
from ..progress import OnStep, ignore
from .coordinate_penalty import CoordinatePenalty
from .elastic_net import ElasticNetResult, solve
from .screened_gram import ScreenedGram
from .squared_columns import (
    MAX_FULL_GRAM_COLUMNS,
    FullGram,
    LazyGram,
    Residuals,
    SquaredLossColumns,
)

ACCURATE_TOL_FACTOR = 1e-5  # of tol, where further steps cost no pass over the rows
MAX_FULL_GRAM_WORK = 2.0**36  # n·p² up to which the sums of all columns are computed at once


class Regression(NamedTuple):
    """Problem of one target. ``null`` is F at w = 0 and the best b."""

    columns: SquaredLossColumns
    null: float

    def goal(self, tol: float) -> float:
        """Excess to reach; smaller where the rows are no longer needed and digits cost nothing."""
        accurate = ACCURATE_TOL_FACTOR if self.columns.accurate else 1.0
        return accurate * tol * self.null / GOAL_SAFETY_FACTOR

    def first_fit(self, penalty: CoordinatePenalty, tol: float) -> ElasticNetResult | None:
        """Return a fit that did not evaluate all columns, where that is likely to be enough."""
        results: ElasticNetResult | None = self.columns.first_fit(penalty, self.goal(tol))
        return results

    def start(self, w: np.ndarray) -> tuple[np.ndarray, Residuals]:
        return w, self.columns.evaluate(w)

    def largest(self, l1_ratio: float, positive: bool = False) -> float:
        """The smallest α at which w = 0: every |x̂_jᵀŷ| is at most αl."""
        v = self.columns.evaluate(np.zeros(self.columns.p)).v
        results = float(np.max(v if positive else np.abs(v), initial=0.0))
        return max(results, 0.0) / l1_ratio


def full_gram_pays(rows: Rows) -> bool:
    """Return whether to compute the sums of products of all columns.

    Columns of streamed rows are never copied, so all sums are computed unless there are fewer rows
    than columns, which are then read into memory.
    """
    n, p = rows.shape
    if rows.streamed:
        return n > p
    return p <= MAX_FULL_GRAM_COLUMNS and n >= p and float(n) * p * p <= MAX_FULL_GRAM_WORK


def full_gram_sums(rows: Rows, fit_intercept: bool) -> Gram | None:
    """Sums of products of all columns, or None if there are too many."""
    return gram(rows, fit_intercept) if full_gram_pays(rows) else None


def regressions(
    rows: Rows, fit_intercept: bool, divisor: float, sums: Gram | None = None
) -> list[Regression]:
    """Problems of the targets. ``sums``: those of all columns, if already computed."""
    assert rows.y is not None
    rows, k = _few_rows_in_memory(rows), rows.y.shape[1]
    sums = sums or full_gram_sums(rows, fit_intercept)
    if sums is not None:
        H = sums.G / divisor
        results: list[Any] = [FullGram(sums, H, t, divisor) for t in range(k)]
        return [Regression(columns, columns.yy / 2) for columns in results]
    by_columns = sparse_columns.by_columns(rows) if rows.sparse else None
    results = [LazyGram(rows, t, divisor, fit_intercept, by_columns) for t in range(k)]
    if rows.sparse and results[0].is_far_from_origin:  # densified block by block
        results = [LazyGram(rows.dense(), t, divisor, fit_intercept) for t in range(k)]
    return [Regression(columns, float(columns.y @ columns.y) / 2) for columns in results]


def regressions_of_one_fit(rows: Rows, fit_intercept: bool, divisor: float) -> list[Regression]:
    """Problems of the targets for a fit at one penalty, which may need only a few columns."""
    rows = _few_rows_in_memory(rows)
    if full_gram_pays(rows) and ScreenedGram.suits(rows):
        columns = ScreenedGram(rows, divisor, fit_intercept)
        return [Regression(columns, columns.yy / 2)]
    return regressions(rows, fit_intercept, divisor)


def _few_rows_in_memory(rows: Rows) -> Rows:
    """Return streamed rows as arrays if they are fewer than their columns, else the rows."""
    n, p = rows.shape
    return Rows(*rows.block(0, n), threads=rows.threads) if rows.streamed and n <= p else rows


def path(
    regression: Regression,
    penalties: Iterable[CoordinatePenalty],
    tol: float,
    max_iter: int,
    start: tuple[np.ndarray, Residuals] | None = None,
    on_fit: Callable[[int, ElasticNetResult], None] | None = None,
) -> list[ElasticNetResult]:
    """Fit at each penalty, starting from the previous solution.

    ``on_fit`` is called with the number and the result of each fit.
    """
    results: list[ElasticNetResult] = []
    for penalty in penalties:
        give_up_if_stopped()
        fit = solve(regression.columns, penalty, regression.goal(tol), start, max_iter)
        if on_fit is not None:
            on_fit(len(results), fit)
        results.append(fit)
        start = fit.w, fit.residuals
    return results


def fit_one(
    regression: Regression, penalty: CoordinatePenalty, tol: float, max_iter: int,
    start: np.ndarray | None = None, on_step: OnStep = ignore,
) -> ElasticNetResult:  # fmt: skip
    """Fit at one penalty, from the coefficients ``start`` or from 0."""
    at = None if start is None else regression.start(start)
    return solve(regression.columns, penalty, regression.goal(tol), at, max_iter, on_step)
