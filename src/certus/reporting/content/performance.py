"""Sections 3 and 4: measures at a threshold, curves, calibration; errors of numbers."""

from dataclasses import dataclass

from .values import Interval, MeasureEstimate, ReportTable


@dataclass(frozen=True)
class ThresholdCounts:
    """The confusion matrix at each of at most 201 thresholds, on rows of the outer folds.

    A row is predicted positive if its probability is at least the threshold. Counts of a cell with
    fewer than 5 rows are exact: they identify nobody, since thresholds are not values of rows.
    """

    thresholds: tuple[float, ...]  # increasing
    true_positives: tuple[int, ...]
    false_positives: tuple[int, ...]
    n_positive: int
    n_negative: int
    selected: int  # index of the threshold that the page opens with
    selected_reason: str  # "from the costs", "0.5", "largest G-mean on inner folds" …
    cost_false_positive: float
    cost_false_negative: float
    costs_given: bool  # --cost was given


@dataclass(frozen=True)
class Measures:
    """Section 3: everything at one threshold (two classes), a confusion matrix (more classes), or
    errors (numbers)."""

    text: str
    estimates: tuple[MeasureEstimate, ...]  # at the selected threshold, with intervals
    counts: ThresholdCounts | None = None
    confusion: ReportTable | None = None  # several classes
    deciles: ReportTable | None = None  # decile, n, events, mean p, observed share
    areas: tuple[MeasureEstimate, ...] = ()  # AUC, average precision, Gini, KS
    residuals: ReportTable | None = None  # numbers: quantiles of the errors


@dataclass(frozen=True)
class CalibrationBin:
    """Rows with similar predictions: their mean prediction and what was observed."""

    predicted: float
    observed: float
    n: int
    interval: Interval | None


@dataclass(frozen=True)
class Calibration:
    """Section 4, on rows of the outer folds."""

    text: str
    bins: tuple[CalibrationBin, ...]
    slope: MeasureEstimate | None
    intercept: MeasureEstimate | None
    brier: MeasureEstimate | None  # numbers: None
    before: str = ""  # what calibration did, if the model was recalibrated
