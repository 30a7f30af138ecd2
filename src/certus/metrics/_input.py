"""Labels and predictions of two classes, or of one class against the rest, as numbers.

y_i = 1 ⇔ the label of row i is pos_label
"""

from typing import Any, NamedTuple

import numpy as np

from ..data.finite import require_finite
from ..data.labels import encode, named, read_labels
from ..data.validation import as_numbers, one_of
from ..text.format import count

KINDS = ("labels", "probabilities", "scores")
ONES = ({0, 1}, {-1, 1})  # classes of which 1 is the positive one without a word


class Truth(NamedTuple):
    """y (n,) of 0 and 1, the positive label, the other one (None: several); labels = classes[k]."""

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
    classes, k = encode(read_rows(y_true))
    labels = classes.tolist()
    pos = _positive(labels, classes, pos_label)
    y = np.zeros(len(k)) if pos not in labels else (k == labels.index(pos)).astype(float)
    return Truth(y, pos, _other(labels, pos), classes, k)


def read_rows(y_true: object) -> np.ndarray:
    """Labels, one a row and at least one."""
    n = len(np.asarray(y_true))
    if n == 0:
        raise ValueError("y has no rows: give at least one")
    return read_labels(y_true, n)[0]


def read_answers(y_pred: object, y: np.ndarray) -> np.ndarray:
    """Predicted labels, as many as y has and of its kind."""
    n, m = len(y), len(np.asarray(y_pred))
    if m != n:
        raise ValueError(f"y has {count(n, 'row')}, the predictions have {m:,}")
    said = read_labels(y_pred, n)[0]
    known, given = (np.unique(labels) for labels in (y, said))
    if len({isinstance(label, str) for label in (*known.tolist(), *given.tolist())}) > 1:
        raise ValueError(f"y holds {named(known)}, the predictions {named(given)}")
    return said


def _positive(labels: list[Any], classes: np.ndarray, pos_label: object) -> Any:
    if pos_label is None:
        if any(set(labels) <= ones for ones in ONES):
            return type(labels[0])(1)
        raise ValueError(
            f"y holds {named(classes)}: say which is the positive class, e.g. "
            f"pos_label={labels[-1]!r}"
        )
    pos_label = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
    if pos_label in labels or len(labels) == 1:  # of one class alone, the other cannot be known
        return pos_label
    raise ValueError(f"pos_label={pos_label!r} is not in y, which holds {named(classes)}")


def _other(labels: list[Any], pos: object) -> Any:
    others = [label for label in labels if label != pos]
    if not others:  # none to be seen: 0 beside 1, and nothing can be said of text
        return 0 if pos == 1 else None
    return others[0] if len(others) == 1 else None


class Predictions(NamedTuple):
    """kind; d (n,) True where positive is answered; p (n,) probabilities or scores, or None."""

    kind: str
    d: np.ndarray
    p: np.ndarray | None
    threshold: float | None


def read_predictions(
    y_pred: object, truth: Truth, kind: str, threshold: float | None
) -> Predictions:
    """Labels as they are; of probabilities and scores, those above the threshold are positive."""
    one_of("kind", kind, ("auto", *KINDS))
    table = _as_array(y_pred)
    values = _column(table, truth)
    if kind == "auto":
        several = table.ndim == 2 and table.shape[1] > 1
        kind = "probabilities" if several else _kind(values, truth)
    if kind == "labels":
        if threshold is not None:
            raise ValueError(
                f"threshold={threshold!r}, and the predictions are labels: leave it out, or give "
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
    """True where the predicted label is the positive one."""
    classes, k = encode(read_answers(y_pred, truth.labels))
    return np.array([label == truth.pos_label for label in classes.tolist()])[k]


def require_probabilities(p: np.ndarray) -> None:
    outside = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if len(outside):
        raise ValueError(
            f"row {outside[0]} has {p[outside[0]]:g}, which is no probability "
            f"({count(len(outside), 'row')} outside of 0 to 1): give predict_proba's"
        )


def _as_array(y_pred: object) -> np.ndarray:
    """Fractions that come as objects, of nullable columns, are numbers."""
    values = np.asarray(y_pred)
    if values.dtype.kind == "O" and {type(v) for v in values.ravel().tolist()} == {float}:
        return values.astype(float)
    return values


def _column(values: np.ndarray, truth: Truth) -> np.ndarray:
    """(n,): of predict_proba's (n, K), the column of the positive class."""
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
            f"y_pred has {count(values.shape[1], 'column')}, y holds {named(truth.classes)}: "
            f"give the column of {truth.positive} alone"
        )
    return values[:, truth.classes.tolist().index(truth.pos_label)]


def _kind(values: np.ndarray, truth: Truth) -> str:
    """Text, True and False, and numbers of y's own kind that are classes are labels."""
    if values.dtype.kind in "USOb":
        return "labels"
    known = {*truth.classes.tolist(), truth.pos_label}
    if known <= {-1, 0, 1}:
        known |= {0} if -1 not in known else {-1}
    whole = values.dtype.kind in "iu" or truth.classes.dtype.kind == "f"
    if whole and set(np.unique(values).tolist()) <= known:
        return "labels"
    return "probabilities" if ((values >= 0) & (values <= 1)).all() else "scores"
