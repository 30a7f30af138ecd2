"""All measures of two classes, from weighted rows.

    TP = Σ w over positive rows that are predicted positive; FN, FP, TN likewise
    error = (FP + FN)/Σw,  accuracy = 1 − error,  sensitivity = TP/(TP + FN),
    specificity = TN/(TN + FP),  precision = TP/(TP + FP),  F = 2TP/(2TP + FP + FN),
    G = √(sensitivity·specificity),  balanced accuracy = (sensitivity + specificity)/2,
    MCC = (TP·TN − FP·FN)/√((TP + FP)(TP + FN)(TN + FP)(TN + FN))
    ROC area = P(a positive row scores above a negative one) + ½P(equal scores)
    PR area  = Σ (recall_t − recall_{t−1})·precision_t over thresholds t (average precision)
    Brier = Σ w(p − y)²/Σw,  log loss = −Σ w(y log p + (1 − y) log(1 − p))/Σw

``measured`` calls scikit-learn; ``counted`` and ``Ranking`` do the same for thousands of resamples.
"""

from typing import Any

import numpy as np
from scipy.special import xlog1py, xlogy
from sklearn import metrics

MEASURES = {
    "error_rate": "error rate",
    "accuracy": "accuracy",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "precision": "precision",
    "f1": "F",
    "g_mean": "G-mean",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "roc_auc": "ROC area",
    "pr_auc": "PR area",
    "brier": "Brier score",
    "reliability": "  reliability",
    "resolution": "  resolution",
    "uncertainty": "  uncertainty",
    "log_loss": "log loss",
}
COUNT_MEASURES = tuple(MEASURES)[:9]  # functions of TP, FN, FP and TN
AREA_MEASURES = ("roc_auc", "pr_auc")
LOSS_MEASURES = ("brier", "log_loss")
NAN = float("nan")


def confusion(y: np.ndarray, d: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return TP, FN, FP, TN for each row of weights W, (B, n) or (n,)."""
    cells = np.stack([y * d, y * ~d, (1 - y) * d, (1 - y) * ~d], axis=1)
    return W @ cells


def counted(tp: object, fn: object, fp: object, tn: object) -> dict[str, Any]:
    """Return the measures of confusion tables; 0/0 is NaN, but MCC 0 for a constant prediction."""
    tp, fn, fp, tn = (np.asarray(cell, dtype=float) for cell in (tp, fn, fp, tn))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = (fp + fn) / (tp + fn + fp + tn)
        recall, specificity = tp / (tp + fn), tn / (tn + fp)
        scale = np.sqrt((tp + fp) / (tp + fn)) * np.sqrt((tn + fn) / (tn + fp))
        has_both = (tp + fn > 0) & (tn + fp > 0)
        return {
            "error_rate": error,
            "accuracy": 1 - error,
            "sensitivity": recall,
            "specificity": specificity,
            "precision": tp / (tp + fp),
            "f1": 2 * tp / (2 * tp + fp + fn),
            "g_mean": np.sqrt(recall * specificity),
            "balanced_accuracy": (recall + specificity) / 2,
            "mcc": np.where(
                has_both & ~(scale > 0), 0.0, (recall + specificity - 1) / scale
            ),
        }  # fmt: skip


def measured(y: np.ndarray, d: np.ndarray, s: np.ndarray) -> dict[str, float]:
    """Return the counted measures by scikit-learn; both classes have weight."""
    w: dict[str, Any] = {"sample_weight": s}
    recall, specificity = (float(metrics.recall_score(y, d, pos_label=k, **w)) for k in (1, 0))
    accuracy = float(metrics.accuracy_score(y, d, **w))
    return {
        "error_rate": float(metrics.zero_one_loss(y, d, **w)),
        "accuracy": accuracy,
        "sensitivity": recall,
        "specificity": specificity,
        "precision": float(metrics.precision_score(y, d, zero_division=NAN, **w)),
        "f1": float(metrics.f1_score(y, d, zero_division=0.0, **w)),
        "g_mean": float(np.sqrt(recall * specificity)),
        "balanced_accuracy": float(metrics.balanced_accuracy_score(y, d, **w)),
        "mcc": float(metrics.matthews_corrcoef(y, d, **w)),
    }


class Ranking:
    """ROC and PR areas for many weightings of the same scores; rows are in descending order."""

    def __init__(self, y: np.ndarray, p: np.ndarray):
        order = np.argsort(-p, kind="stable")
        self.positive, self.negative = order[y[order] == 1], order[y[order] == 0]
        falling, others = -p[self.positive], -p[self.negative]
        self.above = np.searchsorted(others, falling, "left")  # number of negatives above
        self.level = np.searchsorted(others, falling, "right")  # … or equal
        self.last_positive = (
            np.searchsorted(falling, falling, "right") - 1
        )  # index of the last equal positive

    def areas(self, W1: np.ndarray, W0: np.ndarray) -> dict[str, np.ndarray]:
        """Return ROC and PR areas for weights (B, P) and (B, N) in the order of the rows."""
        tp = W1.cumsum(axis=1)
        fp = np.zeros((len(W0), W0.shape[1] + 1))
        W0.cumsum(axis=1, out=fp[:, 1:])
        P, N = tp[:, -1], fp[:, -1]
        tp, fp_at_score = tp[:, self.last_positive], fp[:, self.level]
        with np.errstate(invalid="ignore", divide="ignore"):
            above = np.einsum("bi,bi->b", W1, fp[:, self.above] + fp_at_score) / 2
            precision = np.where(W1 > 0, tp / (tp + fp_at_score), 0.0)
            return {
                "roc_auc": 1 - above / (P * N),
                "pr_auc": np.einsum("bi,bi->b", W1, precision) / P,
            }


def losses(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return (n, 2): the squared error and −log of the probability of the row's class."""
    return np.stack([(p - y) ** 2, -(xlogy(y, p) + xlog1py(1 - y, -p))], axis=1)
