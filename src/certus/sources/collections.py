"""Which values are collections of Dask; Dask itself is not imported."""


def is_collection(X: object) -> bool:
    """Return whether X is a Dask collection."""
    return hasattr(type(X), "__dask_graph__")
