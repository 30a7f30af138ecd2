"""Least-squares support vector machines: kernels in tiles, one factorisation for all targets."""

from .dual import solve
from .fit import LSSVMFit
from .grid_search import GridPoint, grid
from .kernel import Kernel
from .primal import solve_primal
from .tiles import predict

__all__ = ["GridPoint", "Kernel", "LSSVMFit", "grid", "predict", "solve", "solve_primal"]
