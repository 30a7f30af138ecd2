"""Measures at a threshold, from the counts that the page embeds.

    sensitivity TP/P · specificity TN/N · precision TP/(TP + FP) · F 2TP/(2TP + FP + FN)
    G-mean √(sensitivity · specificity) · cost (c_FP FP + c_FN FN)/n
    net benefit at t: TP/n − FP/n · t/(1 − t)

``page.js`` has the same formulas for the slider; a test compares the two.
"""

import math
from dataclasses import dataclass

from ..content.performance import ThresholdCounts
from ..content.values import ReportTable, TableColumn

MAX_TABLE_ROWS = 11


@dataclass(frozen=True)
class AtThreshold:
    """The confusion matrix at one threshold."""

    threshold: float
    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def n(self) -> int:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def sensitivity(self) -> float | None:
        return ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float | None:
        return ratio(self.tn, self.tn + self.fp)

    @property
    def precision(self) -> float | None:
        return ratio(self.tp, self.tp + self.fp)

    @property
    def f_measure(self) -> float | None:
        return ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def g_mean(self) -> float | None:
        if self.sensitivity is None or self.specificity is None:
            return None
        return math.sqrt(self.sensitivity * self.specificity)

    @property
    def net_benefit(self) -> float | None:
        if self.threshold >= 1:
            return None
        odds = self.threshold / (1 - self.threshold)
        return (self.tp - self.fp * odds) / self.n

    def cost(self, false_positive: float, false_negative: float) -> float:
        """Mean cost of a row."""
        return (false_positive * self.fp + false_negative * self.fn) / self.n


def ratio(part: float, whole: float) -> float | None:
    """The quotient, or None where nothing was counted."""
    return part / whole if whole else None


def at(counts: ThresholdCounts, k: int) -> AtThreshold:
    """The confusion matrix at the k-th threshold."""
    tp, fp = counts.true_positives[k], counts.false_positives[k]
    return AtThreshold(counts.thresholds[k], tp, fp, counts.n_positive - tp, counts.n_negative - fp)


def all_of(counts: ThresholdCounts) -> list[AtThreshold]:
    """Every threshold, increasing."""
    return [at(counts, k) for k in range(len(counts.thresholds))]


def treat_all(counts: ThresholdCounts, threshold: float) -> float:
    """Net benefit of predicting every row positive."""
    n = counts.n_positive + counts.n_negative
    return (counts.n_positive - counts.n_negative * threshold / (1 - threshold)) / n


def highest_useful(counts: ThresholdCounts) -> float:
    """Where a decision curve may end: hardly a row is predicted positive beyond it."""
    n = counts.n_positive + counts.n_negative
    enough = [
        m.threshold for m in all_of(counts) if m.tp + m.fp >= 0.005 * n and m.threshold <= 0.99
    ]
    prevalence = counts.n_positive / n
    chosen = counts.thresholds[counts.selected]
    return min(0.99, max([2 * prevalence, 1.2 * chosen, *enough]))


def table(counts: ThresholdCounts) -> ReportTable:
    """A few thresholds as a table: spread over the shares of rows that are predicted positive."""
    every = all_of(counts)
    last = len(every) - 1
    steps = min(MAX_TABLE_ROWS - 1, last) or 1
    picked = sorted({round(i * last / steps) for i in range(steps + 1)} | {counts.selected})
    return ReportTable(
        "Counts and measures by threshold",
        (
            TableColumn("threshold"), TableColumn("true positives", "count"),
            TableColumn("false positives", "count"), TableColumn("false negatives", "count"),
            TableColumn("true negatives", "count"), TableColumn("sensitivity", "share"),
            TableColumn("specificity", "share"), TableColumn("precision", "share"),
            TableColumn("net benefit"),
        ),
        tuple(
            (m.threshold, m.tp, m.fp, m.fn, m.tn, m.sensitivity, m.specificity, m.precision,
             m.net_benefit)
            for m in (every[k] for k in picked)
        ),
        ("A row is predicted positive if its probability is at least the threshold.",),
    )  # fmt: skip
