"""Measures on rows of the outer folds.

Two classes, at one threshold t (positive where p ≥ t):

    sensitivity = TP/(TP + FN)    specificity = TN/(TN + FP)    precision = TP/(TP + FP)
    F = 2TP/(2TP + FP + FN)       G-mean = √(sensitivity·specificity)
    Gini = 2 AUC − 1              KS = max_t (sensitivity + specificity − 1)

More classes: recall, precision and the confusion matrix. Numbers: errors and their quantiles.
"""

import numpy as np

from ...metrics import imbalance_report
from ..content.performance import Measures, ThresholdCounts
from ..content.phrases import count, digits3, of_rows, share
from ..content.values import Interval, MeasureEstimate, ReportTable, TableColumn
from ..prepared import Prepared
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.answers import Answered, Weighted, answered, bins, estimated, guesses, mean_of
from .parts.areas import areas
from .parts.confusion import confusion_of_classes

MAX_THRESHOLDS = 201
MIN_TAIL_ROWS = 5  # beyond a quantile that is shown
WORDS = {
    "sensitivity": "the share of rows of the positive class that are found",
    "specificity": "the share of other rows without a false alarm",
    "precision": "the share of alarms that are right",
    "f1": "the harmonic mean of sensitivity and precision",
    "g_mean": "the geometric mean of sensitivity and specificity",
}
NAMES = {"f1": "F", "g_mean": "G-mean"}


def make(prepared: Prepared, settings: Settings, result: ProcedureResult) -> Measures:
    """The measures of the task."""
    found = answered(prepared, result)
    if prepared.task == "numbers":
        return _numbers(prepared, settings, found)
    if prepared.positive is None:
        return confusion_of_classes(prepared, settings, found)
    return _two_classes(prepared, settings, result, found)


# --- two classes ----------------------------------------------------------------------------------


def _two_classes(
    prepared: Prepared, settings: Settings, result: ProcedureResult, found: Answered
) -> Measures:
    counts = threshold_counts(prepared, settings, result, found)
    t = counts.thresholds[counts.selected]
    estimates = _at_threshold(settings, found, t)
    if counts.costs_given:
        estimates = (*estimates, _cost(settings, found, t, counts))
    return Measures(
        text=_text(prepared, found, counts),
        estimates=estimates,
        counts=counts,
        deciles=_deciles(prepared, found),
        areas=areas(prepared, settings, result, found),
    )


def threshold_counts(
    prepared: Prepared, settings: Settings, result: ProcedureResult, found: Answered
) -> ThresholdCounts:
    """Rows at or above each threshold; thresholds are quantiles, rounded to three digits."""
    p, is_positive = found.output, found.target == 1
    selected = _rounded(result.threshold if result.threshold is not None else 0.5)
    between = np.quantile(p, np.linspace(0, 1, MAX_THRESHOLDS - 2)[1:-1])
    rounded = [0.0, selected, 1.0, *(_rounded(x) for x in between)]
    thresholds = np.unique(np.clip(rounded, 0.0, 1.0))
    at_least = [
        len(q) - np.searchsorted(np.sort(q), thresholds, side="left")
        for q in (p[is_positive], p[~is_positive])
    ]
    fp, fn = settings.cost_false_positive, settings.cost_false_negative
    return ThresholdCounts(
        thresholds=tuple(thresholds.tolist()),
        true_positives=tuple(at_least[0].tolist()),
        false_positives=tuple(at_least[1].tolist()),
        n_positive=int(is_positive.sum()),
        n_negative=int((~is_positive).sum()),
        selected=int(np.searchsorted(thresholds, selected)),
        selected_reason=result.threshold_reason,
        cost_false_positive=1.0 if fp is None else fp,
        cost_false_negative=1.0 if fn is None else fn,
        costs_given=fp is not None or fn is not None,
    )


def _rounded(x: float) -> float:
    return float(f"{x:.3g}")


def _at_threshold(settings: Settings, found: Answered, t: float) -> tuple[MeasureEstimate, ...]:
    """Measures at a threshold. Exact intervals where rows are independent, else a bootstrap."""
    is_predicted = (found.output >= t).astype(int)
    exact = imbalance_report(
        found.target, is_predicted, kind="labels", pos_label=1, interval="exact",
        confidence=settings.confidence,
    )  # fmt: skip
    n_positive, n_predicted = int(found.target.sum()), int(is_predicted.sum())
    rows = {"sensitivity": n_positive, "specificity": found.n - n_positive,
            "precision": n_predicted}  # fmt: skip
    made = []
    for key, words in WORDS.items():
        if not np.isfinite(exact[key]):
            continue
        name, value, interval = NAMES.get(key, key), exact[key], _interval(exact.intervals[key])
        if not found.is_independent:
            again = estimated(name, _of_counts(key, found.target, is_predicted), found, settings)
            value, interval = again.value, again.interval or interval
        base = exact.baseline[key]
        made.append(MeasureEstimate(name, value, rows.get(key, found.n), interval,
                             base if np.isfinite(base) else None, words))  # fmt: skip
    return tuple(made)


def _interval(ends: tuple[float, float]) -> Interval | None:
    return Interval(*ends) if np.isfinite(ends).all() else None


