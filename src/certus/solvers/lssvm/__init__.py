"""Least-squares support vector machines: kernels by tiles, one factorisation for all targets."""

from .dual import solve
from .fit import Fit
from .grid import Point, grid
from .kernel import Kernel
from .primal import solve_primal
from .tiles import predict

__all__ = ["Fit", "Kernel", "Point", "grid", "predict", "solve", "solve_primal"]
