"""Validation of labels and predictions of two classes, or of one class against the rest.

y_i = 1 ⇔ the label of row i is pos_label
"""

from typing import Any, NamedTuple

import numpy as np

from ..data.finite import require_finite
from ..data.labels import encode, named, read_labels
from ..data.streamed import StreamedTable
from ..data.streamed_input import require_no_arrays_beside
from ..data.streamed_scores import labels_of_table, targets_of_table
from ..data.validation import as_numbers, one_of, weights
from ..text.format import count

KINDS = ("labels", "probabilities", "scores")
BINARY_CLASSES = ({0, 1}, {-1, 1})  # where 1 is the positive class by default


class Truth(NamedTuple):
    """True labels as y (n,) of 0 and 1; ``neg_label`` None: several; labels = classes[k]."""

    y: np.ndarray
    pos_label: object
    neg_label: object
    classes: np.ndarray
    k: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        return self.classes[self.k]

    @property
    def positive(self) -> str:
        return repr(self.pos_label)

    @property
    def negative(self) -> str:
        return f"not {self.positive}" if self.neg_label is None else repr(self.neg_label)


def read_truth(y_true: object, pos_label: object = None) -> Truth:
    """Return the true labels, with 1 for the positive class."""
    classes, k = encode(read_rows(y_true))
    labels = classes.tolist()
    pos = _positive(labels, classes, pos_label)
    y = np.zeros(len(k)) if pos not in labels else (k == labels.index(pos)).astype(float)
    return Truth(y, pos, _other(labels, pos), classes, k)


def read_rows(y_true: object) -> np.ndarray:
    """Return the labels, at least one; those of a table are its target."""
    if isinstance(y_true, StreamedTable):
        return labels_of_table(y_true)[0]
    n = len(np.asarray(y_true))
    if n == 0:
        raise ValueError("y has no rows: give at least one")
    return read_labels(y_true, n)[0]


def read_weights(y_true: object, sample_weight: object, n: int) -> np.ndarray | None:
    """Return the weights of rows; those of a table are a column of it."""
    if isinstance(y_true, StreamedTable):
        require_no_arrays_beside(None, sample_weight)
        return targets_of_table(y_true)[1]
    return weights(sample_weight, n)


def read_answers(y_pred: object, y: np.ndarray) -> np.ndarray:
    """Return the predicted labels, as many as in y and of the same type."""
    n, m = len(y), len(np.asarray(y_pred))
    if m != n:
        raise ValueError(f"y has {count(n, 'row')}, the predictions have {m:,}")
    predicted = read_labels(y_pred, n)[0]
    true_labels, predicted_labels = (np.unique(labels) for labels in (y, predicted))
    if (
        len(
            {
                isinstance(label, str)
                for label in (*true_labels.tolist(), *predicted_labels.tolist())
            }
        )
        > 1
    ):
        raise ValueError(
            f"y contains {named(true_labels)}, the predictions {named(predicted_labels)}"
        )
    return predicted


def _positive(labels: list[Any], classes: np.ndarray, pos_label: object) -> Any:
    if pos_label is None:
        if any(set(labels) <= ones for ones in BINARY_CLASSES):
            return type(labels[0])(1)
        raise ValueError(
            f"y contains {named(classes)}: say which is the positive class, e.g. "
            f"pos_label={labels[-1]!r}"
        )
    pos_label = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
    if pos_label in labels or len(labels) == 1:  # with one class, the other is unknown
        return pos_label
    raise ValueError(f"pos_label={pos_label!r} is not in y, which contains {named(classes)}")


def _other(labels: list[Any], pos: object) -> Any:
    others = [label for label in labels if label != pos]
    if not others:  # unknown, except that 0 goes with 1
        return 0 if pos == 1 else None
    return others[0] if len(others) == 1 else None


class Predictions(NamedTuple):
    """Predictions: d (n,) True where positive; p (n,) probabilities or scores, None for labels."""

    kind: str
    d: np.ndarray
    p: np.ndarray | None
    threshold: float | None


def read_predictions(
    y_pred: object, truth: Truth, kind: str, threshold: float | None
) -> Predictions:
    """Return labels unchanged; probabilities and scores are positive above the threshold."""
    one_of("kind", kind, ("auto", *KINDS))
    table = _as_array(y_pred)
    values = _column(table, truth)
    if kind == "auto":
        several = table.ndim == 2 and table.shape[1] > 1
        kind = "probabilities" if several else _kind(values, truth)
    if kind == "labels":
        if threshold is not None:
            raise ValueError(
                f"threshold={threshold!r}, but the predictions are labels: omit it, or give "
                "probabilities or scores"
            )
        return Predictions(kind, read_positive(values, truth), None, None)
    p = as_numbers(values, "y_pred")
    require_finite(p[:, None], None, "y_pred")
    if kind == "probabilities":
        require_probabilities(p)
    if threshold is None:
        threshold = 0.5 if kind == "probabilities" else 0.0
    else:
        threshold = float(as_numbers(threshold, "threshold"))
        if not np.isfinite(threshold):
            raise ValueError(f"threshold={threshold!r}: give a finite number")
    return Predictions(kind, p > threshold, p, threshold)


def read_positive(y_pred: object, truth: Truth) -> np.ndarray:
    """Return a mask that is True where the predicted label is the positive one."""
    classes, k = encode(read_answers(y_pred, truth.labels))
    return np.array([label == truth.pos_label for label in classes.tolist()])[k]


def require_probabilities(p: np.ndarray) -> None:
    """Raise unless all values are between 0 and 1."""
    outside = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if len(outside):
        raise ValueError(
            f"row {outside[0]} has {p[outside[0]]:g}, which is not a probability "
            f"({count(len(outside), 'row')} outside 0 to 1): give those of predict_proba"
        )


def _as_array(y_pred: object) -> np.ndarray:
    """Return an array; floats of object dtype, from nullable columns, become numbers."""
    values = np.asarray(y_pred)
    if values.dtype.kind == "O" and {type(v) for v in values.ravel().tolist()} == {float}:
        return values.astype(float)
    return values


def _column(values: np.ndarray, truth: Truth) -> np.ndarray:
    """Return (n,) values; from (n, K) of predict_proba, the column of the positive class."""
    n, K = len(truth.y), len(truth.classes)
    if values.ndim not in (1, 2) or len(values) != n:
        raise ValueError(
            f"y has {count(n, 'row')}, y_pred has shape {values.shape}: give ({n},), or "
            f"({n}, classes) of predict_proba"
        )
    if values.ndim == 1:
        return values
    if values.shape[1] == 1:
        return values[:, 0]
    if values.shape[1] != K:
        raise ValueError(
            f"y_pred has {count(values.shape[1], 'column')}, y contains {named(truth.classes)}: "
            f"give only the column of {truth.positive}"
        )
    return values[:, truth.classes.tolist().index(truth.pos_label)]


def _kind(values: np.ndarray, truth: Truth) -> str:
    """Return the kind of predictions.

    Labels are text, booleans, and numbers of y's type that are all classes.
    """
    if values.dtype.kind in "USOb":
        return "labels"
    true_labels = {*truth.classes.tolist(), truth.pos_label}
    if true_labels <= {-1, 0, 1}:
        true_labels |= {0} if -1 not in true_labels else {-1}
    whole = values.dtype.kind in "iu" or truth.classes.dtype.kind == "f"
    if whole and set(np.unique(values).tolist()) <= true_labels:
        return "labels"
    return "probabilities" if ((values >= 0) & (values <= 1)).all() else "scores"
