"""Covariances, likelihood-ratio tests and profile intervals of coefficients."""
