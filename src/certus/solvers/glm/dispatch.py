"""Build the problem of a classifier, and choose and run the solver that suits it.

F(w, b) = Σ_i (C s_i c_{y_i}) ℓ(y_i, x_iᵀw + b) + l1‖w‖₁ + l2/2‖w‖²
"""

import numpy as np

from ...data.rows import Rows
from ...losses import Loss
from ...penalties import Penalty
from ..first_order.lbfgs import LBFGS
from ..first_order.proximal_gradient import ProximalGradient
from ..loop import Fit, Solver, minimize
from ..problem import Problem
from ..progress import OnStep, ignore
from .newton import Newton
from .newton_cg import NewtonCG
from .sampled_newton import SampledNewton, worth_sampling
from .weightless import has_weightless_class, minimize_over_weighted_classes

MAX_HESSIAN_COLUMNS = 600  # up to which factoring the Hessian is cheaper than products with it
SMALL_HESSIAN_WORK = 2e9  # n·(pK)² up to which it is cheaper in any case …
MAX_SMALL_UNKNOWNS = 300  # … provided that pK is at most this
MAX_SAMPLED_UNKNOWNS = 1000  # pK up to which the Hessian of a sample of the rows is factored
MIN_SAMPLING_ELEMENTS = 1 << 20  # elements of X from which a sample of the rows is solved first
SMALL_PROBLEM_ELEMENTS = 1 << 20  # n·p·K up to which a few more steps take milliseconds
# factor of tol: with the excess at 1e-6 coefficients had 3 correct digits, where scikit-learn's
# solver of the same name has 5 at the same tol
NEWTON_CG_TOL_FACTOR = 1e-4
NEWTON_TOL_FACTOR = 1e-8  # factor of tol where another step costs next to nothing
# factors of tol for refits, where the certificate just misses its tolerance
RETRY_TOL_FACTORS = (1.0, 1e-3, 1e-6)


def classification(
    rows: Rows,
    loss: Loss,
    penalty: Penalty,
    fit_intercept: bool,
    n_classes: int,
    C: float = 1.0,
    class_weight: np.ndarray | None = None,
) -> Problem:
    """Return the problem of one loss over all classes.

    ``rows``: y (n, 1) holds class indices, s the sample weights.
    """
    weighted = rows.recoded(_as_loss_takes_them, C, class_weight, bool(loss.several))
    return Problem(weighted, loss, penalty, fit_intercept, n_classes if loss.several else 1)


def _as_loss_takes_them(
    y: np.ndarray,
    s: np.ndarray | None,
    C: float,
    class_weight: np.ndarray | None,
    several: bool,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return class indices (n, 1), or ±1 for two classes, and the weights C s c_y."""
    if class_weight is not None:
        c = class_weight[y[:, 0].astype(np.intp)]
        s = c if s is None else s * c
    if C != 1:
        s = np.full(len(y), C) if s is None else C * s
    return y if several else 2 * y - 1, s


def one_vs_rest(
    rows: Rows,
    loss: Loss,
    penalty: Penalty,
    fit_intercept: bool,
    n_classes: int,
    class_weight: np.ndarray | None = None,
) -> list[Problem]:
    """Return a problem for each class: y = 1 for its rows, −1 for all others, whose weight is 1."""
    return [
        Problem(rows.recoded(_against_rest, k, class_weight), loss, penalty, fit_intercept)
        for k in range(n_classes)
    ]


def _against_rest(
    y: np.ndarray, s: np.ndarray | None, k: int, class_weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return ±1 (n, 1) for class k and the rest, and the weights."""
    in_class = y[:, 0] == k
    if class_weight is not None:
        c = np.where(in_class, class_weight[k], 1.0)
        s = c if s is None else s * c
    return np.where(in_class, 1.0, -1.0)[:, None], s


def supports_coordinate_descent(problem: Problem) -> bool:
    """Return whether the penalty is an L1 or elastic net without sign constraint."""
    return not (np.isnan(problem.l1) or np.isnan(problem.l2) or problem.positive)


def choose(problem: Problem, name: str = "auto") -> Solver:
    """Return the solver of that name, or the fastest for the problem's shape and penalty."""
    if not supports_coordinate_descent(problem):
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
    if (
        plain
        and n * p >= MIN_SAMPLING_ELEMENTS
        and unknowns <= MAX_SAMPLED_UNKNOWNS
        and worth_sampling(problem)
    ):
        return SampledNewton()
    small = unknowns <= MAX_SMALL_UNKNOWNS and work <= SMALL_HESSIAN_WORK
    dense = not problem.rows.sparse or problem.rows.X.density > 0.1
    if small or (dense and problem.outputs == 1 and p <= MAX_HESSIAN_COLUMNS and n > p):
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
    """Minimise F. Where K scores are determined up to a constant, they are made to sum to 0."""
    n, p = problem.rows.shape
    if isinstance(solver, Newton) and float(n) * (p * problem.outputs) ** 2 <= SMALL_HESSIAN_WORK:
        tol *= NEWTON_TOL_FACTOR  # quadratic convergence: more digits of the coefficients for free
    elif isinstance(solver, NewtonCG) and n * p * problem.outputs <= SMALL_PROBLEM_ELEMENTS:
        tol *= NEWTON_CG_TOL_FACTOR
    if has_weightless_class(problem):
        return minimize_over_weighted_classes(
            problem, solver, start, tol, max_iter, on_step, before
        )
    fit = minimize(problem, solver, start, tol, max_iter, on_step, before)
    if not problem.loss.several:
        return fit
    b = fit.b - fit.b.mean() if problem.fit_intercept else fit.b
    w = fit.w
    if problem.l1 == 0 and problem.l2 == 0:
        w = w - w.mean(axis=1, keepdims=True)
    return fit._replace(w=w, b=b)
