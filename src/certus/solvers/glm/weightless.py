"""Classes without weight, with a free intercept: inf F is the minimum over the other classes.

    w_k = 0,  b_k → −∞  for a class k without weight;   (w, b) of the others: that without class k

b_k = −FAR stands for −∞: exp(b_k) is 0 beside the others', whose mean score is 0.
"""

from typing import Any

import numpy as np

from ..loop import Fit, Solver, minimise
from ..problem import Problem, weight_of_classes
from ..progress import OnStep, Step

FAR = 1000.0  # exp(−746) is 0 in float64


def not_all_there(problem: Problem) -> bool:
    """Is there a free intercept of a class without weight?"""
    if not problem.fit_intercept or problem.loss.name not in ("logistic", "softmax"):
        return False
    return not weight_of_classes(problem).all()


def of_those_with_weight(
    problem: Problem, solver: Solver, start: Any, tol: float, max_iter: int, on_step: OnStep,
    before: int,
) -> Fit:  # fmt: skip
    """Minimise over the classes with weight, and put the others far away."""
    there = weight_of_classes(problem) > 0
    p, K = problem.rows.shape[1], len(there)
    if not there.any():
        raise ValueError(
            "the weights of all rows are 0 in float64 once C and class_weight are in them: give "
            "larger weights, or a larger C"
        )
    if np.count_nonzero(there) == 1:
        b = np.where(there, 0.0, -FAR) if problem.loss.several else np.where(there[1:], FAR, -FAR)
        return Fit(np.zeros((p, len(b))), b, solver.name, before)

    def all_of_them(fit: Fit) -> Fit:
        w, b = np.zeros((p, K)), np.full(K, -FAR)
        w[:, there], b[there] = fit.w, fit.b - fit.b.mean()
        if problem.l1 == 0 and problem.l2 == 0:
            w[:, there] -= w[:, there].mean(axis=1, keepdims=True)
        return fit._replace(w=w, b=b)

    def listen(step: Step) -> bool:
        return on_step(step._replace(parameters=lambda: all_of_them(step.parameters())))

    k = problem.y.astype(np.intp)
    number = np.where(there, np.cumsum(there) - 1.0, 0.0)[k]
    s = there[k].astype(float) if problem.rows.s is None else np.where(there[k], problem.rows.s, 0)
    others = Problem(
        problem.rows.with_targets(number[:, None], s),
        problem.loss,
        problem.penalty,
        True,
        int(there.sum()),
    )
    begin = None if start is None else (start[0][:, there], start[1][there])
    return all_of_them(minimise(others, solver, begin, tol, max_iter, listen, before))
