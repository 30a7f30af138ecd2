"""Printed tables of coefficients, audited without their model: what they are an optimum of."""

from .audit import audit_coefficients
from .result import AuditedTerm, CoefficientAudit, FittingObjective

__all__ = ["AuditedTerm", "CoefficientAudit", "FittingObjective", "audit_coefficients"]
