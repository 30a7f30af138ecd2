"""Shares of correctly predicted rows, by class.

    sensitivity = TP/(TP + FN),  specificity = TN/(TN + FP),  G = (Π_k recall_k)^(1/K)

recall_k is the share of class k's rows that are predicted as k. For two classes
G = √(sensitivity · specificity): 0 for a model that never predicts one of them correctly.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import recall_score

from ..data.labels import encode
from ..runtime.refusals import refuses_in_one_frame
from ..runtime.user_frame import warn_user
from ..text.format import count
from ._input import read_answers, read_positive, read_rows, read_truth, read_weights


@refuses_in_one_frame
def sensitivity_score(
    y_true: object, y_pred: object, *, pos_label: object = None, sample_weight: object = None
) -> float:
    """Return TP/(TP + FN), the share of positive rows found: scikit-learn's ``recall_score``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels; ``y_true`` may be ``certus.open_rows``, which brings its weights.
    pos_label : label, optional
        The positive class; 1 where the classes are 0 and 1, −1 and 1, or False and True.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        NaN, with an ``UndefinedMetricWarning``, where no row is positive.

    Examples
    --------
    >>> from certus.metrics import sensitivity_score
    >>> sensitivity_score(["yes", "yes", "no"], ["yes", "no", "yes"], pos_label="yes")
    0.5
    """
    return _recall(y_true, y_pred, pos_label, sample_weight, 1)


@refuses_in_one_frame
def specificity_score(
    y_true: object, y_pred: object, *, pos_label: object = None, sample_weight: object = None
) -> float:
    """Return TN/(TN + FP), the share of negative rows that raise no alarm.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels. With more than two classes, all but the positive one are negative.
    pos_label : label, optional
        The positive class; 1 where the classes are 0 and 1, −1 and 1, or False and True.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        NaN, with an ``UndefinedMetricWarning``, where no row is negative.

    Examples
    --------
    >>> from certus.metrics import specificity_score
    >>> specificity_score([0, 0, 0, 0, 1], [0, 0, 0, 1, 1])
    0.75
    """
    return _recall(y_true, y_pred, pos_label, sample_weight, 0)


@refuses_in_one_frame
def geometric_mean_score(
    y_true: object,
    y_pred: object,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: object = None,
) -> float:
    """Return (Π_k recall_k)^(1/K) over the K classes in y; √(sensitivity·specificity) for two.

    It does not matter which class is positive. This is not √(precision·recall), which is sometimes
    called G-mean too.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels; ``y_true`` may be ``certus.open_rows``, which brings its weights.
    labels : sequence, optional
        The classes; by default those in ``y_true``.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        NaN, with an ``UndefinedMetricWarning``, where y has only one class, or a class of
        ``labels`` has no rows.

    Examples
    --------
    >>> from certus.metrics import geometric_mean_score
    >>> geometric_mean_score([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0, 0, 0])
    0.5
    >>> geometric_mean_score([0, 0, 0, 1], [0, 0, 0, 0])  # the majority: accuracy 0.75
    0.0
    """
    y = read_rows(y_true)
    n, predicted = len(y), read_answers(y_pred, y)
    s = read_weights(y_true, sample_weight, n)
    if labels is not None:
        classes = np.asarray(labels)
    else:
        classes, k = encode(y)
        classes = classes[np.bincount(k, weights=s, minlength=len(classes)) > 0]
        if len(classes) < 2:
            return _undefined(
                f"G-mean: y has only the class {classes.tolist()[0]!r}; the other has no recall"
            )
    for label in classes.tolist():
        if not (np.ones(n) if s is None else s)[y == label].any():
            return _undefined(f"G-mean: class {label!r} has no rows, so it has no recall")
    recall = recall_score(
        y, predicted, labels=classes, average=None, sample_weight=s, zero_division=0
    )
    with np.errstate(divide="ignore"):  # log 0 = −inf gives G = 0
        return float(np.exp(np.mean(np.log(recall))))


def _recall(
    y_true: object, y_pred: object, pos_label: object, sample_weight: object, target_class: int
) -> float:
    truth = read_truth(y_true, pos_label)
    n = len(truth.y)
    s = read_weights(y_true, sample_weight, n)
    predicted = read_positive(y_pred, truth)
    if not (np.ones(n) if s is None else s)[truth.y == target_class].any():
        name, kind = ("sensitivity", "positive") if target_class else ("specificity", "negative")
        return _undefined(f"{name}: none of {count(n, 'row')} is {kind}")
    return float(
        recall_score(truth.y == 1, predicted, pos_label=bool(target_class), sample_weight=s)
    )


def _undefined(why: str) -> float:
    warn_user(f"{why}: NaN", UndefinedMetricWarning)
    return float("nan")
