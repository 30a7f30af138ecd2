r"""The hinge loss for few columns: proximal-point steps in α, each by Newton's method in θ.

With α = u∘a, 0 ≤ a ≤ 1, a step from a minimises over θ

    φ(θ) = ½‖θ‖² + Σ_i u_i h(t_i)/σ,   t_i = a_i + σ(1 − m_i),   h = tγ − γ²/2,  γ = clip(t, 0, 1)

and moves a to γ: the hinge with its kink smoothed over a width of 1/σ around where a places it.
∇φ = θ − Σ uγyx̂, so α = u∘γ is a dual point with D(α) = Σα − ½‖θ − ∇φ‖². φ is piecewise quadratic,

    H = I + σ Σ_{0 ≤ t ≤ 1} u x̂x̂ᵀ

and only rows near their margin enter H: a few hundred of 100,000 when σ is large. Along the
direction −H⁻¹∇φ the margins change linearly, so the line search does not need X. The steps converge
for any σ, faster the larger it is (Rockafellar 1976: an augmented Lagrangian method); the gap P − D
is available from the first step on.

With many rows, a sample is first solved roughly to provide the start.
"""

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ...data.rows import Rows
from ..glm.coordinates import coordinates, sampled_coordinates
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import NonFiniteError
from .dispatch import HingeProblem, HingeProgress

SIGMA_GROWTH = 5.0  # of σ from step to step
MAX_SIGMA = 1e10  # a kink this narrow is the hinge to rounding
INNER_TOL = 0.02  # ½‖∇φ‖² relative to P − D, below which a step is accurate enough
SLOPE_TOL = 0.1  # share of the initial slope that a line search may leave
MAX_LENGTH_TRIALS = 60  # of a line search
SAMPLE_DIVISOR = 8  # one row in this many is solved first …
MIN_SAMPLED_ROWS = 20_000, 50  # … if there are at least so many rows, and so many for each column
SAMPLE_TOL = 1e-2  # … until P − D is this share of f₀
MAX_CONDITION = 1e8  # of a scaled matrix; beyond it the rows are factored by QR instead
MAX_FACTORED_SIZE = 3000  # rows and columns above which nothing is factored
MAX_CG_ITERATIONS, CG_RESIDUAL_SHARE = 300, 1e-4  # then; the share of g (squared) that may be left
MAX_STEPS_WITHOUT_PROGRESS = 50  # in P and D: the rest is rounding


