r"""Newton's method for Firth's logistic regression.

    F(θ) = −log L(θ) − ½ log det I(θ),   I = Σ s v x̃x̃ᵀ,   v = p(1 − p),  p = σ(x̃ᵀθ)

With u = Cx̃ for CᵀC = I⁻¹ (so that Σ s v uuᵀ is the identity), q = ‖u‖² = x̃ᵀI⁻¹x̃, v′ = v(1 − 2p) and
v″ = v(1 − 6v) the derivatives of v in the score, F has in the coordinates of u

    gradient   Σ s (p − y + vq(p − ½)) u
    Hessian    Σ s (v − ½v″q) uuᵀ + ½ BBᵀ,   B = Σ s v′ u ⊗ (u ⊗ u)

The traces tr I⁻¹∂²I and tr I⁻¹∂I I⁻¹∂I are the parts with v″ and B. B costs n·m³/2 for m
coefficients. Where that is much, and where the Hessian is not positive definite, the one with vq
held takes its place, Σ s v(1 + vq) uuᵀ: convergence is linear then, and the faster the less a row
weighs; where it is slow, B is worth its price. Steps are halved until F falls.

Two passes a step, one for a trial: I and log L first, what needs I⁻¹ second.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from ...data.rows import Rows
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import NonFiniteError, gram_block_rows
from ..linalg.orthogonal import Orthogonal, orthogonal
from ..loop import Fit
from ..progress import OnStep, Step, ignore
from .coordinates import Coordinates, coordinates

NAME = "newton"
MOST_THIRD_MOMENTS = 48  # coefficients up to which B is ever formed
SMALL_WORK = 1e7  # n·m³ up to which it costs less than a step
SLOW = 0.01  # share of the decrement that a step with vq held leaves, from which B is worth it …
FAR_AWAY = 3  # … after so many such steps: the first ones are slow in any case
DEPENDENT = 1e8  # condition of the scaled information, at θ = 0, from which columns are combined
SINGULAR = 1e15  # … at other θ, from which it is rounding
HALVINGS = 60
ROUNDING = 1e-13  # of the parts of F: a decrease below this cannot be seen
ACCURATE = 1e-8  # times less than what is asked: the last steps are cheap, convergence is quadratic


class Design(NamedTuple):
    """x̃ of a block: columns centred and within reach of squares, and a constant.

    Coefficients of F follow every linear change of columns: where these nearly, or fully, depend on
    each other, or outnumber the rows, orthogonal combinations take their place.
    """

    at: Coordinates
    intercept: bool
    basis: Orthogonal | None = None  # of ``given``, of which the rows are combinations
    given: Rows | None = None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        X, c = self.at.block(X), self.at.correction
        p = X.shape[1]
        A = np.empty((len(X), p + self.intercept))
        np.subtract(X, 0.0 if c is None else c, out=A[:, :p], dtype=float)
        A[:, p:] = 1.0
        return A

    def inside(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """θ of w (p, 1) and b (1,)."""
        if self.basis is None or self.given is None:
            u, beta = self.at.inside(w, b)
            return np.concatenate([u[:, 0], beta[: self.intercept]])
        eta = self.basis.inside(w[:, 0])
        if not self.intercept:
            return eta
        level = self.basis.mean_score(self.given, w[:, 0]) - self.basis.mean @ eta
        return np.append(eta, b + level)

    def outside(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(w, b) of θ."""
        eta = theta[: len(theta) - self.intercept]
        beta = theta[-1:] if self.intercept else np.zeros(1)
        if self.basis is None or self.given is None:
            w, b = self.at.outside(eta[:, None], beta)
            return w, b if self.intercept else np.zeros(1)
        u = self.basis.outside(eta)
        if self.intercept:
            beta = beta + self.basis.mean @ eta - self.basis.mean_score(self.given, u)
        return u[:, None], beta


class Point(NamedTuple):
    theta: np.ndarray
    F: float
    noise: float  # what rounding can do to F
    C: np.ndarray  # columns of x̃ᵀ C are u: C = D⁻¹R⁻¹


class Slopes(NamedTuple):
    g: np.ndarray  # (m,), in the coordinates of u
    held: np.ndarray  # Σ s v(1 + vq) uuᵀ
    H: np.ndarray  # Σ s (v − ½v″q) uuᵀ, or nothing
    B: np.ndarray  # (m, m(m+1)/2), or nothing


