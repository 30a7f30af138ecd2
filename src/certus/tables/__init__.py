"""Tables in: CSV, Parquet, Feather and NumPy files, with what their columns look like."""

from .columns import Column
from .pipeline import pipeline_for
from .read import InputTable, ReadReport, read_table
from .schema import check_columns
from .suggestions import did_you_mean

__all__ = [
    "Column", "InputTable", "ReadReport", "check_columns", "did_you_mean", "pipeline_for",
    "read_table",
]  # fmt: skip
