"""Fitted models in files of many kinds, and the columns of a table that they were fitted on."""

from .onnx_linear import OnnxCoefficients
from .onnx_linear import read as read_onnx
from .opening import FoundModel, found_model, is_pickled, onnx_file
from .rows import RowsOfFit, rows_of_fit

__all__ = [
    "FoundModel", "OnnxCoefficients", "RowsOfFit", "found_model", "is_pickled", "onnx_file",
    "read_onnx", "rows_of_fit",
]  # fmt: skip
