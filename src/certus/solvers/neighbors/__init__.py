"""Exact search for nearest rows."""
