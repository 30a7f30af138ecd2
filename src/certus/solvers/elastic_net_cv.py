"""Paths of penalties on the rows that each fold leaves, and their errors on those left out.

Few columns: the sums of a fold's training rows are those of all rows less those of its test rows,

    G_train = G − G_test − (S_train S_test/S) d dᵀ,   d = x̄_train − x̄_test

so that all folds together cost one more pass. Many columns: a copy of the training rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._pool import run_on_threads
from ..rows import Rows
from .coordinate_penalty import CoordinatePenalty
from .elastic_net_path import Regression, path, regressions
from .gram import Gram, gram
from .squared_columns import WholeGram

CANCELLED = 1e-6  # of a column's sum of squares must be left, or the training rows are summed


class Fold(NamedTuple):
    train: np.ndarray
    test: np.ndarray


def fold_errors(
    rows: Rows,
    folds: list[Fold],
    fit_intercept: bool,
    grids: list[list[CoordinatePenalty]],
    tol: float,
    max_iter: int,
    whole: Gram | None,
    done: Callable[[int], None],
) -> np.ndarray:
    """Mean squared errors, (grids, penalties, folds). ``whole``: the sums of all rows, if few
    columns. Folds are fitted side by side, each on one thread; ``done`` hears of each."""
    errors = np.empty((len(grids), len(grids[0]), len(folds)))
    alone = Rows(rows.X, rows.y, rows.s, threads=1)  # folds are what threads share

    def fit(i: int) -> None:
        train, test = folds[i]
        left_out = alone.take(test)
        regression = _regression(alone, train, left_out, fit_intercept, whole)
        for g, penalties in enumerate(grids):
            found = path(regression, penalties, tol, max_iter)
            w = np.stack([fit.w for fit in found], axis=1)
            b = np.concatenate([fit.b for fit in found])
            errors[g, :, i] = mean_errors(left_out, w, b)
        done(i)

    run_on_threads(fit, len(folds), min(rows.threads, len(folds)))
    return errors


def _regression(
    rows: Rows, train: np.ndarray, left_out: Rows, fit_intercept: bool, whole: Gram | None
) -> Regression:
    if whole is not None and len(train) + left_out.shape[0] == rows.shape[0]:
        sums = _less(whole, gram(left_out, fit_intercept), fit_intercept)
        if sums is not None:
            columns = WholeGram(sums, sums.G / sums.S, 0, sums.S)
            return Regression(columns, columns.yy / 2)
    part = rows.take(train)
    return regressions(part, fit_intercept, part.S)[0]


def _less(whole: Gram, test: Gram, fit_intercept: bool) -> Gram | None:
    """Sums of the training rows; None where too few digits would be left."""
    if whole.q is not None or test.q is not None:
        return None
    S = whole.S - test.S
    if not S > 0:
        return None
    G, Xy, yy = whole.G - test.G, whole.Xy - test.Xy, whole.yy - test.yy
    mean, mean_y = whole.mean, whole.mean_y
    if fit_intercept:
        mean = (whole.S * whole.mean - test.S * test.mean) / S
        mean_y = (whole.S * whole.mean_y - test.S * test.mean_y) / S
        share = S * test.S / whole.S
        d, d_y = mean - test.mean, mean_y - test.mean_y
        G -= share * np.multiply.outer(d, d)
        Xy -= share * np.multiply.outer(d, d_y)
        yy = yy - share * d_y**2
    left, before = np.diagonal(G), np.diagonal(whole.G)
    if not ((left >= CANCELLED * before) | (before == 0)).all() or not yy[0] > 0:
        return None
    return Gram(S, mean, mean_y, G, Xy, yy, whole.size, None)


def mean_errors(rows: Rows, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(1/S) Σ s (y − xᵀw − b)² for each column of w."""
    squares, S = rows.reduce(_errors, w, b)
    mean: np.ndarray = squares / S
    return mean


def _errors(X: Any, y: Any, s: Any, w: np.ndarray, b: np.ndarray) -> tuple[Any, Any]:
    r = y - (np.dot(X, w) if isinstance(X, np.ndarray) else X @ w) - b
    if s is None:
        return np.einsum("ia,ia->a", r, r), float(len(r))
    return np.einsum("i,ia,ia->a", s, r, r), float(s.sum())
