"""What methods of one row at a time share: losses by their codes, the curvature of a row, draws.

    Q = F/S = (1/n) Σ_i q_i + (l2/2S)‖w‖²,   q_i = (n s_i/S) ℓ_i        S = Σ s

A row drawn from all with the same chance has ∇q_i for its mean gradient.
"""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .base import MOST, diverged, look, state_of

# as in kernels/_slopes.py, which cannot be imported without a compiler
CODES = {"squared": 0, "huber": 1, "logistic": 2, "squared_hinge": 3, "softmax": 4}
LOOK_EVERY = 5  # passes over many sparse entries, where a look is a third of what a pass costs
MANY_ENTRIES = 1 << 20
SHUFFLE, RANDOM = ORDERS = ("shuffle", "random")


def loss_code(problem: Problem, name: str) -> tuple[int, float]:
    """What kernels know of a loss; a loss of the user's own they do not know."""
    loss = problem.loss
    if loss.name not in CODES:
        raise ValueError(
            f"solver='{name}' takes the losses {', '.join(map(repr, CODES))}, and {loss!r} is none "
            "of them: use solver='gd', 'agd' or 'nesterov'"
        )
    return CODES[loss.name], float(getattr(loss, "delta", 0.0))


class RowCurvature(NamedTuple):
    """Of q_i + (l2/2S)‖w‖²."""

    largest: float
    mean: float
    of_penalty: float  # l2/S

    def of_batch(self, size: int, n: int) -> float:
        """How much the gradient of a batch's mean can change, on average over the batches, as far
        as norms tell (Gower et al. 2019): largest for 1 row, mean for all."""
        if n == 1 or size >= n:
            return self.mean + self.of_penalty
        alone = (n - size) / (size * (n - 1))
        return alone * self.largest + (1 - alone) * self.mean + self.of_penalty


def row_curvature(problem: Problem) -> RowCurvature:
    """ℓ″·(n s_i/S)·(‖x_i‖² + 1): its largest and its mean. One pass over X."""
    rows, loss = problem.rows, problem.loss
    if "row squares" not in problem.cache:
        with np.errstate(over="ignore"):
            found = rows.reduce(_row_squares, float(problem.fit_intercept), combine=_larger_and_sum)
        finite_squares(found[1])
        problem.cache["row squares"] = found
    largest, total = problem.cache["row squares"]
    n, S = rows.shape[0], rows.S
    scale = loss.curvature_bound / S
    return RowCurvature(scale * n * largest, scale * total, problem.l2 / S)


def finite_squares(value: float) -> float:
    """``value`` itself, of squares of X: without them there is no step."""
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
    """s_i n/S for s_i."""
    if rows.s is None:
        return rows
    return rows.with_targets(rows.y, rows.s * (rows.shape[0] / rows.S))


def drawn(rng: np.random.Generator, n: int, order: str) -> np.ndarray:
    """The rows of one pass: each once, or n draws from all."""
    if order != SHUFFLE:
        return rng.integers(n, size=n)
    # rng.permutation(n) in half the bytes, where they do: shuffling is bound by memory
    rows = np.arange(n, dtype=np.int32 if n < 1 << 31 else np.intp)
    rng.shuffle(rows)
    return rows


def state_after_pass(
    problem: Problem, at: Coordinates, theta: np.ndarray, before: State, passes: float,
    more: object, always: bool,
) -> State:  # fmt: skip
    """After a pass of single rows: F and a bound, or where a look costs about as much as the pass,
    only now and then. ``always``: after each."""
    many = problem.rows.sparse and problem.rows.X.entries >= MANY_ENTRIES
    if many and passes % LOOK_EVERY and not (always or problem.last_step):
        w, b = theta[:-1], theta[-1]
        return State(
            w,
            b,
            before.objective,
            np.inf,
            before.bound,
            evaluated=False,
            passes=passes,
            solver_state=more,
        )
    here = look(problem, at, theta)
    if not here.F < MOST:
        return diverged(before, passes)
    return state_of(problem, at, here, passes, more)


def checked_order(order: object) -> str:
    if order not in ORDERS:
        raise ValueError(f"order={order!r}: give one of {', '.join(map(repr, ORDERS))}")
    return str(order)


class Weights:
    """w and b as kernels want them: (K, p) beside dense rows, (p, K) beside sparse ones."""

    def __init__(self, w: np.ndarray, b: np.ndarray, sparse: bool):
        self.sparse = sparse
        self.W = np.array(w if sparse else w.T, dtype=float, order="C")
        self.b = np.array(b, dtype=float)

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        return self.W, self.b

    @property
    def theta(self) -> np.ndarray:
        """(p + 1, K): a copy."""
        return np.vstack([self.W if self.sparse else self.W.T, self.b])

    def like(self) -> "Weights":
        """Zeros of the same shape."""
        zeros = np.zeros_like(self.theta)
        return Weights(zeros[:-1], zeros[-1], self.sparse)
