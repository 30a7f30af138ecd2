"""Compiled searches for nearest rows."""
