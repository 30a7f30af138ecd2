"""k-means: Lloyd's iteration by exact bounds, and starts."""

from .assigner import nearest_centers
from .fit import Fit
from .lloyd import lloyd

__all__ = ["Fit", "lloyd", "nearest_centers"]
