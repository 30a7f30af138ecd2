"""Tables in: CSV, Parquet, Feather and NumPy files, with what their columns look like."""

from .columns import Column
from .large import compact_rows, fit_to_table, inner_problem
from .pipeline import pipeline_for
from .read import read_table
from .schema import check_columns, roles_of
from .suggestions import did_you_mean
from .table import ReadReport, Table

__all__ = [
    "Column", "ReadReport", "Table", "check_columns", "compact_rows", "did_you_mean",
    "fit_to_table", "inner_problem", "pipeline_for", "read_table", "roles_of",
]  # fmt: skip
