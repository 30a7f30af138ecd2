"""Minimum of a quadratic model plus a separable penalty.

    min_v  gᵀ(v − v₀) + ½(v − v₀)ᵀH(v − v₀) + Σ_j pen_j(v_j)

Intercepts are not penalised and are eliminated: the model is of v alone.

Coordinate descent finds the support A and its signs; given these, the optimality condition is the
linear system (H_AA + l2)·v_A = …, which is solved directly. A step that would change the sign of
v_j stops where v_j = 0, and coordinate descent continues from there. Where H is singular on A
(repeated columns) its diagonal is enlarged a little: the step still descends, and coordinate
descent does the rest. For a nonconvex pen there is only coordinate descent, until no single
coordinate can improve.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...runtime.pool import give_up_if_stopped
from ..linalg.cholesky import cholesky, cholesky_solve
from .coordinate_penalty import CoordinatePenalty

RTOL = 1e-4  # remaining gain of single coordinates, relative to that at v₀
MAX_ROUNDS, MAX_NONCONVEX_ROUNDS = 100, 1000  # over all coordinates
MAX_SLOW_ROUNDS = 8  # rounds that do not halve the remaining gain: the rest is rounding
EPOCHS_PER_ROUND, NONCONVEX_EPOCHS_PER_ROUND = 50, 50  # on the support
MAX_CALL_ELEMENTS = 1 << 25  # of H in one kernel call, about 20 ms: Ctrl-C is handled in between
MAX_SUPPORT_SOLVES = 1000  # on shrinking supports, in one attempt …
MAX_SOLVE_WORK = 1 << 35  # … if their total |A|³ is at most this
MAX_HELD_COORDINATES = 64  # coordinates held at 0 before M is factored again
MIN_PIVOT = 1e-6  # smallest squared pivot for which a factor is used for several steps
PIVOT_RIDGE = 1e-11  # relative to H_jj, so that a support of repeated columns can be factored


class QuadraticModel(NamedTuple):
    """Model of the coordinates, with the intercepts eliminated."""

    g: np.ndarray  # (m,)
    H: np.ndarray  # (m, m)
    response: np.ndarray  # (K, m + 1): the intercepts move by −answer·(v − v₀, 1)

    @classmethod
    def of(cls, H: np.ndarray, g: np.ndarray, g_b: np.ndarray, intercept: bool) -> "QuadraticModel":
        """Eliminate the intercepts from H of m coordinates followed by K intercepts, with slopes
        g (m,) and g_b (K,)."""
        m = len(g)
        if not intercept:
            return cls(g, np.ascontiguousarray(H[:m, :m]), np.zeros((len(g_b), m + 1)))
        sides = np.column_stack([H[m:, :m], g_b])
        response = np.linalg.pinv(H[m:, m:], hermitian=True) @ sides
        return cls(
            g - H[:m, m:] @ response[:, m], H[:m, :m] - H[:m, m:] @ response[:, :m], response
        )

    def minimize(
        self, v0: np.ndarray, penalty: CoordinatePenalty, rtol: float = RTOL
    ) -> np.ndarray:
        return minimize_model(self.H, self.g, v0, penalty, rtol)

    def intercepts(self, move: np.ndarray) -> np.ndarray:
        beta: np.ndarray = -self.response[:, :-1] @ move - self.response[:, -1]
        return beta


def never_done(_v: np.ndarray, _slope: np.ndarray) -> bool:
    """Default stopping rule of ``minimize_model``: none."""
    return False


def minimize_model(
    H: np.ndarray,
    g: np.ndarray,
    v0: np.ndarray,
    penalty: CoordinatePenalty,
    rtol: float = RTOL,
    done: Callable[[np.ndarray, np.ndarray], bool] = never_done,
) -> np.ndarray:
    """Return the minimiser v, (m,). O(m²) operations per round, O(|A|³) for the linear system.

    ``done(v, slope)`` returns whether v is good enough; it is called once per round.
    """
    from ...kernels.lasso.coordinate_descent import gram_epochs

    m = len(v0)
    l1, l2, code, gamma = penalty
    h = np.diagonal(H) + l2
    curved = np.flatnonzero(h > 0)
    v, q = v0.copy(), g.copy()
    remaining = _remaining_gain(v, q, penalty, h)
    goal, smallest, patience = rtol * remaining, np.inf, MAX_SLOW_ROUNDS
    for _ in range(MAX_ROUNDS if penalty.convex else MAX_NONCONVEX_ROUNDS):
        patience = MAX_SLOW_ROUNDS if remaining < smallest / 2 else patience - 1
        smallest = min(remaining, smallest)
        if remaining <= goal or done(v, q) or not patience:
            break
        give_up_if_stopped()
        gram_epochs(H, q, v, curved, l1, l2, 1, 0.0, code, gamma)
        settled = _epochs_on_support(H, q, v, penalty, goal / m)
        q = g + H @ (v - v0)  # without the rounding errors of the updates
        if not settled and penalty.convex and not done(v, q):
            _solve_on_support(H, q, v, l1, l2)
            q = g + H @ (v - v0)
        remaining = _remaining_gain(v, q, penalty, h)
    return v


def _epochs_on_support(
    H: np.ndarray, q: np.ndarray, v: np.ndarray, penalty: CoordinatePenalty, gain_tol: float
) -> bool:
    """Do rounds over the nonzero v, in place; q is not updated.

    Returns whether the largest gain of the last round was at most ``gain_tol``.
    """
    from ...kernels.lasso.coordinate_descent import gram_epochs, square

    A = np.flatnonzero(v)
    if not len(A):
        return True
    l1, l2, code, gamma = penalty.take(A)
    u, slope, M = v[A], q[A], square(H, A)
    max_epochs = EPOCHS_PER_ROUND if penalty.convex else NONCONVEX_EPOCHS_PER_ROUND
    epochs = max(1, min(max_epochs, MAX_CALL_ELEMENTS // len(A) ** 2))
    gain = gram_epochs(M, slope, u, np.arange(len(A)), l1, l2, epochs, gain_tol, code, gamma)
    v[A] = u
    return gain <= gain_tol


def _remaining_gain(
    v: np.ndarray, q: np.ndarray, penalty: CoordinatePenalty, h: np.ndarray
) -> float:
    """About twice the sum of what single coordinates could still gain."""
    gap = penalty.distances(v, q)
    return float(np.sum(np.divide(gap * gap, h, out=np.zeros_like(h), where=h > 0)))


def _solve_on_support(
    H: np.ndarray, q: np.ndarray, v: np.ndarray, l1: np.ndarray, l2: np.ndarray
) -> None:
    """Move v, in place, towards the minimiser with the signs that v has; q is the slope at v.

    A v_j that would change its sign becomes 0 and is removed from the support.
    """
    start, A = v.copy(), np.flatnonzero(v)
    for _ in range(max(1, min(MAX_SUPPORT_SOLVES, MAX_SOLVE_WORK // max(1, len(A)) ** 3))):
        if not len(A):
            return
        slope = q[A]
        if (v != start).any():
            slope += H[A] @ (v - start)
        if _newton_on_support(H, A, slope + l1[A] * np.sign(v[A]) + l2[A] * v[A], l2[A], v):
            return
        A = A[v[A] != 0]


def _newton_on_support(
    H: np.ndarray, A: np.ndarray, slope: np.ndarray, l2: np.ndarray, v: np.ndarray
) -> bool:
    """Do Newton steps on A by one factor of M = H_AA + l2, each up to the next v_j that becomes 0;
    K is the set of those that did. Returns whether the steps ended.

        d = −x − Zλ,   x = M⁻¹slope,   Z = M⁻¹E_K,   Z_K λ = −x_K

    so that d_K = 0, and (Md + slope)_j = 0 for the others.

    M is scaled to a diagonal of 1; a matrix that cannot be factored ends the steps at once.
    """
    from ...kernels.lasso.coordinate_descent import square

    scale = 1 / np.sqrt(np.diagonal(H)[A] + l2)
    M = square(H, A)
    M *= scale
    M *= scale[:, None]
    M.flat[:: len(A) + 1] = 1.0 + PIVOT_RIDGE
    R = M.T  # the same matrix, in Fortran order
    if cholesky(R) != 0:
        return True
    max_held = MAX_HELD_COORDINATES if np.diagonal(R).min() ** 2 > MIN_PIVOT else 0
    x = cholesky_solve(R, (slope * scale)[:, None])[:, 0]
    sign, K, Z = np.sign(v[A]), np.empty(0, dtype=np.intp), np.empty((len(A), 0))
    while True:
        d = -x
        if len(K):
            d += Z @ np.linalg.solve(Z[K], x[K])
            d[K] = 0.0
        step = d * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(sign * (v[A] + step) < 0, -v[A] / step, 1.0)
        t = reach.min()
        new = v[A] + t * step
        new[(reach == t) & (t < 1)] = 0.0
        new[np.sign(new) != sign] = 0.0  # sign changes due to rounding
        x += t * d
        new_zeros = np.flatnonzero((new == 0) & (v[A] != 0))
        v[A] = new
        if t == 1:
            return True
        if len(K) + len(new_zeros) > max_held:
            return False
        unit = np.zeros((len(A), len(new_zeros)))
        unit[new_zeros, np.arange(len(new_zeros))] = 1.0
        K, Z = np.append(K, new_zeros), np.hstack([Z, cholesky_solve(R, unit)])
