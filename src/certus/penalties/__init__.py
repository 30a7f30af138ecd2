"""Penalties g(w) of coefficients."""

from .base import Penalty
from .elastic_net import ElasticNet
from .l1 import L1
from .l2 import L2
from .mcp import MCP
from .scad import SCAD

__all__ = ["L1", "L2", "MCP", "SCAD", "ElasticNet", "Penalty"]
