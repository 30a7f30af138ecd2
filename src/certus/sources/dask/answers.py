"""Answers of a model to the rows of a Dask collection, as a lazy Dask array."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .collection import collection_of, is_frame
from .table import AnswerSource


def lazy_answers(answers: Callable[[Any], np.ndarray], to: AnswerSource) -> Any:
    """Return a Dask array of ``answers(chunk)`` for all chunks of X, in their order."""
    import dask
    import dask.array as da

    X = to.X
    if to.features is not None and is_frame(X):
        X = X[list(to.features)]
    collection = collection_of(X, "X")
    lengths = collection.lengths or [np.nan] * len(collection.chunks)
    answered = _Read(answers, to.features, to.reader)
    few = to.reader.template() if to.reader else _few_rows(X, collection.chunks[0])
    first = answered.none = answers(few)[:0]
    made = [dask.delayed(answered, pure=True)(chunk) for chunk in collection.chunks]
    arrays = [
        da.from_delayed(part, shape=(length, *first.shape[1:]), dtype=first.dtype)
        for part, length in zip(made, lengths, strict=True)
    ]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _few_rows(X: Any, first_chunk: Any) -> Any:
    """Return a row or two of what chunks hold, for the shape and type of an answer."""
    import dask

    if is_frame(X):
        return X._meta_nonempty
    if hasattr(X, "rechunk"):
        return np.zeros((1, X.shape[1]), X.dtype)
    return dask.compute(first_chunk)[0][:1]


class _Read:
    """Answers to the rows of a chunk; to an empty one, ``none``."""

    none: np.ndarray

    def __init__(self, answers: Callable[[Any], np.ndarray], features: Any, reader: Any):
        self.answers, self.features, self.reader = answers, features, reader

    def __call__(self, chunk: Any) -> np.ndarray:
        if len(chunk) == 0:
            return self.none
        if self.features is not None and hasattr(chunk, "columns"):
            chunk = chunk[list(self.features)]
        return self.answers(chunk if self.reader is None else self.reader(chunk))
