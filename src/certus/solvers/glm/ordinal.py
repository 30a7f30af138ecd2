r"""Newton's method for the proportional-odds model.

    F(w, c) = −Σ s log P(y | x) + α/2 ‖w‖²,   P(y ≤ k | x) = σ(c_k − xᵀw)
    −log P = log(1 + e^{−(c_y − z)}) + log(1 + e^{c_{y−1} − z}) − log(1 − e^{−(c_y − c_{y−1})})

F is convex and ∞ where thresholds do not rise, so that Newton steps, halved until F falls, stay
where they do. Columns are centred and within reach of squares inside (``coordinates.py``):
z − c_k does not change. One pass a step.

Columns that nearly repeat others, and columns that outnumber the rows, give way to combinations
that are orthogonal (``linalg/orthogonal.py``): the optimum lies among the combinations of rows.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import NonFiniteError, gram_block_rows
from ..linalg.orthogonal import Orthogonal, orthogonal
from ..loop import Fit
from ..progress import OnStep, Step, ignore
from .coordinates import Coordinates, coordinates

NAME = "newton"
DEPENDENT = 1e10  # condition of the scaled Hessian from which its inverse has few digits left
HALVINGS = 60
ROUNDING = 1e-14  # of F: a decrease below this cannot be seen
ACCURATE = 1e-8  # times less than what is asked: the last steps are cheap, convergence is quadratic


class Sums(NamedTuple):
    f: float
    right: int  # rows on the right side of both their thresholds, or of weight 0
    g: np.ndarray  # (p + K − 1,)
    H: np.ndarray


class Point(NamedTuple):
    theta: np.ndarray  # (u, c)
    F: float
    step: np.ndarray
    decrement: float  # λ²/2
    separated: bool
    condition: float  # of the scaled Hessian


class Proportional(NamedTuple):
    """The problem in coordinates: those of columns that are centred, or of combinations of them."""

    rows: Rows  # of x, or of the combinations z
    at: Coordinates
    mass: np.ndarray  # Σ s of each class
    l2: np.ndarray  # (p,), or (r, r) of combinations
    basis: Orthogonal | None = None
    given: Rows | None = None  # of x, where ``rows`` are of combinations

    def inside(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """θ of w (p, 1) and b = −c (K − 1,)."""
        if self.basis is None or self.given is None:
            u, beta = self.at.inside(w, b)
            return np.concatenate([u[:, 0], -beta])
        eta = self.basis.inside(w[:, 0])
        level = self.basis.mean @ eta - self.basis.mean_score(self.given, w[:, 0])
        return np.concatenate([eta, level - b])

    def outside(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = len(self.l2)
        if self.basis is None or self.given is None:
            return self.at.outside(theta[:p, None], -theta[p:])
        w = self.basis.outside(theta[:p])
        level = self.basis.mean @ theta[:p] - self.basis.mean_score(self.given, w)
        return w[:, None], level - theta[p:]

    def quadratic(self, u: np.ndarray) -> np.ndarray:
        """The gradient of the penalty ½uᵀΛu."""
        return self.l2 * u if self.l2.ndim == 1 else self.l2 @ u


def problem_of(rows: Rows, n_classes: int, alpha: float = 0.0) -> Proportional:
    """The problem of y (n, 1), 0 … K − 1, in coordinates in which sums keep their digits."""
    rows = rows.dense()
    assert rows.y is not None
    mass = np.bincount(rows.y[:, 0].astype(np.intp), rows.s, n_classes).astype(float)
    n, p = rows.shape
    if p < n:
        at = coordinates(rows, True)
        l2 = alpha * np.broadcast_to(at.scale, (p,)) ** 2
        problem = Proportional(rows, at, mass, l2)
        point = _point(problem, _nothing(problem))
        if not np.isfinite(point.F):
            raise NonFiniteError
        if point.condition < DEPENDENT:
            return problem
    basis = orthogonal(rows, True, alpha)
    T = basis.in_users_units
    r = T.shape[1]
    as_they_are = Coordinates(np.zeros(r), None, np.ones(r), False)
    l2 = alpha * (T.T @ T)
    return Proportional(basis.rows(rows), as_they_are, mass, l2, basis, rows)


def _nothing(problem: Proportional) -> np.ndarray:
    """θ of the thresholds alone."""
    below, mass = np.cumsum(problem.mass)[:-1], problem.mass
    return np.concatenate([np.zeros(len(problem.l2)), np.log(below / (mass.sum() - below))])


def minimise(
    problem: Proportional, start: tuple[np.ndarray, np.ndarray] | None, tol: float, max_iter: int,
    on_step: OnStep = ignore, before: int = 0,
) -> Fit:  # fmt: skip
    """Minimise F. ``b`` of the answer is −c. ``before``: steps already made.

    O(n·m² + m³) operations a step and O(m²) memory a thread, m = min(n, p).
    """
    point = _point(problem, _nothing(problem))
    if not np.isfinite(point.F):
        raise NonFiniteError
    if start is not None:
        there = _point(problem, problem.inside(*start))
        point = there if there.F < point.F else point
    f0 = float(-problem.mass @ np.log(problem.mass / problem.mass.sum()))
    return _minimise(problem, point, tol * f0, max_iter, on_step, before)


def _minimise(
    problem: Proportional, point: Point, goal: float, max_iter: int, on_step: OnStep, before: int
) -> Fit:
    iteration = before
    while True:
        here = partial(_fit, problem, point, goal, iteration)
        told = iteration > before or before == 0
        if told and on_step(Step(iteration, point.F, None, here)):
            return here()
        if point.decrement <= goal * ACCURATE or point.separated:
            return here()
        if iteration >= max_iter:
            return here()._replace(stopped_at=max_iter)
        better = _shorter(problem, point)
        # what F no longer shows, the gradient does
        unseen = point.decrement <= ROUNDING * abs(point.F)
        if better is None or (unseen and not better.decrement < point.decrement):
            return here()
        point, iteration = better, iteration + 1


def _fit(problem: Proportional, point: Point, goal: float, iteration: int) -> Fit:
    converged = point.decrement <= goal / 4 and not point.separated
    w, b = problem.outside(point.theta)
    aliases = None if problem.basis is None else problem.basis.aliases
    return Fit(w, b, NAME, iteration, None, converged, aliases is not None, aliases=aliases)


def _shorter(problem: Proportional, point: Point) -> Point | None:
    """The first of the steps 1, ½, ¼, … that lowers F."""
    t, noise = 1.0, ROUNDING * abs(point.F)
    for _ in range(HALVINGS):
        new = _point(problem, point.theta + t * point.step)
        if new.F - noise <= point.F - 2e-4 * t * point.decrement:
            return new
        t /= 2
    return None


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is no step
def _point(problem: Proportional, theta: np.ndarray) -> Point:
    rows, p = problem.rows, len(problem.l2)
    u, c = theta[:p], theta[p:]
    nowhere = Point(theta, np.inf, theta, np.inf, False, np.inf)
    if not (np.diff(c) > 0).all():
        return nowhere
    sums: Sums = rows.reduce(_sums, problem.at, u, c, block_rows=gram_block_rows(rows), square=True)
    value, slope, bend = _between(np.diff(c), problem.mass[1:-1])
    g, H = sums.g.copy(), sums.H.copy()
    pull = problem.quadratic(u)
    F = float(sums.f + value + pull @ u / 2)
    g[:p] += pull
    H[:p, :p] += np.diag(problem.l2) if problem.l2.ndim == 1 else problem.l2
    for k in range(len(c) - 1):
        pair = slice(p + k, p + k + 2)
        g[pair] += slope[k] * np.array([-1.0, 1.0])
        H[pair, pair] += bend[k] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    if not (np.isfinite(F) and np.isfinite(H).all()):
        return nowhere
    step, condition = _newton_step(H, g)
    separated = not problem.l2.any() and int(sums.right) == rows.shape[0]
    return Point(theta, F, step, -float(g @ step) / 2, separated, condition)


def _between(d: np.ndarray, n: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """−n log(1 − e^{−d}) and its two derivatives in d."""
    e = -np.expm1(-d)  # 1 − e^{−d}
    return float(-n @ np.log(e)), -n * np.exp(-d) / e, n * np.exp(-d) / e**2


def _newton_step(H: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, float]:
    """−H⁺g on columns scaled to a diagonal of 1; and the condition of these."""
    diagonal = np.diagonal(H)
    d = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    A = H / d / d[:, None]
    A.flat[:: len(d) + 1] = 1.0  # also where nothing varies: there g is 0
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
    at: Coordinates,
    u: np.ndarray,
    c: np.ndarray,
) -> Sums:
    """The two logistic terms of each row, with derivatives."""
    X, y = at.block(X), y[:, 0].astype(np.intp)
    shift = at.correction
    A = np.asarray(X, dtype=float) if shift is None else np.subtract(X, shift, dtype=float)
    z = np.dot(A, u)
    p, K = len(u), len(c) + 1
    weight = np.ones(len(z)) if s is None else s
    # thresholds above and below; ∞ where there is none
    ends = np.concatenate([[-np.inf], c, [np.inf]])
    above, below = z - ends[y + 1], ends[y] - z
    right = (above < 0) & (below < 0) | (weight == 0)
    f = weight @ (np.logaddexp(0.0, above) + np.logaddexp(0.0, below))
    (i, h), (j, k) = _slope_and_bend(above), _slope_and_bend(below)
    i, h, j, k = (weight * part for part in (i, h, j, k))
    g, H = np.empty(p + K - 1), np.zeros((p + K - 1, p + K - 1))
    g[:p] = np.dot(i - j, A)
    g[p:] = np.bincount(y, -i, K)[:-1] + np.bincount(y, j, K)[1:]
    H[:p, :p] = np.dot(A.T, (h + k)[:, None] * A)
    each = np.zeros((len(z), K + 1))  # a column for each threshold, the ends too
    each[np.arange(len(z)), y + 1] = h
    each[np.arange(len(z)), y] = k
    H[:p, p:] = -np.dot(A.T, each[:, 1:-1])
    H[p:, :p] = H[:p, p:].T
    H[np.arange(p, p + K - 1), np.arange(p, p + K - 1)] = each[:, 1:-1].sum(axis=0)
    return Sums(f, right.sum(), g, H)


def _slope_and_bend(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of log(1 + e^m)."""
    e = np.exp(-np.abs(m))
    return np.where(m > 0, 1.0, e) / (1 + e), e / (1 + e) ** 2
