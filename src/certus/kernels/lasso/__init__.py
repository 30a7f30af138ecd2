"""Compiled coordinate descent."""
