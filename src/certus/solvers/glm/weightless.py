"""Classes without weight: with a free intercept, inf F is the minimum over the other classes.

    w_k = 0,  b_k → −∞  for a class k without weight;   the others are fitted without class k

b_k = −ABSENT_CLASS_INTERCEPT stands for −∞: exp(b_k) is 0 where the others' mean score is 0.
"""

from typing import Any

import numpy as np

from ..loop import Fit, Solver, minimize
from ..problem import Problem, class_weight_sums
from ..progress import OnStep, Step

ABSENT_CLASS_INTERCEPT = 1000.0  # exp(−746) is 0 in float64


def has_weightless_class(problem: Problem) -> bool:
    """Return whether a class without weight has a free intercept."""
    if not problem.fit_intercept or problem.loss.name not in ("logistic", "softmax"):
        return False
    return not class_weight_sums(problem).all()


def minimize_over_weighted_classes(
    problem: Problem, solver: Solver, start: Any, tol: float, max_iter: int, on_step: OnStep,
    before: int,
) -> Fit:  # fmt: skip
    """Minimise over the classes with weight, and give the others an intercept of nearly −∞."""
    has_weight = class_weight_sums(problem) > 0
    p, K = problem.rows.shape[1], len(has_weight)
    if not has_weight.any():
        raise ValueError(
            "the weights of all rows are 0 in float64 once C and class_weight are in them: give "
            "larger weights, or a larger C"
        )
    if np.count_nonzero(has_weight) == 1:
        b = (
            np.where(has_weight, 0.0, -ABSENT_CLASS_INTERCEPT)
            if problem.loss.several
            else np.where(has_weight[1:], ABSENT_CLASS_INTERCEPT, -ABSENT_CLASS_INTERCEPT)
        )
        return Fit(np.zeros((p, len(b))), b, solver.name, before)

    def expand(fit: Fit) -> Fit:
        w, b = np.zeros((p, K)), np.full(K, -ABSENT_CLASS_INTERCEPT)
        w[:, has_weight], b[has_weight] = fit.w, fit.b - fit.b.mean()
        if problem.l1 == 0 and problem.l2 == 0:
            w[:, has_weight] -= w[:, has_weight].mean(axis=1, keepdims=True)
        return fit._replace(w=w, b=b)

    def on_reduced_step(step: Step) -> bool:
        return on_step(step._replace(parameters=lambda: expand(step.parameters())))

    reduced = Problem(
        problem.rows.recoded(_among_weighted_classes, has_weight),
        problem.loss,
        problem.penalty,
        True,
        int(has_weight.sum()),
    )
    begin = None if start is None else (start[0][:, has_weight], start[1][has_weight])
    return expand(minimize(reduced, solver, begin, tol, max_iter, on_reduced_step, before))


def _among_weighted_classes(
    y: np.ndarray, s: np.ndarray | None, has_weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return indices (n, 1) among the classes with weight; rows of the others have weight 0."""
    k = y[:, 0].astype(np.intp)
    index = np.where(has_weight, np.cumsum(has_weight) - 1.0, 0.0)[k]
    weight = has_weight[k].astype(float) if s is None else np.where(has_weight[k], s, 0)
    return index[:, None], weight
