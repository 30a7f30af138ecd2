"""A Pipeline of ``pipeline_for`` fitted to a large table, in a fraction of the memory.

ColumnTransformer makes one float64 array of all columns, and copies of its parts on the way. Here
columns of numbers are kept in float64 and those of 0 and 1 in one byte each, and the rows that a
model reads are put together block by block:

    rows start:stop of X  =  [numbers start:stop | categories start:stop]   in float64

The fitted steps are the same to the last bit, and so is every number that the model reads.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..data.lazy import LazyRows

if TYPE_CHECKING:
    import pyarrow as pa
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    from .columns import Column

MAX_DENSE_BYTES = 1 << 28  # of the float64 array; above, one pass over compact rows costs less
ROWS_AT_ONCE = 1 << 18  # that are transformed: texts are Python objects meanwhile, 60 bytes each


class CompactRows:
    """Arrays with the same rows, side by side; a slice or row numbers give a float64 array."""

    def __init__(self, parts: Sequence[np.ndarray]):
        self.parts = parts

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return np.concatenate([part[rows] for part in self.parts], axis=1, dtype=np.float64)


def fit_to_table(
    pipeline: "Pipeline",
    columns: "Sequence[Column]",
    X: "pa.Table",
    y: np.ndarray | None,
    sample_weight: np.ndarray | None = None,
    max_dense_bytes: int = MAX_DENSE_BYTES,
) -> None:
    """Fit a pipeline that ``pipeline_for`` made of these columns; ``X`` is ``table.select``."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    if 8 * len(X) * _most_columns(columns) <= max_dense_bytes:
        pipeline.fit(X, y, **{f"model__{name}": s for name, s in weights.items()})
        return
    by_column = pipeline[0]
    _fit_columns(by_column, X)
    pipeline[-1].fit(compact_rows(by_column, X), y, **weights)


def inner_problem(
    model: object, X: "pa.Table", max_dense_bytes: int = MAX_DENSE_BYTES
) -> tuple[object, object]:
    """The model at the end of a fitted pipeline and its rows, where an array of them is large.

    Other models, and pipelines that ``pipeline_for`` did not make, are returned as they are.
    """
    steps = getattr(model, "named_steps", {})
    by_column = steps.get("columns")
    parts = getattr(by_column, "transformers_", ())
    if (
        by_column is None
        or [*steps] != ["columns", "model"]
        or not all(_is_ours(name) for name, *_ in parts)
    ):
        return model, X
    if 8 * len(X) * len(by_column.get_feature_names_out()) <= max_dense_bytes:
        return model, X
    return steps["model"], compact_rows(by_column, X)


def _is_ours(name: str) -> bool:
    return name == "categories" or name.partition("_")[0] == "numbers"


def _most_columns(columns: "Sequence[Column]") -> int:
    """Columns that the model is given, at most."""
    return sum(1 if c.role == "number" else c.n_distinct + 1 for c in columns)


def _fit_columns(by_column: "ColumnTransformer", X: "pa.Table") -> None:
    """Fit all parts to rows that hold every category, then those of numbers to all rows."""
    by_column.fit(X.take(_rows_with_all_values(X)))
    for name, part, names in by_column.transformers_:
        if name != "categories":
            part.fit(X.select(names))


def _rows_with_all_values(X: "pa.Table") -> list[int]:
    """Rows in which every text occurs, a missing value and a number of each column that has one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = set()
    for column in X.columns:
        is_missing = pc.is_null(column, nan_is_null=True)
        rows |= {pc.index(is_missing, value).as_py() for value in (True, False)}
        if pa.types.is_string(column.type):
            rows |= {pc.index(column, text).as_py() for text in column.unique().drop_null()}
    return sorted(rows - {-1})  # −1: there is no such row


def compact_rows(by_column: "ColumnTransformer", X: "pa.Table") -> LazyRows:
    """The columns that a fitted ColumnTransformer of ``pipeline_for`` makes of a table."""
    parts = [(part, names) for _, part, names in by_column.transformers_]
    n = len(X)
    made: list[np.ndarray] = []
    for start in range(0, n, ROWS_AT_ONCE):
        block = X.slice(start, ROWS_AT_ONCE)
        for i, (part, names) in enumerate(parts):
            values = np.asarray(part.transform(block.select(names)))
            if not start:
                dtype = np.uint8 if values.dtype == np.uint8 else np.float64
                made.append(np.empty((n, values.shape[1]), dtype))
            made[i][start : start + len(block)] = values
    width = sum(part.shape[1] for part in made)
    return LazyRows(CompactRows(made), width, np.float64, np.asarray)
