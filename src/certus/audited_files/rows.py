"""X, y and weights of a table, in the form that a fitted model of another library takes them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import TableError, UsageError
from ..tables.schema import check_names
from ..tables.targets import target_of, weights_of
from ..text.format import count

if TYPE_CHECKING:
    from ..tables import Table


class RowsOfFit(NamedTuple):
    """What the model was fitted on, and what a person should know of how it was found."""

    X: Any
    y: np.ndarray | None
    sample_weight: np.ndarray | None
    notes: tuple[str, ...]


def rows_of_fit(
    model: Any,
    table: "Table",
    target: str | None,
    weights: str | None = None,
    columns: Sequence[str] | None = None,
    logged: Sequence[str] | None = None,
) -> RowsOfFit:
    """Return the columns of a table that a model was fitted on.

    ``columns``: their names in the order of the fit, by the user; ``logged``: by the model's file.
    Without either they are ``feature_names_in_``, or all columns besides target and weights.
    """
    others = [name for name in (target, weights) if name is not None]
    for name in others:
        table.column(name)
    fitted = getattr(model, "feature_names_in_", None)
    known = logged if fitted is None else fitted
    names = [str(name) for name in columns or (() if known is None else known)]
    notes: list[str] = []
    if columns:
        for name in names:
            table.column(name)
    elif names:
        there = [c.name for c in table.columns]
        notes = check_names(names, there, table.report.source, others, by_name=True)
    else:
        names = [c.name for c in table.columns if c.name not in others]
        _require_number(model, names)
        notes = ["the model knows no names of columns: they are taken in the order of the table"]
    y = None if target is None else _target(model, table, target)
    s = None if weights is None else weights_of(table, weights)
    return RowsOfFit(_as_fitted(table, names, fitted is not None), y, s, tuple(notes))


def _require_number(model: Any, names: Sequence[str]) -> None:
    wanted = getattr(model, "n_features_in_", None)
    if wanted is not None and wanted != len(names):
        raise UsageError(
            f"the model was fitted on {count(int(wanted), 'column')} without names, and the table "
            f"has {len(names)} besides target and weights: name them by --columns, in the order of "
            "the fit"
        )


def _as_fitted(table: "Table", names: Sequence[str], named: bool) -> Any:
    """Return a data frame for a model fitted on one, else an array of numbers."""
    data = table.data.select(list(names))
    numeric = all(table.column(name).role in ("number", "constant") for name in names)
    if not named and numeric:
        return np.column_stack(
            [column.to_numpy().astype(float, copy=False) for column in data.columns]
        )
    try:
        frame = data.to_pandas()
    except ImportError:
        return data  # scikit-learn reads Arrow tables by their interchange protocol
    return frame if named else frame.to_numpy(dtype=object)


def _target(model: Any, table: "Table", name: str) -> np.ndarray:
    """Return the target as the classes of the model are written: numbers, truth values or text."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return target_of(table, name, None)
    y, classes = target_of(table, name, "classes"), np.asarray(classes)
    if classes.dtype.kind in "OU" and y.dtype.kind in "iub":
        return y.astype(str)
    if classes.dtype.kind in "if" and y.dtype.kind == "b":
        return y.astype(np.int64)
    if classes.dtype.kind == "b" and y.dtype.kind in "iu":
        if not np.isin(y, (0, 1)).all():
            raise TableError(
                f"the model's classes are truth values, and the target '{name}' holds other "
                "numbers than 0 and 1"
            )
        return y.astype(bool)
    return y
