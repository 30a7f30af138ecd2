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

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..rows import Rows
from .cholesky import cholesky_solve, factor
from .coordinates import Coordinates, coordinates
from .gram import NonFiniteError, gram_block_rows
from .least_squares import solve as least_squares
from .loop import Fit
from .steps import OnStep, Step, always, ignore

NAME = "newton"
MOST_THIRD_MOMENTS = 48  # coefficients up to which B is ever formed
SMALL_WORK = 1e7  # n·m³ up to which it costs less than a step
SLOW = 0.01  # share of the decrement that a step with vq held leaves, from which B is worth it …
FAR_AWAY = 3  # … after so many such steps: the first ones are slow in any case
DEPENDENT = 1e8  # condition of the scaled information, at θ = 0, from which a basis is looked for
SINGULAR = 1e15  # … at other θ, from which it is rounding
HALVINGS = 60
ROUNDING = 1e-13  # of the parts of F: a decrease below this cannot be seen
ACCURATE = 1e-8  # times less than what is asked: the last steps are cheap, convergence is quadratic


class Design(NamedTuple):
    """x̃ of a block: columns centred and within reach of squares, and a constant.

    Coefficients of F follow every linear change of columns: where these nearly, or fully, depend on
    each other, orthonormal combinations take their place.
    """

    at: Coordinates
    intercept: bool
    basis: np.ndarray | None = None  # (p, r): combinations of columns

    def __call__(self, X: Any) -> np.ndarray:
        X, c = self.at.block(X), self.at.correction
        p = X.shape[1] if self.basis is None else self.basis.shape[1]
        A = np.empty((len(X), p + self.intercept))
        if self.basis is None:
            np.subtract(X, 0.0 if c is None else c, out=A[:, :p], dtype=float)
        else:
            A[:, :p] = np.dot(np.subtract(X, 0.0 if c is None else c, dtype=float), self.basis)
        A[:, p:] = 1.0
        return A

    def inside(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """θ of w (p, 1) and b (1,)."""
        u, beta = self.at.inside(w, b)
        if self.basis is not None:
            u = np.linalg.lstsq(self.basis, u, rcond=None)[0]
        return np.concatenate([u[:, 0], beta[: self.intercept]])

    def outside(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(w, b) of θ."""
        u = theta[: len(theta) - self.intercept, None]
        if self.basis is not None:
            u = np.dot(self.basis, u)
        beta = theta[-1:] if self.intercept else np.zeros(1)
        w, b = self.at.outside(u, beta)
        return w, b if self.intercept else np.zeros(1)


class Point(NamedTuple):
    theta: np.ndarray
    F: float
    noise: float  # what rounding can do to F
    C: np.ndarray  # columns of x̃ᵀ C are u: C = D⁻¹R⁻¹


class Slopes(NamedTuple):
    g: Any  # (m,), in the coordinates of u
    held: Any  # Σ s v(1 + vq) uuᵀ
    H: Any  # Σ s (v − ½v″q) uuᵀ, or nothing
    B: Any  # (m, m(m+1)/2), or nothing


def solve(
    rows: Rows, fit_intercept: bool, start: tuple[np.ndarray, np.ndarray] | None = None,
    tol: float = 1e-6, max_iter: int = 100, on_step: OnStep = ignore, before: int = 0,
) -> Fit:  # fmt: skip
    """Minimise F. y (n, 1) is 0 or 1. ``singular``: columns repeat others to their left, and have
    the coefficient 0.

    O(n·m²) operations a step for many columns and O(n·m³) for few, O(m³) memory a thread.
    """
    rows = rows.dense()
    design = Design(coordinates(rows, fit_intercept), fit_intercept)
    singular, p = False, rows.shape[1]
    zero = _point(rows, design, np.zeros(p + fit_intercept), DEPENDENT)
    if zero is None:
        basis, singular = _orthonormal(rows, design.at, fit_intercept)
        design = design._replace(basis=basis)
        zero = _point(rows, design, np.zeros(basis.shape[1] + fit_intercept))
        if zero is None:
            raise NonFiniteError
    f0 = _null(rows, fit_intercept)
    if start is not None:
        there = _point(rows, design, design.inside(*start))
        point = there if there is not None and there.F < zero.F else zero
    else:
        point = _from_the_shares(rows, design, zero)
    fit = _minimise(rows, design, point, tol * f0, max_iter, on_step, before)
    return fit._replace(singular=singular)


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
        w, b = design.outside(point.theta)
        fit = Fit(w, b, NAME, iteration, None, decrement <= goal / 4)
        told = iteration > before or before == 0
        if told and on_step(Step(iteration, point.F, None, always(fit))):
            return fit
        if decrement <= goal * ACCURATE:
            return fit
        if iteration >= max_iter:
            return fit._replace(stopped_at=max_iter)
        step = _newton_step(slopes)
        better = _shorter(rows, design, point, -point.C @ step, -float(slopes.g @ step))
        if better is None:
            return fit
        new = _slopes(rows, design, better, third)
        # what F no longer shows, the gradient does
        if decrement <= point.noise and not new.g @ new.g < slopes.g @ slopes.g:
            return fit
        slow = slow + 1 if new.g @ new.g > 2 * SLOW * decrement else 0
        third = m <= MOST_THIRD_MOMENTS and (cheap or slow > FAR_AWAY)
        point, slopes, iteration = better, new, iteration + 1


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


def _orthonormal(rows: Rows, at: Coordinates, fit_intercept: bool) -> tuple[np.ndarray, bool]:
    """B with orthonormal columns x̂B, of the columns that none to their left repeats; and are there
    others? By the triangle of the rows themselves: squares would cost digits."""
    found = least_squares(rows.but(np.zeros((rows.shape[0], 1)), rows.s), fit_intercept)
    assert found.triangle is not None
    p, aliases = rows.shape[1], found.aliases
    kept = np.arange(p) if aliases is None else aliases.kept
    scale = np.broadcast_to(at.scale, (p,))[kept]
    R = np.linalg.qr(found.triangle[:, kept] * scale, mode="r")
    basis = np.zeros((p, len(kept)))
    if len(kept):  # else all rows are alike
        basis[kept] = lapack.dtrtri(R)[0]
    return basis, aliases is not None


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
    X: Any, y: Any, s: Any, design: Design, theta: np.ndarray
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
    X: Any, y: Any, s: Any, design: Design, theta: np.ndarray, C: np.ndarray, third: bool
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
