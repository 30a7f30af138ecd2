"""Claims "among models that do not use d": the rule for d, and the optimum without it.

d may be left out if ‖Xd‖ ≤ 4·eps·‖|X||d|‖ over the rows of weight above 0, with a constant column
where there is an intercept, eps that of the floats in which X is stored. Which of the coefficients
in d is held is not said: the claim counts as true if it holds for one choice.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any

import numpy as np
from flint import arb

from ..precise.balls import balls, column, matrix, total
from .linear_problems import Posed, Rows
from .verdict import Fault

ROUNDINGS = 4
NEAR_LARGEST = 0.01  # part of the largest coefficient in units of its column, of one that is held
CHOICES = 12


def not_negligible(left_out: Any, parameters: dict[str, Any], rows: Rows) -> list[Fault]:
    """Directions that are left out though the data hold them."""
    X = rows.X if rows.s is None else rows.X[rows.s > 0]
    intercept = bool(parameters.get("fit_intercept", True))
    A = np.column_stack([X, np.full(len(X), float(intercept))])
    faults = []
    for one in left_out:
        d = balls(_vector(one, X.shape[1]))
        change = total(v * v for v in (matrix(A) * column(d)).entries()).sqrt()
        size = matrix(np.abs(A)) * column([abs(v) for v in d])
        most = ROUNDINGS * arb(rows.eps) * total(v * v for v in size.entries()).sqrt()
        if change > most * (1 + arb(2) ** -20):
            faults.append(Fault("‖Xd‖ of a direction left out", float(most), float(change)))
    return faults


def limited_to(
    name: str, problems: list[Posed], left_out: Any, rows: Rows
) -> Iterator[list[Posed]]:
    """The problems with one coefficient of each direction held, for several choices of which."""
    p = rows.X.shape[1]
    for held in choices(left_out, rows):
        yield [_holding(name, posed, held, p) for posed in problems]


def choices(left_out: Any, rows: Rows) -> Iterator[set[int]]:
    """Columns to be held, one of each direction; that of the constant is the last."""
    p = rows.X.shape[1]
    D = np.array([_vector(one, p) for one in left_out])
    size = np.abs(np.column_stack([rows.X, np.ones(len(rows.X))])).max(axis=0)
    share = np.abs(D) * size
    share /= share.max(axis=1, keepdims=True)
    candidates = [np.flatnonzero(row > NEAR_LARGEST)[np.argsort(-row[row > NEAR_LARGEST])]
                  for row in share]  # fmt: skip
    tried = (set(map(int, choice)) for choice in product(*candidates))
    yield from islice((choice for choice in tried if len(choice) == len(D)), CHOICES)


def _vector(one: dict[str, Any], p: int) -> np.ndarray:
    """d with the constant's coefficient last."""
    d = np.zeros(p + 1)
    d[list(one.columns)] = one.times
    d[p] = one.constant
    return d


def _holding(name: str, posed: Posed, held: set[int], p: int) -> Posed:
    """The problem with the coefficients of some columns held fixed."""
    m = len(posed.theta)
    if name == "softmax":
        block = next(k for k in (p + 1, p) if m % k == 0 and _classes(posed) == m // k)
        at = {k * block + j for k in range(m // block) for j in held if j < block}
    else:
        at = {j for j in held if j < m}
    P = posed.problem
    low = [posed.theta[j] if j in at else P.low[j] for j in range(m)]
    high = [posed.theta[j] if j in at else P.high[j] for j in range(m)]
    return replace(posed, problem=replace(P, low=low, high=high))


def _classes(posed: Posed) -> int:
    K: int = posed.problem.smooth.K
    return K
