"""Certificates: what was recomputed from the data about a fitted model, and how it is told."""

from .certificate import TOL, Certificate
from .verification import certify, unproven, verify

__all__ = ["TOL", "Certificate", "certify", "unproven", "verify"]
