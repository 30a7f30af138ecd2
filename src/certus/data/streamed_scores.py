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
    rows_of_labels,
    rows_of_targets,
)

# of a fitted model, not needed to predict arrays
LEFT_OUT_ATTRIBUTES = ("feature_names_in_", "certificate_", "_monitor", "_sklearn_output_config")


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
        labels, weight = labels_of_table(model, table)
        given = {} if weight is None else {"sample_weight": weight}
        return float(score(model, table, labels, **given, **params))
    if is_classifier(model):
        return accuracy(model, table, y, sample_weight)
    if is_regressor(model):
        return r_squared(model, table, y, sample_weight)
    raise TypeError(
        f"the score of {type(model).__name__} is computed from rows in memory: give an array, "
        "of a sample for example (table.gather(numbers of rows).X)"
    )


def labels_of_table(model: object, table: StreamedTable) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the labels and the weights of all rows of a table, as arrays."""
    rows, classes = rows_of_labels(model, table.X)
    code = np.empty(rows.shape[0], dtype=np.intp)
    weight = None if rows.s is None else np.empty(rows.shape[0])
    for start, stop in rows.edges():
        code[start:stop] = rows.y[start:stop][:, 0]
        if weight is not None:
            weight[start:stop] = rows.s[start:stop]
    return classes[code], weight


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