class ProximalNewton:
    """Proximal-point steps by Newton's method, for few columns.

    O(n·p + k·p² + p³) operations a step, k the rows near their margin; O(p²) memory.
    """

    name = "newton"
    on_one_thread = False

    def prepare(self, problem: HingeProblem) -> None:
        """Cache q, powers of two that keep the squares of x̂∘q from overflowing."""
        if "q" not in problem.cache:
            rows = Rows(problem.rows.X, s=problem.u, threads=problem.rows.threads)
            find = coordinates if rows.sparse else sampled_coordinates
            q = find(rows, False).q
            problem.cache["q"] = np.ones(rows.shape[1] + 1) if q is None else np.append(q, 1.0)

    def solve(self, problem: HingeProblem, progress: HingeProgress, max_iter: int) -> bool:
        self.prepare(problem)
        q = problem.cache["q"]
        start = (
            progress.theta / q,
            np.divide(progress.alpha, problem.u, out=np.zeros_like(problem.u), where=problem.u > 0),
        )
        sigma = problem.sigma
        if not progress.theta.any():
            start_from_sample = self._solve_sample(problem)
            if start_from_sample is not None:
                theta, sigma = start_from_sample
                m = problem.y * problem.scores(theta)
                start = theta / q, np.clip(0.5 + sigma * (1 - m), 0.0, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused
            return _proximal_steps(problem, progress, q, *start, sigma, max_iter)

    def _solve_sample(self, problem: HingeProblem) -> tuple[np.ndarray, float] | None:
        n, p = problem.rows.shape
        rows, per_column = MIN_SAMPLED_ROWS
        if n < max(rows, per_column * p):
            return None
        numbered = Rows(problem.rows.X, np.column_stack([problem.y, problem.u]), threads=1)
        sample = numbered.sample(n // SAMPLE_DIVISOR)
        assert sample.y is not None
        y, u = np.ascontiguousarray(sample.y.T)
        u = u * (n / len(u))
        X = Rows(sample.X, threads=problem.rows.threads)
        sampled = HingeProblem(X, y, u, problem.c)
        progress = HingeProgress(sampled, SAMPLE_TOL * sampled.null_objective, self.name)
        if not min(u[y > 0].sum(), u[y < 0].sum()) > 0 or not self.solve(sampled, progress, 100):
            return None
        return progress.theta, sampled.sigma


def _proximal_steps(
    problem: HingeProblem, progress: HingeProgress, q: np.ndarray, x: np.ndarray, a: np.ndarray,
    sigma: float, max_iter: int,
) -> bool:  # fmt: skip
    """Make proximal steps from a and x, and return whether the goal was reached.

    θ = q∘x, so that x̂ᵀθ = (x̂∘q)ᵀx and the penalty is ½Σq²x².
    """
    y, u, ridge = problem.y, problem.u, q**2
    m = y * problem.scores(q * x)
    least, since = np.inf, progress.iteration
    while True:
        shifted = a + sigma * (1 - m)
        gamma = np.clip(shifted, 0.0, 1.0)
        v = problem.sums(u * gamma * y)
        theta = q * x
        P, D = problem.primal(theta, m), float(u @ gamma - v @ v / 2)
        if not (np.isfinite(P) and np.isfinite(v).all()):  # D may be −∞, which is a valid bound
            raise NonFiniteError
        problem.sigma = sigma
        if progress.update(P, theta, D, u * gamma):
            return progress.excess <= progress.goal
        g = theta - v
        if (
            np.isfinite(D) and g @ g / 2 <= INNER_TOL * (P - D)
        ) or progress.excess <= 4e-16 * progress.P:
            if sigma >= MAX_SIGMA:
                return False
            a, sigma = gamma, SIGMA_GROWTH * sigma
            m = y * problem.scores(theta)  # recomputed: updates accumulate rounding
            continue
        least, since = (
            (progress.excess, progress.iteration) if progress.excess < least else (least, since)
        )
        if (
            progress.iteration >= max_iter
            or progress.iteration - since > MAX_STEPS_WITHOUT_PROGRESS
        ):
            return False
        on_kink = np.flatnonzero((shifted >= 0) & (shifted <= 1) & (u > 0))
        d = -_solve(problem, q, on_kink, sigma * u[on_kink], ridge, q * g)
        md = y * problem.scores(q * d)
        t = _length(a, m, md, u, sigma, float(d @ (ridge * x)), float(d @ (ridge * d)))
        progress.iteration += 1
        if t == 0:  # any decrease is below rounding
            if sigma >= MAX_SIGMA:
                return False
            a, sigma = gamma, SIGMA_GROWTH * sigma
            continue
        x, m = x + t * d, m + t * md


def _solve(
    problem: HingeProblem, q: np.ndarray, rows: np.ndarray, h: np.ndarray, ridge: np.ndarray,
    g: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return (Σ h x̂x̂ᵀ + diag ridge)⁻¹g over ``rows``; by their Gram matrix where they are fewer."""
    if not len(rows):
        return np.asarray(g / ridge)
    subset = problem.rows.take(rows)
    on_kink_rows = Rows(subset.X, h[:, None], threads=subset.threads)
    if min(len(rows), len(g)) > MAX_FACTORED_SIZE:
        return _by_conjugate_gradients(on_kink_rows, problem.c, q, ridge, g)
    on_kink_rows = on_kink_rows.dense()
    if 2 * len(rows) <= len(g):
        Z = np.hstack([on_kink_rows.block(0, len(rows))[0], np.full((len(rows), 1), problem.c)]) * q
        Zr = Z / ridge
        K = np.dot(Zr, Z.T)
        K.flat[:: len(K) + 1] += 1 / h
        x = _by_cholesky(K, Zr @ g)
        if x is not None:
            return np.asarray(g / ridge - Zr.T @ x)
    else:
        block_rows = max(256, len(g))
        (H,) = on_kink_rows.reduce(_outer, problem.c, q, square=True, block_rows=block_rows)
        H.flat[:: len(H) + 1] += ridge
        x = _by_cholesky(H, g)
        if x is not None:
            return x
    return _by_triangle(on_kink_rows, problem.c, q, ridge, g)


def _weighted(X: np.ndarray, h: np.ndarray, c: float, q: np.ndarray) -> np.ndarray:
    """Return the rows √h x̂∘q."""
    Z = np.empty((len(X), len(q)))
    Z[:, :-1], Z[:, -1] = X, c
    Z *= q
    Z *= np.sqrt(h)
    return Z


def _outer(X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray) -> tuple[Any]:
    Z = _weighted(X, h, c, q)
    return (np.dot(Z.T, Z),)


def _times(
    X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray, d: np.ndarray
) -> tuple[Any]:
    """Return Σ h x̂x̂ᵀd."""
    u = q * d
    z = h[:, 0] * (X @ u[:-1] + c * u[-1])
    return (q * np.append(X.T @ z, c * z.sum()),)


def _squares(X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray) -> tuple[Any]:
    """Return Σ h x̂²."""
    square = np.square(X, dtype=float) if isinstance(X, np.ndarray) else X.power(2)
    return (q**2 * np.append(square.T @ h[:, 0], c * c * h.sum()),)


def _by_cholesky(A: np.ndarray, g: np.ndarray) -> np.ndarray | None:
    """Return A⁻¹g, computed on a unit diagonal; None where A is too ill-conditioned."""
    d = 1 / np.sqrt(np.maximum(A.diagonal(), np.finfo(float).tiny))
    A = A * d * d[:, None]
    A.flat[:: len(A) + 1] = 1.0
    R, condition = factor(A)
    if not condition < MAX_CONDITION:
        return None
    return np.asarray(cholesky_solve(R, (g * d)[:, None])[:, 0] * d)


def _by_triangle(
    on_kink_rows: Rows, c: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """Solve RᵀRd = g with R the QR factor of the rows, and refine d twice.

    R keeps the digits that the squares in H lose.
    """
    (R,) = on_kink_rows.reduce(
        _triangle, c, q, combine=_merge_triangles, square=True, block_rows=max(256, len(q))
    )
    R = np.linalg.qr(np.vstack([R, np.diag(np.sqrt(ridge))]), mode="r")
    d, r = np.zeros_like(g), g
    for _ in range(3):
        d = d + solve_triangular(R, solve_triangular(R, r, trans="T"))
        r = g - ridge * d - on_kink_rows.reduce(_times, c, q, d)[0]
    return np.asarray(d)


def _triangle(X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray) -> tuple[Any]:
    return (np.linalg.qr(_weighted(X, h, c, q), mode="r"),)


def _merge_triangles(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"),)


def _by_conjugate_gradients(
    on_kink_rows: Rows, c: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray
) -> np.ndarray:
    diagonal = ridge + on_kink_rows.reduce(_squares, c, q)[0]
    d, r = np.zeros_like(g), g.copy()
    z = r / diagonal
    p, rz = z.copy(), float(r @ z)
    first = rz
    for _ in range(MAX_CG_ITERATIONS):
        Hp = ridge * p + on_kink_rows.reduce(_times, c, q, p)[0]
        step = rz / float(p @ Hp)
        d += step * p
        r -= step * Hp
        z = r / diagonal
        rz, before = float(r @ z), rz
        if not rz > CG_RESIDUAL_SHARE * first:
            break
        p = z + rz / before * p
    return d


def _length(
    a: np.ndarray, m: np.ndarray, md: np.ndarray, u: np.ndarray, sigma: float, linear: float,
    square: float,
) -> float:  # fmt: skip
    """Return t > 0 where the slope of φ(x + td), which rises with t, is nearly 0.

    Returns 0 where φ does not fall along d.
    """
    t0, rate, weight = a + sigma * (1 - m), sigma * md, u * md

    def slope(t: float) -> float:
        return linear + t * square - float(weight @ np.clip(t0 - t * rate, 0.0, 1.0))

    first = slope(0.0)
    if not first < 0:
        return 0.0
    low, f_low, high, f_high, t = 0.0, first, np.inf, np.inf, 1.0
    for trial in range(MAX_LENGTH_TRIALS):
        slope_t = slope(t)
        if abs(slope_t) <= SLOPE_TOL * abs(first):
            return t
        if slope_t < 0:
            low, f_low = t, slope_t
        else:
            high, f_high = t, slope_t
        if np.isinf(high):
            t *= 4
        elif trial % 2:
            t = (low + high) / 2 if low > 0 else high / 32
        else:  # the secant's zero
            t = low - f_low * (high - low) / (f_high - f_low)
    return low
