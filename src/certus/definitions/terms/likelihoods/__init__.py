"""Likelihoods of classifiers, one class each: the terms of ``profile_intervals``."""
