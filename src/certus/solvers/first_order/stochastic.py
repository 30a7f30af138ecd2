"""Shared parts of the stochastic methods: loss codes, the curvature of a row, random orders.

    Q = F/S = (1/n) Σ_i q_i + (l2/2S)‖w‖²,   q_i = (n s_i/S) ℓ_i        S = Σ s

For a row i drawn uniformly, the mean of ∇q_i is the gradient of the losses in Q.
"""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .base import MAX_OBJECTIVE, diverged, evaluate, state_of

# the codes of kernels/_slopes.py, which cannot be imported without Numba
LOSS_CODES = {"squared": 0, "huber": 1, "logistic": 2, "squared_hinge": 3, "softmax": 4}
# F is evaluated after every 5th pass where X has many sparse entries: there an evaluation costs a
# third of a pass
EVALUATION_INTERVAL_PASSES = 5
MIN_ENTRIES_TO_SKIP_EVALUATION = 1 << 20
SHUFFLE, RANDOM = ORDERS = ("shuffle", "random")


def loss_code(problem: Problem, name: str) -> tuple[int, float]:
    """Return the loss as the kernels take it, (code, δ); raise for a loss without a code."""
    loss = problem.loss
    if loss.name not in LOSS_CODES:
        raise ValueError(
            f"solver='{name}' takes the losses {', '.join(map(repr, LOSS_CODES))}, and {loss!r} is "
            "none of them: use solver='gd', 'agd' or 'nesterov'"
        )
    return LOSS_CODES[loss.name], float(getattr(loss, "delta", 0.0))


class RowTermCurvature(NamedTuple):
    """Curvature of the rows' terms q_i + (l2/2S)‖w‖²."""

    largest: float
    mean: float
    of_penalty: float  # l2/S

    def of_batch(self, size: int, n: int) -> float:
        """Return a bound on the expected smoothness of a batch's mean (Gower et al. 2019).

        It is ``largest`` for batches of one row and ``mean`` for all rows.
        """
        if n == 1 or size >= n:
            return self.mean + self.of_penalty
        weight_of_largest = (n - size) / (size * (n - 1))
        return (
            weight_of_largest * self.largest + (1 - weight_of_largest) * self.mean + self.of_penalty
        )


def row_curvature(problem: Problem) -> RowTermCurvature:
    """Return the largest and the mean of ℓ″·(n s_i/S)·(‖x_i‖² + 1). One pass over X."""
    rows, loss = problem.rows, problem.loss
    if "row squares" not in problem.cache:
        with np.errstate(over="ignore"):
            result = rows.reduce(
                _row_squares, float(problem.fit_intercept), combine=_larger_and_sum
            )
        finite_squares(result[1])
        problem.cache["row squares"] = result
    largest, total = problem.cache["row squares"]
    n, S = rows.shape[0], rows.S
    scale = loss.curvature_bound / S
    return RowTermCurvature(scale * n * largest, scale * total, problem.l2 / S)


def finite_squares(value: float) -> float:
    """Return ``value``, a sum of squares of X; raise if it overflowed, since steps need it."""
    if not np.isfinite(value):
        raise ValueError(
            "the squares of X overflow, and a step follows from them: scale the columns "
            "(sklearn.preprocessing.StandardScaler), or use solver='auto'"
        )
    return value


def _row_squares(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, one: float
) -> tuple[float, float]:
    if isinstance(X, np.ndarray):
        square = np.einsum("ij,ij->i", X, X, dtype=float)
    else:
        square = np.asarray(X.astype(float).power(2).sum(axis=1)).ravel()
    square = square + one if s is None else s * (square + one)
    return float(square.max(initial=0.0)), float(square.sum())


def _larger_and_sum(left: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    return max(left[0], right[0]), left[1] + right[1]


def with_mean_weight_one(rows: Rows) -> Rows:
    """Return rows with weights s_i n/S."""
    if rows.s is None:
        return rows
    return rows.with_targets(rows.y, rows.s * (rows.shape[0] / rows.S))


def draw_order(rng: np.random.Generator, n: int, order: str) -> np.ndarray:
    """Return the row indices of one pass: each row once, or n draws with replacement."""
    if order != SHUFFLE:
        return rng.integers(n, size=n)
    # as rng.permutation(n), but in 32 bits where these suffice: shuffling is bound by memory
    rows = np.arange(n, dtype=np.int32 if n < 1 << 31 else np.intp)
    rng.shuffle(rows)
    return rows


def state_after_pass(
    problem: Problem, at: Coordinates, theta: np.ndarray, before: State, passes: float,
    solver_state: object, always: bool,
) -> State:  # fmt: skip
    """Return the state after a stochastic pass, with F and a bound.

    Where evaluating F costs a large share of a pass, it is done at intervals only. ``always``:
    after every pass.
    """
    skip_evaluation = (
        problem.rows.sparse and problem.rows.X.entries >= MIN_ENTRIES_TO_SKIP_EVALUATION
    )
    if (
        skip_evaluation
        and passes % EVALUATION_INTERVAL_PASSES
        and not (always or problem.last_step)
    ):
        w, b = theta[:-1], theta[-1]
        return State(
            w,
            b,
            before.objective,
            np.inf,
            before.bound,
            evaluated=False,
            passes=passes,
            solver_state=solver_state,
        )
    current = evaluate(problem, at, theta)
    if not current.F < MAX_OBJECTIVE:
        return diverged(before, passes)
    return state_of(problem, at, current, passes, solver_state)


def checked_order(order: object) -> str:
    if order not in ORDERS:
        raise ValueError(f"order={order!r}: give one of {', '.join(map(repr, ORDERS))}")
    return str(order)


class Weights:
    """w and b in the kernels' layout: W is (K, p) for dense rows and (p, K) for sparse ones."""

    def __init__(self, w: np.ndarray, b: np.ndarray, sparse: bool):
        self.sparse = sparse
        self.W = np.array(w if sparse else w.T, dtype=float, order="C")
        self.b = np.array(b, dtype=float)

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        return self.W, self.b

    @property
    def theta(self) -> np.ndarray:
        """θ as a new array, (p + 1, K)."""
        return np.vstack([self.W if self.sparse else self.W.T, self.b])

    def like(self) -> "Weights":
        """Return zeros of the same shape."""
        zeros = np.zeros_like(self.theta)
        return Weights(zeros[:-1], zeros[-1], self.sparse)
