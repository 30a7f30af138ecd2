"""Agglomerative trees: seven linkages, each with the algorithm that suits it."""

from .fit import (
    CENTER_METHODS,
    METHODS,
    agglomerate,
    agglomerate_distances,
    bytes_needed,
    rows_suffice,
)

__all__ = [
    "CENTER_METHODS",
    "METHODS",
    "agglomerate",
    "agglomerate_distances",
    "bytes_needed",
    "rows_suffice",
]
