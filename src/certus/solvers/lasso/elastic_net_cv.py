"""Paths of penalties on the rows that each fold leaves, and their errors on those left out.

Few columns: the sums of a fold's training rows are those of all rows less those of its test rows,

    G_train = G − G_test − (S_train S_test/S) d dᵀ,   d = x̄_train − x̄_test

so that all folds together cost one more pass. Many columns: a copy of the training rows.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import run_on_threads
from ..linalg.gram import Gram, gram
from .coordinate_penalty import CoordinatePenalty
from .elastic_net_path import Regression, path, regressions
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
    so_far: "FoldsSoFar",
) -> np.ndarray:
    """Mean squared errors, (grids, penalties, folds). ``whole``: the sums of all rows, if few
    columns. Folds are fitted side by side, each on one thread; ``so_far`` hears of each."""
    errors = so_far.begin(len(grids), len(grids[0]), len(folds))
    alone = Rows(rows.X, rows.y, rows.s, threads=1)  # folds are what threads share

    def fit(i: int) -> None:
        train, test = folds[i]
        left_out = alone.take(test)
        regression = _regression(alone, train, left_out, fit_intercept, whole)
        for g, penalties in enumerate(grids):
            found = path(regression, penalties, tol, max_iter, None, partial(so_far.put, i, g))
            w = np.stack([fit.w for fit in found], axis=1)
            b = np.concatenate([fit.b for fit in found])
            errors[g, :, i] = mean_errors(left_out, w, b)
        so_far.done(i)

    run_on_threads(fit, len(folds), min(rows.threads, len(folds)))
    return errors


class Point(NamedTuple):
    """A fit to the training rows of one fold, and the numbers of its grid and penalty."""

    grid: int
    penalty: int
    w: np.ndarray
    b: float


class FoldsSoFar:
    """What is known while folds are being fitted, in case Ctrl-C ends it there.

    Of the folds that are complete the errors, and the path of the last one; else the last fit.
    """

    def __init__(
        self,
        first_fit: Callable[[], None] = lambda: None,
        fold_done: Callable[[int], None] = lambda fold: None,
    ):
        self.first_fit, self.fold_done = first_fit, fold_done
        self.errors = np.empty((0, 0, 0))
        self.paths: dict[int, dict[tuple[int, int], tuple[np.ndarray, np.ndarray, float]]] = {}
        self.complete: list[int] = []
        self.last: tuple[int, int, int] | None = None
        self.p = 0

    def begin(self, grids: int, penalties: int, folds: int) -> np.ndarray:
        self.errors = np.full((grids, penalties, folds), np.nan)
        return self.errors

    def put(self, fold: int, grid: int, penalty: int, fit: Any) -> None:
        there = np.flatnonzero(fit.w)  # most are 0 in most fits
        self.p = len(fit.w)
        of_fold = self.paths.setdefault(fold, {})
        of_fold[grid, penalty] = there, fit.w[there], float(fit.b[0])
        first = self.last is None
        self.last = fold, grid, penalty
        if first:
            self.first_fit()

    def done(self, fold: int) -> None:
        before = self.complete[-1:]
        self.complete = [*self.complete, fold]
        for old in before:
            self.paths.pop(old, None)
        self.fold_done(fold)

    def point(self, grid: int, penalty: int) -> Point:
        """The fit of the last complete fold."""
        return self._point(self.complete[-1], grid, penalty)

    def last_point(self) -> Point:
        assert self.last is not None
        return self._point(*self.last)

    def _point(self, fold: int, grid: int, penalty: int) -> Point:
        there, values, b = self.paths[fold][grid, penalty]
        w = np.zeros(self.p)
        w[there] = values
        return Point(grid, penalty, w, b)


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


def _errors(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, w: np.ndarray, b: np.ndarray
) -> tuple[Any, Any]:
    r = y - (np.dot(X, w) if isinstance(X, np.ndarray) else X @ w) - b
    if s is None:
        return np.einsum("ia,ia->a", r, r), float(len(r))
    return np.einsum("i,ia,ia->a", s, r, r), float(s.sum())
