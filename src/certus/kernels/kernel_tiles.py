"""A tile of exponents to a tile of an RBF kernel, in place.

T_ij ← exp(min(T_ij, 0))
"""

from functools import cache

from numba import types

from certus.kernels._compile import kernel
from certus.kernels._elementary import exp_below


@kernel
def _exp_of_nonpositive(T):
    for i in range(len(T)):
        line = T[i]
        for j in range(len(line)):
            line[j] = exp_below(min(line[j], 0.0))


@cache
def _compiled():
    return _exp_of_nonpositive.compile(types.void(types.float64[:, ::1]))


def exp_of_nonpositive(T):
    """exp of T (float64, C order) in place; what rounding made positive is taken for 0."""
    _compiled()(T)


def warm() -> None:
    """Compile, or load from disk."""
    _compiled()
