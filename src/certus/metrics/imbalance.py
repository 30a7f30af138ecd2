"""Everything that one set of predictions says, at one threshold, with intervals and a baseline.

A model that always answers the larger class has accuracy 1 − π, π the share of the smaller one. So
each measure stands beside the value that this answer has.
"""

import numpy as np

from ..data.types import Seed
from ..data.validation import one_of, positive_whole, weights
from ..text.format import number
from ._input import read_predictions, read_truth
from ._interval_choice import choose_intervals
from ._measures import confusion
from ._values import curves, doubt_probabilities, majority, values_of
from .report import ImbalanceResult


def imbalance_report(
    y_true: object, y_pred: object, threshold: float | None = None, *, kind: str = "auto",
    pos_label: object = None, sample_weight: object = None, confidence: float = 0.95,
    interval: str = "bootstrap", n_resamples: int = 1000, bins: int | None = 10,
    random_state: Seed = None,
) -> ImbalanceResult:  # fmt: skip
    """All measures of predictions of two classes, or of one class against the rest.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels, probabilities of the positive class (or all columns of ``predict_proba``, in the
        order of the sorted classes of y), or any scores that are larger for positives.
    threshold : float, optional
        Rows above it are answered positive: 0.5 for probabilities and 0 for scores by default.
    kind : {"auto", "labels", "probabilities", "scores"}
        What ``y_pred`` is. "auto": text and whole numbers that are classes are labels, numbers
        from 0 to 1 probabilities, all others scores.
    pos_label : label, optional
        The positive class; 1 where the classes are 0 and 1, −1 and 1, or False and True.
    sample_weight : array-like of shape (n_samples,), optional
    confidence : float
        Of the intervals.
    interval : {"bootstrap", "exact"}
        "bootstrap": rows drawn with replacement within each class. "exact": Clopper–Pearson for
        shares of rows, and what follows from them for F, G-mean, balanced accuracy and MCC; the
        areas, Brier score and log loss have none and keep the bootstrap. Where a cell of the
        confusion table is empty, no resample can fill it, and counts get exact intervals anyway.
    n_resamples : int
        Of the bootstrap.
    bins : int or None
        Of the Brier score's decomposition, as in ``brier_decomposition``.
    random_state : int, Generator, RandomState or None

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
    truth = read_truth(y_true, pos_label)
    said = read_predictions(y_pred, truth, kind, threshold)
    s = weights(sample_weight, len(truth.y))
    if interval == "exact" and s is not None:
        raise ValueError(
            "exact intervals count rows, and sample_weight says that rows count differently: use "
            "interval='bootstrap'"
        )
    notes: list[str] = []
    s_or_1 = np.ones(len(truth.y)) if s is None else s
    values, parts = values_of(truth, said, s_or_1, bins, notes)
    found, by = choose_intervals(
        truth, said, s, values, notes, how=interval, confidence=confidence, B=B,
        random_state=random_state,
    )  # fmt: skip
    doubt_probabilities(truth, said, s_or_1, notes)
    tp, fn, fp, tn = confusion(truth.y, said.d, s_or_1)
    n, n_positive = len(truth.y), int(truth.y.sum())
    baseline = majority(truth, said, s_or_1)
    notes.append(
        f"Majority: always {truth.positive if tp + fn > fp + tn else truth.negative}"
        + ("" if parts is None else f", with p = {number((tp + fn) / s_or_1.sum(), 4)}")
        + "."
    )
    return ImbalanceResult(
        values=values, intervals=found, intervals_by=by, baseline=baseline,
        confusion=np.array([[tn, fp], [fn, tp]]), n=n, n_positive=n_positive,
        n_negative=n - n_positive, prevalence=float((tp + fn) / s_or_1.sum()),
        threshold=said.threshold, kind=said.kind, pos_label=truth.pos_label,
        positive=truth.positive, negative=truth.negative, confidence=float(confidence),
        decomposition=parts, curves=curves(truth, said, s_or_1), notes=tuple(notes),
    )  # fmt: skip
