"""The measure of the verdict, on rows that the model had not seen; larger is better.

two classes   AUC = Σ_f W_f/Σ_f P_f: of the P_f pairs of a positive and a negative row in fold f,
              W_f are ranked rightly (ties count half); rows of different folds are never
              compared, since different models answered them
more classes  the mean of the AUC over all pairs of classes (Hand and Till)
numbers       R² = 1 − Σ (y − ŷ)²/Σ (y − ȳ)², ȳ the mean of the fold's training rows
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

import numpy as np

Weighted = Callable[[np.ndarray], float]  # weights of rows to the measure


class Measure(Protocol):
    """A score of held-out answers."""

    @property
    def name(self) -> str:
        """As the page calls it."""
        ...

    @property
    def baseline(self) -> float:
        """The measure of guessing."""
        ...

    @property
    def least(self) -> float:
        """The smallest possible value; the largest is 1."""
        ...

    def weighted(
        self, target: np.ndarray, output: np.ndarray, fold: np.ndarray, guess: np.ndarray
    ) -> Weighted:
        """The measure as a function of the rows' weights. ``guess``: the baseline's answers."""
        ...


def value(
    measure: Measure, target: np.ndarray, output: np.ndarray, fold: np.ndarray,
    guess: np.ndarray, s: np.ndarray | None,
) -> float:  # fmt: skip
    """The measure of the rows that have an answer; NaN where no pair of rows can be compared."""
    known = fold >= 0
    weights = np.ones(int(known.sum())) if s is None else s[known]
    of = measure.weighted(target[known], output[known], fold[known], guess[known])
    return of(weights)


@dataclass(frozen=True)
class Auc:
    """Two classes: target 1 is the positive class, output its probability or any score."""

    name: str = "AUC"
    baseline: float = 0.5
    least: float = 0.0

    def weighted(
        self, target: np.ndarray, output: np.ndarray, fold: np.ndarray, guess: np.ndarray
    ) -> Weighted:
        parts = _ranked_folds(target == 1, output, fold)

        def of(s: np.ndarray) -> float:
            right, pairs = _right_pairs(parts, s)
            return right / pairs if pairs > 0 else np.nan

        return of


@dataclass(frozen=True)
class PairwiseAuc:
    """More classes: output (n, K) are probabilities or any scores, target the index of a class."""

    name: str = "AUC"
    baseline: float = 0.5
    least: float = 0.0

    def weighted(
        self, target: np.ndarray, output: np.ndarray, fold: np.ndarray, guess: np.ndarray
    ) -> Weighted:
        contests = []
        for i, j in permutations(range(output.shape[1]), 2):
            rows = np.flatnonzero((target == i) | (target == j))
            parts = _ranked_folds(target[rows] == i, output[rows, i], fold[rows])
            contests.append((rows, parts))

        def of(s: np.ndarray) -> float:
            found = [_right_pairs(parts, s[rows]) for rows, parts in contests]
            shares = [right / pairs for right, pairs in found if pairs > 0]
            return float(np.mean(shares)) if shares else np.nan

        return of


@dataclass(frozen=True)
class ExplainedVariance:
    """Numbers: R² against the mean of the training rows."""

    name: str = "R²"
    baseline: float = 0.0
    least: float = -np.inf

    def weighted(
        self, target: np.ndarray, output: np.ndarray, fold: np.ndarray, guess: np.ndarray
    ) -> Weighted:
        left, total = (target - output) ** 2, (target - guess) ** 2

        def of(s: np.ndarray) -> float:
            whole = float(s @ total)
            return 1 - float(s @ left) / whole if whole > 0 else np.nan

        return of


def measure_of(task: str) -> Measure:
    """The measure of a task of ``Prepared``."""
    if task == "numbers":
        return ExplainedVariance()
    return Auc() if task == "two classes" else PairwiseAuc()


# --- ranks ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _RankedFold:
    """Rows of a fold in the order of their scores; equal scores begin at ``starts``."""

    rows: np.ndarray
    is_positive: np.ndarray
    starts: np.ndarray


def _ranked_folds(
    is_positive: np.ndarray, score: np.ndarray, fold: np.ndarray
) -> list[_RankedFold]:
    parts = []
    for f in np.unique(fold):
        rows = np.flatnonzero(fold == f)
        rows = rows[np.argsort(score[rows], kind="stable")]
        ordered = score[rows]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        parts.append(_RankedFold(rows, is_positive[rows], starts))
    return parts


def _right_pairs(parts: list[_RankedFold], s: np.ndarray) -> tuple[float, float]:
    """Weight of the pairs that are ranked rightly, and of all pairs."""
    right = pairs = 0.0
    for part in parts:
        weight = s[part.rows]
        positive = np.add.reduceat(np.where(part.is_positive, weight, 0.0), part.starts)
        negative = np.add.reduceat(np.where(part.is_positive, 0.0, weight), part.starts)
        below = np.cumsum(negative) - negative
        right += float(positive @ (below + 0.5 * negative))
        pairs += float(positive.sum() * negative.sum())
    return right, pairs
