"""Scores of a fitted model on streamed rows, block by block.

    R² = 1 − Σ s (y − ŷ)² / Σ s (y − ȳ)²,  averaged over targets        accuracy = Σ s [ŷ = y] / Σ s

Deviations from the mean are merged block by block (Chan, Golub and LeVeque 1983), so that one pass
is enough and nothing cancels. Constant targets score as in scikit-learn: 1 where all predictions
are right, else 0.
"""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import UndefinedMetricWarning

from ..runtime.user_frame import warn_user
from ..text.format import count
from .scoring import ScoredByChoice
from .streamed import StreamedTable
from .streamed_input import (
    columns_of_queries,
    require_no_arrays_beside,
    require_targets,
    rows_of_known_classes,
    rows_of_labels,
    rows_of_targets,
)

TARGET_BYTES = 1 << 23  # of a table, read at a time for its targets
# of a fitted model, not needed to predict arrays
LEFT_OUT_ATTRIBUTES = ("feature_names_in_", "certificate_", "_monitor", "_sklearn_output_config")
INNER_MODELS = ("estimator", "estimator_")  # of a model that passes X on


class SquaredErrors(NamedTuple):
    """Sums of a regression, (k,) each but the first."""

    S: float  # Σ s
    mean: np.ndarray  # ȳ
    total: np.ndarray  # Σ s (y − ȳ)²
    residual: np.ndarray  # Σ s (y − ŷ)²


def score_of_table(
    model: Any,
    score: Callable[..., float],
    table: StreamedTable,
    y: object = None,
    sample_weight: object = None,
    **params: object,
) -> float:
    """Return the score of a fitted model whose own method ``score`` reads arrays only.

    Accuracy and R² are sums over blocks. A scorer of the user's is given the labels of all rows as
    an array, and predicts block by block.
    """
    if isinstance(model, ScoredByChoice) and not model._by_default():
        require_no_arrays_beside(y, sample_weight)
        labels, weight = labels_of_table(table)
        given = {} if weight is None else {"sample_weight": weight}
        return float(score(model, table, labels, **given, **params))
    if hasattr(model, "_score_table"):  # another measure than R²
        require_no_arrays_beside(y, sample_weight)
        return float(model._score_table(table, **params))
    if is_classifier(model):
        return accuracy(model, table, y, sample_weight)
    if is_regressor(model):
        return r_squared(model, table, y, sample_weight)
    raise TypeError(
        f"the score of {type(model).__name__} is computed from rows in memory: give an array, "
        "of a sample for example (table.gather(numbers of rows).X)"
    )


def labels_of_table(table: StreamedTable) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the labels and the weights of all rows of a table, as arrays."""
    code, classes, s = codes_of_table(table)
    return classes[code], s


def codes_of_table(
    table: StreamedTable,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the index of each row's class, the classes, and the weights, as arrays.

    They are the answers that a measure compares: 8 bytes a row, 16 with weights.
    """
    classes = table.classes if table.classes is not None else table.distinct_targets
    if table.n_targets != 1 or classes is None:
        raise ValueError(
            f"{table.description} has no column of labels as its target: open_rows(…, "
            "target='…') names one, and classes=True says that its numbers are labels"
        )
    y, s = targets_of_table(table)
    assert y is not None
    if table.classes is None:
        y = np.searchsorted(classes, y)
    return y.astype(np.intp, copy=False), classes, s


