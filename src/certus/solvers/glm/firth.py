r"""Newton's method for Firth's logistic regression.

    F(θ) = −log L(θ) − ½ log det I(θ),   I = Σ s v x̃x̃ᵀ,   v = p(1 − p),  p = σ(x̃ᵀθ)

Let u = Cx̃ with CᵀC = I⁻¹ (so that Σ s v uuᵀ is the identity), q = ‖u‖² = x̃ᵀI⁻¹x̃, and v′ = v(1 − 2p)
and v″ = v(1 − 6v) the derivatives of v in the score. In the coordinates of u, F has

    gradient   Σ s (p − y + vq(p − ½)) u
    Hessian    Σ s (v − ½v″q) uuᵀ + ½ BBᵀ,   B = Σ s v′ u ⊗ (u ⊗ u)

The traces tr I⁻¹∂²I and tr I⁻¹∂I I⁻¹∂I are the parts with v″ and B. B costs n·m³/2 for m
coefficients. Where that is much, or where the Hessian is not positive definite, the Hessian with vq
held fixed is used, Σ s v(1 + vq) uuᵀ: convergence is then linear, and faster the smaller the
leverages are; where it is slow, B is worth its cost. Steps are halved until F falls.

A step takes two passes, and a trial one: I and log L first, then what needs I⁻¹.
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

SOLVER_NAME = "newton"
MAX_THIRD_MOMENT_COEFFICIENTS = 48  # up to which B is ever formed
SMALL_THIRD_MOMENT_WORK = 1e7  # n·m³ up to which B costs less than a step
SLOW_DECREMENT_RATIO = 0.01  # a step with vq held that leaves more of the decrement is slow …
MAX_SLOW_STEPS = 3  # … and after so many in a row B is worth its cost: the first are always slow
MAX_WELL_CONDITIONED = 1e8  # scaled information at θ = 0: a larger condition combines columns
MAX_CONDITION = 1e15  # condition at other θ beyond which the information is singular to rounding
MAX_STEP_HALVINGS = 60  # a factor of 1e-18
OBJECTIVE_ROUNDING = 1e-13  # relative to the terms of F: a decrease below this cannot be seen
GOAL_FACTOR = 1e-8  # of the goal: convergence is quadratic, so the last steps are cheap


class Design(NamedTuple):
    """Maps a block to x̃: columns centred and scaled against overflow, and a constant.

    The optimum is equivariant under linear maps of the columns. Where these are nearly or exactly
    dependent, or outnumber the rows, orthogonal combinations replace them.
    """

    at: Coordinates
    intercept: bool
    basis: Orthogonal | None = None  # of ``given``, of which the rows are combinations
    user_rows: Rows | None = None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        X, c = self.at.block(X), self.at.correction
        p = X.shape[1]
        A = np.empty((len(X), p + self.intercept))
        np.subtract(X, 0.0 if c is None else c, out=A[:, :p], dtype=float)
        A[:, p:] = 1.0
        return A

    def to_internal(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return θ of w (p, 1) and b (1,)."""
        if self.basis is None or self.user_rows is None:
            u, beta = self.at.to_internal(w, b)
            return np.concatenate([u[:, 0], beta[: self.intercept]])
        eta = self.basis.to_internal(w[:, 0])
        if not self.intercept:
            return eta
        level = self.basis.mean_score(self.user_rows, w[:, 0]) - self.basis.mean @ eta
        return np.append(eta, b + level)

    def to_user(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (w, b) of θ."""
        eta = theta[: len(theta) - self.intercept]
        beta = theta[-1:] if self.intercept else np.zeros(1)
        if self.basis is None or self.user_rows is None:
            w, b = self.at.to_user(eta[:, None], beta)
            return w, b if self.intercept else np.zeros(1)
        u = self.basis.to_user(eta)
        if self.intercept:
            beta = beta + self.basis.mean @ eta - self.basis.mean_score(self.user_rows, u)
        return u[:, None], beta


class FirthPoint(NamedTuple):
    """F and the factored information at θ."""

    theta: np.ndarray
    F: float
    noise: float  # rounding error of F
    C: np.ndarray  # u = x̃ᵀC, C = D⁻¹R⁻¹


class FirthDerivatives(NamedTuple):
    """Gradient of F and the parts of its Hessian."""

    g: np.ndarray  # (m,), in the coordinates of u
    H_held: np.ndarray  # Σ s v(1 + vq) uuᵀ
    H: np.ndarray  # Σ s (v − ½v″q) uuᵀ, or empty
    B: np.ndarray  # (m, m(m+1)/2), or empty


class FirthProblem(NamedTuple):
    """Rows in coordinates in which I is well conditioned, and the point θ = 0."""

    rows: Rows
    design: Design
    zero: FirthPoint


def firth_problem(rows: Rows, fit_intercept: bool) -> FirthProblem:
    """Return the problem of rows whose y (n, 1) is 0 or 1."""
    rows = rows.dense()
    n, p = rows.shape
    if p < n:
        design = Design(coordinates(rows, fit_intercept), fit_intercept)
        zero = _point(rows, design, np.zeros(p + fit_intercept), MAX_WELL_CONDITIONED)
        if zero is not None:
            return FirthProblem(rows, design, zero)
    basis = orthogonal(rows, fit_intercept)
    r = basis.T.shape[1]
    identity = Coordinates(np.zeros(r), None, np.ones(r), False)
    design = Design(identity, fit_intercept, basis, rows)
    combined = basis.rows(rows)
    zero = _point(combined, design, np.zeros(r + fit_intercept))
    if zero is None:
        raise NonFiniteError
    return FirthProblem(combined, design, zero)


def minimize(
    problem: FirthProblem, start: tuple[np.ndarray, np.ndarray] | None, tol: float, max_iter: int,
    on_step: OnStep = ignore, before: int = 0,
) -> Fit:  # fmt: skip
    """Minimise F. Of all w with the same scores the one of least norm is returned, and
    ``Fit.aliases`` are the columns that repeat others. ``before``: steps already made.

    O(n·m²) operations a step for many columns and O(n·m³) for few, O(m³) memory a thread; m is at
    most the number of rows.
    """
    rows, design, zero = problem
    f0 = _null_loss(rows, design.intercept)
    if start is not None:
        candidate = _point(rows, design, design.to_internal(*start))
        point = candidate if candidate is not None and candidate.F < zero.F else zero
    else:
        point = _start_at_class_shares(rows, design, zero)
    return _minimize(rows, design, point, tol * f0, max_iter, on_step, before)


def _minimize(
    rows: Rows, design: Design, point: FirthPoint, goal: float, max_iter: int, on_step: OnStep,
    before: int,
) -> Fit:  # fmt: skip
    m = len(point.theta)
    cheap = rows.shape[0] * float(m) ** 3 <= SMALL_THIRD_MOMENT_WORK
    third_moments = cheap and m <= MAX_THIRD_MOMENT_COEFFICIENTS
    iteration, slow_steps, derivatives = before, 0, _derivatives(rows, design, point, third_moments)
    while True:
        decrement = float(derivatives.g @ derivatives.g) / 2  # what a scoring step would gain
        current_fit = partial(_fit, design, point, iteration, decrement <= goal / 4)
        is_new = iteration > before or before == 0
        if is_new and on_step(Step(iteration, point.F, None, current_fit)):
            return current_fit()
        if decrement <= goal * GOAL_FACTOR:
            return current_fit()
        if iteration >= max_iter:
            return current_fit()._replace(stopped_at=max_iter)
        step = _newton_step(derivatives)
        better = _line_search(rows, design, point, -point.C @ step, -float(derivatives.g @ step))
        if better is None:
            return current_fit()
        new = _derivatives(rows, design, better, third_moments)
        # where rounding hides the decrease of F, the gradient decides
        if decrement <= point.noise and not new.g @ new.g < derivatives.g @ derivatives.g:
            return current_fit()
        slow_steps = slow_steps + 1 if new.g @ new.g > 2 * SLOW_DECREMENT_RATIO * decrement else 0
        third_moments = m <= MAX_THIRD_MOMENT_COEFFICIENTS and (
            cheap or slow_steps > MAX_SLOW_STEPS
        )
        point, derivatives, iteration = better, new, iteration + 1


def _fit(design: Design, point: FirthPoint, iteration: int, converged: bool) -> Fit:
    w, b = design.to_user(point.theta)
    aliases = None if design.basis is None else design.basis.aliases
    singular = aliases is not None
    return Fit(w, b, SOLVER_NAME, iteration, None, converged, singular, aliases=aliases)


def _line_search(
    rows: Rows, design: Design, point: FirthPoint, step: np.ndarray, slope: float
) -> FirthPoint | None:
    """Return the point after the first of the steps 1, ½, ¼, … that lowers F enough."""
    t = 1.0
    for _ in range(MAX_STEP_HALVINGS):
        new = _point(rows, design, point.theta + t * step)
        if new is not None and new.F - point.noise <= point.F + 1e-4 * t * slope:
            return new
        t /= 2
    return None


def _newton_step(derivatives: FirthDerivatives) -> np.ndarray:
    """Return H⁻¹g, with the full Hessian where that is positive definite."""
    g = derivatives.g[:, None]
    if derivatives.B.size:
        R, condition = factor(derivatives.H + np.dot(derivatives.B, derivatives.B.T) / 2)
        if condition < MAX_WELL_CONDITIONED:
            return cholesky_solve(R, g)[:, 0]
    R, _ = factor(derivatives.H_held.copy())
    return cholesky_solve(R, g)[:, 0]


def _null_loss(rows: Rows, fit_intercept: bool) -> float:
    """Return the loss of the intercept alone."""
    assert rows.y is not None
    class_weights = np.bincount(rows.y[:, 0].astype(np.intp), rows.s, 2).astype(float)
    if not fit_intercept:
        return float(class_weights.sum() * np.log(2))
    return float(-class_weights @ np.log(class_weights / class_weights.sum()))


def _start_at_class_shares(rows: Rows, design: Design, zero: FirthPoint) -> FirthPoint:
    """Return the point of the intercept of the class shares, half a row added to each; or 0."""
    if not design.intercept:
        return zero
    assert rows.y is not None
    class_weights = np.bincount(rows.y[:, 0].astype(np.intp), rows.s, 2) + 0.5
    theta = np.zeros_like(zero.theta)
    theta[-1] = np.log(class_weights[1] / class_weights[0])
    candidate = _point(rows, design, theta)
    return candidate if candidate is not None and candidate.F < zero.F else zero


# --- the passes -----------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # points that are not finite are refused
def _point(
    rows: Rows, design: Design, theta: np.ndarray, max_condition: float = MAX_CONDITION
) -> FirthPoint | None:
    """Return F at θ; None where the condition of I exceeds ``max_condition``."""
    loss, information = rows.reduce(
        _information, design, theta, block_rows=gram_block_rows(rows), square=True
    )
    d = np.sqrt(np.diagonal(information))
    if not (np.isfinite(loss) and np.isfinite(information).all() and (d > 0).all()):
        return None
    R, condition = factor(information / d / d[:, None])
    if not condition < max_condition:
        return None
    R = np.triu(R)
    logs = np.log(np.diagonal(R)), np.log(d)
    noise = OBJECTIVE_ROUNDING * (loss + sum(np.abs(part).sum() for part in logs))
    C = lapack.dtrtri(R)[0] / d[:, None]
    return FirthPoint(theta, float(loss - sum(part.sum() for part in logs)), float(noise), C)


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


def _derivatives(
    rows: Rows, design: Design, point: FirthPoint, third_moments: bool
) -> FirthDerivatives:
    """Return the derivatives at a point; ``third_moments``: with H and B."""
    derivatives: FirthDerivatives = rows.reduce(
        _block_derivatives, design, point.theta, point.C, third_moments,
        block_rows=gram_block_rows(rows), square=True,
    )  # fmt: skip
    return derivatives


def _block_derivatives(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    design: Design,
    theta: np.ndarray,
    C: np.ndarray,
    third_moments: bool,
) -> FirthDerivatives:
    A = design(X)
    _, p, v = _probabilities(A, theta)
    U = np.dot(A, C)
    q = np.einsum("ij,ij->i", U, U)
    s = np.ones(len(U)) if s is None else s
    g = np.dot(U.T, s * (p - y[:, 0] + v * q * (p - 0.5)))
    H_held = np.dot(U.T, (s * v * (1 + v * q))[:, None] * U)
    if not third_moments:
        return FirthDerivatives(g, H_held, np.zeros((0, 0)), np.zeros((0, 0)))
    H = np.dot(U.T, (s * v * (1 - (0.5 - 3 * v) * q))[:, None] * U)
    weighted = (s * v * (1 - 2 * p))[:, None] * U
    parts = []
    for j in range(len(theta)):  # pairs j ≤ k; those of two columns count twice
        pairs = U[:, j:] * U[:, j : j + 1]
        pairs[:, 1:] *= np.sqrt(2)
        parts.append(np.dot(weighted.T, pairs))
    return FirthDerivatives(g, H_held, H, np.hstack(parts))
