"""The report on predictions of imbalanced classes: measures, intervals and a baseline."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..text.cells import Precision
from ..text.format import count, number, printable
from ..text.table import ResultTable
from ._measures import AREA_MEASURES, COUNT_MEASURES, MEASURES
from .brier import BrierResult
from .thresholds import threshold_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import ImbalanceDisplay


REPR_MEASURES = ("g_mean", "sensitivity", "specificity", "roc_auc")


@dataclass(frozen=True, repr=False, eq=False)
class ImbalanceResult:
    """Measures of one set of predictions at one threshold.

    Made by ``certus.metrics.imbalance_report``. ``report["g_mean"]`` is a value; ``print(report)``
    shows the table.

    Attributes
    ----------
    values : dict
        error_rate, accuracy, sensitivity, specificity, precision, f1, g_mean, balanced_accuracy,
        mcc, roc_auc, pr_auc (average precision), brier, reliability, resolution, uncertainty and
        log_loss. NaN where a measure is not defined; ``notes`` says why.
    intervals : dict
        (low, high) for each measure; NaN where there is none.
    intervals_by : dict
        "bootstrap", "exact" or "".
    baseline : dict
        The same measures when always predicting the larger class, with its share as probability.
    confusion : (2, 2) array
        Rows: negative, positive; columns: predicted negative, predicted positive.
    n, n_positive, n_negative : int
        Numbers of rows.
    prevalence : float
        The share of positives, by weight.
    threshold : float or None
        Above it a row is predicted positive; None for labels.
    kind : str
        Kind of the predictions: "labels", "probabilities" or "scores".
    pos_label : label
    positive, negative : str
        The classes as text.
    confidence : float
    decomposition : BrierResult or None
        Decomposition of the Brier score, for probabilities.
    curves : dict
        "roc": (false alarms, sensitivity); "pr": (recall, precision), over all thresholds.
    notes : tuple of str
        Which measures are not defined and why, and other remarks.
    costs : (float, float) or None
        Costs of a false alarm and of a miss.
    cost, majority_cost : float
        Expected cost of a row, and when always predicting the larger class; NaN without costs.

    Examples
    --------
    >>> from certus.metrics import imbalance_report
    >>> report = imbalance_report([0] * 8 + [1] * 2, [0] * 7 + [1, 1, 0], interval="exact")
    >>> round(report["g_mean"], 4), report["accuracy"], report.baseline["accuracy"]
    (0.6614, 0.8, 0.8)
    """

    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    intervals_by: dict[str, str]
    baseline: dict[str, float]
    confusion: np.ndarray
    n: int
    n_positive: int
    n_negative: int
    prevalence: float
    threshold: float | None
    kind: str
    pos_label: object
    positive: str
    negative: str
    confidence: float
    decomposition: BrierResult | None
    curves: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    costs: tuple[float, float] | None = None

    @property
    def cost(self) -> float:
        """Expected cost of a row, (cost_fp·FP + cost_fn·FN)/n; NaN without costs."""
        return self._cost_of(self.confusion)

    @property
    def majority_cost(self) -> float:
        """Expected cost of a row when always predicting the larger class; NaN without costs."""
        (tn, fp), (fn, tp) = self.confusion
        if tp + fn > fp + tn:
            return self._cost_of(np.array([[0, tn + fp], [0, fn + tp]]))
        return self._cost_of(np.array([[tn + fp, 0], [fn + tp, 0]]))

    def _cost_of(self, confusion: np.ndarray) -> float:
        if self.costs is None:
            return float("nan")
        of_alarm, of_miss = self.costs
        total = of_alarm * confusion[0, 1] + of_miss * confusion[1, 0]
        return float(total / confusion.sum())

    def __getitem__(self, measure: str) -> float:
        if measure not in self.values:
            raise KeyError(f"no measure {measure!r}: there are {', '.join(self.values)}")
        return self.values[measure]

    def table(self) -> ResultTable:
        """Return a table with a row for each measure: value, interval, and that of the majority."""
        names = [name for name in MEASURES if self._has(name)]
        low, high = np.array([self.intervals[name] for name in names]).T
        value = np.array([self.values[name] for name in names])
        majority = np.array([self.baseline[name] for name in names])
        half_width = np.fmin(value - low, high - value)
        level = f"{number(100 * self.confidence)} % low"
        return ResultTable(
            {
                "measure": [MEASURES[name] for name in names],
                "value": value,
                level: low,
                "high": high,
                "majority": majority,
                "interval": [self.intervals_by[name] for name in names],
            },
            title=self._title(),
            notes=(self._counts_text(), *self._cost_text(), *self.notes),
            precision=[
                Precision(("value", level, "high"), np.where(half_width > 0, half_width, np.nan)),
            ],
        )

    def _counts_text(self) -> str:
        """Counts of right and wrong predictions, in words."""
        (tn, fp), (fn, tp) = ([number(float(v), 6) for v in row] for row in self.confusion)
        return (
            f"{self.positive}: {tp} found, {fn} missed. {self.negative}: {tn} right, {fp} false "
            f"{'alarm' if fp == '1' else 'alarms'}."
        )

    def _cost_text(self) -> list[str]:
        """Expected cost, beside that of the majority and the threshold of the costs."""
        if self.costs is None:
            return []
        of_alarm, of_miss = self.costs
        text = (
            f"Expected cost: {number(self.cost, 4)} a row, at {number(of_alarm)} for a false alarm "
            f"and {number(of_miss)} for a miss; of the majority: {number(self.majority_cost, 4)}."
        )
        if self.kind == "probabilities" and of_alarm + of_miss > 0:
            best = number(threshold_for(of_alarm, of_miss), 3)
            text += f" If the probabilities are calibrated, the threshold {best} costs least."
        return [text]

    def _has(self, name: str) -> bool:
        if name in AREA_MEASURES:
            return self.kind != "labels"
        return name in COUNT_MEASURES or self.kind == "probabilities"

    def _title(self) -> str:
        at = (
            "labels as given"
            if self.threshold is None
            else f"{self.positive} where {self.kind} are above {number(self.threshold)}"
        )
        return (
            f"{count(self.n, 'row')}: {self.n_positive:,} {self.positive} (positive), "
            f"{self.n_negative:,} {self.negative}; {at}"
        )

    def plot(self, ax: "Axes | None" = None) -> "ImbalanceDisplay":
        """Draw measures and curves: a ``certus.plotting.ImbalanceDisplay``."""
        from ..plotting import ImbalanceDisplay

        return ImbalanceDisplay(self).plot(ax)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        parts = [
            self._measure_text(name)
            for name in REPR_MEASURES
            if self.values[name] == self.values[name]
        ]
        return printable(f"ImbalanceResult({'; '.join([*parts, self._title()])})")

    def _measure_text(self, name: str) -> str:
        low, high = self.intervals[name]
        interval = f" ({number(low, 3)}–{number(high, 3)})" if low == low else ""
        return f"{MEASURES[name]} {number(self.values[name], 3)}{interval}"