def targets_of_table(table: StreamedTable) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return a table's only target and its weights as arrays (n,); None for what it has not."""
    n = table.shape[0]
    y = np.empty(n) if table.n_targets == 1 else None
    s = np.empty(n) if table.has_weights else None
    step = max(256, TARGET_BYTES // (8 * max(1, table.shape[1])))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        target, weight = table.read_targets(rows.start, rows.stop)
        if y is not None and target is not None:
            y[rows] = target[:, 0]
        if s is not None:
            s[rows] = weight
    return y, s


def class_totals(model: Any, table: StreamedTable) -> np.ndarray:
    """Return the weight of each of a fitted classifier's classes in a table, (K,)."""
    rows = rows_of_known_classes(model, table.X)
    (totals,) = rows.reduce_targets(_totals, len(model.classes_))
    return np.asarray(totals)


def _totals(y: np.ndarray, s: np.ndarray | None, K: int) -> tuple[np.ndarray]:
    return (np.bincount(y[:, 0].astype(np.intp), s, K).astype(float),)


def r_squared(model: Any, table: StreamedTable, y: object, sample_weight: object) -> float:
    """Return R² of a fitted regressor on a table, the mean over targets."""
    require_no_arrays_beside(y, sample_weight)
    rows = rows_of_targets(model, columns_of_queries(model, table))
    require_targets(model, rows)
    if rows.shape[0] < 2:
        warn_user(
            "R^2 score is not well-defined with less than two samples.", UndefinedMetricWarning
        )
        return float("nan")
    sums = rows.reduce(squared_errors_of_model, predictor(model), combine=merged)
    return float(shares_explained(sums).mean())


def accuracy(model: Any, table: StreamedTable, y: object, sample_weight: object) -> float:
    """Return the share of rows, by weight, whose class a fitted classifier predicts."""
    require_no_arrays_beside(y, sample_weight)
    X = columns_of_queries(model, table)
    rows, classes = rows_of_labels(model, X)
    if isinstance(model.classes_, list):
        raise ValueError(
            f"{type(model).__name__} predicts {count(len(model.classes_), 'output')}, and a table "
            "has one target of labels: compare predict(table) with the labels of each output"
        )
    right, S = rows.reduce(_hits, predictor(model), classes)
    return float(right / S)


def predictor(model: Any) -> Any:
    """Return a shallow copy of a fitted model that predicts arrays, and can be pickled."""
    plain = copy.copy(model)
    for name in LEFT_OUT_ATTRIBUTES:
        vars(plain).pop(name, None)
    for name in INNER_MODELS:
        if hasattr(vars(plain).get(name), "predict"):
            setattr(plain, name, predictor(vars(plain)[name]))
    return plain


def shares_explained(sums: SquaredErrors) -> np.ndarray:
    """Return R² of each target."""
    constant = sums.total == 0
    R = 1 - np.divide(sums.residual, sums.total, out=np.zeros_like(sums.total), where=~constant)
    return np.where(constant & (sums.residual > 0), 0.0, R)


def squared_errors(y: np.ndarray, s: np.ndarray | None, predicted: np.ndarray) -> SquaredErrors:
    """Return the sums of some rows, y and the predictions (n, k)."""
    weight = np.ones(len(y)) if s is None else s
    S = float(weight.sum())
    first = y[0]  # of a constant target the mean is exact
    mean = first + weight @ (y - first) / S if S > 0 else np.zeros(y.shape[1])
    total = weight @ (y - mean) ** 2
    return SquaredErrors(S, mean, total, weight @ (y - predicted) ** 2)


def merged(left: SquaredErrors, right: SquaredErrors) -> SquaredErrors:
    """Return the sums of two parts together."""
    S = left.S + right.S
    share = right.S / S if S > 0 else 0.0
    apart = right.mean - left.mean
    total = left.total + right.total + left.S * share * apart**2
    return SquaredErrors(S, left.mean + share * apart, total, left.residual + right.residual)


def squared_errors_of_model(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, model: Any
) -> SquaredErrors:
    """Return the sums of one block, with the model's predictions."""
    return squared_errors(y, s, np.asarray(model.predict(X), dtype=float).reshape(y.shape))


def _hits(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, model: Any, classes: np.ndarray
) -> tuple[float, float]:
    """Σ s [ŷ = y] and Σ s of one block; y holds indices of ``classes``."""
    right = np.asarray(model.predict(X) == classes[y[:, 0].astype(np.intp)])
    if s is None:
        return float(np.count_nonzero(right)), float(len(y))
    return float(s @ right), float(s.sum())
