"""k-means: Lloyd's iteration with exact bounds, and its starting centres."""

from .assigner import nearest_centers
from .fit import KMeansFit
from .lloyd_loop import lloyd

__all__ = ["KMeansFit", "lloyd", "nearest_centers"]
