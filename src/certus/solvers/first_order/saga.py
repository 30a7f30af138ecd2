"""SAGA (Defazio, Bach and Lacoste-Julien 2014), on X as it is: steps of one row, without noise.

    j drawn from 1 … n:   θ ← θ − γ(∇q_j(θ) − ∇q_j(φ_j) + (1/n) Σ_i ∇q_i(φ_i) + ∇pen(θ)/S)
                          φ_j ← θ

φ_i is where row i was last seen; of linear models its gradient is one number times x_i. The
direction's mean is ∇Q, and it vanishes at the optimum, so that γ need not fall: the excess falls
by a factor each pass.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .base import FromZero, first_look, number_above_zero, state_of
from .prefetch import Window, over_windows
from .stochastic import (
    RANDOM,
    Weights,
    checked_order,
    drawn,
    loss_code,
    row_curvature,
    state_after_pass,
    with_mean_weight_one,
)


class _More(NamedTuple):
    at: Coordinates
    theta: Weights
    mean: Weights  # (1/n) Σ ∇q_i(φ_i)
    table: np.ndarray  # (n, K): slopes at φ_i
    rng: np.random.Generator
    gamma: float


class SAGA(FromZero):
    """O(n·p·K) operations a pass (sparse X: the entries times K), O(n·K + p·K) memory, and one more
    pass for the objective and the gap. A step of the solver is a pass.

    Parameters
    ----------
    step : float or "lipschitz", default="lipschitz"
        γ. "lipschitz": 1/(2L + min(2l2·n/S, L)) with L the largest curvature of a row's loss.
    order : {"random", "shuffle"}, default="random"
        n draws from all rows each pass, for which the theory holds, or every row once.
    start, change
        As in ``GradientDescent``.
    random_state : int or None, default=0
        Of the draws. The same number gives the same answer; None another one each time.

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
        at, here = first_look(problem, w, b)
        sparse = problem.rows.sparse
        gradient = here.gradient.copy()
        gradient[:-1] -= problem.l2 / problem.rows.S * w  # the losses alone
        more = _More(
            at,
            Weights(w, b, sparse),
            Weights(gradient[:-1], gradient[-1], sparse),
            _slopes(problem, w, b),
            np.random.default_rng(self.random_state),
            self.gamma(problem),
        )
        return state_of(problem, at, here, 1.0, more)

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

        more: _More = state.solver_state
        before: np.ndarray = np.vstack([state.w, state.b])
        rows = with_mean_weight_one(problem.rows)
        lam, loss = problem.l2 / problem.rows.S, loss_code(problem, self.name)
        free = float(problem.fit_intercept)

        def work(window: Window) -> None:
            descend(
                window.X, window.y, window.s, window.rows, more.gamma, loss, lam, free,
                more.theta.pair, more.mean.pair, more.table,
            )  # fmt: skip

        over_windows(rows, drawn(more.rng, rows.shape[0], self.order), 1, work)
        theta = more.theta.theta
        passes = (state.passes or 0.0) + 1
        new = state_after_pass(
            problem, more.at, theta, state, passes, more, self.change is not None
        )
        return self.enough(new, before, theta)


def _slopes(problem: Problem, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """∂ℓ/∂z of all rows at (w, b), (n, K)."""
    out = np.empty((problem.rows.shape[0], problem.outputs))
    loss = problem.loss

    def block(X: np.ndarray, y: np.ndarray, _s: np.ndarray) -> Any:
        z = X @ w + b
        return loss.slope(y[:, 0], z) if loss.several else loss.slope(y[:, 0], z[:, 0])[:, None]

    problem.rows.map(block, out)
    return out
