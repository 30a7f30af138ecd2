"""Values of all measures, those of the majority baseline, and curves.

A measure that is 0/0 is NaN, and a note says why.
"""

import numpy as np
from scipy.special import entr
from sklearn import metrics

from ..text.format import count, number
from ._input import Predictions, Truth
from ._measures import COUNT_MEASURES, MEASURES, NAN, confusion, counted, losses, measured
from .brier import BrierResult, decompose

MAX_MEAN_ERRORS = 4.0  # standard errors of mean probability − share that chance may explain


def two_classes(truth: Truth, s: np.ndarray) -> bool:
    """Return whether both classes have rows of positive weight."""
    return bool((s @ truth.y > 0) and (s @ (1 - truth.y) > 0))


def values_of(
    truth: Truth, predictions: Predictions, s: np.ndarray, bins: int | None, notes: list[str]
) -> tuple[dict[str, float], BrierResult | None]:
    """Return the values of all measures, and the decomposition of the Brier score."""
    y, d, p = truth.y, predictions.d, predictions.p
    values = dict.fromkeys(MEASURES, NAN)
    if two_classes(truth, s):
        values |= measured(y.astype(int), d.astype(int), s)
        if p is not None:
            values["roc_auc"] = float(metrics.roc_auc_score(y, p, sample_weight=s))
            values["pr_auc"] = float(metrics.average_precision_score(y, p, sample_weight=s))
    else:
        counts = counted(*confusion(y, d, s))
        values |= {name: float(counts[name]) for name in COUNT_MEASURES if name != "mcc"}
        present, missing = truth.negative, truth.positive
        share = "sensitivity"
        if s @ y > 0:
            present, missing, share = missing, present, "specificity"
        areas = "" if p is None else ", ROC and PR areas"
        notes.append(
            f"Every row is {present}: {share}, G-mean, balanced accuracy, MCC{areas} compare "
            f"classes and are not defined without rows of {missing}."
        )
    conventional = "MCC is 0 by convention" if two_classes(truth, s) else ""
    if not d[s > 0].any():
        undefined = "precision is 0/0" if s @ y > 0 else "precision and F are 0/0"
        text = ", ".join(filter(None, (undefined, conventional)))
        notes.append(f"No row is predicted {truth.positive}: {text}.")
    elif d[s > 0].all() and conventional:
        notes.append(f"Every row is predicted {truth.positive}: {conventional}.")
    if predictions.kind != "probabilities" or p is None:
        if p is None:
            notes.append("Labels have no order: give scores for ROC and PR areas.")
        return values, None
    parts = decompose(y, p, s, bins)
    values |= {name: getattr(parts, name) for name in ("reliability", "resolution", "uncertainty")}
    values["brier"] = parts.brier
    with np.errstate(invalid="ignore"):
        values["log_loss"] = float(s[s > 0] @ losses(y, p)[s > 0, 1] / s.sum())
    if np.isinf(values["log_loss"]):
        p_of_class = np.where(y == 1, p, 1 - p)
        rows = np.flatnonzero((p_of_class == 0) & (s > 0))
        notes.append(
            f"{count(len(rows), 'row')} (first: {rows[0]}) of a class that was predicted with "
            "probability 0: log loss is infinite."
        )
    sign = "−" if parts.remainder < 0 else "+"
    notes.append(
        f"Brier score = reliability − resolution + uncertainty {sign} "
        f"{number(abs(parts.remainder), 2)} (from {count(len(parts.weight), 'bin')}). "
        "Resampling biases the parts, so they have no intervals."
    )
    return values, parts


def majority(truth: Truth, predictions: Predictions, s: np.ndarray) -> dict[str, float]:
    """Return the measures when always predicting the larger class."""
    y = truth.y
    share = float(s @ y / s.sum())
    values = dict.fromkeys(MEASURES, NAN)
    values |= {
        name: float(value)
        for name, value in counted(*confusion(y, np.full(len(y), share > 0.5), s)).items()
    }
    if not two_classes(truth, s):
        values["mcc"] = NAN
    elif predictions.p is not None:
        values |= {"roc_auc": 0.5, "pr_auc": share}
    if predictions.kind == "probabilities":
        variance = share * (1 - share)
        values |= {
            "brier": variance,
            "reliability": 0.0,
            "resolution": 0.0,
            "uncertainty": variance,
        }
        values["log_loss"] = float(entr(share) + entr(1 - share))
    return values


def curves(
    truth: Truth, predictions: Predictions, s: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    if predictions.p is None or not two_classes(truth, s):
        return {}
    fpr, tpr, _ = metrics.roc_curve(truth.y, predictions.p, sample_weight=s)
    precision, recall, _ = metrics.precision_recall_curve(truth.y, predictions.p, sample_weight=s)
    return {"roc": (fpr, tpr), "pr": (recall, precision)}


def note_miscalibration(
    truth: Truth, predictions: Predictions, s: np.ndarray, notes: list[str]
) -> None:
    """Add a note if Σ s(y − p) exceeds its standard error under the predicted probabilities."""
    if predictions.kind != "probabilities" or predictions.p is None:
        return
    p = predictions.p
    error = float(np.sqrt((s**2) @ (p * (1 - p))))
    if abs(float(s @ (truth.y - p))) > MAX_MEAN_ERRORS * error:
        mean, share = (number(float(s @ v / s.sum()), 3) for v in (p, truth.y))
        notes.append(
            f"Mean probability {mean}, share of {truth.positive} {share}: the probabilities are "
            "not calibrated to these rows. After class weights or resampling, see correct_prior."
        )
