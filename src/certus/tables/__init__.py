"""Tables in: CSV, Parquet, Feather and NumPy files, with what their columns look like."""

from ..text.suggestions import did_you_mean
from .columns import Column
from .fit_blocks import fit_steps_to_blocks
from .large import compact_rows, fit_to_table, inner_problem
from .pipeline import pipeline_for
from .read import read_table
from .scan import ScannedTable, scanned
from .schema import check_columns, check_names, roles_of
from .table import DescribedTable, ReadReport, Table

__all__ = [
    "Column", "DescribedTable", "ReadReport", "ScannedTable", "Table", "check_columns",
    "check_names", "compact_rows", "did_you_mean", "fit_steps_to_blocks", "fit_to_table",
    "inner_problem", "pipeline_for", "read_table", "roles_of", "scanned",
]  # fmt: skip
