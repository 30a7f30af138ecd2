"""Scores of ridge for a path of penalties on the rows that each fold leaves out.

For every α and target a copy of the target is fitted, so that one pass over a fold's training rows
serves all α, and one over its test rows gives

    R² = 1 − Σ s (y − ŷ)²/Σ s (y − ȳ)²      or      −Σ s (y − ŷ)²/Σ s,     averaged over targets
"""

from collections.abc import Callable, Sequence

import numpy as np

from ...data.rows import Rows
from ...data.streamed_ranges import RangeFold
from ...data.streamed_scores import SquaredErrors, merged, shares_explained, squared_errors
from ...runtime.pool import give_up_if_stopped
from .least_squares import solve


def minus_mean_square(sums: SquaredErrors) -> np.ndarray:
    score: np.ndarray = -sums.residual / sums.S
    return score


SCORES: dict[str, Callable[[SquaredErrors], np.ndarray]] = {
    "r2": shares_explained,
    "neg_mean_squared_error": minus_mean_square,
}


def fold_scores(
    rows: Rows, folds: Sequence[RangeFold], alphas: np.ndarray, fit_intercept: bool, score: str
) -> np.ndarray:
    """Return the score of every α on every fold, (folds, A).

    O(n·p²) operations for each fold, and two passes over its rows (more where columns are nearly
    dependent).
    """
    k = rows.y.shape[1]
    of_copies = np.repeat(alphas, k)  # copies of all targets for the first α, then for the next
    scores = np.empty((len(folds), len(alphas)))
    for i, fold in enumerate(folds):
        give_up_if_stopped()
        train = fold.train_rows(rows).recoded(_copied, len(alphas))
        fit = solve(train, fit_intercept, of_copies)
        test = fold.test_rows(rows).recoded(_copied, len(alphas))
        sums = test.reduce(_errors, fit.w, fit.b, combine=merged)
        scores[i] = SCORES[score](sums).reshape(len(alphas), k).mean(axis=1)
    return scores


def _copied(
    y: np.ndarray, s: np.ndarray | None, count: int
) -> tuple[np.ndarray, np.ndarray | None]:
    return np.tile(y, count), s


def _errors(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, w: np.ndarray, b: np.ndarray
) -> SquaredErrors:
    return squared_errors(y, s, X @ w + b)
