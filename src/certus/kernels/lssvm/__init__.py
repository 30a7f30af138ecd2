"""Compiled loops of kernel machines."""
