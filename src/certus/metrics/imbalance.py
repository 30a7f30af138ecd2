"""All measures of one set of predictions at one threshold, with intervals and a baseline.

A model that always predicts the larger class has accuracy 1 − π, π the share of the smaller one.
Therefore each measure is shown beside its value for that prediction.
"""

import numpy as np

from ..data.types import Seed
from ..data.validation import one_of, positive_whole
from ..runtime.refusals import refuses_in_one_frame
from ..text.format import number
from ._input import read_predictions, read_truth, read_weights
from ._interval_choice import choose_intervals
from ._measures import confusion
from ._values import curves, majority, note_miscalibration, values_of
from .report import ImbalanceResult
from .thresholds import checked_cost


@refuses_in_one_frame
def imbalance_report(
    y_true: object, y_pred: object, threshold: float | None = None, *, kind: str = "auto",
    pos_label: object = None, sample_weight: object = None, confidence: float = 0.95,
    interval: str = "bootstrap", n_resamples: int = 1000, bins: int | None = 10,
    random_state: Seed = None, cost_fp: float | None = None, cost_fn: float | None = None,
) -> ImbalanceResult:  # fmt: skip
    """Report all measures of predictions of two classes, or of one class against the rest.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or open_rows
        Labels. Those of ``certus.open_rows``, and the weights, are its target and weights, read
        into memory: 8 bytes a row each, as ``y_pred`` has.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels, probabilities of the positive class (or all columns of ``predict_proba``, in the
        order of the sorted classes of y), or any scores that are higher for positives.
    threshold : float, optional
        Rows above it are predicted positive: by default 0.5 for probabilities and 0 for scores.
    kind : {"auto", "labels", "probabilities", "scores"}
        Kind of ``y_pred``. "auto": text and whole numbers that are classes are labels, numbers
        from 0 to 1 probabilities, all others scores.
    pos_label : label, optional
        The positive class; 1 where the classes are 0 and 1, −1 and 1, or False and True.
    sample_weight : array-like of shape (n_samples,), optional
    confidence : float
        Confidence level of the intervals.
    interval : {"bootstrap", "exact"}
        "bootstrap": rows drawn with replacement within each class. "exact": Clopper–Pearson for
        shares of rows, from which those of F, G-mean, balanced accuracy and MCC follow; the areas,
        Brier score and log loss have none and use the bootstrap. Where a cell of the confusion
        table is empty, no resample can fill it, and counts get exact intervals anyway.
    n_resamples : int
        Number of bootstrap resamples.
    bins : int or None
        Bins of the decomposition of the Brier score, as in ``brier_decomposition``.
    random_state : int, Generator, RandomState or None
    cost_fp, cost_fn : float, optional
        Costs of a false alarm and of a miss, given together: the table then shows the expected
        cost of a row, (cost_fp·FP + cost_fn·FN)/n.

    Returns
    -------
    ImbalanceResult

    Examples
    --------
    >>> from certus.metrics import imbalance_report
    >>> y = ["no"] * 16 + ["yes"] * 4
    >>> p = [0.1] * 12 + [0.4] * 3 + [0.7] + [0.3, 0.6, 0.8, 0.9]
    >>> report = imbalance_report(y, p, pos_label="yes", random_state=0)
    >>> report["sensitivity"], report["specificity"], round(report["roc_auc"], 3)
    (0.75, 0.9375, 0.922)
    >>> report.baseline["accuracy"]
    0.8
    """
    one_of("interval", interval, ("bootstrap", "exact"))
    B = positive_whole("n_resamples", n_resamples)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r}: give a share between 0 and 1, such as 0.95")
    costs = _costs(cost_fp, cost_fn)
    truth = read_truth(y_true, pos_label)
    predictions = read_predictions(y_pred, truth, kind, threshold)
    s = read_weights(y_true, sample_weight, len(truth.y))
    if interval == "exact" and s is not None:
        raise ValueError(
            "exact intervals count rows, but with sample_weight rows count differently: use "
            "interval='bootstrap'"
        )
    notes: list[str] = []
    row_weights = np.ones(len(truth.y)) if s is None else s
    values, parts = values_of(truth, predictions, row_weights, bins, notes)
    intervals, methods = choose_intervals(
        truth, predictions, s, values, notes, interval=interval, confidence=confidence, B=B,
        random_state=random_state,
    )  # fmt: skip
    note_miscalibration(truth, predictions, row_weights, notes)
    tp, fn, fp, tn = confusion(truth.y, predictions.d, row_weights)
    n, n_positive = len(truth.y), int(truth.y.sum())
    baseline = majority(truth, predictions, row_weights)
    notes.append(
        f"Majority: always {truth.positive if tp + fn > fp + tn else truth.negative}"
        + ("" if parts is None else f", with p = {number((tp + fn) / row_weights.sum(), 4)}")
        + "."
    )
    return ImbalanceResult(
        values=values, intervals=intervals, intervals_by=methods, baseline=baseline,
        confusion=np.array([[tn, fp], [fn, tp]]), n=n, n_positive=n_positive,
        n_negative=n - n_positive, prevalence=float((tp + fn) / row_weights.sum()),
        threshold=predictions.threshold, kind=predictions.kind, pos_label=truth.pos_label,
        positive=truth.positive, negative=truth.negative, confidence=float(confidence),
        decomposition=parts, curves=curves(truth, predictions, row_weights), notes=tuple(notes),
        costs=costs,
    )  # fmt: skip


def _costs(cost_fp: object, cost_fn: object) -> tuple[float, float] | None:
    """Return the costs of a false alarm and of a miss, or None if neither is given."""
    if cost_fp is None and cost_fn is None:
        return None
    if cost_fp is None or cost_fn is None:
        missing = "cost_fp" if cost_fp is None else "cost_fn"
        raise ValueError(f"{missing} is missing: give both costs, or neither")
    return checked_cost("cost_fp", cost_fp), checked_cost("cost_fn", cost_fn)
