"""``certus audit``: models that any library fitted."""

from .command import register, run

__all__ = ["register", "run"]
