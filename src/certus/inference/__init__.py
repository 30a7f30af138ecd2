"""Standard errors, tests and intervals of coefficients, as objects with tables for people."""

from .comparison import Comparison, compare
from .firth import FirthInference
from .linear import Inference
from .logistic import LogisticInference

__all__ = ["Comparison", "FirthInference", "Inference", "LogisticInference", "compare"]
