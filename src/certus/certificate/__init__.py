"""Certificates: claims about fitted models, recomputed from the data, and their wording."""

from .certificate import TOL, Certificate
from .verification import certify, unproven, verify

__all__ = ["TOL", "Certificate", "certify", "unproven", "verify"]
