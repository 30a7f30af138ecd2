"""Penalties of regression, one class each: the terms of ``penalized`` and ``concave_penalty``."""
