"""Basis functions: linear models of curves, y = Σ wⱼ φⱼ(x) + b."""

from .gaussian import GaussianBasis
from .polynomial import PolynomialBasis
from .sigmoid import SigmoidBasis

__all__ = ["GaussianBasis", "PolynomialBasis", "SigmoidBasis"]
