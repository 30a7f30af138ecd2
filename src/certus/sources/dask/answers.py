"""Answers of a model to the rows of a Dask collection, as a lazy Dask array."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def lazy_answers(answers: Callable[[Any], np.ndarray], X: Any, names: Sequence[str] | None) -> Any:
    """Return a Dask array of ``answers(chunk)`` for all chunks of X, in their order.

    ``names``: the columns of a frame that the model knows; None for all.
    """
    import dask
    import dask.array as da

    if isinstance(X, (list, tuple)):
        chunks, lengths, sample = list(X), [np.nan] * len(X), None
    elif hasattr(X, "columns"):
        X = X if names is None else X[list(names)]
        chunks, lengths, sample = list(X.to_delayed()), [np.nan] * X.npartitions, X._meta_nonempty
    else:
        X = X.rechunk({1: -1})
        chunks, lengths = X.to_delayed().ravel().tolist(), X.chunks[0]
        sample = np.zeros((1, X.shape[1]), X.dtype)
    first = answers(dask.compute(chunks[0])[0][:1] if sample is None else sample[:1])
    made = [dask.delayed(answers, pure=True)(chunk) for chunk in chunks]
    arrays = [
        da.from_delayed(part, shape=(length, *first.shape[1:]), dtype=first.dtype)
        for part, length in zip(made, lengths, strict=True)
    ]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)