class Firth(NamedTuple):
    """Rows in coordinates in which I keeps its digits, and θ = 0 in them."""

    rows: Rows
    design: Design
    zero: Point


def problem_of(rows: Rows, fit_intercept: bool) -> Firth:
    """The problem of rows whose y (n, 1) is 0 or 1."""
    rows = rows.dense()
    n, p = rows.shape
    if p < n:
        design = Design(coordinates(rows, fit_intercept), fit_intercept)
        zero = _point(rows, design, np.zeros(p + fit_intercept), DEPENDENT)
        if zero is not None:
            return Firth(rows, design, zero)
    basis = orthogonal(rows, fit_intercept)
    r = basis.T.shape[1]
    as_they_are = Coordinates(np.zeros(r), None, np.ones(r), False)
    design = Design(as_they_are, fit_intercept, basis, rows)
    combined = basis.rows(rows)
    zero = _point(combined, design, np.zeros(r + fit_intercept))
    if zero is None:
        raise NonFiniteError
    return Firth(combined, design, zero)


def minimise(
    problem: Firth, start: tuple[np.ndarray, np.ndarray] | None, tol: float, max_iter: int,
    on_step: OnStep = ignore, before: int = 0,
) -> Fit:  # fmt: skip
    """Minimise F. ``aliases``: columns that repeat others; of all w with the same scores the
    smallest is taken. ``before``: steps already made.

    O(n·m²) operations a step for many columns and O(n·m³) for few, O(m³) memory a thread; m is at
    most the number of rows.
    """
    rows, design, zero = problem
    f0 = _null(rows, design.intercept)
    if start is not None:
        there = _point(rows, design, design.inside(*start))
        point = there if there is not None and there.F < zero.F else zero
    else:
        point = _from_the_shares(rows, design, zero)
    return _minimise(rows, design, point, tol * f0, max_iter, on_step, before)


def _minimise(
    rows: Rows, design: Design, point: Point, goal: float, max_iter: int, on_step: OnStep,
    before: int,
) -> Fit:  # fmt: skip
    m = len(point.theta)
    cheap = rows.shape[0] * float(m) ** 3 <= SMALL_WORK
    third = cheap and m <= MOST_THIRD_MOMENTS
    iteration, slow, slopes = before, 0, _slopes(rows, design, point, third)
    while True:
        decrement = float(slopes.g @ slopes.g) / 2  # what a scoring step would gain
        here = partial(_fit, design, point, iteration, decrement <= goal / 4)
        told = iteration > before or before == 0
        if told and on_step(Step(iteration, point.F, None, here)):
            return here()
        if decrement <= goal * ACCURATE:
            return here()
        if iteration >= max_iter:
            return here()._replace(stopped_at=max_iter)
        step = _newton_step(slopes)
        better = _shorter(rows, design, point, -point.C @ step, -float(slopes.g @ step))
        if better is None:
            return here()
        new = _slopes(rows, design, better, third)
        # what F no longer shows, the gradient does
        if decrement <= point.noise and not new.g @ new.g < slopes.g @ slopes.g:
            return here()
        slow = slow + 1 if new.g @ new.g > 2 * SLOW * decrement else 0
        third = m <= MOST_THIRD_MOMENTS and (cheap or slow > FAR_AWAY)
        point, slopes, iteration = better, new, iteration + 1


def _fit(design: Design, point: Point, iteration: int, converged: bool) -> Fit:
    w, b = design.outside(point.theta)
    aliases = None if design.basis is None else design.basis.aliases
    singular = aliases is not None
    return Fit(w, b, NAME, iteration, None, converged, singular, aliases=aliases)


def _shorter(
    rows: Rows, design: Design, point: Point, step: np.ndarray, slope: float
) -> Point | None:
    """The first of the steps 1, ½, ¼, … that lowers F."""
    t = 1.0
    for _ in range(HALVINGS):
        new = _point(rows, design, point.theta + t * step)
        if new is not None and new.F - point.noise <= point.F + 1e-4 * t * slope:
            return new
        t /= 2
    return None


