"""Rows for which a model can predict, made without its data.

Numbers are drawn from a fixed generator. A column of text takes the categories that the model's own
encoder holds for it.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeAlias

import numpy as np

N_ROWS = 5
FRAMES = (("pandas", "DataFrame"), ("pyarrow", "table"), ("polars", "DataFrame"))

Columns: TypeAlias = dict[str, list[object]]


def candidates(model: object) -> Iterator[np.ndarray | Columns]:
    """Rows in different domains, as an array or as named columns: one of them should suit."""
    n_columns = int(getattr(model, "n_features_in_"))  # noqa: B009
    names = getattr(model, "feature_names_in_", None)
    text = categories_by_column(model)
    for numbers in _numbers(n_columns):
        if not text and not (names is not None and _reads_by_name(model)):
            yield numbers
            continue
        columns = [_column(text.get(j), numbers[:, j]) for j in range(n_columns)]
        if names is not None:
            yield {str(name): column for name, column in zip(names, columns, strict=True)}
        else:
            rows = np.empty(numbers.shape, dtype=object)
            for j, column in enumerate(columns):
                rows[:, j] = column
            yield rows


def _reads_by_name(model: object) -> bool:
    """Whether the first step is a ColumnTransformer, whose columns may be given by name."""
    while type(model).__name__ == "Pipeline":
        model = getattr(model, "steps")[0][1]  # noqa: B009
    return type(model).__name__ == "ColumnTransformer"


def _numbers(n_columns: int) -> Iterator[np.ndarray]:
    normal = np.random.default_rng(0).normal(size=(N_ROWS, n_columns))
    yield normal
    yield np.abs(np.round(2 * normal))  # counts
    yield (normal > 0).astype(float)  # truth values


def _column(categories: list[object] | None, numbers: np.ndarray) -> list[object]:
    if categories is None:
        return list(numbers.tolist())
    return [categories[i % len(categories)] for i in range(len(numbers))]


def categories_by_column(model: object) -> dict[int, list[object]]:
    """The categories of the columns that an encoder reads, by the column's position.

    Encoders are looked for in a ColumnTransformer and where they come first in a pipeline.
    """
    kind = type(model).__name__
    if kind == "Pipeline":
        for _, step in getattr(model, "steps"):  # noqa: B009
            found = categories_by_column(step)
            if found or type(step).__name__ not in ("SimpleImputer", "Pipeline"):
                return found
        return {}
    if kind == "ColumnTransformer":
        found = {}
        positions: Mapping[str, list[int]] = vars(model)["_transformer_to_input_indices"]
        for name, step, _ in getattr(model, "transformers_"):  # noqa: B009
            inner = {} if isinstance(step, str) else categories_by_column(step)
            found.update({positions[name][j]: values for j, values in inner.items()})
        return found
    categories = getattr(model, "categories_", None)
    if categories is None:
        return {}
    return {j: values.tolist() for j, values in enumerate(categories) if values.dtype.kind in "UO"}


def as_input(rows: np.ndarray | Columns) -> object:
    """Rows as the model is given them; None: they need a table, and no library for it is here."""
    if isinstance(rows, np.ndarray):
        return rows
    for module, constructor in FRAMES:
        try:
            return getattr(import_module(module), constructor)(rows)
        except ImportError:
            continue
    return None
