"""Penalised regressions of one X: any target, any penalty, or many penalties one after another.

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
from .elastic_net import Found, solve
from .screened_gram import TallColumns
from .squared_columns import ALL, Columns, Look, ManyColumns, WholeGram

ACCURATE = 1e-5  # times less than what is asked
WHOLE_WORK = 2.0**36  # n·p² for which the sums of all columns are taken at once


class Regression(NamedTuple):
    """One target. ``null``: F with w = 0 and the best b."""

    columns: Columns
    null: float

    def goal(self, tol: float) -> float:
        """The excess to reach. Where rows are not needed any more, more digits cost nothing."""
        accurate = ACCURATE if self.columns.accurate else 1.0
        return accurate * tol * self.null / GOAL_SAFETY_FACTOR

    def first_fit(self, penalty: CoordinatePenalty, tol: float) -> Found | None:
        """Without a look at all columns, where that is likely to be enough."""
        found: Found | None = self.columns.first_fit(penalty, self.goal(tol))
        return found

    def start(self, w: np.ndarray) -> tuple[np.ndarray, Look]:
        return w, self.columns.look(w)

    def largest(self, l1_ratio: float, positive: bool = False) -> float:
        """The least α for which w = 0: every |x̂_jᵀŷ| is at most αl."""
        v = self.columns.look(np.zeros(self.columns.p)).v
        found = float(np.max(v if positive else np.abs(v), initial=0.0))
        return max(found, 0.0) / l1_ratio


def few_columns(rows: Rows) -> bool:
    n, p = rows.shape
    return p <= ALL and n >= p and float(n) * p * p <= WHOLE_WORK


def sums_of(rows: Rows, fit_intercept: bool) -> Gram | None:
    """Of all columns at once, where these are few."""
    return gram(rows, fit_intercept) if few_columns(rows) else None


def regressions(
    rows: Rows, fit_intercept: bool, divisor: float, sums: Gram | None = None
) -> list[Regression]:
    """Of each target. ``sums``: those of all columns, if they are at hand."""
    assert rows.y is not None
    k = rows.y.shape[1]
    sums = sums or sums_of(rows, fit_intercept)
    if sums is not None:
        H = sums.G / divisor
        found: list[Any] = [WholeGram(sums, H, t, divisor) for t in range(k)]
        return [Regression(columns, columns.yy / 2) for columns in found]
    by_columns = sparse_columns.by_columns(rows) if rows.sparse else None
    found = [ManyColumns(rows, t, divisor, fit_intercept, by_columns) for t in range(k)]
    if rows.sparse and found[0].far:  # block by block, with their zeros
        found = [ManyColumns(rows.dense(), t, divisor, fit_intercept) for t in range(k)]
    return [Regression(columns, float(columns.y @ columns.y) / 2) for columns in found]


def regressions_of_one_fit(rows: Rows, fit_intercept: bool, divisor: float) -> list[Regression]:
    """The same, where only one penalty will be asked for: few columns may be enough."""
    if few_columns(rows) and TallColumns.suits(rows):
        columns = TallColumns(rows, divisor, fit_intercept)
        return [Regression(columns, columns.yy / 2)]
    return regressions(rows, fit_intercept, divisor)


def path(
    regression: Regression,
    penalties: Iterable[CoordinatePenalty],
    tol: float,
    max_iter: int,
    start: tuple[np.ndarray, Look] | None = None,
    on_fit: Callable[[int, Found], None] | None = None,
) -> list[Found]:
    """Fits at one penalty after another, each from where the one before ended. ``on_fit`` hears of
    each, with its number."""
    found: list[Found] = []
    for penalty in penalties:
        give_up_if_stopped()
        fit = solve(regression.columns, penalty, regression.goal(tol), start, max_iter)
        if on_fit is not None:
            on_fit(len(found), fit)
        found.append(fit)
        start = fit.w, fit.look
    return found


def fit_one(
    regression: Regression, penalty: CoordinatePenalty, tol: float, max_iter: int,
    start: np.ndarray | None = None, on_step: OnStep = ignore,
) -> Found:  # fmt: skip
    at = None if start is None else regression.start(start)
    return solve(regression.columns, penalty, regression.goal(tol), at, max_iter, on_step)
