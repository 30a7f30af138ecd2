"""Stochastic gradient descent, on X as it is: one step for each row or batch of rows.

    j drawn from 1 … n:   θ ← θ − α_t ∇(q_j + pen/S)(θ)            (batches: the mean of their q_j)
    with momentum:        v ← βv + ∇(q_j + pen/S)(θ),   θ ← θ − α_t v

q_j = (n s_j/S) ℓ_j, so that the mean over j is Q = F/S. α_t = step × schedule(t), t the passes made
so far. The gradient of one row does not vanish at the optimum: α must fall, else θ keeps moving in
a region whose size grows with α. The result is the last θ, or the mean over the last passes.
"""

from collections import deque
from typing import NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .base import FirstOrderSolver, evaluate_start, number_above_zero, share_below_one, state_of
from .prefetch import Window, over_windows
from .schedules import make_schedule
from .stochastic import (
    SHUFFLE,
    Weights,
    checked_order,
    draw_order,
    loss_code,
    row_curvature,
    state_after_pass,
    with_mean_weight_one,
)


class SGDProgress(NamedTuple):
    """Iterate, velocity and running averages; the arrays are changed in place."""

    theta: Weights
    v: Weights
    rng: np.random.Generator
    means: deque[np.ndarray]  # of the θ of each of the last passes


class SGDState(NamedTuple):
    at: Coordinates
    going: SGDProgress
    alpha: float  # before the schedule
    passes: int


class SGD(FirstOrderSolver):
    """Stochastic gradient descent on X as it is. A step of the solver is a pass over the rows.

    O(n·p·K) operations a pass (sparse X: the entries times K), O(n + p·K) memory, and one more pass
    for the objective and the gap.

    Parameters
    ----------
    step : float or "lipschitz", default="lipschitz"
        α before the schedule. "lipschitz": (1 − β)/L with L the largest curvature of a row's loss,
        or for batches the expected smoothness of their mean.
    momentum : float, default=0.0
        β. Above 0 this is accelerated SGD.
    schedule : {"constant", "geometric", "1/t", "1/sqrt(t)"} or callable, default="1/sqrt(t)"
        Factor of α after t passes: 1, ``decay``^⌊t⌋, 1/(1 + t), 1/√(1 + t), or a function of t (an
        array).
    decay : float, default=0.9
        Factor of "geometric".
    batch_size : int, default=1
        Rows of a step.
    average : int, default=0
        0: the result is the last θ. k: the mean of all θ of the last k passes.
    order : {"shuffle", "random"}, default="shuffle"
        Each pass takes every row once in a new order, or draws n rows with replacement.
    start, change
        As in ``GradientDescent``; ``change`` compares the results of consecutive passes.
    random_state : int or None, default=0
        Seed of the draws. A number makes fits reproducible; None does not.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from certus.linear_model import LogisticRegression
    >>> from certus.solvers import SGD
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(solver=SGD(average=10), C=0.1)
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):  # SGD does not reach tol
    ...     _ = model.fit(scale(X), y)
    >>> model.certificate_
    Certificate(nearly optimal: objective 6.628..., the best possible is at least 6.626...)
    """

    def __init__(
        self,
        step: object = "lipschitz",
        *,
        momentum: float = 0.0,
        schedule: object = "1/sqrt(t)",
        decay: float = 0.9,
        batch_size: int = 1,
        average: int = 0,
        order: str = SHUFFLE,
        start: str = "zero",
        change: float | None = None,
        random_state: Seed = 0,
    ):
        self.step_length = None if step == "lipschitz" else number_above_zero("step", step)
        self.momentum = share_below_one("momentum", momentum)
        self.schedule = make_schedule(schedule, number_above_zero("decay", decay))
        self.batch_size = _count("batch_size", batch_size, 1)
        self.average = _count("average", average, 0)
        self.order = checked_order(order)
        self.set_start(start, change, random_state)
        self.name = "asgd" if self.momentum else "sgd"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        loss_code(problem, self.name)
        at, current = evaluate_start(problem, w, b)
        going = self.begin_at(problem, w, b)
        solver_state = SGDState(at, going, self.alpha(problem), 0)
        return state_of(problem, at, current, 0.0, solver_state)

    def step(self, problem: Problem, state: State) -> State:
        at, going, alpha, passes = state.solver_state
        before = np.vstack([state.w, state.b])
        lam = problem.l2 / problem.rows.S
        theta = self.one_pass(problem, going, alpha, lam, passes)
        solver_state = SGDState(at, going, alpha, passes + 1)
        always = self.change is not None
        new = state_after_pass(problem, at, theta, state, passes + 1, solver_state, always)
        return self.stop_if_unchanged(new, before, theta)

    # --- also used by partial_fit ---

    def begin_at(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> SGDProgress:
        theta = Weights(w, b, problem.rows.sparse)
        return SGDProgress(
            theta,
            theta.like(),
            np.random.default_rng(self.random_state),
            deque(maxlen=max(1, self.average)),
        )

    def alpha(self, problem: Problem) -> float:
        if self.step_length is not None:
            return self.step_length
        L = row_curvature(problem).of_batch(self.batch_size, problem.rows.shape[0])
        return (1 - self.momentum) / (L or 1.0)

    def one_pass(
        self, problem: Problem, going: SGDProgress, alpha: float, lam: float, passes: float
    ) -> np.ndarray:
        """Make one pass over the rows, the one after ``passes``, and return θ, (p + 1, K)."""
        from ...kernels.first_order.sgd import descend

        rows = with_mean_weight_one(problem.rows)
        n, B, loss = rows.shape[0], self.batch_size, loss_code(problem, self.name)
        theta, v = going.theta, going.v
        total = theta.like() if self.average else None
        batches = -(-n // B)
        free = float(problem.fit_intercept)

        def work(window: Window) -> None:
            at = window.first // B + np.arange(-(-len(window.y) // B))
            shares = np.asarray(self.schedule(passes + at / batches), dtype=float)
            alphas = alpha * np.broadcast_to(shares, at.shape)
            descend(
                window.X, window.y, window.s, alphas, B, loss, lam, self.momentum, free,
                theta.pair, v.pair, None if total is None else total.pair,
            )  # fmt: skip

        over_windows(rows, draw_order(going.rng, n, self.order), B, work)
        if total is None:
            return theta.theta
        going.means.append(total.theta / batches)
        return np.asarray(sum(going.means) / len(going.means))


def _count(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name}={value!r}: give a whole number, {least} or above")
    return int(value)
