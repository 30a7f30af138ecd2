"""Which values are collections of Dask; Dask itself is not imported."""


def is_collection(X: object) -> bool:
    """Return whether X is a Dask collection."""
    return hasattr(type(X), "__dask_graph__")


def is_dask(X: object) -> bool:
    """Return whether X is a Dask collection, or a list of delayed blocks."""
    return is_collection(X) or (isinstance(X, (list, tuple)) and any(map(is_collection, X)))
