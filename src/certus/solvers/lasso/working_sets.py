"""Squared loss with L1, elastic net, MCP or SCAD as a solver under the common loop."""

from typing import NamedTuple

import numpy as np

from ...runtime.pool import blas_limiter
from ..loop import State
from ..problem import Problem
from .coordinate_penalty import CoordinatePenalty
from .elastic_net import Found, advance, first_size, judged
from .elastic_net_path import regressions
from .squared_columns import Columns


class _More(NamedTuple):
    columns: Columns
    found: Found
    size: int  # of the next working set


class WorkingSets:
    """Coordinate descent on working sets, whose sums of products are kept: ``elastic_net.py``."""

    name = "cd"

    @staticmethod
    def fits(problem: Problem) -> bool:
        """Is this a problem for it?"""
        penalty = getattr(problem.penalty, "name", "")
        known = penalty in ("mcp", "scad") or (penalty in ("l1", "elastic_net") and problem.l1 > 0)
        return known and problem.loss.name == "squared" and problem.outputs == 1

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        with blas_limiter:
            (regression,) = regressions(problem.rows, problem.fit_intercept, 1.0)
            columns = regression.columns
            penalty = CoordinatePenalty.of(problem.penalty, len(w))
            found = judged(columns, penalty, w[:, 0], columns.look(w[:, 0]))
        return _state(_More(columns, found, first_size(len(w), penalty)))

    def step(self, problem: Problem, state: State) -> State:
        columns, found, size = state.solver_state
        penalty = CoordinatePenalty.of(problem.penalty, columns.p)
        with blas_limiter:
            found, size, stalled = advance(columns, penalty, found, size, problem.goal)
        return _state(_More(columns, found, size), stalled)


def _state(more: _More, stalled: bool = False) -> State:
    found, b = more.found, more.columns.intercept(more.found.w)
    return State(
        found.w[:, None], np.array([b]), found.objective, found.excess, found.bound, stalled,
        solver_state=more,
    )  # fmt: skip
