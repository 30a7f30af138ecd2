"""Stochastic gradient descent on rows that arrive in parts and are not stored.

One pass is made over each part. F is the objective of all rows so far: S grows by the weight of
each part, so the penalty's share l2/S of a step falls. L is the largest curvature of any row so
far, and t counts the parts.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Problem
from .sgd import SGD, SGDProgress
from .stochastic import Weights, row_curvature


@dataclass
class StreamState:
    """Iterate and running totals of the rows so far."""

    theta: np.ndarray  # (p + 1, K)
    v: np.ndarray
    rng: np.random.Generator
    means: list[np.ndarray]  # of the θ of the last parts
    weight: float = 0.0  # S
    curvature: float = 0.0  # L
    parts: int = 0

    @classmethod
    def at(cls, solver: SGD, w: np.ndarray, b: np.ndarray) -> "StreamState":
        theta = np.vstack([w, b])
        rng = np.random.default_rng(solver.random_state)
        return cls(theta, np.zeros_like(theta), rng, [])

    def without_intercept(self) -> None:
        for theta in (self.theta, self.v, *self.means):
            theta[-1] = 0.0


def fit_part(solver: SGD, problem: Problem, stream: StreamState) -> tuple[np.ndarray, np.ndarray]:
    """Update ``stream`` in place by one pass over the next part, and return (w, b)."""
    sparse = problem.rows.sparse
    stream.weight += problem.rows.S
    lam = problem.l2 / stream.weight
    size = solver.batch_size
    L = row_curvature(problem)._replace(of_penalty=0.0).of_batch(size, problem.rows.shape[0])
    stream.curvature = max(stream.curvature, L)
    alpha = solver.step_length
    if alpha is None:
        alpha = (1 - solver.momentum) / ((stream.curvature + lam) or 1.0)
    going = SGDProgress(
        _weights(stream.theta, sparse),
        _weights(stream.v, sparse),
        stream.rng,
        deque(stream.means, maxlen=max(1, solver.average)),
    )
    answer = solver.one_pass(problem, going, alpha, lam, stream.parts)
    stream.theta, stream.v = going.theta.theta, going.v.theta
    stream.means, stream.parts = list(going.means), stream.parts + 1
    return answer[:-1], answer[-1]


def fit_part_of_each(
    solver: SGD, problems: Sequence[Problem], streams: Sequence[StreamState]
) -> tuple[np.ndarray, np.ndarray]:
    """Fit one part of several problems on the same rows, and return w (p, K) and b (K,)."""
    result: list[Any] = [fit_part(solver, *one) for one in zip(problems, streams, strict=True)]
    return np.hstack([w for w, _ in result]), np.concatenate([b for _, b in result])


def _weights(theta: np.ndarray, sparse: bool) -> Weights:
    return Weights(theta[:-1], theta[-1], sparse)
