"""Certificates: claims about fitted models, recomputed from the data, and their wording."""

from .certificate import TOL, Certificate
from .verification import certify, certify_reading, unproven, verify

__all__ = ["TOL", "Certificate", "certify", "certify_reading", "unproven", "verify"]
