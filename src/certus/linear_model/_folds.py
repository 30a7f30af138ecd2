"""What a cross-validated estimator asks about the rows of one fold."""

from inspect import signature
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from ..rows import Rows


def of_rows(value: Any, rows: np.ndarray, n: int) -> Any:
    """The entries of some rows, where ``value`` has one for each of n; else the value itself."""
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != n:
        return value
    return np.asarray(value)[rows]


def fold_score(model: Any, rows: Rows, scorer: Any, params: dict[str, Any]) -> float:
    """The scorer's verdict on a fitted classifier; None: accuracy by weight."""
    assert rows.y is not None
    X = rows.X[:] if rows.sparse else rows.X
    y = model.classes_[rows.y[:, 0].astype(np.intp)]
    if scorer is None:
        return float(model.score(X, y, sample_weight=rows.s))
    return float(scorer(model, X, y, **params))


def knowing_classes(scorer: Any, classes: np.ndarray) -> Any:
    """The scorer with all classes for its labels: a fold need not hold each of them."""
    own = vars(scorer) if "_score_func" in getattr(scorer, "__dict__", {}) else None
    if own is None:  # somebody's function
        return scorer
    asks = signature(own["_score_func"]).parameters
    if "labels" not in asks:
        return scorer
    told: dict[str, Any] = {"labels": classes}
    if len(classes) == 2 and "pos_label" in asks:
        told["pos_label"] = classes[-1]
    return make_scorer(
        own["_score_func"],
        response_method=own["_response_method"],
        greater_is_better=own["_sign"] == 1,
        **{**told, **own["_kwargs"]},
    )
