r"""The hinge loss for few columns: proximal steps in α, Newton's method in θ.

With α = u∘a, 0 ≤ a ≤ 1, a step from a minimises over θ

    φ(θ) = ½‖θ‖² + Σ_i u_i h(t_i)/σ,   t_i = a_i + σ(1 − m_i),   h = tγ − γ²/2,  γ = clip(t, 0, 1)

and moves a to γ: the hinge with its kink rounded off over a width of 1/σ, about where a had it.
∇φ = θ − Σ uγyx̂, so α = u∘γ is a dual point with D(α) = Σα − ½‖θ − ∇φ‖². φ is quadratic in pieces,

    H = I + σ Σ_{0 ≤ t ≤ 1} u x̂x̂ᵀ

in which only rows near their margin take part: a few hundred of 100,000 when σ is large. Along the
direction −H⁻¹∇φ the margins change in proportion, so that the best length is found without X. The
steps converge for any σ, and the faster the larger it is (Rockafellar 1976: an augmented Lagrangian
method); the bounds of the gap are there from the first step on.

Many rows: a sample of them is solved first, roughly, and tells where to begin.
"""

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ...data.rows import Rows
from ..glm.coordinates import coordinates, coordinates_of_some
from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.gram import NonFiniteError
from .dispatch import Best, HingeProblem

GROWTH = 5.0  # of σ from step to step
MOST = 1e10  # σ
INNER = 0.02  # ½‖∇φ‖² as a share of P − D, below which a step is accurate enough
FLAT = 0.1  # share of the slope that a line search may leave
TRIALS = 60  # of a length
SAMPLE = 8  # one row in so many is solved first …
WORTH_SAMPLING = 20_000, 50  # … of at least so many rows, and so many a column
ROUGH = 1e-2  # … until P − D is this share of f₀
ILL = 1e8  # condition of a scaled matrix from which rows are factored instead
MOST_FACTORED = 3000  # rows and columns above which nothing is factored
ITERATIONS, LEFT = 300, 1e-4  # of conjugate gradients then, and what they may leave (squared)
PATIENCE = 50  # steps that neither lower P nor raise D: rounding has the last word


