"""Values of all measures of the rows as they are, of the majority's answer, and curves.

What is 0/0 is NaN, and a note says why.
"""

import numpy as np
from scipy.special import entr
from sklearn import metrics

from ..text.format import count, number
from ._input import Predictions, Truth
from ._measures import COUNTED, MEASURES, NAN, confusion, counted, losses, measured
from .brier import BrierResult, decompose

FAR = 4.0  # standard errors between mean probability and share that chance does not explain


def two_classes(truth: Truth, s: np.ndarray) -> bool:
    """Have both classes weight?"""
    return bool((s @ truth.y > 0) and (s @ (1 - truth.y) > 0))


def values_of(
    truth: Truth, said: Predictions, s: np.ndarray, bins: int | None, notes: list[str]
) -> tuple[dict[str, float], BrierResult | None]:
    y, d, p = truth.y, said.d, said.p
    values = dict.fromkeys(MEASURES, NAN)
    if two_classes(truth, s):
        values |= measured(y.astype(int), d.astype(int), s)
        if p is not None:
            values["roc_auc"] = float(metrics.roc_auc_score(y, p, sample_weight=s))
            values["pr_auc"] = float(metrics.average_precision_score(y, p, sample_weight=s))
    else:
        counts = counted(*confusion(y, d, s))
        values |= {name: float(counts[name]) for name in COUNTED if name != "mcc"}
        only, missing = truth.negative, truth.positive
        share = "sensitivity"
        if s @ y > 0:
            only, missing, share = missing, only, "specificity"
        areas = "" if p is None else ", ROC and PR areas"
        notes.append(
            f"Every row is {only}: {share}, G-mean, balanced accuracy, MCC{areas} compare "
            f"classes, and are not defined without rows of {missing}."
        )
    conventional = "MCC is 0 by convention" if two_classes(truth, s) else ""
    if not d[s > 0].any():
        undefined = "precision is 0/0" if s @ y > 0 else "precision and F are 0/0"
        told = ", ".join(filter(None, (undefined, conventional)))
        notes.append(f"No row is answered {truth.positive}: {told}.")
    elif d[s > 0].all() and conventional:
        notes.append(f"Every row is answered {truth.positive}: {conventional}.")
    if said.kind != "probabilities" or p is None:
        if p is None:
            notes.append("Labels have no order: for ROC and PR areas give scores.")
        return values, None
    parts = decompose(y, p, s, bins)
    values |= {name: getattr(parts, name) for name in ("reliability", "resolution", "uncertainty")}
    values["brier"] = parts.brier
    with np.errstate(invalid="ignore"):
        values["log_loss"] = float(s[s > 0] @ losses(y, p)[s > 0, 1] / s.sum())
    if np.isinf(values["log_loss"]):
        own = np.where(y == 1, p, 1 - p)
        rows = np.flatnonzero((own == 0) & (s > 0))
        notes.append(
            f"{count(len(rows), 'row')} (first: {rows[0]}) of a class that was given probability "
            "0: log loss is infinite."
        )
    sign = "−" if parts.remainder < 0 else "+"
    notes.append(
        f"Brier score = reliability − resolution + uncertainty {sign} "
        f"{number(abs(parts.remainder), 2)} (left by {count(len(parts.weight), 'bin')}). "
        "Resamples add chance to the parts, so they have no intervals."
    )
    return values, parts


def majority(truth: Truth, said: Predictions, s: np.ndarray) -> dict[str, float]:
    y = truth.y
    share = float(s @ y / s.sum())
    found = dict.fromkeys(MEASURES, NAN)
    found |= {
        name: float(value)
        for name, value in counted(*confusion(y, np.full(len(y), share > 0.5), s)).items()
    }
    if not two_classes(truth, s):
        found["mcc"] = NAN
    elif said.p is not None:
        found |= {"roc_auc": 0.5, "pr_auc": share}
    if said.kind == "probabilities":
        variance = share * (1 - share)
        found |= {"brier": variance, "reliability": 0.0, "resolution": 0.0, "uncertainty": variance}
        found["log_loss"] = float(entr(share) + entr(1 - share))
    return found


def curves(
    truth: Truth, said: Predictions, s: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    if said.p is None or not two_classes(truth, s):
        return {}
    fpr, tpr, _ = metrics.roc_curve(truth.y, said.p, sample_weight=s)
    precision, recall, _ = metrics.precision_recall_curve(truth.y, said.p, sample_weight=s)
    return {"roc": (fpr, tpr), "pr": (recall, precision)}


def doubt_probabilities(truth: Truth, said: Predictions, s: np.ndarray, notes: list[str]) -> None:
    """Σ s(y − p) against its standard error, were p right."""
    if said.kind != "probabilities" or said.p is None:
        return
    p = said.p
    error = float(np.sqrt((s**2) @ (p * (1 - p))))
    if abs(float(s @ (truth.y - p))) > FAR * error:
        mean, share = (number(float(s @ v / s.sum()), 3) for v in (p, truth.y))
        notes.append(
            f"Mean probability {mean}, share of {truth.positive} {share}: these are not the "
            "probabilities of these rows. After class weights or resampling, see correct_prior."
        )
