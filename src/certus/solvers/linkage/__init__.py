"""Agglomerative trees: seven linkages, each by the algorithm that is right for it."""

from .fit import METHODS, agglomerate, agglomerate_distances, bytes_needed

__all__ = ["METHODS", "agglomerate", "agglomerate_distances", "bytes_needed"]
