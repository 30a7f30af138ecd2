"""Agglomerative trees: seven linkages, each by the algorithm that is right for it."""

from .fit import (
    METHODS,
    CENTER_METHODS,
    agglomerate,
    agglomerate_distances,
    bytes_needed,
    rows_suffice,
)

__all__ = [
    "METHODS",
    "OF_CENTERS",
    "agglomerate",
    "agglomerate_distances",
    "bytes_needed",
    "rows_suffice",
]
