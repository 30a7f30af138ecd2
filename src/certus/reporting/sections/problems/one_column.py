"""How well one column alone predicts the target, on rows that it has not seen.

    classes    AUC of the class's share among training rows of the same bin or category; the mean
               over classes for more than two
    numbers    R² of the mean target among training rows of the same bin or category

For columns of numbers also the AUC and the squared correlation of the value itself, which learn
nothing but a sign. A missing value is a category.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from .view import DataView

N_FOLDS = 3
N_BINS = 64
MIN_ROWS_PER_BIN = 5
MAX_UNSCREENED_COLUMNS = 500
COLUMNS_PER_BLOCK = 1_000
MIN_PROMISING_AREA = 0.9
MIN_PROMISING_CORRELATION = 0.7  # of ranks


class ColumnScore(NamedTuple):
    """The best score of a column alone, and how it was reached."""

    column: str
    score: float  # AUC or R²
    is_map: bool  # each value or category has one class only, or the target follows in order


def scores(view: DataView, rows: np.ndarray) -> list[ColumnScore]:
    """Return the score of every used column on some rows.

    Of more than 500 columns of numbers, only those are scored whose order says something of the
    target: binning the others takes a millisecond each.
    """
    target = Target(view, rows)
    columns: Iterable[int] = range(len(view.number_columns))
    if len(view.number_columns) > MAX_UNSCREENED_COLUMNS:
        columns = target.promising(view, rows)
    found = [
        target.score_of_numbers(view.number_columns[j].name, view.numbers[rows, j]) for j in columns
    ]
    found += [
        target.score_of_codes(name, column.codes[rows] + 1)
        for name, column in view.categories.items()
    ]
    return found


class Target:
    """The target as columns of 0 and 1, one a class, or as one column of numbers."""

    def __init__(self, view: DataView, rows: np.ndarray):
        self.is_classes = view.is_classes
        self.n = len(rows)
        if view.is_classes:
            codes = view.target_codes[rows]
            present = np.unique(codes)
            self.codes = np.searchsorted(present, codes)
            kept = present[1:] if len(present) == 2 else present
            self.Y = (codes[:, None] == kept).astype(float)
        else:
            self.codes = np.zeros(0, dtype=np.intp)
            self.Y = view.prepared.y[rows].astype(float)[:, None]
        self.fold = np.random.default_rng(0).permutation(np.arange(self.n) % N_FOLDS)
        self.ranks = rankdata(self.Y[:, 0]) if not self.is_classes else np.zeros(0)

    def promising(self, view: DataView, rows: np.ndarray) -> list[int]:
        """Columns of numbers whose order alone separates a class, or follows the target."""
        found: list[int] = []
        p = len(view.number_columns)
        for first in range(0, p, COLUMNS_PER_BLOCK):
            block = view.numbers[rows, first : first + COLUMNS_PER_BLOCK]
            ranks = rankdata(np.where(np.isnan(block), -np.inf, block), axis=0)
            if self.is_classes:
                n1 = self.Y.sum(axis=0)[:, None]
                n0 = self.n - n1
                areas = (self.Y.T @ ranks - n1 * (n1 + 1) / 2) / np.maximum(n1 * n0, 1)
                known = np.maximum(areas, 1 - areas).max(axis=0) >= MIN_PROMISING_AREA
            else:
                centered = ranks - ranks.mean(axis=0)
                y = self.ranks - self.ranks.mean()
                scale = np.linalg.norm(centered, axis=0) * np.linalg.norm(y)
                known = np.abs(y @ centered) >= MIN_PROMISING_CORRELATION * np.maximum(scale, 1e-9)
            found += (first + np.flatnonzero(known)).tolist()
        return found

    def score_of_numbers(self, name: str, values: np.ndarray) -> ColumnScore:
        """The best of three scores of a column of numbers: its order, a line, its bins."""
        missing = np.isnan(values)
        filled = np.where(missing, np.inf, values)
        n_bins = int(np.clip(self.n // MIN_ROWS_PER_BIN // 4, 2, N_BINS))
        present = values[~missing]
        edges = np.unique(np.quantile(present, np.linspace(0, 1, n_bins + 1)[1:-1])) if len(
            present
        ) else np.zeros(0)  # fmt: skip
        bins = np.searchsorted(edges, filled, side="right")
        bins[missing] = len(edges) + 1
        by_bins = self._held_out(bins)
        if missing.all() or len(present) < 3:
            return ColumnScore(name, by_bins, False)
        by_order = self._by_order(values, missing)
        distinct = np.unique(filled, return_inverse=True)[1]
        return ColumnScore(name, max(by_bins, by_order), self._is_map(distinct, by_order))

    def score_of_codes(self, name: str, codes: np.ndarray) -> ColumnScore:
        """The score of a column of categories."""
        return ColumnScore(name, self._held_out(codes), self._is_map(codes, 0.0))

    def _held_out(self, bins: np.ndarray) -> float:
        """Score of the means of bins, each on rows of another fold."""
        n_bins = int(bins.max()) + 1
        predicted = np.empty_like(self.Y)
        for fold in range(N_FOLDS):
            train, test = self.fold != fold, self.fold == fold
            counts = np.bincount(bins[train], minlength=n_bins)
            for k in range(self.Y.shape[1]):
                y = self.Y[train, k]
                prior = y.mean()
                sums = np.bincount(bins[train], y, minlength=n_bins)
                means = (sums + prior) / (counts + 1.0)  # shrunk as by one row of the mean
                predicted[test, k] = means[bins[test]]
        return self._score(predicted)

    def _score(self, predicted: np.ndarray) -> float:
        if self.is_classes:
            areas = [area(p, y) for p, y in zip(predicted.T, self.Y.T, strict=True)]
            return float(np.mean(areas))
        y = self.Y[:, 0]
        total = float(np.sum((y - y.mean()) ** 2))
        return 1 - float(np.sum((y - predicted[:, 0]) ** 2)) / total if total else 0.0

    def _by_order(self, values: np.ndarray, missing: np.ndarray) -> float:
        """AUC of the value or of its negative; squared correlation, of values or of ranks."""
        filled = np.where(missing, np.median(values[~missing]), values)
        if self.is_classes:
            if self.Y.shape[1] > 1:
                return 0.0
            a = area(filled, self.Y[:, 0])
            return max(a, 1 - a)
        of_values = _squared_correlation(filled, self.Y[:, 0])
        return max(of_values, _squared_correlation(rankdata(filled), self.ranks))

    def _is_map(self, distinct: np.ndarray, by_order: float) -> bool:
        """Is the target a function of few values, or nearly a monotone function?"""
        if not self.is_classes:
            return by_order > 1 - 1e-6
        n_values = int(distinct.max()) + 1
        n_classes = int(self.codes.max()) + 1
        if n_values > max(4 * n_classes, 10):
            return False
        table = np.zeros((n_values, n_classes))
        np.add.at(table, (distinct, self.codes), 1)
        return bool(np.all(np.count_nonzero(table, axis=1) <= 1))


def area(score: np.ndarray, y: np.ndarray) -> float:
    """AUC: the probability that a row with y = 1 has the larger score, ties counted half."""
    n1 = float(y.sum())
    n0 = len(y) - n1
    if not n1 or not n0:
        return 0.5
    ranks = rankdata(score)
    return float((ranks[y > 0].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def _squared_correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    scale = float((a @ a) * (b @ b))
    return float(a @ b) ** 2 / scale if scale > 0 else 0.0
