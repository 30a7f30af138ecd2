"""Measures over all thresholds: AUC, average precision, Gini, KS.

AUC compares rows of the same fold alone, as the verdict does; average precision and KS compare all.
"""

from dataclasses import replace

import numpy as np

from ...content.values import Interval, MeasureEstimate
from ...prepared import Prepared
from ...procedure.result import ProcedureResult
from ...settings import Settings
from .answers import Answered, Weighted, estimated, mean_of


def areas(
    prepared: Prepared, settings: Settings, result: ProcedureResult, found: Answered
) -> tuple[MeasureEstimate, ...]:
    """The areas of two classes, with intervals."""
    auc = result.measure
    two = [None if auc.interval is None else 2 * end - 1 for end in _ends(auc.interval)]
    interval = None
    if auc.interval is not None and two[0] is not None and two[1] is not None:
        interval = Interval(two[0], two[1], auc.interval.level)
    gini = replace(auc, name="Gini", value=2 * auc.value - 1, interval=interval, baseline=0.0,
                   text="2 AUC − 1: 0 for guessing, 1 for a perfect order")  # fmt: skip
    prevalence = mean_of(found.target.astype(float))(found.weights)
    precision = estimated(
        "average precision", average_precision(found.target, found.output), found, settings,
        prevalence, "the mean precision as the threshold falls; guessing gives the class's share",
    )  # fmt: skip
    ks = estimated(
        "KS", kolmogorov_smirnov(found.target, found.output), found, settings, 0.0,
        "the largest distance between the shares found in both classes, over all thresholds",
    )  # fmt: skip
    return auc, precision, gini, ks


def _ends(interval: Interval | None) -> tuple[float, float]:
    return (np.nan, np.nan) if interval is None else (interval.low, interval.high)


def average_precision(y: np.ndarray, p: np.ndarray) -> Weighted:
    """Σ (recall_t − recall_{t−1})·precision_t, as a function of the rows' weights."""
    order, last = _falling(p)
    y = y[order].astype(float)

    def of(s: np.ndarray) -> float:
        s = s[order]
        tp, total = np.cumsum(s * y)[last], np.cumsum(s)[last]
        if tp[-1] == 0:
            return np.nan
        precision = np.divide(tp, total, out=np.zeros_like(tp), where=total > 0)
        return float(np.diff(tp, prepend=0.0) @ precision / tp[-1])

    return of


def kolmogorov_smirnov(y: np.ndarray, p: np.ndarray) -> Weighted:
    """max_t (sensitivity + specificity − 1), as a function of the rows' weights."""
    order, last = _falling(p)
    y = y[order].astype(float)

    def of(s: np.ndarray) -> float:
        s = s[order]
        tp, fp = np.cumsum(s * y)[last], np.cumsum(s * (1 - y))[last]
        if tp[-1] == 0 or fp[-1] == 0:
            return np.nan
        return float(np.max(tp / tp[-1] - fp / fp[-1], initial=0.0))

    return of


def _falling(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows in falling order of p, and the last of each run of equal values."""
    order = np.argsort(-p, kind="stable")
    ordered = p[order]
    return order, np.flatnonzero(np.r_[ordered[1:] != ordered[:-1], True])
