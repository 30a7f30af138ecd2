r"""The hinge loss for many columns: coordinate steps in the dual, conjugate gradients on a face.

    min over 0 ≤ α ≤ u   ½αᵀQα − Σα,   Q_ij = y_i y_j x̂_iᵀx̂_j,   θ = Σ α_i y_i x̂_i

A round is a few epochs of coordinate steps (Hsieh et al. 2008) over the rows that can move, which
settle who is at a bound, and then conjugate gradients over those that are not (the face F), which
settle how they hang together: Q_FF d = −g_F, α_F ← clip(α_F + td), the first of t = 1, ½, ¼ … that
raises D. pᵀQp = ‖Σ p y x̂‖² is known before rows are looked at, so that one look at the rows of F is
enough for an iteration. Rounds end with θ and all margins afresh, for P, D and the rows that can
move. Where rows are nearly alike (columns far from 0 or of very different scales) that is slow, and
``newton`` goes on from there.
"""

from typing import Any

import numpy as np

from ...data.csr import Block
from ...data.rows import as_floats
from ...runtime.pool import give_up_if_stopped, run_on_threads
from ..linalg.gram import NonFiniteError
from .dispatch import Best, HingeProblem
from .newton import ProximalNewton

FIRST, EPOCHS = 10, 5  # in the first round, and in others
ITERATIONS = 8, 100  # of conjugate gradients in a round: at first, and at most
LEFT = 1e-3  # share of g (squared) that they may leave
FLAT = 1e-10  # curvature, as a share of the diagonal's, that is rounding
HALVINGS = 12
SLOW = 20  # rounds in which P − D should halve, else the other solver takes over
CHUNK = 1 << 18  # elements of X that a thread takes at a time
MOST_CHUNKS = 8  # each has a sum over all columns of its own


