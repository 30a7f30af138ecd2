"""Paths of penalties on the training rows of each fold, and their errors on its test rows.

Few columns: the sums of a fold's training rows are those of all rows minus those of its test rows,

    G_train = G − G_test − (S_train S_test/S) d dᵀ,   d = x̄_train − x̄_test

so all folds together cost one more pass. Many columns: the training rows are copied.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import run_on_threads
from ..linalg.gram import Gram, gram
from .coordinate_penalty import CoordinatePenalty
from .elastic_net_path import Regression, path, regressions
from .squared_columns import FullGram

MIN_REMAINING_SHARE = (
    1e-6  # of a column's squares after the difference, or the training rows are summed
)


class Fold(Protocol):
    """Interface: training and test rows of one fold."""

    @property
    def is_partition(self) -> bool:
        """Whether training and test rows together are all rows."""
        ...

    def has_weight(self, rows: Rows) -> bool:
        """Whether the weights of the training rows, and of the test rows, are not all 0."""
        ...

    def train_rows(self, rows: Rows) -> Rows: ...

    def test_rows(self, rows: Rows) -> Rows: ...


class IndexFold(NamedTuple):
    """One fold of rows in memory, by the numbers of its rows."""

    train: np.ndarray
    test: np.ndarray
    n: int

    @property
    def is_partition(self) -> bool:
        return len(self.train) + len(self.test) == self.n

    def has_weight(self, rows: Rows) -> bool:
        return bool(rows.s[self.train].any() and rows.s[self.test].any())

    def train_rows(self, rows: Rows) -> Rows:
        return rows.take(self.train)

    def test_rows(self, rows: Rows) -> Rows:
        return rows.take(self.test)


def with_weight(rows: Rows, folds: Sequence[Fold]) -> Sequence[Fold]:
    """Return the folds; refuse them if all training or test rows of one have weight 0."""
    for i, fold in enumerate(folds):
        if rows.s is not None and not fold.has_weight(rows):
            raise ValueError(
                f"fold {i}: all rows of its training or test part have weight 0. Use fewer folds, "
                "or leave the rows of weight 0 out"
            )
    return folds


def fold_errors(
    rows: Rows,
    folds: Sequence[Fold],
    fit_intercept: bool,
    grids: list[list[CoordinatePenalty]],
    tol: float,
    max_iter: int,
    total: Gram | None,
    progress: "FoldProgress",
) -> np.ndarray:
    """Mean squared errors, (grids, penalties, folds).

    ``total``: the sums of all rows, if there are few columns. Folds are fitted in parallel, each on
    one thread; ``progress`` records every fit.
    """
    errors = progress.begin(len(grids), len(grids[0]), len(folds))
    single_threaded = Rows(rows.X, rows.y, rows.s, threads=1)  # the folds run in parallel

    def fit(i: int) -> None:
        left_out = folds[i].test_rows(single_threaded)
        regression = _regression(single_threaded, folds[i], left_out, fit_intercept, total)
        for g, penalties in enumerate(grids):
            results = path(regression, penalties, tol, max_iter, None, partial(progress.add, i, g))
            w = np.stack([fit.w for fit in results], axis=1)
            b = np.concatenate([fit.b for fit in results])
            errors[g, :, i] = mean_errors(left_out, w, b)
        progress.done(i)

    run_on_threads(fit, len(folds), min(rows.threads, len(folds)))
    return errors


class FoldFit(NamedTuple):
    """A fit to the training rows of one fold, and the indices of its grid and penalty."""

    grid: int
    penalty: int
    w: np.ndarray
    b: float


class FoldProgress:
    """Record of the folds fitted so far, in case Ctrl-C ends the cross-validation.

    Holds the errors of complete folds and the path of the last one; before that, the last fit.
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

    def add(self, fold: int, grid: int, penalty: int, fit: Any) -> None:
        support = np.flatnonzero(fit.w)  # usually small, so only the nonzero are stored
        self.p = len(fit.w)
        of_fold = self.paths.setdefault(fold, {})
        of_fold[grid, penalty] = support, fit.w[support], float(fit.b[0])
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

    def fit_at(self, grid: int, penalty: int) -> FoldFit:
        """Fit of the last complete fold at the given grid and penalty."""
        return self._fit(self.complete[-1], grid, penalty)

    def last_fit(self) -> FoldFit:
        assert self.last is not None
        return self._fit(*self.last)

    def _fit(self, fold: int, grid: int, penalty: int) -> FoldFit:
        support, values, b = self.paths[fold][grid, penalty]
        w = np.zeros(self.p)
        w[support] = values
        return FoldFit(grid, penalty, w, b)


def _regression(
    rows: Rows, fold: Fold, left_out: Rows, fit_intercept: bool, total: Gram | None
) -> Regression:
    if total is not None and fold.is_partition:
        sums = _training_sums(total, gram(left_out, fit_intercept), fit_intercept)
        if sums is not None:
            columns = FullGram(sums, sums.G / sums.S, 0, sums.S)
            return Regression(columns, columns.yy / 2)
    part = fold.train_rows(rows)
    return regressions(part, fit_intercept, part.S)[0]


def _training_sums(total: Gram, test: Gram, fit_intercept: bool) -> Gram | None:
    """Sums of the training rows; None if the difference would lose too many digits."""
    if total.q is not None or test.q is not None:
        return None
    S = total.S - test.S
    if not S > 0:
        return None
    G, Xy, yy = total.G - test.G, total.Xy - test.Xy, total.yy - test.yy
    mean, mean_y = total.mean, total.mean_y
    if fit_intercept:
        mean = (total.S * total.mean - test.S * test.mean) / S
        mean_y = (total.S * total.mean_y - test.S * test.mean_y) / S
        share = S * test.S / total.S
        d, d_y = mean - test.mean, mean_y - test.mean_y
        G -= share * np.multiply.outer(d, d)
        Xy -= share * np.multiply.outer(d, d_y)
        yy = yy - share * d_y**2
    left, before = np.diagonal(G), np.diagonal(total.G)
    if not ((left >= MIN_REMAINING_SHARE * before) | (before == 0)).all() or not yy[0] > 0:
        return None
    return Gram(S, mean, mean_y, G, Xy, yy, total.size, None)


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
