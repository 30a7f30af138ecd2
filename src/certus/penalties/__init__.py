"""Penalties g(w) of coefficients."""

from .base import Penalty
from .box import Box
from .elastic_net import ElasticNet
from .group_l2 import GroupL2
from .l1 import L1
from .l2 import L2
from .mcp import MCP
from .nonnegative import NonNegative
from .scad import SCAD
from .simplex import Simplex

__all__ = [
    "L1",
    "L2",
    "MCP",
    "SCAD",
    "Box",
    "ElasticNet",
    "GroupL2",
    "NonNegative",
    "Penalty",
    "Simplex",
]