def _of_counts(key: str, target: np.ndarray, predicted: np.ndarray) -> Weighted:
    """A measure as a function of the rows' weights."""

    def of(s: np.ndarray) -> float:
        tp, fn = float(s @ (target * predicted)), float(s @ (target * (1 - predicted)))
        fp, tn = float(s @ ((1 - target) * predicted)), float(s @ ((1 - target) * (1 - predicted)))
        if not tp + fn or not fp + tn or (key == "precision" and not tp + fp):
            return np.nan
        sensitivity, specificity = tp / (tp + fn), tn / (tn + fp)
        if key == "precision":
            return tp / (tp + fp)
        return {
            "sensitivity": sensitivity, "specificity": specificity,
            "f1": 2 * tp / (2 * tp + fp + fn), "g_mean": float(np.sqrt(sensitivity * specificity)),
        }[key]  # fmt: skip

    return of


def _cost(
    settings: Settings, found: Answered, t: float, counts: ThresholdCounts
) -> MeasureEstimate:
    """Mean cost of a row, beside that of the cheaper of two constant answers."""
    is_predicted, y = found.output >= t, found.target
    fp, fn = counts.cost_false_positive, counts.cost_false_negative
    costs = np.where(is_predicted & (y == 0), fp, 0.0) + np.where(~is_predicted & (y == 1), fn, 0.0)
    share_positive = mean_of(y.astype(float))(found.weights)
    baseline = min(fn * share_positive, fp * (1 - share_positive))
    words = (
        f"the mean cost of a row (a false alarm costs {digits3(fp)}, a miss {digits3(fn)}), "
        "against the cheaper of always and never answering with the positive class"
    )
    return estimated("cost per row", mean_of(costs), found, settings, baseline, words)


def _deciles(prepared: Prepared, found: Answered) -> ReportTable:
    assert prepared.positive is not None
    rows = []
    for k, members in enumerate(bins(-found.output)):
        y, p = found.target[members], found.output[members]
        rows.append((k + 1, len(members), int(y.sum()), float(p.mean()), float(y.mean())))
    positive = prepared.classes[prepared.positive]
    return ReportTable(
        "Tenths of the rows, from the most to the least likely",
        (TableColumn("tenth", "count"), TableColumn("n", "count"),
         TableColumn(f"'{positive}'", "count"),
         TableColumn("mean probability", "share"), TableColumn("observed", "share")),
        tuple(rows),
    )  # fmt: skip


def _text(prepared: Prepared, found: Answered, counts: ThresholdCounts) -> str:
    assert prepared.positive is not None
    positive = prepared.classes[prepared.positive]
    other = prepared.classes[1 - prepared.positive]
    tp, fp = counts.true_positives[counts.selected], counts.false_positives[counts.selected]
    alarms = f"{tp + fp:,} alarm" + ("" if tp + fp == 1 else "s")
    right = f", of which {share(tp / (tp + fp))} are right" if tp + fp else ""
    return (
        f"{of_rows(counts.n_positive, found.n)} are '{positive}'. With the threshold "
        f"{digits3(counts.thresholds[counts.selected])} the procedure finds "
        f"{of_rows(tp, counts.n_positive)} of '{positive}' and gives {fp:,} false alarms in "
        f"{count(counts.n_negative, 'row')} of '{other}': {alarms}{right}."
    )


# --- numbers --------------------------------------------------------------------------------------


def _numbers(prepared: Prepared, settings: Settings, found: Answered) -> Measures:
    error = found.target - found.output
    of_mean = found.target - guesses(prepared, found)
    s = found.weights

    def root(values: np.ndarray) -> Weighted:
        mean = mean_of(values**2)
        return lambda weights: float(np.sqrt(mean(weights)))

    mae = estimated("MAE", mean_of(np.abs(error)), found, settings,
                    mean_of(np.abs(of_mean))(s), "the mean of the absolute errors")  # fmt: skip
    rmse = estimated("RMSE", root(error), found, settings, root(of_mean)(s),
                     "the root of the mean squared error: large errors count more")  # fmt: skip
    smaller = 1 - mae.value / mae.baseline if mae.baseline else 0.0
    half = digits3(float(np.quantile(np.abs(error), 0.5)))
    sign = f"{share(smaller)} smaller than" if smaller > 0 else "no smaller than"
    return Measures(
        text=f"Half of the errors are below {half}. The mean absolute error is "
        f"{digits3(mae.value)}, {sign} that of always answering the mean.",
        estimates=(mae, rmse),
        residuals=_quantiles(error),
    )


def _quantiles(error: np.ndarray) -> ReportTable:
    """Quantiles of observed − predicted, with at least 5 rows beyond each."""
    shares = [q for q in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
              if min(q, 1 - q) * len(error) >= MIN_TAIL_ROWS or q == 0.5]  # fmt: skip
    values = np.quantile(error, shares)
    return ReportTable(
        "Errors, observed − predicted",
        (TableColumn("share of rows below", "share"), TableColumn("error", "number")),
        tuple((q, _rounded(float(v))) for q, v in zip(shares, values, strict=True)),
        (f"n = {len(error):,}.",),
    )
