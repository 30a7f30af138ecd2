r"""The hinge loss for many columns: coordinate steps in the dual, conjugate gradients on a face.

    min over 0 ≤ α ≤ u   ½αᵀQα − Σα,   Q_ij = y_i y_j x̂_iᵀx̂_j,   θ = Σ α_i y_i x̂_i

A round is a few epochs of coordinate steps (Hsieh et al. 2008) over the active rows, which identify
the rows at a bound, then conjugate gradients over the others (the face F), which account for their
correlation: Q_FF d = −g_F, α_F ← clip(α_F + td), with the first of t = 1, ½, ¼ … that raises D.
pᵀQp = ‖Σ p y x̂‖² follows from the sums of the last pass, so that an iteration needs a single pass
over the rows of F. A round ends by recomputing θ and all margins, for P, D and the active rows.
Where rows are nearly alike (columns far from 0 or of very different scales) this is slow, and
``newton`` continues from there.
"""

from typing import Any

import numpy as np

from ...data.csr import Block
from ...data.rows import as_floats
from ...runtime.pool import give_up_if_stopped, run_on_threads
from ..linalg.gram import NonFiniteError
from .dispatch import HingeProblem, HingeProgress
from .newton import ProximalNewton

FIRST_ROUND_EPOCHS, ROUND_EPOCHS = 10, 5  # in the first round, and in later ones
CG_ITERATIONS = 8, 100  # of conjugate gradients in a round: at first, and at most
CG_RESIDUAL_SHARE = 1e-3  # share of g (squared) that they may leave
MIN_CURVATURE_SHARE = 1e-10  # curvature relative to the diagonal's, below which it is rounding
MAX_STEP_HALVINGS = 12  # of a step on the face
MAX_ROUNDS_TO_HALVE_GAP = 20  # if P − D takes longer to halve, the other solver takes over
CHUNK_ELEMENTS = 1 << 18  # of X that a thread takes at a time
MAX_CHUNKS = 8  # each has its own sum over all columns


