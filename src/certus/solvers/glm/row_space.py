"""Newton's method in the space of the rows, where products with the Hessian converge slowly.

With an L2 penalty the optimal w is a combination of the rows. For fewer rows than columns,

    Xᵀ = QR,   L = Rᵀ (n×n),   w = Qv,   xᵢᵀw = lᵢᵀv,   ‖w‖ = ‖v‖

leaves the same problem with n columns, and its Hessian is factored. Columns of X may be of very
different sizes: sorted by size, with pivoting, Householder's QR keeps the digits of each of them
(Cox and Higham, 1998).

The squared hinge is solved by an interior-point method there (``squared_hinge_interior.py``), and
Newton's steps begin where that ends.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ...data.rows import Rows
from ..loop import State
from ..problem import Problem
from .newton import Newton, begin_interior

MOST_ROWS = 2000  # or columns, whichever are fewer: the Hessian has as many
MOST_ELEMENTS = 1 << 24  # of X, of which two copies are made
MORE_DIGITS, MORE_STEPS = 1e-4, 3  # of the goal, once it is reached: such steps cost little
SHARE = 2.0  # times the fewer of rows and columns: products that cost what factoring does


@dataclass
class FactoredState:
    """What ``State.more`` holds: the factored problem and Newton's state there."""

    factored: "FactoredProblem"
    state: State


class FactoredProblem:
    """A problem whose Hessian is small enough to be factored, and the way back to w."""

    def __init__(self, problem: Problem):
        n, p = problem.rows.shape
        self.Q, self.problem = None, replace(problem, cache={})  # its goal is another
        if n < p:
            self.Q, L = _factor(problem.rows)
            rows = Rows(L, problem.rows.y, problem.rows.s, threads=problem.rows.threads)
            self.problem = replace(problem, rows=rows, cache={})

    @property
    def finite(self) -> bool:
        return self.Q is None or bool(np.isfinite(self.problem.rows.X).all())

    def init(self, w: np.ndarray, b: np.ndarray) -> State:
        v = w if self.Q is None else self.Q.T @ w
        inner = Newton().init(self.problem, v, b)
        begin_interior(self.problem, inner)
        return self._outside(inner)

    def step(self, problem: Problem, state: State) -> State:
        inner: State = state.solver_state.state
        inner.passes = state.passes
        self.problem.goal, self.problem.last_step = 0.0, problem.last_step  # no step is foretold
        inner = Newton().step(self.problem, inner)
        for _ in range(MORE_STEPS):  # for the coefficients' digits
            if inner.excess > problem.goal or inner.stalled:
                break
            if inner.excess <= MORE_DIGITS * problem.goal:
                break
            inner = Newton().step(self.problem, inner)
        return self._outside(inner)

    def _outside(self, inner: State) -> State:
        w = inner.w if self.Q is None else self.Q @ inner.w
        return replace(inner, w=w, solver_state=FactoredState(self, inner))


def worth_factoring(problem: Problem, products: float) -> bool:
    """Have products with the Hessian cost about as much as Newton's method in the smaller space?"""
    n, p = problem.rows.shape
    few = min(n, p) <= MOST_ROWS and n * p <= MOST_ELEMENTS
    return few and problem.outputs == 1 and problem.l2 > 0 and products > SHARE * min(n, p)


def _factor(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Q (p, n) and L (n, n)."""
    n = rows.shape[0]
    X, _, _ = rows.dense().block(0, n)
    order = np.argsort(-np.abs(X).max(axis=0), kind="stable")
    A = np.asarray(X, dtype=float).T[order]
    Q, R, pivots = linalg.qr(A, mode="economic", pivoting=True, check_finite=False)
    L = np.empty((n, n))
    L[pivots] = R.T
    back = np.empty_like(Q)
    back[order] = Q
    return back, L
