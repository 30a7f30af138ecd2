"""Pictures of fits and certificates, by scikit-learn's Display convention; needs matplotlib."""

from .convergence import ConvergenceDisplay

__all__ = ["ConvergenceDisplay"]
