"""``certus verify``: the claim of a model file on its table, or the model on new rows."""

from .command import certificate_of, register, run

__all__ = ["certificate_of", "register", "run"]
