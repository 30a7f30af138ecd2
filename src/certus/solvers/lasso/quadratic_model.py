"""Least value of a quadratic model plus a penalty of each coordinate.

    min_v  gᵀ(v − v₀) + ½(v − v₀)ᵀH(v − v₀) + Σ_j pen_j(v_j)

Intercepts have no penalty and are at their best for every v, which leaves a model of v alone.

Coordinate descent finds which v_j are 0 and the signs of the others, A; given these, what is left
is linear, (H_AA + l2)·v_A = …, and is solved at once. A step that would change a sign ends there:
that v_j is 0 then, and the coordinates go on. Where H is singular on A (columns that repeat others)
it is made a little larger: still a step downwards, and the coordinates do the rest. Where pen is
not convex the coordinates do it all, down to a point that none of them can leave.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...runtime.pool import give_up_if_stopped
from ..linalg.cholesky import cholesky, cholesky_solve
from .coordinate_penalty import CoordinatePenalty

ENOUGH = 1e-4  # share of the distance from the optimum, squared, that is left
ROUNDS, MORE_ROUNDS = 100, 1000  # over all coordinates, for convex penalties and others
PATIENCE = 8  # rounds that do not halve what is left, after which rounding is all there is
EPOCHS, MORE_EPOCHS = 50, 50  # between attempts to solve on the support; where that is not done
EPOCH_WORK = 1 << 25  # elements of H in one call, some 20 ms: Ctrl-C is heard in between
SOLVES = 1000  # on shrinking supports, in one attempt …
SOLVE_WORK = 1 << 35  # … if |A|³ of them all is within this
HELD = 64  # coordinates that leave before M is factored again
SOUND = 1e-6  # least pivot for which one factor serves several steps
RIDGE = 1e-11  # times H_jj, so that a support of repeated columns can be factored


class QuadraticModel(NamedTuple):
    g: np.ndarray  # (m,)
    H: np.ndarray  # (m, m)
    answer: np.ndarray  # (K, m + 1): the intercepts move by −answer·(v − v₀, 1)

    @classmethod
    def of(cls, H: np.ndarray, g: np.ndarray, g_b: np.ndarray, intercept: bool) -> "QuadraticModel":
        """H of m coordinates and, after these, of the intercepts; slopes g (m,) and g_b (K,)."""
        m = len(g)
        if not intercept:
            return cls(g, np.ascontiguousarray(H[:m, :m]), np.zeros((len(g_b), m + 1)))
        sides = np.column_stack([H[m:, :m], g_b])
        answer = np.linalg.pinv(H[m:, m:], hermitian=True) @ sides
        return cls(g - H[:m, m:] @ answer[:, m], H[:m, :m] - H[:m, m:] @ answer[:, :m], answer)

    def minimise(
        self, v0: np.ndarray, penalty: CoordinatePenalty, enough: float = ENOUGH
    ) -> np.ndarray:
        return minimise_model(self.H, self.g, v0, penalty, enough)

    def intercepts(self, move: np.ndarray) -> np.ndarray:
        beta: np.ndarray = -self.answer[:, :-1] @ move - self.answer[:, -1]
        return beta


def never(_v: np.ndarray, _slope: np.ndarray) -> bool:
    return False


def minimise_model(
    H: np.ndarray,
    g: np.ndarray,
    v0: np.ndarray,
    penalty: CoordinatePenalty,
    enough: float = ENOUGH,
    done: Callable[[np.ndarray, np.ndarray], bool] = never,
) -> np.ndarray:
    """v, (m,). O(m²) operations a round over the coordinates, O(|A|³) for the linear system.

    ``done``: v, slope → whether that is good enough; asked once a round.
    """
    from ...kernels.lasso.coordinate_descent import gram_epochs

    m = len(v0)
    l1, l2, code, gamma = penalty
    h = np.diagonal(H) + l2
    live = np.flatnonzero(h > 0)
    v, q = v0.copy(), g.copy()
    left = _left(v, q, penalty, h)
    goal, least, patience = enough * left, np.inf, PATIENCE
    for _ in range(ROUNDS if penalty.convex else MORE_ROUNDS):
        patience = PATIENCE if left < least / 2 else patience - 1
        least = min(left, least)
        if left <= goal or done(v, q) or not patience:
            break
        give_up_if_stopped()
        gram_epochs(H, q, v, live, l1, l2, 1, 0.0, code, gamma)
        settled = _epochs_on_support(H, q, v, penalty, goal / m)
        q = g + H @ (v - v0)  # without what the updates rounded
        if not settled and penalty.convex and not done(v, q):
            _solve_on_support(H, q, v, l1, l2)
            q = g + H @ (v - v0)
        left = _left(v, q, penalty, h)
    return v


def _epochs_on_support(
    H: np.ndarray, q: np.ndarray, v: np.ndarray, penalty: CoordinatePenalty, enough: float
) -> bool:
    """Rounds over the v that are not 0, which change; q does not. Did they end with one whose
    largest gain was below ``enough``?"""
    from ...kernels.lasso.coordinate_descent import gram_epochs, square

    A = np.flatnonzero(v)
    if not len(A):
        return True
    l1, l2, code, gamma = penalty.take(A)
    u, slope, M = v[A], q[A], square(H, A)
    most = EPOCHS if penalty.convex else MORE_EPOCHS
    epochs = max(1, min(most, EPOCH_WORK // len(A) ** 2))
    moved = gram_epochs(M, slope, u, np.arange(len(A)), l1, l2, epochs, enough, code, gamma)
    v[A] = u
    return moved <= enough


def _left(v: np.ndarray, q: np.ndarray, penalty: CoordinatePenalty, h: np.ndarray) -> float:
    """Twice what single coordinates could still gain, about."""
    gap = penalty.distances(v, q)
    return float(np.sum(np.divide(gap * gap, h, out=np.zeros_like(h), where=h > 0)))


def _solve_on_support(
    H: np.ndarray, q: np.ndarray, v: np.ndarray, l1: np.ndarray, l2: np.ndarray
) -> None:
    """v where the model is least with the signs that v has, or on the way there; q is its slope at
    the v that comes in.

    A v_j that would change its sign becomes 0 and leaves, and the others go on without it.
    """
    start, A = v.copy(), np.flatnonzero(v)
    for _ in range(max(1, min(SOLVES, SOLVE_WORK // max(1, len(A)) ** 3))):
        if not len(A):
            return
        slope = q[A]
        if (v != start).any():
            slope += H[A] @ (v - start)
        if _walk(H, A, slope + l1[A] * np.sign(v[A]) + l2[A] * v[A], l2[A], v):
            return
        A = A[v[A] != 0]


def _walk(H: np.ndarray, A: np.ndarray, slope: np.ndarray, l2: np.ndarray, v: np.ndarray) -> bool:
    """Newton's steps on A by one factor of M = H_AA + l2, each up to the next v_j that becomes 0;
    K are those that did. Is v where such steps end?

        d = −x − Zλ,   x = M⁻¹slope,   Z = M⁻¹E_K,   Z_K λ = −x_K

    so that d_K = 0, and (Md + slope)_j = 0 for the others.

    On columns scaled to a diagonal of 1; a matrix without a factor ends them at once.
    """
    from ...kernels.lasso.coordinate_descent import square

    scale = 1 / np.sqrt(np.diagonal(H)[A] + l2)
    M = square(H, A)
    M *= scale
    M *= scale[:, None]
    M.flat[:: len(A) + 1] = 1.0 + RIDGE
    R = M.T  # the same matrix by columns
    if cholesky(R) != 0:
        return True
    most = HELD if np.diagonal(R).min() ** 2 > SOUND else 0
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
        new[np.sign(new) != sign] = 0.0  # what rounding carried across
        x += t * d
        gone = np.flatnonzero((new == 0) & (v[A] != 0))
        v[A] = new
        if t == 1:
            return True
        if len(K) + len(gone) > most:
            return False
        unit = np.zeros((len(A), len(gone)))
        unit[gone, np.arange(len(gone))] = 1.0
        K, Z = np.append(K, gone), np.hstack([Z, cholesky_solve(R, unit)])
