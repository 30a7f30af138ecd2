"""Answers of linear models on all rows: scores, probabilities, labels, and their rounding errors.

z = xᵀw + b, and with a log link the mean exp(o + z)
"""

from typing import NamedTuple

import numpy as np

from ...audit import Reading
from ...data.rows import Rows
from ...proofs.answers import linear_scores
from ..parameters import Parameters

PROBABILITIES = ("logistic", "softmax", "ordinal")


class RowAnswers(NamedTuple):
    """Answers of every row, (n, k); ``label`` is None for a regression."""

    values: np.ndarray  # probabilities, scores or predictions
    label: np.ndarray | None  # index of the predicted class, (n,)
    rounding: float  # of the values, at most


def kind_of_answer(reading: Reading) -> str:
    """Return what the values are: "probability", "score" or "prediction"."""
    if reading.labels is None:
        return "prediction"
    return "probability" if reading.definition in PROBABILITIES else "score"


def answers(reading: Reading, parameters: Parameters, rows: Rows) -> RowAnswers:
    """Return the answers of the model with these parameters."""
    w = np.asarray(parameters["w"], dtype=float)
    b = np.zeros(w.shape[1]) if "thresholds" in parameters else np.asarray(parameters["b"])
    both = np.empty((rows.shape[0], 2, w.shape[1]))
    rows.map(_scores, both, w, b)
    z, error = both[:, 0], float(both[:, 1].max(initial=0.0))
    if reading.definition == "log_link":
        return _means(z, error, rows)
    if reading.labels is None:
        return RowAnswers(z, None, error)
    if reading.definition == "ordinal":
        P = _ordered(z, np.asarray(parameters["thresholds"], dtype=float))
        return RowAnswers(P, P.argmax(axis=1), error)
    label = (z[:, 0] > 0).astype(np.intp) if z.shape[1] == 1 else z.argmax(axis=1)
    if reading.definition not in PROBABILITIES:
        return RowAnswers(z, label, error)
    if reading.definition == "softmax":
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return RowAnswers(e / e.sum(axis=1, keepdims=True), label, error + 1e-14)
    P = _sigmoid(z)
    P = P / P.sum(axis=1, keepdims=True) if z.shape[1] > 1 else P
    return RowAnswers(P, label, error + 1e-14)


def _means(z: np.ndarray, error: float, rows: Rows) -> RowAnswers:
    assert rows.y is not None
    z = z + np.asarray(rows.y)[:, 1:].sum(axis=1, keepdims=True)
    error += float(np.finfo(float).eps) * (1 + float(np.abs(z).max(initial=0.0)))
    mean = np.exp(z)
    return RowAnswers(mean, None, float(mean.max(initial=0.0) * np.expm1(2 * error)))


def _scores(X: np.ndarray, _y: object, _s: object, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Scores and their rounding errors; X may be sparse."""
    z, error = linear_scores(X, w, b, float(np.finfo(float).eps))
    return np.stack([z, error], axis=1)


def _sigmoid(z: np.ndarray) -> np.ndarray:
    half: np.ndarray = (1 + np.tanh(z / 2)) / 2
    return half


def _ordered(z: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    below = _sigmoid(thresholds - z)
    edges = np.hstack([np.zeros_like(z), below, np.ones_like(z)])
    P: np.ndarray = np.diff(edges, axis=1)
    return P


def row_lengths(rows: Rows, constant: float) -> np.ndarray:
    """Return ‖(x, constant)‖ of every row."""
    return rows.map(_length, np.empty(rows.shape[0]), constant)


def _length(X: np.ndarray, _y: object, _s: object, constant: float) -> np.ndarray:
    """Lengths of one block; X may be sparse."""
    squares = np.asarray((X * X).sum(axis=1)).ravel()  # entry by entry for sparse arrays too
    length: np.ndarray = np.sqrt(squares + constant**2)
    return length
