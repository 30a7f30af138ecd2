"""Numbers of 400 bits with error bounds (Arb's balls), and matrices of them.

A float is exact as a ball. ``a > b`` holds only if it is certain.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

BITS = 400
ctx.prec = BITS
ZERO, ONE = arb(0), arb(1)


def balls(values: Any) -> list[arb]:
    """The floats of an array, in order, as exact balls."""
    return [arb(v) for v in np.asarray(values, dtype=float).ravel().tolist()]


def matrix(values: Any) -> arb_mat:
    """A two-dimensional array as a matrix of exact balls."""
    values = np.asarray(values, dtype=float)
    return arb_mat(*values.shape, balls(values))


def column(values: Sequence[Any]) -> arb_mat:
    return arb_mat(len(values), 1, list(values))


def total(values: Iterable[arb]) -> arb:
    return sum(values, ZERO)


def dot(a: Sequence[arb], b: Sequence[arb]) -> arb:
    return total(x * y for x, y in zip(a, b, strict=True))


def centers(values: Iterable[arb]) -> list[arb]:
    """The midpoints: exact numbers, so that errors do not grow from step to step."""
    return [v.mid() for v in values]


def scaled_rows(A: arb_mat, weights: Sequence[arb]) -> arb_mat:
    """diag(weights) A."""
    n, m = A.nrows(), A.ncols()
    entries = A.entries()
    return arb_mat(n, m, [weights[i] * entries[i * m + j] for i in range(n) for j in range(m)])


def power_of_two(value: arb) -> arb:
    """A power of two near a positive number: dividing by it is exact."""
    man, exponent = value.mid().man_exp()
    return arb(2) ** (int(exponent) + int(man).bit_length())
