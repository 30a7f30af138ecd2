"""The steps of ``pipeline_for`` fitted to a table that is read block by block.

    medians       to the last bit (``medians.py``), of columns without missing values too
    categories    all that occur, as the first pass found them
    scales        by ``StandardScaler.partial_fit``, block by block: the same up to rounding

So a Pipeline is the same as one fitted in memory, and reads tables of any size afterwards.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .columns import Column
from .medians import medians

if TYPE_CHECKING:
    import pyarrow as pa
    from sklearn.pipeline import Pipeline

    from .scan import ScannedTable

Passes = Callable[[Sequence[str]], "Iterable[pa.Table]"]


def fit_steps_to_blocks(
    pipeline: "Pipeline", columns: Sequence[Column], table: "ScannedTable", blocks: Passes
) -> None:
    """Fit the steps before the model; ``blocks`` gives a pass over columns, as a model reads them.

    ``pipeline``: what ``pipeline_for`` made of these columns of the scanned table.
    """
    by_column = pipeline[0]
    by_column.fit(_representative(columns, table, _medians(columns, table, blocks)))
    scaled = [
        (part, names)
        for _, part, names in by_column.transformers_
        if "standardscaler" in getattr(part, "named_steps", {})
    ]
    if not scaled:
        return
    from sklearn.preprocessing import StandardScaler

    fresh = [StandardScaler() for _ in scaled]
    for block in blocks([name for _, names in scaled for name in names]):
        for (part, names), scaler in zip(scaled, fresh, strict=True):
            scaler.partial_fit(part[:-1].transform(block.select(names)))
    for (part, _), scaler in zip(scaled, fresh, strict=True):
        part.steps[-1] = ("standardscaler", scaler)


def _medians(columns: Sequence[Column], table: "ScannedTable", blocks: Passes) -> dict[str, float]:
    """The median of each column of numbers; those that the first pass could not count, by more."""
    names = [c.name for c in columns if c.role == "number"]
    known = {name: table.scans[name].median for name in names}
    left = [name for name, median in known.items() if median is None]

    def numbers() -> Iterable[list[np.ndarray]]:
        for block in blocks(left):
            yield [column.to_numpy() for column in block.columns]

    found = dict(zip(left, medians(numbers, len(left)), strict=True))
    return {name: found[name] if m is None else m for name, m in known.items()}


def _representative(
    columns: Sequence[Column], table: "ScannedTable", middle: dict[str, float]
) -> "pa.Table":
    """A small table with the same medians and categories, and missing values in the same columns.

    Of numbers each row is the median; of categories all occur.
    """
    import pyarrow as pa

    values: dict[str, list[object]] = {}
    for c in columns:
        if c.role == "number":
            values[c.name] = [middle[c.name]]
        else:
            values[c.name] = [*table.categories(c.name), *([None] if c.n_missing else [])]
    n = max(map(len, values.values()))
    return pa.table(
        {
            name: pa.array(
                each + each[:1] * (n - len(each)),
                pa.float64() if isinstance(each[0], float) else pa.string(),
            )
            for name, each in values.items()
        }
    )
