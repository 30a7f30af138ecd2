"""Mixtures of distributions, under scikit-learn's names."""

from .bernoulli import BernoulliMixture
from .gaussian import GaussianMixture
from .multinomial import MultinomialMixture
from .poisson import PoissonMixture

__all__ = ["BernoulliMixture", "GaussianMixture", "MultinomialMixture", "PoissonMixture"]
