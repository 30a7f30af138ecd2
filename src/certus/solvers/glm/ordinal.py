r"""Newton's method for the proportional-odds model.

    F(w, c) = −Σ s log P(y | x) + α/2 ‖w‖²,   P(y ≤ k | x) = σ(c_k − xᵀw)
    −log P = log(1 + e^{−(c_y − z)}) + log(1 + e^{c_{y−1} − z}) − log(1 − e^{−(c_y − c_{y−1})})

F is convex, and ∞ where thresholds do not increase, so that Newton steps, halved until F falls,
remain feasible. Columns are centred and scaled against overflow (``coordinates.py``), which leaves
z − c_k unchanged. Each step is one pass.

Columns that nearly repeat others, or outnumber the rows, are replaced by orthogonal combinations
(``linalg/orthogonal.py``): the optimal w is a combination of the rows.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import NonFiniteError, gram_block_rows
from ..linalg.orthogonal import Orthogonal, orthogonal
from ..loop import Fit
from ..problem import weights_of_classes
from ..progress import OnStep, Step, ignore
from .coordinates import Coordinates, coordinates

SOLVER_NAME = "newton"
MAX_CONDITION = 1e10  # of the scaled Hessian; beyond it its inverse has few correct digits
MAX_STEP_HALVINGS = 60  # a factor of 1e-18
OBJECTIVE_ROUNDING = 1e-14  # relative: a decrease of F below this cannot be seen
GOAL_FACTOR = 1e-8  # of the goal: convergence is quadratic, so the last steps are cheap


class OrdinalSums(NamedTuple):
    """Losses, gradient and Hessian, summed over rows."""

    f: float
    n_correct: int  # rows between both their thresholds, or of weight 0
    g: np.ndarray  # (p + K − 1,)
    H: np.ndarray


class OrdinalPoint(NamedTuple):
    """F at θ, and the Newton step from there."""

    theta: np.ndarray  # (u, c)
    F: float
    step: np.ndarray
    decrement: float  # λ²/2
    separated: bool
    condition: float  # of the scaled Hessian


class CombinedColumns(NamedTuple):
    """Coordinates in which each block of X becomes one of its combinations, when it is read."""

    basis: Orthogonal
    correction: None = None

    def block(self, X: np.ndarray) -> np.ndarray:
        return self.basis.of(X)


class OrdinalProblem(NamedTuple):
    """The problem in centred columns, or in orthogonal combinations of them."""

    rows: Rows  # of x, or of the combinations
    at: "Coordinates | CombinedColumns"
    class_weights: np.ndarray  # Σ s of each class
    l2: np.ndarray  # (p,), or (r, r) of combinations
    basis: Orthogonal | None = None
    user_rows: Rows | None = None  # rows of x, where ``rows`` holds combinations
    null: OrdinalPoint | None = None  # that of the thresholds alone, where it is known

    def to_internal(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return θ of w (p, 1) and b = −c (K − 1,)."""
        if self.basis is None or self.user_rows is None:
            assert isinstance(self.at, Coordinates)
            u, beta = self.at.to_internal(w, b)
            return np.concatenate([u[:, 0], -beta])
        eta = self.basis.to_internal(w[:, 0])
        level = self.basis.mean @ eta - self.basis.mean_score(self.user_rows, w[:, 0])
        return np.concatenate([eta, level - b])

    def to_user(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = len(self.l2)
        if self.basis is None or self.user_rows is None:
            assert isinstance(self.at, Coordinates)
            return self.at.to_user(theta[:p, None], -theta[p:])
        w = self.basis.to_user(theta[:p])
        level = self.basis.mean @ theta[:p] - self.basis.mean_score(self.user_rows, w)
        return w[:, None], level - theta[p:]

    def penalty_gradient(self, u: np.ndarray) -> np.ndarray:
        """Return the gradient of the penalty ½uᵀΛu."""
        return self.l2 * u if self.l2.ndim == 1 else self.l2 @ u


def ordinal_problem(rows: Rows, n_classes: int, alpha: float = 0.0) -> OrdinalProblem:
    """Return the problem of y (n, 1) in 0 … K − 1, in well-conditioned coordinates."""
    rows = rows.dense()
    (class_weights,) = rows.reduce_targets(weights_of_classes, n_classes)
    n, p = rows.shape
    if p < n:
        at = coordinates(rows, True)
        l2 = alpha * np.broadcast_to(at.scale, (p,)) ** 2
        problem = OrdinalProblem(rows, at, class_weights, l2)
        point = _point(problem, _null_theta(problem))
        if not np.isfinite(point.F):
            raise NonFiniteError
        if point.condition < MAX_CONDITION:
            return problem._replace(null=point)
    basis = orthogonal(rows, True, alpha)
    T = basis.in_users_units
    r = T.shape[1]
    l2 = alpha * (T.T @ T)
    if rows.streamed:
        return OrdinalProblem(rows, CombinedColumns(basis), class_weights, l2, basis, rows)
    identity = Coordinates(np.zeros(r), None, np.ones(r), False)
    return OrdinalProblem(basis.rows(rows), identity, class_weights, l2, basis, rows)


def _null_theta(problem: OrdinalProblem) -> np.ndarray:
    """Return θ of the null model: w = 0 and the thresholds of the class shares."""
    below, class_weights = np.cumsum(problem.class_weights)[:-1], problem.class_weights
    return np.concatenate(
        [np.zeros(len(problem.l2)), np.log(below / (class_weights.sum() - below))]
    )


def minimize(
    problem: OrdinalProblem, start: tuple[np.ndarray, np.ndarray] | None, tol: float, max_iter: int,
    on_step: OnStep = ignore, before: int = 0,
) -> Fit:  # fmt: skip
    """Minimise F. ``Fit.b`` is −c. ``before``: steps already made.

    O(n·m² + m³) operations a step and O(m²) memory a thread, m = min(n, p).
    """
    point = problem.null or _point(problem, _null_theta(problem))
    if not np.isfinite(point.F):
        raise NonFiniteError
    if start is not None:
        candidate = _point(problem, problem.to_internal(*start))
        point = candidate if candidate.F < point.F else point
    f0 = float(-problem.class_weights @ np.log(problem.class_weights / problem.class_weights.sum()))
    return _minimize(problem, point, tol * f0, max_iter, on_step, before)


def _minimize(
    problem: OrdinalProblem,
    point: OrdinalPoint,
    goal: float,
    max_iter: int,
    on_step: OnStep,
    before: int,
) -> Fit:
    iteration = before
    while True:
        current_fit = partial(_fit, problem, point, goal, iteration)
        is_new = iteration > before or before == 0
        if is_new and on_step(Step(iteration, point.F, None, current_fit)):
            return current_fit()
        if point.decrement <= goal * GOAL_FACTOR or point.separated:
            return current_fit()
        if iteration >= max_iter:
            return current_fit()._replace(stopped_at=max_iter)
        better = _line_search(problem, point)
        # where rounding hides the decrease of F, the gradient decides
        below_rounding = point.decrement <= OBJECTIVE_ROUNDING * abs(point.F)
        if better is None or (below_rounding and not better.decrement < point.decrement):
            return current_fit()
        point, iteration = better, iteration + 1


def _fit(problem: OrdinalProblem, point: OrdinalPoint, goal: float, iteration: int) -> Fit:
    converged = point.decrement <= goal / 4 and not point.separated
    w, b = problem.to_user(point.theta)
    aliases = None if problem.basis is None else problem.basis.aliases
    return Fit(w, b, SOLVER_NAME, iteration, None, converged, aliases is not None, aliases=aliases)


def _line_search(problem: OrdinalProblem, point: OrdinalPoint) -> OrdinalPoint | None:
    """Return the point after the first of the steps 1, ½, ¼, … that lowers F enough."""
    t, noise = 1.0, OBJECTIVE_ROUNDING * abs(point.F)
    for _ in range(MAX_STEP_HALVINGS):
        new = _point(problem, point.theta + t * point.step)
        if new.F - noise <= point.F - 2e-4 * t * point.decrement:
            return new
        t /= 2
    return None


def _point(problem: OrdinalProblem, theta: np.ndarray) -> OrdinalPoint:
    """Return F and the Newton step at θ; F = ∞ where θ is infeasible."""
    found = derivatives(problem, theta)
    if found is None:
        return OrdinalPoint(theta, np.inf, theta, np.inf, False, np.inf)
    F, g, H, n_correct = found
    step, condition = _newton_step(H, g)
    separated = not problem.l2.any() and n_correct == problem.rows.shape[0]
    return OrdinalPoint(theta, F, step, -float(g @ step) / 2, separated, condition)


@np.errstate(over="ignore", invalid="ignore")  # points that are not finite are refused
def derivatives(
    problem: OrdinalProblem, theta: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, int] | None:
    """Return F, its gradient and Hessian, and the number of rows between their thresholds.

    None where θ is infeasible, or one of them is not finite.
    """
    rows, p = problem.rows, len(problem.l2)
    u, c = theta[:p], theta[p:]
    if not (np.diff(c) > 0).all():
        return None
    sums: OrdinalSums = rows.reduce(
        _sums, problem.at, u, c, block_rows=gram_block_rows(rows, p), square=True
    )
    value, slope, curvature = _gap_term(np.diff(c), problem.class_weights[1:-1])
    g, H = sums.g.copy(), sums.H.copy()
    ridge = problem.penalty_gradient(u)
    F = float(sums.f + value + ridge @ u / 2)
    g[:p] += ridge
    H[:p, :p] += np.diag(problem.l2) if problem.l2.ndim == 1 else problem.l2
    for k in range(len(c) - 1):
        pair = slice(p + k, p + k + 2)
        g[pair] += slope[k] * np.array([-1.0, 1.0])
        H[pair, pair] += curvature[k] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    if not (np.isfinite(F) and np.isfinite(H).all()):
        return None
    return F, g, H, int(sums.n_correct)


def _gap_term(d: np.ndarray, n: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return −n log(1 − e^{−d}) and its first two derivatives in d."""
    e = -np.expm1(-d)  # 1 − e^{−d}
    return float(-n @ np.log(e)), -n * np.exp(-d) / e, n * np.exp(-d) / e**2


def _newton_step(H: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, float]:
    """Return −H⁺g, computed on columns scaled to a diagonal of 1, and their condition number."""
    diagonal = np.diagonal(H)
    d = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    A = H / d / d[:, None]
    A.flat[:: len(d) + 1] = 1.0  # also for constant columns, where g is 0
    R, condition = factor(A.copy())
    if condition < 1 / (16 * len(A) * np.finfo(float).eps):
        x = cholesky_solve(R, (g / d)[:, None])[:, 0]
    else:
        values, V = np.linalg.eigh(A)
        large = values > 16 * len(A) * np.finfo(float).eps * values[-1]
        x = V[:, large] @ ((V[:, large].T @ (g / d)) / values[large])
    return -x / d, np.inf if np.isinf(d).any() else condition


def _sums(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    at: Coordinates | CombinedColumns,
    u: np.ndarray,
    c: np.ndarray,
) -> OrdinalSums:
    """Return the sums of the two logistic terms of each row, with derivatives."""
    X, y = at.block(X), y[:, 0].astype(np.intp)
    shift = at.correction
    A = np.asarray(X, dtype=float) if shift is None else np.subtract(X, shift, dtype=float)
    z = np.dot(A, u)
    p, K = len(u), len(c) + 1
    weight = np.ones(len(z)) if s is None else s
    # signed distances beyond the upper and the lower threshold; −∞ where there is none
    ends = np.concatenate([[-np.inf], c, [np.inf]])
    above, below = z - ends[y + 1], ends[y] - z
    is_correct = (above < 0) & (below < 0) | (weight == 0)
    f = weight @ (np.logaddexp(0.0, above) + np.logaddexp(0.0, below))
    (i, h), (j, k) = _softplus_derivatives(above), _softplus_derivatives(below)
    i, h, j, k = (weight * part for part in (i, h, j, k))
    g, H = np.empty(p + K - 1), np.zeros((p + K - 1, p + K - 1))
    g[:p] = np.dot(i - j, A)
    g[p:] = np.bincount(y, -i, K)[:-1] + np.bincount(y, j, K)[1:]
    H[:p, :p] = np.dot(A.T, (h + k)[:, None] * A)
    by_threshold = np.zeros((len(z), K + 1))  # a column for each threshold, including ±∞
    by_threshold[np.arange(len(z)), y + 1] = h
    by_threshold[np.arange(len(z)), y] = k
    H[:p, p:] = -np.dot(A.T, by_threshold[:, 1:-1])
    H[p:, :p] = H[:p, p:].T
    H[np.arange(p, p + K - 1), np.arange(p, p + K - 1)] = by_threshold[:, 1:-1].sum(axis=0)
    return OrdinalSums(f, is_correct.sum(), g, H)


def _softplus_derivatives(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first two derivatives of log(1 + e^m)."""
    e = np.exp(-np.abs(m))
    return np.where(m > 0, 1.0, e) / (1 + e), e / (1 + e) ** 2
