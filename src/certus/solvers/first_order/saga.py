"""SAGA (Defazio, Bach and Lacoste-Julien 2014), on X as it is: variance-reduced stochastic steps.

    j drawn from 1 … n:   θ ← θ − γ(∇q_j(θ) − ∇q_j(φ_j) + (1/n) Σ_i ∇q_i(φ_i) + ∇pen(θ)/S)
                          φ_j ← θ

φ_i is the iterate at which row i was last drawn; in a linear model its gradient is one number times
x_i. The direction has mean ∇Q, and its variance vanishes at the optimum, so γ stays constant and
the excess falls by a constant factor each pass.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .base import FirstOrderSolver, evaluate_start, number_above_zero, state_of
from .prefetch import Window, over_windows
from .stochastic import (
    RANDOM,
    Weights,
    checked_order,
    draw_order,
    loss_code,
    row_curvature,
    state_after_pass,
    with_mean_weight_one,
)


class SAGAState(NamedTuple):
    at: Coordinates
    theta: Weights
    mean: Weights  # (1/n) Σ ∇q_i(φ_i)
    table: np.ndarray  # (n, K): slopes at φ_i
    rng: np.random.Generator
    gamma: float


class SAGA(FirstOrderSolver):
    """SAGA on X as it is. A step of the solver is a pass over the rows.

    O(n·p·K) operations a pass (sparse X: the entries times K), O(n·K + p·K) memory, and one more
    pass for the objective and the gap.

    Parameters
    ----------
    step : float or "lipschitz", default="lipschitz"
        γ. "lipschitz": 1/(2L + min(2l2·n/S, L)) with L the largest curvature of a row's loss.
    order : {"random", "shuffle"}, default="random"
        Each pass draws n rows with replacement, as the convergence theory assumes, or takes every
        row once.
    start, change
        As in ``GradientDescent``.
    random_state : int or None, default=0
        Seed of the draws. A number makes fits reproducible; None does not.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from certus.linear_model import LogisticRegression
    >>> from certus.solvers import SAGA
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(solver=SAGA(), max_iter=2000).fit(scale(X), y)
    >>> model.certificate_.certified
    True
    """

    name = "saga"

    def __init__(
        self,
        step: object = "lipschitz",
        *,
        order: str = RANDOM,
        start: str = "zero",
        change: float | None = None,
        random_state: Seed = 0,
    ):
        self.step_length = None if step == "lipschitz" else number_above_zero("step", step)
        self.order = checked_order(order)
        self.set_start(start, change, random_state)

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        loss_code(problem, self.name)
        at, current = evaluate_start(problem, w, b)
        sparse = problem.rows.sparse
        gradient = current.gradient.copy()
        gradient[:-1] -= problem.l2 / problem.rows.S * w  # the losses alone
        solver_state = SAGAState(
            at,
            Weights(w, b, sparse),
            Weights(gradient[:-1], gradient[-1], sparse),
            _slopes(problem, w, b),
            np.random.default_rng(self.random_state),
            self.gamma(problem),
        )
        return state_of(problem, at, current, 1.0, solver_state)

    def gamma(self, problem: Problem) -> float:
        largest, _, of_penalty = row_curvature(problem)
        L = largest + of_penalty
        if self.step_length is None:
            n = problem.rows.shape[0]
            return 1 / (2 * L + min(2 * n * of_penalty, L)) if L else 1.0
        if not self.step_length * of_penalty < 1:
            raise ValueError(
                f"step={self.step_length!r} is too long for this penalty: give less than "
                f"{1 / of_penalty:.3g}"
            )
        return self.step_length

    def step(self, problem: Problem, state: State) -> State:
        from ...kernels.first_order.saga import descend

        solver_state: SAGAState = state.solver_state
        before: np.ndarray = np.vstack([state.w, state.b])
        rows = with_mean_weight_one(problem.rows)
        lam, loss = problem.l2 / problem.rows.S, loss_code(problem, self.name)
        free = float(problem.fit_intercept)

        def work(window: Window) -> None:
            descend(
                window.X, window.y, window.s, window.rows, solver_state.gamma, loss, lam, free,
                solver_state.theta.pair, solver_state.mean.pair, solver_state.table,
            )  # fmt: skip

        over_windows(rows, draw_order(solver_state.rng, rows.shape[0], self.order), 1, work)
        theta = solver_state.theta.theta
        passes = (state.passes or 0.0) + 1
        new = state_after_pass(
            problem, solver_state.at, theta, state, passes, solver_state, self.change is not None
        )
        return self.stop_if_unchanged(new, before, theta)


def _slopes(problem: Problem, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return ∂ℓ/∂z of all rows at (w, b), (n, K)."""
    out = np.empty((problem.rows.shape[0], problem.outputs))
    loss = problem.loss

    def block(X: np.ndarray, y: np.ndarray, _s: np.ndarray) -> Any:
        z = X @ w + b
        return loss.slope(y[:, 0], z) if loss.several else loss.slope(y[:, 0], z[:, 0])[:, None]

    problem.rows.map(block, out)
    return out
