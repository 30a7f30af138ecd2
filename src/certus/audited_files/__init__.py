"""Fitted models in files of many kinds, and the columns of a table that they were fitted on."""

from .opening import FoundModel, found_model, is_pickled
from .rows import RowsOfFit, rows_of_fit

__all__ = ["FoundModel", "RowsOfFit", "found_model", "is_pickled", "rows_of_fit"]
