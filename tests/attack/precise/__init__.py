"""Arithmetic in 400 bits: balls, sums, losses, minimisers."""
