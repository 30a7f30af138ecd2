"""Files, Arrow streams and Dask collections as tables of rows that are read block by block."""

from .opening import open_rows
from .table import SourceTable

__all__ = ["SourceTable", "open_rows"]
