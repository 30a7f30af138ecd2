"""From class indices and class weights to a problem, and from a problem to the solver that fits it.

F(w, b) = Σ_i (C s_i c_{y_i}) ℓ(y_i, x_iᵀw + b) + l1‖w‖₁ + l2/2‖w‖²
"""

import numpy as np

from ...data.rows import Rows
from ...losses import Loss
from ...penalties import Penalty
from ..first_order.lbfgs import LBFGS
from ..first_order.proximal_gradient import ProximalGradient
from ..loop import Fit, Solver, minimise
from ..problem import Problem
from ..progress import OnStep, ignore
from .newton import Newton
from .newton_cg import NewtonCG
from .sampled_newton import SampledNewton, worth_sampling
from .weightless import not_all_there, of_those_with_weight

FEW_COLUMNS = 600  # up to which a Hessian each step is cheaper than products with it
SMALL_WORK = 2e9  # n·(pK)² up to which it is in any case
FEW_UNKNOWNS = 1000  # pK up to which the Hessian of a sample of the rows is factored
WORTH_SAMPLING = 1 << 20  # elements of X above which some of the rows come first
SMALL_SYSTEM = 300  # pK of a Hessian that is factored for its small work alone
FEW_ELEMENTS = 1 << 20  # of X, times classes: some steps more take milliseconds
# times less than what is asked: with the excess at 1e-6 coefficients had 3 digits, where
# scikit-learn's of the same name and tol have 5
AS_OTHERS = 1e-4
ACCURATE = 1e-8  # times less than what is asked, where another step costs next to nothing
# a certificate that misses its mark by a little asks the solver for more
TIGHTER = (1.0, 1e-3, 1e-6)


def classification(
    rows: Rows,
    loss: Loss,
    penalty: Penalty,
    fit_intercept: bool,
    n_classes: int,
    C: float = 1.0,
    class_weight: np.ndarray | None = None,
) -> Problem:
    """``rows``: y (n, 1) the index of a row's class, s the sample weights."""
    assert rows.y is not None
    k = rows.y[:, 0]
    s = rows.s
    if class_weight is not None:
        c = class_weight[k.astype(np.intp)]
        s = c if s is None else s * c
    if C != 1:
        s = np.full(len(k), C) if s is None else C * s
    y = rows.y if loss.several else 2 * rows.y - 1
    weighted = rows.with_targets(y, s)
    return Problem(weighted, loss, penalty, fit_intercept, n_classes if loss.several else 1)


def against_the_rest(
    rows: Rows,
    loss: Loss,
    penalty: Penalty,
    fit_intercept: bool,
    n_classes: int,
    class_weight: np.ndarray | None = None,
) -> list[Problem]:
    """A problem for each class, y = 1 for its rows and −1 for the rest, whose class weight is 1."""
    assert rows.y is not None
    problems = []
    for k in range(n_classes):
        own = rows.y[:, 0] == k
        s = rows.s
        if class_weight is not None:
            c = np.where(own, class_weight[k], 1.0)
            s = c if s is None else s * c
        y = np.where(own, 1.0, -1.0)[:, None]
        problems.append(Problem(rows.with_targets(y, s), loss, penalty, fit_intercept))
    return problems


def coordinate_descent_takes(problem: Problem) -> bool:
    """Else a penalty is known by its prox alone."""
    return not (np.isnan(problem.l1) or np.isnan(problem.l2) or problem.positive)


def choose(problem: Problem, name: str = "auto") -> Solver:
    """The solver by its name, or the fastest for the problem's shape and penalty."""
    if not coordinate_descent_takes(problem):
        return ProximalGradient()
    if problem.l1 > 0:
        from ..lasso.coordinate_descent import CoordinateDescent

        return CoordinateDescent()
    n, p = problem.rows.shape
    unknowns = p * problem.outputs
    if name == "newton-cholesky":
        return Newton()
    if name == "newton-cg":
        return NewtonCG()
    if name == "lbfgs":
        return LBFGS()
    work = float(n) * unknowns**2
    plain = problem.loss.name in ("logistic", "softmax") and not problem.rows.sparse
    if plain and n * p >= WORTH_SAMPLING and unknowns <= FEW_UNKNOWNS and worth_sampling(problem):
        return SampledNewton()
    small = unknowns <= SMALL_SYSTEM and work <= SMALL_WORK
    dense = not problem.rows.sparse or problem.rows.X.density > 0.1
    if small or (dense and problem.outputs == 1 and p <= FEW_COLUMNS and n > p):
        return Newton()
    return NewtonCG()


def solve(
    problem: Problem,
    solver: Solver,
    start: tuple[np.ndarray, np.ndarray] | None,
    tol: float,
    max_iter: int,
    on_step: OnStep = ignore,
    before: int = 0,
) -> Fit:
    """Minimise; of K scores, those whose sum over the classes is 0 where nothing decides."""
    n, p = problem.rows.shape
    if isinstance(solver, Newton) and float(n) * (p * problem.outputs) ** 2 <= SMALL_WORK:
        tol *= ACCURATE  # for the sake of the coefficients' digits: convergence is quadratic
    elif isinstance(solver, NewtonCG) and n * p * problem.outputs <= FEW_ELEMENTS:
        tol *= AS_OTHERS
    if not_all_there(problem):
        return of_those_with_weight(problem, solver, start, tol, max_iter, on_step, before)
    fit = minimise(problem, solver, start, tol, max_iter, on_step, before)
    if not problem.loss.several:
        return fit
    b = fit.b - fit.b.mean() if problem.fit_intercept else fit.b
    w = fit.w
    if problem.l1 == 0 and problem.l2 == 0:
        w = w - w.mean(axis=1, keepdims=True)
    return fit._replace(w=w, b=b)
