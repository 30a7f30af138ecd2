"""Optima of audited objectives, found by the solvers of certus from the audited parameters.

A certificate compares a model that misses its optimum with them. They prove nothing by themselves:
the proof of the claim is run on them too.
"""

from .dispatch import CONVEX, refit
from .no_refit import NoRefitError

__all__ = ["CONVEX", "NoRefitError", "refit"]
