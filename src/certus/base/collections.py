"""Dask collections as arguments of an estimator's methods.

fit, score              the collection becomes a table whose parts stay on the workers
predict, transform, …   a lazy Dask array: the method is called for each chunk when it is computed
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..sources.collections import is_collection, rows_for

READ_AS_TABLES = ("fit", "score")
LAZY = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "transform",
    "score_samples",
)  # fmt: skip


def accept_collections(cls: type) -> None:
    """Let the methods that a class defines itself take Dask collections."""
    for name in READ_AS_TABLES:
        if name in vars(cls):
            setattr(cls, name, _as_table(vars(cls)[name]))
    for name in LAZY:
        if name in vars(cls) and callable(vars(cls)[name]):
            setattr(cls, name, _lazily(vars(cls)[name]))


def _as_table(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        if not is_collection(X):
            return method(self, *args, **kwargs)
        given = dict(zip(("X", "y", "sample_weight"), args, strict=False)) | kwargs
        y, s = given.pop("y", None), given.pop("sample_weight", None)
        with rows_for(self, given.pop("X"), y, s) as table:
            return method(self, table, **given)

    return call


def _lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        source = getattr(X, "answers_to", None)
        if source is None and not is_collection(X):
            return method(self, *args, **kwargs)
        from ..sources.dask.answers import lazy_answers
        from ..sources.dask.table import AnswerSource

        source = AnswerSource(X, None) if source is None else source
        return lazy_answers(_Answers(self, method.__name__), source)

    return call


class _Answers:
    """What a method of a fitted model answers to the rows of a chunk."""

    def __init__(self, model: Any, name: str):
        self.model, self.name = model, name

    def __call__(self, X: Any) -> np.ndarray:
        answers: np.ndarray = np.asarray(getattr(self.model, self.name)(X))
        return answers
