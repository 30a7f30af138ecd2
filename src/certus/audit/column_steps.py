"""The steps of a fitted pipeline as columns, each computed from one column of the table.

    (value − shift) / scale        value: the number, or 1 where it is ``category`` and else 0

A missing value is read as ``fill``. Steps that mix columns (principal components, polynomials) have
no such form; for them ``column_steps`` returns None.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .types import FittedModel


class ColumnStep(NamedTuple):
    """One column of X as a model was given it."""

    name: str | int  # of the column of the table
    fill: float | str | None = None
    category: float | str | None = None
    shift: float = 0.0
    scale: float = 1.0

    def rescaled(self, shift: float, scale: float) -> "ColumnStep":
        """Return the column less ``shift``, divided by ``scale``."""
        return self._replace(shift=self.shift + self.scale * shift, scale=self.scale * scale)


Columns = list[ColumnStep]


class MixedColumns(Exception):
    """Raised where a step computes a column from several others, or is of an unknown class."""


def column_steps(steps: Sequence[FittedModel], names: Sequence[str | int]) -> Columns | None:
    """Return the columns that fitted steps compute from a table with these columns, or None."""
    columns = [ColumnStep(name) for name in names]
    try:
        for step in steps:
            columns = _converted(step, columns)
    except MixedColumns:
        return None
    return columns


def _converted(step: Any, columns: Columns) -> Columns:
    if step is None or isinstance(step, str):
        return [] if step == "drop" else columns
    convert = _STEPS.get(type(step).__name__)
    if convert is None or not type(step).__module__.startswith("sklearn."):
        raise MixedColumns
    return convert(step, columns)


def _pipeline(step: Any, columns: Columns) -> Columns:
    for _, inner in step.steps:
        columns = _converted(inner, columns)
    return columns


def _column_transformer(step: Any, columns: Columns) -> Columns:
    made: Columns = []
    names = vars(step).get("feature_names_in_")
    for _, inner, selection in step.transformers_:
        made += _converted(inner, [columns[i] for i in _positions(selection, names, len(columns))])
    return made


def _positions(selection: Any, names: Any, count: int) -> list[int]:
    """Return the numbers of columns that were selected by number, name, mask or slice."""
    if isinstance(selection, slice) and not isinstance(selection.start, str):
        return list(range(count))[selection]
    selection = np.atleast_1d(np.asarray(selection))
    if selection.dtype == bool:
        return np.flatnonzero(selection).tolist()
    if selection.dtype.kind in "UOT" and names is not None:
        place = {name: i for i, name in enumerate(names)}
        return [place[name] for name in selection.tolist()]
    if selection.dtype.kind not in "iu" and selection.size:
        raise MixedColumns
    return [int(i) % count for i in selection]


def _imputer(step: Any, columns: Columns) -> Columns:
    if step.add_indicator:
        raise MixedColumns
    filled = []
    for column, fill in zip(columns, step.statistics_.tolist(), strict=True):
        missing = isinstance(fill, float) and np.isnan(fill)
        if column[1:] != ColumnStep("")[1:]:  # already filled, scaled or encoded
            raise MixedColumns
        if not missing:  # a column without values is dropped
            filled.append(column._replace(fill=fill))
        elif step.keep_empty_features:
            raise MixedColumns
    return filled


def _one_hot(step: Any, columns: Columns) -> Columns:
    if any(c is not None for c in vars(step).get("infrequent_categories_", [])):
        raise MixedColumns
    made, dropped = [], step.drop_idx_
    for i, (column, categories) in enumerate(zip(columns, step.categories_, strict=True)):
        dropped_category = None if dropped is None else dropped[i]
        if column.category is not None or (column.shift, column.scale) != (0.0, 1.0):
            raise MixedColumns
        made += [
            column._replace(category=category)
            for k, category in enumerate(categories.tolist())
            if k != dropped_category
        ]
    return made


def _rescaled(shift: str, scale: str) -> Callable[[Any, Columns], Columns]:
    """Return the conversion of a scaler with these attributes for shift and scale."""

    def convert(step: Any, columns: Columns) -> Columns:
        attributes = vars(step)
        shifts, scales = attributes.get(shift), attributes.get(scale)
        shifts = np.zeros(len(columns)) if shifts is None else np.asarray(shifts)
        scales = np.ones(len(columns)) if scales is None else np.asarray(scales)
        each = zip(columns, shifts.tolist(), scales.tolist(), strict=True)
        return [column.rescaled(a, b) for column, a, b in each]

    return convert


def _min_max(step: Any, columns: Columns) -> Columns:
    """Convert MinMaxScaler, which computes x·scale_ + min_."""
    if step.clip:
        raise MixedColumns
    each = zip(columns, step.min_.tolist(), step.scale_.tolist(), strict=True)
    return [column.rescaled(-a / b, 1.0 / b) for column, a, b in each]


def _selected(step: Any, columns: Columns) -> Columns:
    return [column for column, kept in zip(columns, step.get_support(), strict=True) if kept]


_STEPS: dict[str, Callable[[Any, Columns], Columns]] = {
    "Pipeline": _pipeline,
    "ColumnTransformer": _column_transformer,
    "SimpleImputer": _imputer,
    "OneHotEncoder": _one_hot,
    "StandardScaler": _rescaled("mean_", "scale_"),
    "RobustScaler": _rescaled("center_", "scale_"),
    "MaxAbsScaler": _rescaled("", "scale_"),
    "MinMaxScaler": _min_max,
    "VarianceThreshold": _selected,
    "SelectKBest": _selected,
    "SelectPercentile": _selected,
    "SelectFromModel": _selected,
}
