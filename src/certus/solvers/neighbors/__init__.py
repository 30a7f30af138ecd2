"""Exact search for the nearest rows."""
