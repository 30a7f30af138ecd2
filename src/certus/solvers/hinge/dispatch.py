r"""Linear support vector machines: the hinge loss with L2.

    P(θ) = ½‖θ‖² + Σ_i u_i [1 − m_i]₊,      m_i = y_i x̂_iᵀθ,  x̂ = (x, c),  y = ±1
    D(α) = Σα − ½‖Σ_i α_i y_i x̂_i‖²,        0 ≤ α_i ≤ u_i = C s_i c_{y_i}

c is the constant whose coefficient is penalised, b = cθ_{p+1} (0: no intercept). Both solvers hold
θ and α, so that P − D bounds how far either is from its optimum, at every step.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data.csr import Block
from ...data.rows import Rows
from ..progress import OnStep, Step, ignore

# up to which a matrix of all columns is factored at each step. 10,000 dense rows: with 600 columns
# 4.3 s against 6.7 by the other solver, with 1000 17 s by either
FEW_COLUMNS = 1000
FEW_SPARSE_COLUMNS = 300  # of sparse rows, whose zeros it then works with
SAFETY = 4.0  # the certificate's own bound is a little weaker than the solver's


@dataclass
class HingeProblem:
    rows: Rows  # y and s are not looked at
    y: np.ndarray  # (n,)
    u: np.ndarray  # (n,)
    c: float
    seed: int = 1  # of the order in which coordinates are visited
    cache: dict[str, Any] = field(default_factory=dict)  # what a solver has found out about X
    sigma: float = 1.0  # of ``newton``: at first the kink is as wide as the margin

    @property
    def null_objective(self) -> float:
        """Σ u [1 − m]₊ of the best constant; without an intercept, of 0."""
        plus, minus = float(self.u[self.y > 0].sum()), float(self.u[self.y < 0].sum())
        return 2 * min(plus, minus) if self.c else plus + minus

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """x̂ᵀθ of every row."""
        out = np.empty(len(self.y))
        return self.rows.map(_scores, out, theta[:-1], self.c * theta[-1])

    def sums(self, g: np.ndarray) -> np.ndarray:
        """Σ g x̂."""
        (v,) = self.rows.reduce(_sums, beside=(g,))
        return np.append(v, self.c * g.sum())

    def primal(self, theta: np.ndarray, m: np.ndarray) -> float:
        return float(self.u @ np.maximum(1 - m, 0.0) + theta @ theta / 2)


def _scores(X: Block, _y: np.ndarray, _s: object, w: np.ndarray, b: float) -> Any:
    z = np.dot(X, w) if isinstance(X, np.ndarray) else X @ w
    z += b
    return z


def _sums(X: Block, _y: np.ndarray, _s: object, g: np.ndarray) -> tuple[Any]:
    # np.dot, not @, which would keep other threads waiting
    return (np.dot(g, X) if isinstance(X, np.ndarray) else X.T @ g,)


class HingeFit(NamedTuple):
    w: np.ndarray  # (p,), of the least P
    b: np.ndarray  # (1,)
    alpha: np.ndarray  # (n,), of the highest D
    y: np.ndarray  # (n,), the problem's
    solver: str
    n_iter: int
    stopped_at: int | None = None  # max_iter, if that is what ended it
    converged: bool = True


class HingeSolver(Protocol):
    name: str
    on_one_thread: bool

    def prepare(self, problem: HingeProblem) -> None:
        """Look at X, once for all problems that share ``kept``."""

    def solve(self, problem: HingeProblem, best: "Best", max_iter: int) -> bool:
        """Tell ``best`` of points until it says that one is good enough (True), max_iter is
        reached, or no step helps."""


class Best:
    """The best θ and α so far, who listens, and whether that is enough."""

    def __init__(
        self,
        problem: HingeProblem,
        goal: float,
        name: str,
        on_step: OnStep = ignore,
        before: int = 0,
    ):
        self.problem, self.goal, self.name, self.on_step = problem, goal, name, on_step
        self.theta = np.zeros(problem.rows.shape[1] + 1)
        self.alpha = np.zeros(len(problem.y))
        self.P, self.D = float(problem.u.sum()), 0.0
        self.iteration, self.stopped = before, False
        self.told = before if before else -1  # the last iteration that was

    @property
    def excess(self) -> float:
        return self.P - self.D

    def is_enough(self, P: float, theta: np.ndarray, D: float, alpha: np.ndarray) -> bool:
        """Keep what is better; True: stop."""
        if P < self.P:
            self.P, self.theta = P, theta.copy()
        if D > self.D:
            self.D, self.alpha = D, alpha.copy()
        if self.iteration > self.told:
            self.told = self.iteration
            self.stopped = self.on_step(Step(self.iteration, self.P, self.D, self.fit))
        return self.stopped or self.excess <= self.goal

    def fit(self, stopped_at: int | None = None, converged: bool = True) -> HingeFit:
        w, b = self.theta[:-1].copy(), self.problem.c * self.theta[-1:]
        alpha, y = self.alpha.copy(), self.problem.y
        return HingeFit(w, b, alpha, y, self.name, self.iteration, stopped_at, converged)


def choose(rows: Rows) -> HingeSolver:
    """The faster one for these rows."""
    from .dual_coordinates import DualCoordinates
    from .newton import ProximalNewton

    sparse = rows.sparse and rows.X.density <= 0.1
    few = rows.shape[1] <= (FEW_SPARSE_COLUMNS if sparse else FEW_COLUMNS)
    return ProximalNewton() if few else DualCoordinates()


def solve(
    problem: HingeProblem,
    solver: HingeSolver,
    start: HingeFit | None,
    tol: float,
    max_iter: int,
    on_step: OnStep = ignore,
) -> HingeFit:
    """Until P − D is tol·f₀ at most, f₀ = P of the intercept alone without its penalty."""
    before = 0 if start is None else start.n_iter
    best = Best(problem, tol * problem.null_objective / SAFETY, solver.name, on_step, before)
    if start is not None:
        last = start.b / problem.c if problem.c else np.zeros(1)
        best.theta, best.alpha = np.append(start.w, last), start.alpha
        best.P, best.D = np.inf, -np.inf
    converged = solver.solve(problem, best, max_iter)
    at_the_end = not converged and best.iteration >= max_iter
    return best.fit(max_iter if at_the_end else None, converged)
