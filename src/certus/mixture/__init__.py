"""Mixtures of distributions, under scikit-learn's names."""

from .gaussian import GaussianMixture

__all__ = ["GaussianMixture"]