def _newton_step(slopes: Slopes) -> np.ndarray:
    """H⁻¹g, of the whole Hessian where that is positive definite."""
    g = slopes.g[:, None]
    if slopes.B.size:
        R, condition = factor(slopes.H + np.dot(slopes.B, slopes.B.T) / 2)
        if condition < DEPENDENT:
            return cholesky_solve(R, g)[:, 0]
    R, _ = factor(slopes.held.copy())
    return cholesky_solve(R, g)[:, 0]


def _null(rows: Rows, fit_intercept: bool) -> float:
    """The losses that the intercept alone leaves."""
    assert rows.y is not None
    mass = np.bincount(rows.y[:, 0].astype(np.intp), rows.s, 2).astype(float)
    if not fit_intercept:
        return float(mass.sum() * np.log(2))
    return float(-mass @ np.log(mass / mass.sum()))


def _from_the_shares(rows: Rows, design: Design, zero: Point) -> Point:
    """The intercept of the classes' shares, half a row added to each; or 0."""
    if not design.intercept:
        return zero
    assert rows.y is not None
    mass = np.bincount(rows.y[:, 0].astype(np.intp), rows.s, 2) + 0.5
    theta = np.zeros_like(zero.theta)
    theta[-1] = np.log(mass[1] / mass[0])
    there = _point(rows, design, theta)
    return there if there is not None and there.F < zero.F else zero


# --- the passes -----------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is no step
def _point(rows: Rows, design: Design, theta: np.ndarray, most: float = SINGULAR) -> Point | None:
    """F at θ; None where the condition of I is above ``most``."""
    loss, information = rows.reduce(
        _information, design, theta, block_rows=gram_block_rows(rows), square=True
    )
    d = np.sqrt(np.diagonal(information))
    if not (np.isfinite(loss) and np.isfinite(information).all() and (d > 0).all()):
        return None
    R, condition = factor(information / d / d[:, None])
    if not condition < most:
        return None
    R = np.triu(R)
    logs = np.log(np.diagonal(R)), np.log(d)
    noise = ROUNDING * (loss + sum(np.abs(part).sum() for part in logs))
    C = lapack.dtrtri(R)[0] / d[:, None]
    return Point(theta, float(loss - sum(part.sum() for part in logs)), float(noise), C)


def _information(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, design: Design, theta: np.ndarray
) -> tuple[Any, np.ndarray]:
    A = design(X)
    z, _, v = _probabilities(A, theta)
    loss = np.logaddexp(0.0, np.where(y[:, 0] == 1, -z, z))
    if s is not None:
        loss, v = s * loss, s * v
    return loss.sum(), np.dot(A.T, v[:, None] * A)


def _probabilities(A: np.ndarray, theta: np.ndarray) -> tuple[Any, Any, Any]:
    z = np.dot(A, theta)
    e = np.exp(-np.abs(z))
    return z, np.where(z > 0, 1.0, e) / (1 + e), e / (1 + e) ** 2


def _slopes(rows: Rows, design: Design, point: Point, third: bool) -> Slopes:
    """``third``: with H and B."""
    found: Slopes = rows.reduce(
        _slopes_of_block, design, point.theta, point.C, third, block_rows=gram_block_rows(rows),
        square=True,
    )  # fmt: skip
    return found


def _slopes_of_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    design: Design,
    theta: np.ndarray,
    C: np.ndarray,
    third: bool,
) -> Slopes:
    A = design(X)
    _, p, v = _probabilities(A, theta)
    U = np.dot(A, C)
    q = np.einsum("ij,ij->i", U, U)
    s = np.ones(len(U)) if s is None else s
    g = np.dot(U.T, s * (p - y[:, 0] + v * q * (p - 0.5)))
    held = np.dot(U.T, (s * v * (1 + v * q))[:, None] * U)
    if not third:
        return Slopes(g, held, np.zeros((0, 0)), np.zeros((0, 0)))
    H = np.dot(U.T, (s * v * (1 - (0.5 - 3 * v) * q))[:, None] * U)
    weighted = (s * v * (1 - 2 * p))[:, None] * U
    parts = []
    for j in range(len(theta)):  # pairs j ≤ k; those of two columns count twice
        pairs = U[:, j:] * U[:, j : j + 1]
        pairs[:, 1:] *= np.sqrt(2)
        parts.append(np.dot(weighted.T, pairs))
    return Slopes(g, held, H, np.hstack(parts))
