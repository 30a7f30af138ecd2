"""Pictures of fits and certificates, by scikit-learn's Display convention; needs matplotlib."""

from .convergence import ConvergenceDisplay
from .k_curve import KCurveDisplay

__all__ = ["ConvergenceDisplay", "KCurveDisplay"]
