r"""Linear support vector machines: the hinge loss with L2.

    P(θ) = ½‖θ‖² + Σ_i u_i [1 − m_i]₊,      m_i = y_i x̂_iᵀθ,  x̂ = (x, c),  y = ±1
    D(α) = Σα − ½‖Σ_i α_i y_i x̂_i‖²,        0 ≤ α_i ≤ u_i = C s_i c_{y_i}

c is the constant column whose coefficient is penalised, b = cθ_{p+1} (0: no intercept). Both
solvers maintain θ and α, so that P − D bounds the excess of either at every step.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data.csr import Block
from ...data.rows import Rows
from ..progress import OnStep, Step, ignore

# up to which the matrix of all columns is factored at each step. 10,000 dense rows took 4.3 s
# against 6.7 s by the other solver with 600 columns, and 17 s by either with 1000
MAX_FACTORED_COLUMNS = 1000
MAX_FACTORED_SPARSE_COLUMNS = 300  # of sparse rows, whose zeros the factorisation does not skip
GOAL_SAFETY_FACTOR = 4.0  # the certificate's bound is a little weaker than the solver's


@dataclass
class HingeProblem:
    """Data of P and D, with what the solvers cache about X."""

    rows: Rows  # its y and s are ignored
    y: np.ndarray  # (n,)
    u: np.ndarray  # (n,)
    c: float
    seed: int = 1  # of the order in which coordinates are visited
    cache: dict[str, Any] = field(default_factory=dict)  # what solvers have computed from X
    sigma: float = 1.0  # of ``newton``: initially the kink is as wide as the margin

    @property
    def null_objective(self) -> float:
        """Loss Σ u [1 − m]₊ of the best constant score; of score 0 without an intercept."""
        plus, minus = float(self.u[self.y > 0].sum()), float(self.u[self.y < 0].sum())
        return 2 * min(plus, minus) if self.c else plus + minus

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Return x̂ᵀθ of every row."""
        out = np.empty(len(self.y))
        return self.rows.map(_scores, out, theta[:-1], self.c * theta[-1])

    def sums(self, g: np.ndarray) -> np.ndarray:
        """Return Σ g x̂."""
        (v,) = self.rows.reduce(_sums, beside=(g,))
        return np.append(v, self.c * g.sum())

    def primal(self, theta: np.ndarray, m: np.ndarray) -> float:
        """Return P(θ) from the margins m."""
        return float(self.u @ np.maximum(1 - m, 0.0) + theta @ theta / 2)


def _scores(X: Block, _y: np.ndarray, _s: object, w: np.ndarray, b: float) -> Any:
    z = np.dot(X, w) if isinstance(X, np.ndarray) else X @ w
    z += b
    return z


def _sums(X: Block, _y: np.ndarray, _s: object, g: np.ndarray) -> tuple[Any]:
    # np.dot, not @, which would hold the GIL
    return (np.dot(g, X) if isinstance(X, np.ndarray) else X.T @ g,)


class HingeFit(NamedTuple):
    """Result of a solver."""

    w: np.ndarray  # (p,), of the lowest P
    b: np.ndarray  # (1,)
    alpha: np.ndarray  # (n,), of the highest D
    y: np.ndarray  # (n,), of the problem
    solver: str
    n_iter: int
    stopped_at: int | None = None  # max_iter, if the fit ended there
    converged: bool = True


class HingeSolver(Protocol):
    """A method that lowers P and raises D until their gap is small."""

    name: str
    on_one_thread: bool

    def prepare(self, problem: HingeProblem) -> None:
        """Compute what the solver needs of X, once for all problems that share ``cache``."""

    def solve(self, problem: HingeProblem, progress: "HingeProgress", max_iter: int) -> bool:
        """Make steps until the gap reaches the goal, max_iter is reached, or no step helps.

        Every iterate is passed to ``progress.update``. Returns whether the goal was reached.
        """


class HingeProgress:
    """The best θ and α so far, the callback, and the stopping rule."""

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
        self.reported = before if before else -1  # the last iteration that was

    @property
    def excess(self) -> float:
        return self.P - self.D

    def update(self, P: float, theta: np.ndarray, D: float, alpha: np.ndarray) -> bool:
        """Keep the better θ and α, call ``on_step``, and return whether to stop."""
        if P < self.P:
            self.P, self.theta = P, theta.copy()
        if D > self.D:
            self.D, self.alpha = D, alpha.copy()
        if self.iteration > self.reported:
            self.reported = self.iteration
            self.stopped = self.on_step(Step(self.iteration, self.P, self.D, self.fit))
        return self.stopped or self.excess <= self.goal

    def fit(self, stopped_at: int | None = None, converged: bool = True) -> HingeFit:
        w, b = self.theta[:-1].copy(), self.problem.c * self.theta[-1:]
        alpha, y = self.alpha.copy(), self.problem.y
        return HingeFit(w, b, alpha, y, self.name, self.iteration, stopped_at, converged)


def choose(rows: Rows) -> HingeSolver:
    """Return the faster solver for these rows."""
    from .dual_coordinates import DualCoordinates
    from .newton import ProximalNewton

    sparse = rows.sparse and rows.X.density <= 0.1
    factorable = rows.shape[1] <= (MAX_FACTORED_SPARSE_COLUMNS if sparse else MAX_FACTORED_COLUMNS)
    return ProximalNewton() if factorable else DualCoordinates()


def solve(
    problem: HingeProblem,
    solver: HingeSolver,
    start: HingeFit | None,
    tol: float,
    max_iter: int,
    on_step: OnStep = ignore,
) -> HingeFit:
    """Run ``solver`` until P − D is at most tol·f₀, f₀ the loss of the intercept alone."""
    before = 0 if start is None else start.n_iter
    progress = HingeProgress(
        problem, tol * problem.null_objective / GOAL_SAFETY_FACTOR, solver.name, on_step, before
    )
    if start is not None:
        last = start.b / problem.c if problem.c else np.zeros(1)
        progress.theta, progress.alpha = np.append(start.w, last), start.alpha
        progress.P, progress.D = np.inf, -np.inf
    converged = solver.solve(problem, progress, max_iter)
    reached_max_iter = not converged and progress.iteration >= max_iter
    return progress.fit(max_iter if reached_max_iter else None, converged)
