"""Inference of fitted linear models, from their own rows: one module for each kind of model."""

from .firth import firth_inference
from .linear import (
    design_of,
    linear_inference,
    require_certified_and_unedited,
    require_same_objective,
    require_same_rows,
)
from .log_link import log_link_inference
from .logistic import logistic_inference
from .ordinal import ordinal_inference

__all__ = [
    "design_of",
    "firth_inference",
    "linear_inference",
    "log_link_inference",
    "logistic_inference",
    "ordinal_inference",
    "require_certified_and_unedited",
    "require_same_objective",
    "require_same_rows",
]
