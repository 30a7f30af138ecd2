"""Exact search for the nearest rows."""

from .index import Index

__all__ = ["Index"]
