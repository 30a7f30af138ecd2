"""Dask collections as arguments of fit and verify; Dask itself is not imported."""

from typing import Any

from ..data.streamed_input import require_reads_rows


def is_collection(X: object) -> bool:
    """Return whether X is a Dask collection."""
    return hasattr(type(X), "__dask_graph__")


def is_dask(X: object) -> bool:
    """Return whether X is a Dask collection, or a list of delayed blocks."""
    return is_collection(X) or (isinstance(X, (list, tuple)) and any(map(is_collection, X)))


def rows_for(model: object, X: Any, y: Any, s: Any) -> Any:
    """Return a collection as a table, if the model's methods read rows."""
    from .opening import open_rows

    require_reads_rows(model)
    return open_rows(X, target=y, weights=s)
