"""Newton's method in the row space, where conjugate gradients converge slowly.

With an L2 penalty the optimal w is a combination of the rows. For fewer rows than columns,

    Xᵀ = QR,   L = Rᵀ (n×n),   w = Qv,   xᵢᵀw = lᵢᵀv,   ‖w‖ = ‖v‖

gives the same problem with n columns, whose Hessian is factored. Columns of X may differ much in
size: sorted by size, with pivoting, Householder's QR is accurate for each of them (Cox and Higham,
1998).

The squared hinge is solved by an interior-point method there (``squared_hinge_interior.py``), and
Newton's method starts from its result.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ...data.rows import Rows
from ..loop import State
from ..problem import Problem
from .newton import Newton, begin_interior

MAX_ROWS_OR_COLUMNS = 2000  # whichever are fewer: the size of the Hessian
MAX_ELEMENTS = 1 << 24  # of X, of which two copies are made
# once the goal is reached, at most so many cheap steps aim at this share of it
POLISH_GOAL_FACTOR, MAX_POLISH_STEPS = 1e-4, 3
# Hessian products that cost as much as factoring, relative to min(n, p)
PRODUCTS_PER_FACTORIZATION = 2.0


@dataclass
class FactoredState:
    """``State.solver_state`` in the row space: the factored problem and Newton's state there."""

    factored: "FactoredProblem"
    state: State


class FactoredProblem:
    """A problem whose Hessian is small enough to be factored, and the map back to w."""

    def __init__(self, problem: Problem):
        n, p = problem.rows.shape
        self.Q, self.problem = None, replace(problem, cache={})  # a copy: its goal differs
        if n < p:
            self.Q, L = _factor(problem.rows)
            _, y, s = problem.rows.block(0, n)
            rows = Rows(L, y, s, threads=problem.rows.threads)
            self.problem = replace(problem, rows=rows, cache={})

    @property
    def finite(self) -> bool:
        return self.Q is None or bool(np.isfinite(self.problem.rows.X).all())

    def init(self, w: np.ndarray, b: np.ndarray) -> State:
        v = w if self.Q is None else self.Q.T @ w
        inner = Newton().init(self.problem, v, b)
        begin_interior(self.problem, inner)
        return self._to_columns(inner)

    def step(self, problem: Problem, state: State) -> State:
        inner: State = state.solver_state.state
        inner.passes = state.passes
        self.problem.goal, self.problem.last_step = 0.0, problem.last_step  # evaluate every step
        inner = Newton().step(self.problem, inner)
        for _ in range(MAX_POLISH_STEPS):  # for the coefficients' digits
            if inner.excess > problem.goal or inner.stalled:
                break
            if inner.excess <= POLISH_GOAL_FACTOR * problem.goal:
                break
            inner = Newton().step(self.problem, inner)
        return self._to_columns(inner)

    def _to_columns(self, inner: State) -> State:
        w = inner.w if self.Q is None else self.Q @ inner.w
        return replace(inner, w=w, solver_state=FactoredState(self, inner))


def worth_factoring(problem: Problem, products: float) -> bool:
    """Return whether Hessian products have cost about as much as factoring in the smaller space."""
    n, p = problem.rows.shape
    is_small = min(n, p) <= MAX_ROWS_OR_COLUMNS and n * p <= MAX_ELEMENTS
    return (
        is_small
        and problem.outputs == 1
        and problem.l2 > 0
        and products > PRODUCTS_PER_FACTORIZATION * min(n, p)
    )


def _factor(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return Q (p, n) and L (n, n)."""
    n = rows.shape[0]
    X, _, _ = rows.dense().block(0, n)
    order = np.argsort(-np.abs(X).max(axis=0), kind="stable")
    A = np.asarray(X, dtype=float).T[order]
    Q, R, pivots = linalg.qr(A, mode="economic", pivoting=True, check_finite=False)
    L = np.empty((n, n))
    L[pivots] = R.T
    unsorted = np.empty_like(Q)
    unsorted[order] = Q
    return unsorted, L