class DualCoordinates:
    """O(n·p) operations an epoch (or the entries), O(n + p) memory; X in C order, else a copy."""

    name = "dual"
    on_one_thread = True  # but for conjugate gradients

    def prepare(self, problem: HingeProblem) -> None:
        if "rows" not in problem.cache:
            problem.cache["rows"] = _in_rows(problem.rows.X)
            out = np.empty(len(problem.y))
            problem.cache["squares"] = problem.rows.map(_square_norms, out)

    def solve(self, problem: HingeProblem, best: Best, max_iter: int) -> bool:
        self.prepare(problem)
        X, y, u, c = problem.cache["rows"], problem.y, problem.u, problem.c
        q = problem.cache["squares"] + c * c
        if not np.isfinite(q).all():
            raise NonFiniteError
        walk = _Walk(problem, X, q, best.alpha.copy())
        iterations, epochs, marks = ITERATIONS[0], FIRST, [np.inf]
        while True:
            give_up_if_stopped()
            theta = problem.sums(walk.alpha * y)
            m = y * problem.scores(theta)
            P, D = problem.primal(theta, m), float(walk.alpha.sum() - theta @ theta / 2)
            if best.is_enough(P, theta, D, walk.alpha):
                return best.excess <= best.goal
            if best.iteration >= max_iter:
                return False
            marks.append(best.excess)
            if len(marks) > SLOW and not marks[-1] < marks[-SLOW] / 2:
                return ProximalNewton().solve(problem, best, max_iter)
            g = m - 1
            free = np.flatnonzero((walk.alpha > 0) & (walk.alpha < u))
            if best.iteration and len(free):
                t = walk.along_the_face(free, g[free], theta, iterations)
                iterations = min(2 * iterations, ITERATIONS[1]) if t == 1 else iterations
                iterations = max(iterations // 2, ITERATIONS[0]) if t < 0.25 else iterations
            walk.epochs(g, theta, epochs)
            epochs = EPOCHS
            best.iteration += 1


class _Walk:
    """α, and what changes it. θ is changed beside it."""

    def __init__(self, problem: HingeProblem, X: Block, q: np.ndarray, alpha: np.ndarray):
        self.problem, self.X, self.q, self.alpha = problem, X, q, alpha
        self.state = np.array([problem.seed or 1], dtype=np.uint64)
        elements = X.size if isinstance(X, np.ndarray) else len(X.data)
        self.a_row = max(1.0, elements / max(1, len(q)))

    def epochs(self, g: np.ndarray, theta: np.ndarray, count: int) -> None:
        """Coordinate steps over the rows that g says can move."""
        from ...kernels.hinge.dual_coordinates import epoch

        p, alpha = self.problem, self.alpha
        low, high = alpha <= 0, alpha >= p.u
        projected = np.where(low, np.minimum(g, 0.0), np.where(high, np.maximum(g, 0.0), g))
        projected[p.u == 0] = 0.0
        limits = np.array([projected.max(initial=0.0), projected.min(initial=0.0)])
        still = (low & (g > limits[0])) | (high & (g < limits[1])) | (p.u == 0)
        active = np.flatnonzero(~still).astype(np.int64)
        for _ in range(count):
            limits[0] = limits[0] if limits[0] > 0 else np.inf
            limits[1] = limits[1] if limits[1] < 0 else -np.inf
            kept = epoch(self.X, p.y, p.u, self.q, p.c, alpha, theta, active, self.state, limits)
            active = active[:kept]

    def along_the_face(
        self, rows: np.ndarray, g: np.ndarray, theta: np.ndarray, iterations: int
    ) -> float:
        """Move α of ``rows``, and θ, by conjugate gradients; the share t of it that was kept."""
        rows, y, u = rows.astype(np.int64), self.problem.y[rows], self.problem.u[rows]
        d = self._conjugate_gradients(rows, g, iterations)
        before, t = self.alpha[rows], 1.0
        for _ in range(HALVINGS):
            step = np.clip(before + t * d, 0.0, u) - before
            change = self._sum_over(rows, y * step)
            if step.sum() - theta @ change - change @ change / 2 > 0:
                self.alpha[rows] = before + step
                theta += change
                return t
            t /= 2
        return 0.0

    def _conjugate_gradients(self, rows: np.ndarray, g: np.ndarray, iterations: int) -> np.ndarray:
        """Q_FF d ≈ −g, with the diagonal q as preconditioner."""
        r, z, d, q = -g, np.zeros(len(g)), np.zeros(len(g)), self.q[rows]
        rz, v = self._look(rows, np.zeros(self.X.shape[1] + 1), 0.0, r, z)
        p, first = z.copy(), rz
        for _ in range(iterations):
            bend = float(v @ v)
            flat = bend <= FLAT * float((p * p) @ q)  # Q says nothing along p
            if flat or not rz > LEFT * first:
                break
            step = rz / bend
            d += step * p
            new, V = self._look(rows, v, step, r, z)
            beta, rz = new / rz, new
            p *= beta
            p += z
            v = V + beta * v
        return d

    def _look(
        self, rows: np.ndarray, v: np.ndarray, step: float, r: np.ndarray, z: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """r −= step·Qp, z = r/q; Σrz and Σ y z x̂. Chunks depend on the rows alone."""
        from ...kernels.hinge.dual_coordinates import face

        p = self.problem
        count = min(MOST_CHUNKS, max(1, int(len(rows) * self.a_row / CHUNK)))
        edges = [i * len(rows) // count for i in range(count + 1)]
        V, gained = np.zeros((count, len(v))), np.zeros(count)

        def one(i: int) -> None:
            part = slice(edges[i], edges[i + 1])
            gained[i] = face(self.X, p.y, self.q, p.c, rows[part], v, step, r[part], z[part], V[i])

        run_on_threads(one, count, min(count, p.rows.threads))
        return float(gained.sum()), V.sum(axis=0)

    def _sum_over(self, rows: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Σ g x̂ over ``rows``: the other half of the same kernel, with r = g·q·y."""
        r = g * self.q[rows] * self.problem.y[rows]
        _, v = self._look(rows, np.zeros(self.X.shape[1] + 1), 0.0, r, np.zeros(len(g)))
        return v


def _in_rows(X: Block) -> Any:
    """X as kernels read it."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(as_floats(X))
    if hasattr(X, "indptr"):
        return X if X.dtype in (np.float32, np.float64) else as_floats(X[: X.shape[0]])
    return np.ascontiguousarray(as_floats(X[: X.shape[0]]))  # made when read


def _square_norms(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> Any:
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X, dtype=float)
    return np.asarray(X.astype(float).power(2).sum(axis=1)).ravel()
