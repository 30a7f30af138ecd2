"""Files, Arrow streams and Dask collections as tables of rows that are read block by block."""

from .file_blocks import FileBlock, FileTable
from .opening import open_rows
from .samples import read_sample
from .table import SourceTable

__all__ = ["FileBlock", "FileTable", "SourceTable", "open_rows", "read_sample"]
