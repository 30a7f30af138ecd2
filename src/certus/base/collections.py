"""Tables of ``open_rows`` and Dask collections as arguments of an estimator's methods.

                        a table                             a Dask collection
fit                     block by block, or refused          a table whose parts stay on the workers
score, inference        block by block                      the same
predict, transform, …   block by block, an array            a lazy Dask array
kneighbors, …           block by block, arrays              a table, its rows are fetched
"""

import inspect
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from ..data.frames import require_same_order
from ..data.streamed import StreamedTable
from ..data.streamed_answers import answers_of_table
from ..data.streamed_input import refuse_table
from ..data.streamed_scores import score_of_table
from ..data.validation import require_target
from ..runtime.refusals import refuses_in_one_frame
from ..sources.collections import is_collection, open_collection

READ_AS_TABLES = ("fit", "score", "bic", "aic", "inference")
LAZY = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "transform",
    "score_samples", "impute",
)  # fmt: skip
IN_PARTS = ("partial_fit",)
SEARCHES = ("kneighbors", "kneighbors_graph", "radius_neighbors", "radius_neighbors_graph")


def accept_collections(cls: type) -> None:
    """Let the methods of a class take tables and Dask collections, inherited ones as well.

    They are what users call, so their refusals are raised from one frame.
    """
    wrappers = (
        (READ_AS_TABLES, _as_table), (LAZY, _lazily), (SEARCHES, _in_blocks), (IN_PARTS, _in_parts),
    )  # fmt: skip
    for names, accept in wrappers:
        for name in names:
            method = inspect.getattr_static(cls, name, None)
            if hasattr(method, "fn"):  # scikit-learn's ``available_if``
                if not hasattr(method.fn, "_accepts_tables"):
                    method = copy(method)
                    method.fn = _marked(refuses_in_one_frame(accept(method.fn)))
                    setattr(cls, name, method)
            elif inspect.isfunction(method) and not hasattr(method, "_accepts_tables"):
                setattr(cls, name, _marked(refuses_in_one_frame(accept(method))))


def _marked(method: Any) -> Any:
    method._accepts_tables = True
    return method


def _reads_tables(model: object) -> bool:
    """Whether a model's own methods read tables."""
    return bool(getattr(model, "_reads_rows", False))


def _answers_tables(model: object) -> bool:
    """Whether the answers of a model's own methods are to whole tables."""
    return _reads_tables(model) and not getattr(model, "_answers_in_blocks", False)


def _as_table(method: Callable[..., Any]) -> Callable[..., Any]:
    names = list(inspect.signature(method).parameters)[1:]

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        _require_same_order(names, args, kwargs)
        scores_answers = method.__name__ == "score" and (is_classifier(self) or is_regressor(self))
        if not (is_collection(X) or isinstance(X, StreamedTable)):
            if scores_answers and len(args) < 2:
                require_target(self, kwargs.get("y"))
            return method(self, *args, **kwargs)
        if "X" not in names:  # refuses, whatever it is given
            return method(self, *args, **kwargs)
        given = dict(zip(names, args, strict=False)) | kwargs
        if method.__name__ in ("fit", "inference") and not _reads_tables(self):
            refuse_table(self, method.__name__)
        X, own = given.pop("X"), None
        if is_collection(X):
            y, s = given.pop("y", None), given.pop("sample_weight", None)
            X = own = open_collection(self, X, y, s)
        try:
            if scores_answers or (method.__name__ == "score" and not _reads_tables(self)):
                return score_of_table(self, method, X, **given)
            found = method(self, X, **given)
            if method.__name__ == "inference" and found.reads_rows:
                own = None  # its parts stay on the workers until nothing refers to ``found``
            return found
        finally:
            if own is not None:
                own.close()

    return call


def _in_parts(method: Callable[..., Any]) -> Callable[..., Any]:
    names = list(inspect.signature(method).parameters)[1:]

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        _require_same_order(names, args, kwargs)
        return method(self, *args, **kwargs)

    return call


def _require_same_order(names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise where X, y and weights have the same index in another order."""
    given = dict(zip(names, args, strict=False)) | kwargs
    require_same_order(given.get("X"), given.get("y"), given.get("sample_weight"))


def _lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    in_blocks = _in_blocks(method)

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        source = getattr(X, "answers_to", None)
        if source is None and not is_collection(X):
            return in_blocks(self, *args, **kwargs)
        from ..sources.dask.answers import lazy_answers
        from ..sources.dask.table import AnswerSource

        source = AnswerSource(X, None) if source is None else source
        return lazy_answers(_Answers(self, method.__name__), source)

    return call


def _in_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        if is_collection(X):
            X = open_collection(self, X)
        if not isinstance(X, StreamedTable) or _answers_tables(self):
            return method(self, *args, **kwargs)
        others = {name: value for name, value in kwargs.items() if name != "X"}
        return answers_of_table(self, method.__name__, X, *args[1:], **others)

    return call


class _Answers:
    """What a method of a fitted model answers to the rows of a chunk."""

    def __init__(self, model: Any, name: str):
        self.model, self.name = model, name

    def __call__(self, X: Any) -> np.ndarray:
        answers: np.ndarray = np.asarray(getattr(self.model, self.name)(X))
        return answers