class ProximalNewton:
    """O(n·p) operations a step and O(k·p² + p³), k the rows near their margin; O(p²) memory."""

    name = "newton"
    on_one_thread = False

    def prepare(self, problem: HingeProblem) -> None:
        """q, powers of two that bring columns within reach of squares: x̂∘q is worked with."""
        if "q" not in problem.cache:
            rows = Rows(problem.rows.X, s=problem.u, threads=problem.rows.threads)
            find = coordinates if rows.sparse else coordinates_of_some
            q = find(rows, False).q
            problem.cache["q"] = np.ones(rows.shape[1] + 1) if q is None else np.append(q, 1.0)

    def solve(self, problem: HingeProblem, best: Best, max_iter: int) -> bool:
        self.prepare(problem)
        q = problem.cache["q"]
        start = (
            best.theta / q,
            np.divide(best.alpha, problem.u, out=np.zeros_like(problem.u), where=problem.u > 0),
        )
        sigma = problem.sigma
        if not best.theta.any():
            found = self._from_a_sample(problem)
            if found is not None:
                theta, sigma = found
                m = problem.y * problem.scores(theta)
                start = theta / q, np.clip(0.5 + sigma * (1 - m), 0.0, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            return _climb(problem, best, q, *start, sigma, max_iter)

    def _from_a_sample(self, problem: HingeProblem) -> tuple[np.ndarray, float] | None:
        n, p = problem.rows.shape
        rows, a_column = WORTH_SAMPLING
        if n < max(rows, a_column * p):
            return None
        numbered = Rows(problem.rows.X, np.column_stack([problem.y, problem.u]), threads=1)
        some = numbered.sample(n // SAMPLE)
        assert some.y is not None
        y, u = np.ascontiguousarray(some.y.T)
        u = u * (n / len(u))
        X = Rows(some.X, threads=problem.rows.threads)
        part = HingeProblem(X, y, u, problem.c)
        best = Best(part, ROUGH * part.null_objective, self.name)
        if not min(u[y > 0].sum(), u[y < 0].sum()) > 0 or not self.solve(part, best, 100):
            return None
        return best.theta, part.sigma


def _climb(
    problem: HingeProblem, best: Best, q: np.ndarray, x: np.ndarray, a: np.ndarray, sigma: float,
    max_iter: int,
) -> bool:  # fmt: skip
    """θ = q∘x, so that x̂ᵀθ = (x̂∘q)ᵀx and the penalty is ½Σq²x²."""
    y, u, ridge = problem.y, problem.u, q**2
    m = y * problem.scores(q * x)
    least, since = np.inf, best.iteration
    while True:
        bent = a + sigma * (1 - m)
        gamma = np.clip(bent, 0.0, 1.0)
        v = problem.sums(u * gamma * y)
        theta = q * x
        P, D = problem.primal(theta, m), float(u @ gamma - v @ v / 2)
        if not (np.isfinite(P) and np.isfinite(v).all()):  # D may be −∞: no bound yet
            raise NonFiniteError
        problem.sigma = sigma
        if best.is_enough(P, theta, D, u * gamma):
            return best.excess <= best.goal
        g = theta - v
        if (np.isfinite(D) and g @ g / 2 <= INNER * (P - D)) or best.excess <= 4e-16 * best.P:
            if sigma >= MOST:
                return False
            a, sigma = gamma, GROWTH * sigma
            m = y * problem.scores(theta)  # afresh: steps have left rounding in it
            continue
        least, since = (best.excess, best.iteration) if best.excess < least else (least, since)
        if best.iteration >= max_iter or best.iteration - since > PATIENCE:
            return False
        inside = np.flatnonzero((bent >= 0) & (bent <= 1) & (u > 0))
        d = -_solve(problem, q, inside, sigma * u[inside], ridge, q * g)
        md = y * problem.scores(q * d)
        t = _length(a, m, md, u, sigma, float(d @ (ridge * x)), float(d @ (ridge * d)))
        best.iteration += 1
        if t == 0:  # rounding is all there is to be gained
            if sigma >= MOST:
                return False
            a, sigma = gamma, GROWTH * sigma
            continue
        x, m = x + t * d, m + t * md


def _solve(
    problem: HingeProblem, q: np.ndarray, rows: np.ndarray, h: np.ndarray, ridge: np.ndarray,
    g: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """(Σ h x̂x̂ᵀ + diag ridge)⁻¹g over ``rows``; by the rows' own matrix where they are fewer."""
    if not len(rows):
        return np.asarray(g / ridge)
    few = problem.rows.take(rows)
    near = Rows(few.X, h[:, None], threads=few.threads)
    if min(len(rows), len(g)) > MOST_FACTORED:
        return _by_conjugate_gradients(near, problem.c, q, ridge, g)
    near = near.dense()
    if 2 * len(rows) <= len(g):
        Z = np.hstack([near.block(0, len(rows))[0], np.full((len(rows), 1), problem.c)]) * q
        Zr = Z / ridge
        K = np.dot(Zr, Z.T)
        K.flat[:: len(K) + 1] += 1 / h
        x = _by_cholesky(K, Zr @ g)
        if x is not None:
            return np.asarray(g / ridge - Zr.T @ x)
    else:
        block_rows = max(256, len(g))
        (H,) = near.reduce(_outer, problem.c, q, square=True, block_rows=block_rows)
        H.flat[:: len(H) + 1] += ridge
        x = _by_cholesky(H, g)
        if x is not None:
            return x
    return _by_triangle(near, problem.c, q, ridge, g)


def _weighted(X: np.ndarray, h: np.ndarray, c: float, q: np.ndarray) -> np.ndarray:
    """√h x̂∘q, row by row."""
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
    """Σ h x̂x̂ᵀd."""
    u = q * d
    z = h[:, 0] * (X @ u[:-1] + c * u[-1])
    return (q * np.append(X.T @ z, c * z.sum()),)


def _squares(X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray) -> tuple[Any]:
    """Σ h x̂²."""
    square = np.square(X, dtype=float) if isinstance(X, np.ndarray) else X.power(2)
    return (q**2 * np.append(square.T @ h[:, 0], c * c * h.sum()),)


def _by_cholesky(A: np.ndarray, g: np.ndarray) -> np.ndarray | None:
    """A⁻¹g on a diagonal of 1; None where too many digits would be lost."""
    d = 1 / np.sqrt(np.maximum(A.diagonal(), np.finfo(float).tiny))
    A = A * d * d[:, None]
    A.flat[:: len(A) + 1] = 1.0
    R, condition = factor(A)
    if not condition < ILL:
        return None
    return np.asarray(cholesky_solve(R, (g * d)[:, None])[:, 0] * d)


def _by_triangle(
    near: Rows, c: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """RᵀRd = g with R of the rows themselves, which has the digits that their squares lose; and two
    corrections."""
    (R,) = near.reduce(_triangle, c, q, combine=_stacked, square=True, block_rows=max(256, len(q)))
    R = np.linalg.qr(np.vstack([R, np.diag(np.sqrt(ridge))]), mode="r")
    d, r = np.zeros_like(g), g
    for _ in range(3):
        d = d + solve_triangular(R, solve_triangular(R, r, trans="T"))
        r = g - ridge * d - near.reduce(_times, c, q, d)[0]
    return np.asarray(d)


def _triangle(X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray) -> tuple[Any]:
    return (np.linalg.qr(_weighted(X, h, c, q), mode="r"),)


def _stacked(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"),)


def _by_conjugate_gradients(
    near: Rows, c: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray
) -> np.ndarray:
    diagonal = ridge + near.reduce(_squares, c, q)[0]
    d, r = np.zeros_like(g), g.copy()
    z = r / diagonal
    p, rz = z.copy(), float(r @ z)
    first = rz
    for _ in range(ITERATIONS):
        Hp = ridge * p + near.reduce(_times, c, q, p)[0]
        step = rz / float(p @ Hp)
        d += step * p
        r -= step * Hp
        z = r / diagonal
        rz, before = float(r @ z), rz
        if not rz > LEFT * first:
            break
        p = z + rz / before * p
    return d


def _length(
    a: np.ndarray, m: np.ndarray, md: np.ndarray, u: np.ndarray, sigma: float, linear: float,
    square: float,
) -> float:  # fmt: skip
    """t > 0 where φ(x + td) has nearly no slope; it rises with t. 0: φ does not fall."""
    t0, rate, weight = a + sigma * (1 - m), sigma * md, u * md

    def slope(t: float) -> float:
        return linear + t * square - float(weight @ np.clip(t0 - t * rate, 0.0, 1.0))

    first = slope(0.0)
    if not first < 0:
        return 0.0
    low, f_low, high, f_high, t = 0.0, first, np.inf, np.inf, 1.0
    for turn in range(TRIALS):
        here = slope(t)
        if abs(here) <= FLAT * abs(first):
            return t
        if here < 0:
            low, f_low = t, here
        else:
            high, f_high = t, here
        if np.isinf(high):
            t *= 4
        elif turn % 2:
            t = (low + high) / 2 if low > 0 else high / 32
        else:  # where a line between the two would have no slope
            t = low - f_low * (high - low) / (f_high - f_low)
    return low