class DualCoordinates:
    """Dual coordinate steps and conjugate gradients, for many columns.

    O(n·p) operations an epoch (sparse X: its entries), O(n + p) memory; X is copied if it is not in
    C order.
    """

    name = "dual"
    on_one_thread = True  # except the conjugate gradients

    def prepare(self, problem: HingeProblem) -> None:
        if "rows" not in problem.cache:
            problem.cache["rows"] = _in_rows(problem.rows.X)
            out = np.empty(len(problem.y))
            problem.cache["squares"] = problem.rows.map(_square_norms, out)

    def solve(self, problem: HingeProblem, progress: HingeProgress, max_iter: int) -> bool:
        self.prepare(problem)
        X, y, u, c = problem.cache["rows"], problem.y, problem.u, problem.c
        q = problem.cache["squares"] + c * c
        if not np.isfinite(q).all():
            raise NonFiniteError
        iterate = _DualIterate(problem, X, q, progress.alpha.copy())
        iterations, epochs, gaps = CG_ITERATIONS[0], FIRST_ROUND_EPOCHS, [np.inf]
        while True:
            give_up_if_stopped()
            theta = problem.sums(iterate.alpha * y)
            m = y * problem.scores(theta)
            P, D = problem.primal(theta, m), float(iterate.alpha.sum() - theta @ theta / 2)
            if progress.update(P, theta, D, iterate.alpha):
                return progress.excess <= progress.goal
            if progress.iteration >= max_iter:
                return False
            gaps.append(progress.excess)
            if (
                len(gaps) > MAX_ROUNDS_TO_HALVE_GAP
                and not gaps[-1] < gaps[-MAX_ROUNDS_TO_HALVE_GAP] / 2
            ):
                return ProximalNewton().solve(problem, progress, max_iter)
            g = m - 1
            free = np.flatnonzero((iterate.alpha > 0) & (iterate.alpha < u))
            if progress.iteration and len(free):
                t = iterate.face_step(free, g[free], theta, iterations)
                iterations = min(2 * iterations, CG_ITERATIONS[1]) if t == 1 else iterations
                iterations = max(iterations // 2, CG_ITERATIONS[0]) if t < 0.25 else iterations
            iterate.epochs(g, theta, epochs)
            epochs = ROUND_EPOCHS
            progress.iteration += 1


class _DualIterate:
    """The dual iterate α and the steps that change it; they update θ with it."""

    def __init__(self, problem: HingeProblem, X: Block, q: np.ndarray, alpha: np.ndarray):
        self.problem, self.X, self.q, self.alpha = problem, X, q, alpha
        self.state = np.array([problem.seed or 1], dtype=np.uint64)
        elements = X.size if isinstance(X, np.ndarray) else len(X.data)
        self.elements_per_row = max(1.0, elements / max(1, len(q)))

    def epochs(self, g: np.ndarray, theta: np.ndarray, count: int) -> None:
        """Make ``count`` epochs of coordinate steps over the rows that are not fixed by g."""
        from ...kernels.hinge.dual_coordinates import epoch

        p, alpha = self.problem, self.alpha
        low, high = alpha <= 0, alpha >= p.u
        projected = np.where(low, np.minimum(g, 0.0), np.where(high, np.maximum(g, 0.0), g))
        projected[p.u == 0] = 0.0
        limits = np.array([projected.max(initial=0.0), projected.min(initial=0.0)])
        at_bound = (low & (g > limits[0])) | (high & (g < limits[1])) | (p.u == 0)
        active = np.flatnonzero(~at_bound).astype(np.int64)
        for _ in range(count):
            limits[0] = limits[0] if limits[0] > 0 else np.inf
            limits[1] = limits[1] if limits[1] < 0 else -np.inf
            n_active = epoch(
                self.X, p.y, p.u, self.q, p.c, alpha, theta, active, self.state, limits
            )
            active = active[:n_active]

    def face_step(
        self, rows: np.ndarray, g: np.ndarray, theta: np.ndarray, iterations: int
    ) -> float:
        """Move α of ``rows``, and θ, by conjugate gradients; return the step length t."""
        rows, y, u = rows.astype(np.int64), self.problem.y[rows], self.problem.u[rows]
        d = self._conjugate_gradients(rows, g, iterations)
        before, t = self.alpha[rows], 1.0
        for _ in range(MAX_STEP_HALVINGS):
            step = np.clip(before + t * d, 0.0, u) - before
            change = self._sum_over(rows, y * step)
            if step.sum() - theta @ change - change @ change / 2 > 0:
                self.alpha[rows] = before + step
                theta += change
                return t
            t /= 2
        return 0.0

    def _conjugate_gradients(self, rows: np.ndarray, g: np.ndarray, iterations: int) -> np.ndarray:
        """Return d with Q_FF d ≈ −g, with the diagonal q as preconditioner."""
        r, z, d, q = -g, np.zeros(len(g)), np.zeros(len(g)), self.q[rows]
        rz, v = self._face_pass(rows, np.zeros(self.X.shape[1] + 1), 0.0, r, z)
        p, first = z.copy(), rz
        for _ in range(iterations):
            curvature = float(v @ v)
            is_flat = curvature <= MIN_CURVATURE_SHARE * float((p * p) @ q)  # Q is singular along p
            if is_flat or not rz > CG_RESIDUAL_SHARE * first:
                break
            step = rz / curvature
            d += step * p
            new, V = self._face_pass(rows, v, step, r, z)
            beta, rz = new / rz, new
            p *= beta
            p += z
            v = V + beta * v
        return d

    def _face_pass(
        self, rows: np.ndarray, v: np.ndarray, step: float, r: np.ndarray, z: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Set r −= step·Qp and z = r/q; return Σ rz and Σ y z x̂.

        The chunks do not depend on the number of threads.
        """
        from ...kernels.hinge.dual_coordinates import face

        p = self.problem
        count = min(MAX_CHUNKS, max(1, int(len(rows) * self.elements_per_row / CHUNK_ELEMENTS)))
        edges = [i * len(rows) // count for i in range(count + 1)]
        V, partial_sums = np.zeros((count, len(v))), np.zeros(count)

        def run_chunk(i: int) -> None:
            part = slice(edges[i], edges[i + 1])
            partial_sums[i] = face(
                self.X, p.y, self.q, p.c, rows[part], v, step, r[part], z[part], V[i]
            )

        run_on_threads(run_chunk, count, min(count, p.rows.threads))
        return float(partial_sums.sum()), V.sum(axis=0)

    def _sum_over(self, rows: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Return Σ g x̂ over ``rows``, by the same kernel with r = g·q·y."""
        r = g * self.q[rows] * self.problem.y[rows]
        _, v = self._face_pass(rows, np.zeros(self.X.shape[1] + 1), 0.0, r, np.zeros(len(g)))
        return v


def _in_rows(X: Block) -> Any:
    """Return X in the layout of the kernels."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(as_floats(X))
    if hasattr(X, "indptr"):
        return X if X.dtype in (np.float32, np.float64) else as_floats(X[: X.shape[0]])
    return np.ascontiguousarray(as_floats(X[: X.shape[0]]))  # a lazy source


def _square_norms(X: np.ndarray, _y: np.ndarray, _s: np.ndarray) -> Any:
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X, dtype=float)
    return np.asarray(X.astype(float).power(2).sum(axis=1)).ravel()
