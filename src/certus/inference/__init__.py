"""Standard errors, tests and intervals of coefficients, as objects with tables for people."""

from .base import feature_names
from .linear import Inference
from .logistic import LogisticInference

__all__ = ["Inference", "LogisticInference", "feature_names"]
