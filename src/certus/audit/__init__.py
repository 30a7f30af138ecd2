"""Readers that express a fitted model, of certus or another library, as a claim's parameters."""

from .column_steps import ColumnStep
from .labels import Labels
from .parts import InnerModels, fits_several, parts_of
from .readers.linkage import AGGLOMERATIVE_METHODS, LinkageMatrix
from .readers.spanning_tree import SpanningTree
from .reading import Reading, known, read, read_matrix, read_spanning_tree, readable
from .shapes import READING_ERRORS, why_unreadable
from .statsmodels_results import is_result, with_rows
from .wrappers import Unwrapped, unwrap

__all__ = [
    "AGGLOMERATIVE_METHODS", "READING_ERRORS", "ColumnStep", "InnerModels", "Labels",
    "LinkageMatrix", "Reading", "SpanningTree", "Unwrapped", "fits_several", "is_result", "known",
    "parts_of", "read", "read_matrix", "read_spanning_tree", "readable", "unwrap", "why_unreadable",
    "with_rows",
]  # fmt: skip
