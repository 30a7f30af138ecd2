"""Dask collections as arguments of fit and verify; Dask itself is not imported."""

from typing import Any

from sklearn.utils import get_tags


def is_collection(X: object) -> bool:
    """Return whether X is a Dask collection."""
    return hasattr(type(X), "__dask_graph__")


def is_dask(X: object) -> bool:
    """Return whether X is a Dask collection, or a list of delayed blocks."""
    return is_collection(X) or (isinstance(X, (list, tuple)) and any(map(is_collection, X)))


def open_collection(model: object, X: Any, y: Any = None, s: Any = None) -> Any:
    """Return a collection as a table of ``open_rows``; with NaN, if the model accepts it."""
    from .opening import open_rows

    accepted = hasattr(model, "__sklearn_tags__") and get_tags(model).input_tags.allow_nan
    return open_rows(X, target=y, weights=s, missing=bool(accepted))
