"""Squared loss with L1, elastic net, MCP or SCAD as a solver under the common loop."""

from typing import NamedTuple

import numpy as np

from ...runtime.pool import blas_limiter
from ..loop import State
from ..problem import Problem
from .coordinate_penalty import CoordinatePenalty
from .elastic_net import ElasticNetResult, advance, first_working_set_size, result_at
from .elastic_net_path import regressions
from .squared_columns import SquaredLossColumns


class WorkingSetsState(NamedTuple):
    columns: SquaredLossColumns
    result: ElasticNetResult
    size: int  # columns in the next working set


class WorkingSets:
    """Coordinate descent on working sets with cached sums of products (``elastic_net.py``)."""

    name = "cd"

    @staticmethod
    def fits(problem: Problem) -> bool:
        """Return whether this solver takes the problem's loss and penalty."""
        penalty = getattr(problem.penalty, "name", "")
        known = penalty in ("mcp", "scad") or (penalty in ("l1", "elastic_net") and problem.l1 > 0)
        return known and problem.loss.name == "squared" and problem.outputs == 1

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        with blas_limiter:
            (regression,) = regressions(problem.rows, problem.fit_intercept, 1.0)
            columns = regression.columns
            penalty = CoordinatePenalty.of(problem.penalty, len(w))
            result = result_at(columns, penalty, w[:, 0], columns.evaluate(w[:, 0]))
        return _state(WorkingSetsState(columns, result, first_working_set_size(len(w), penalty)))

    def step(self, problem: Problem, state: State) -> State:
        columns, result, size = state.solver_state
        penalty = CoordinatePenalty.of(problem.penalty, columns.p)
        with blas_limiter:
            result, size, stalled = advance(columns, penalty, result, size, problem.goal)
        return _state(WorkingSetsState(columns, result, size), stalled)


def _state(solver_state: WorkingSetsState, stalled: bool = False) -> State:
    result, b = solver_state.result, solver_state.columns.intercept(solver_state.result.w)
    return State(
        result.w[:, None], np.array([b]), result.objective, result.excess, result.bound, stalled,
        solver_state=solver_state,
    )  # fmt: skip
