"""Certificates as scripts that recompute the claim with NumPy alone."""
