"""Likelihoods of classes, one class each: the terms of ``profile_intervals``."""
