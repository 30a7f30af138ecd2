r"""Linear support vector machines: the hinge loss with L2.

    P(θ) = ½‖θ‖² + Σ_i u_i [1 − m_i]₊,      m_i = y_i x̂_iᵀθ,  x̂ = (x, c),  y = ±1
    D(α) = Σα − ½‖Σ_i α_i y_i x̂_i‖²,        0 ≤ α_i ≤ u_i = C s_i c_{y_i}

c is the constant column whose coefficient is penalised, b = cθ_{p+1} (0: no intercept). Both
solvers maintain θ and α, so that P − D bounds the excess of either at every step.
"""

from dataclasses import dataclass, field
from functools import cached_property
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


class DualSteps(NamedTuple):
    """A dual point of rows that are read block by block, as the steps that lead to it.

    α = u∘a,  a_0 = 0,  a_j = clip(a_{j−1} + σ_j(1 − y x̂ᵀθ_j), 0, 1)
    """

    sigma: np.ndarray  # (K,)
    theta: np.ndarray  # (K, p + 1)

    @classmethod
    def none(cls, columns: int) -> "DualSteps":
        """Return the steps to a = 0."""
        return cls(np.empty(0), np.empty((0, columns)))

    @classmethod
    def at_half(cls, columns: int) -> "DualSteps":
        """Return the steps to a = ½."""
        return cls(np.array([0.5]), np.zeros((1, columns)))

    def after(self, sigma: float, theta: np.ndarray) -> "DualSteps":
        """Return the steps with another one."""
        return DualSteps(np.append(self.sigma, sigma), np.vstack([self.theta, theta]))

    def copy(self) -> "DualSteps":
        """Return the steps, which nothing changes."""
        return self


@dataclass
class HingeProblem:
    """Data of P and D, with what the solvers cache about X.

    y and u of rows that are read block by block are those of ``rows``, and None here.
    """

    rows: Rows  # in memory: its y and s are ignored
    y: Any  # (n,)
    u: Any  # (n,)
    c: float
    seed: int = 1  # of the order in which coordinates are visited
    cache: dict[str, Any] = field(default_factory=dict)  # what solvers have computed from X
    sigma: float = 1.0  # of ``newton``: initially the kink is as wide as the margin

    @property
    def null_objective(self) -> float:
        """Loss Σ u [1 − m]₊ of the best constant score; of score 0 without an intercept."""
        plus, minus = self.sums_of_bounds
        return 2 * min(plus, minus) if self.c else plus + minus

    @cached_property
    def sums_of_bounds(self) -> tuple[float, float]:
        """Σ u of the rows with y = 1 and of those with y = −1."""
        if self.rows.streamed:
            plus, minus = self.rows.reduce_targets(_sums_of_bounds)
            return float(plus), float(minus)
        return float(self.u[self.y > 0].sum()), float(self.u[self.y < 0].sum())

    @property
    def total(self) -> float:
        """Σ u, the loss of θ = 0."""
        return sum(self.sums_of_bounds) if self.rows.streamed else float(self.u.sum())

    @property
    def no_dual_point(self) -> Any:
        """α = 0."""
        if self.rows.streamed:
            return DualSteps.none(self.rows.shape[1] + 1)
        return np.zeros(len(self.y))

    @property
    def weighted_rows(self) -> Rows:
        """The rows with u as their weights."""
        if self.rows.streamed:
            return self.rows
        return Rows(self.rows.X, s=self.u, threads=self.rows.threads)

    def sample(self, count: int) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return X, y and u of about ``count`` rows."""
        if self.rows.streamed:
            X, y, u = self.rows.sample_block(count)
            assert y is not None
            assert u is not None
            return X, y[:, 0], u
        numbered = Rows(self.rows.X, np.column_stack([self.y, self.u]), threads=1)
        sample = numbered.sample(count)
        assert sample.y is not None
        y, u = np.ascontiguousarray(sample.y.T)
        return sample.X, y, u

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


def _sums_of_bounds(y: np.ndarray, u: np.ndarray) -> tuple[float, float]:
    return float(u[y[:, 0] > 0].sum()), float(u[y[:, 0] < 0].sum())


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
    alpha: Any  # (n,), of the highest D; DualSteps of rows that are read block by block
    y: Any  # (n,), of the problem
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
        self.alpha = problem.no_dual_point
        self.P, self.D = problem.total, 0.0
        self.iteration, self.stopped = before, False
        self.reported = before if before else -1  # the last iteration that was

    @property
    def excess(self) -> float:
        return self.P - self.D

    def update(self, P: float, theta: np.ndarray, D: float, alpha: Any) -> bool:
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

    if rows.streamed:  # the other solver visits single rows
        return ProximalNewton()
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
