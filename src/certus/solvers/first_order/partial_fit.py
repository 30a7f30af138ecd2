"""Stochastic gradient descent on rows that come in parts and do not stay.

Every part is gone over once. F is that of all rows so far: S grows by the weight of each part, and
the penalty's share l2/S of a step falls with it. The largest curvature of a row is that of all rows
so far, and t counts the parts.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Problem
from .sgd import SGD, Going
from .stochastic import Weights, row_curvature


@dataclass
class Stream:
    """What is known of the rows so far."""

    theta: np.ndarray  # (p + 1, K)
    v: np.ndarray
    rng: np.random.Generator
    means: list[np.ndarray]  # of the θ of the last parts
    weight: float = 0.0  # S
    curvature: float = 0.0  # L
    parts: int = 0

    @classmethod
    def at(cls, solver: SGD, w: np.ndarray, b: np.ndarray) -> "Stream":
        theta = np.vstack([w, b])
        rng = np.random.default_rng(solver.random_state)
        return cls(theta, np.zeros_like(theta), rng, [])

    def without_intercept(self) -> None:
        for theta in (self.theta, self.v, *self.means):
            theta[-1] = 0.0


def go_on(solver: SGD, problem: Problem, stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    """One more part; the stream is changed. The answer (w, b)."""
    sparse = problem.rows.sparse
    stream.weight += problem.rows.S
    lam = problem.l2 / stream.weight
    size = solver.batch_size
    L = row_curvature(problem)._replace(of_penalty=0.0).of_batch(size, problem.rows.shape[0])
    stream.curvature = max(stream.curvature, L)
    alpha = solver.step_length
    if alpha is None:
        alpha = (1 - solver.momentum) / ((stream.curvature + lam) or 1.0)
    going = Going(
        _weights(stream.theta, sparse),
        _weights(stream.v, sparse),
        stream.rng,
        deque(stream.means, maxlen=max(1, solver.average)),
    )
    answer = solver.one_pass(problem, going, alpha, lam, stream.parts)
    stream.theta, stream.v = going.theta.theta, going.v.theta
    stream.means, stream.parts = list(going.means), stream.parts + 1
    return answer[:-1], answer[-1]


def go_on_with_each(
    solver: SGD, problems: Sequence[Problem], streams: Sequence[Stream]
) -> tuple[np.ndarray, np.ndarray]:
    """Several problems on the same rows, each with its own stream: w (p, K), b (K,)."""
    found: list[Any] = [go_on(solver, *one) for one in zip(problems, streams, strict=True)]
    return np.hstack([w for w, _ in found]), np.concatenate([b for _, b in found])


def _weights(theta: np.ndarray, sparse: bool) -> Weights:
    return Weights(theta[:-1], theta[-1], sparse)
