"""Answers of a fitted model to the rows of a table, one block of rows after the other.

    model.method(X_1), model.method(X_2), …        joined as one call would have given them

The model reads arrays only. One block of X and the answers are in memory.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..runtime.user_frame import warn_user
from .streamed import StreamedTable
from .streamed_input import columns_of_queries
from .streamed_scores import predictor

ANSWER_BLOCK_BYTES = 1 << 23  # of X at a time: a search or a kernel has blocks of its own within


def answers_of_table(
    model: Any, name: str, table: StreamedTable, *args: object, **options: object
) -> Any:
    """Return ``model.name(X, *args, **options)`` for the rows X of a table, read in blocks.

    It is an array or a sparse matrix with a row for each of X, or a tuple or list of these.
    """
    columns_of_queries(model, table)
    method = getattr(predictor(model), name)
    remarks = _Remarks()
    joined: list[_Joined] = []
    for start, stop in answer_edges(table):
        where = f"in rows {start:,} to {stop - 1:,} of {table.description}, numbered from 0: "
        where = where if stop - start < table.shape[0] else ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                answer = method(table.read(start, stop).X, *args, **options)
            except ValueError as error:
                raise ValueError(f"{where}{error}") from error
        remarks.add(where, caught)
        several = isinstance(answer, (tuple, list))
        parts = answer if several else [answer]
        joined = joined or [_Joined(table.shape[0]) for _ in parts]
        for one, part in zip(joined, parts, strict=True):
            one.put(part, start, stop)
    remarks.warn()
    values = [one.value() for one in joined]
    return type(answer)(values) if several else values[0]


def answers_to(model: Any, name: str, X: Any) -> Any:
    """Return ``model.name(X)``, block by block if X is a table that the method does not read."""
    method = getattr(model, name)
    if isinstance(X, StreamedTable) and not hasattr(method, "_accepts_tables"):
        return answers_of_table(model, name, X)
    return method(X)


def answer_edges(table: StreamedTable) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of the blocks of rows that are answered at once."""
    n, p = table.shape
    step = max(256, ANSWER_BLOCK_BYTES // (8 * max(1, p)))
    for start in range(0, n, step):
        yield start, min(n, start + step)


class _Joined:
    """The answers to n rows, from those to blocks of them."""

    def __init__(self, n: int):
        self.n = n
        self.array: np.ndarray | None = None
        self.sparse: list[Any] = []

    def put(self, part: Any, start: int, stop: int) -> None:
        if sparse.issparse(part):
            self.sparse.append(part)
            return
        part = np.asarray(part)
        if self.array is None:
            self.array = np.empty((self.n, *part.shape[1:]), part.dtype)
        wider = np.promote_types(self.array.dtype, part.dtype)  # a label may be a longer text
        self.array = self.array.astype(wider, copy=False)
        self.array[start:stop] = part

    def value(self) -> Any:
        return sparse.vstack(self.sparse, format="csr") if self.sparse else self.array


class _Remarks:
    """Warnings about blocks, of which the first of each category is passed on."""

    def __init__(self) -> None:
        self.first: dict[type[Warning], str] = {}
        self.more: dict[type[Warning], int] = {}

    def add(self, where: str, caught: list[warnings.WarningMessage]) -> None:
        for remark in caught:
            kind = remark.category
            if kind in self.first:
                self.more[kind] += 1
            else:
                self.first[kind], self.more[kind] = f"{where}{remark.message}", 0

    def warn(self) -> None:
        for kind, text in self.first.items():
            more = self.more[kind]
            others = f" ({more:,} more such warnings of other blocks)" if more else ""
            warn_user(text + others, kind)
