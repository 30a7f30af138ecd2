"""Least squares and ridge on sparse rows by conjugate gradients, without a factorisation.

    min_w,b Σ s_i (y_i − x_iᵀw − b)² + α‖w‖²      ⇔      (G + αI) w = X̃ᵀSỹ,   G = X̃ᵀSX̃

X̃ = X − 1x̄ᵀ is never formed: X̃ᵀSX̃u = Xᵀ(s∘t) − x̄ Σ s t with t = Xu − x̄ᵀu, in one pass. In v = w/e
the columns (stacked on √α) have norm 1, which is the only preconditioning. From v = 0:

    h = X̃ᵀSỹ,  z = e∘h,  d = z                              h: half the negative gradient
    w += a e∘d,  h −= a (G + αI)(e∘d),  z = e∘h,  d = z + (‖z‖²/‖z_before‖²) d,
    a = ‖z‖² / (e∘d)ᵀ(G + αI)(e∘d)

The recurrence for h loses digits; when h seems small it is recomputed from the residuals, and the
iteration restarts there if it is not.

α = 0 and more columns than rows: e = 1, and then w has the least norm. In tall data with repeated
columns it has the least ‖w/e‖, which is the norm in scaled columns. With more columns than rows,
e = 1 also where α is below the median of the columns' ‖x̃_j‖²: in text data rows have similar norms
but columns have not, and e would favour the rarest columns.
"""

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import Solution
from ..linalg.sparse_sums import ColumnSums, centered_column_sums, normal_product
from ..progress import OnStep, Step, ignore

MAX_TOL = 1e-6  # √(relative excess): a larger tol is reduced to it
MAX_PROVEN_SHARE = 1e-7  # of f₀, for Σh²/α, from which the certificate bounds the excess …
COEF_RTOL = 1e-5  # … and of ‖w‖, for ‖h‖/α, which bounds ‖w − w*‖ …
GRADIENT_ROUNDING = 1e-24  # … unless Σh²/(G_jj + α) is this share of f₀: h is rounding
MAX_RESTARTS = 8
MAX_TRUSTED_STEPS = 16  # for which the recurrence is trusted to …
DRIFT_TOL = 1e-9  # … this; the certificate recomputes the gradient in any case


def conjugate_gradients(
    rows: Rows,
    fit_intercept: bool,
    alpha: np.ndarray,
    tol: float = MAX_TOL,
    max_iter: int | None = None,
    on_step: OnStep = ignore,
) -> Solution:
    """Solve for k targets at once, alpha (k,). O(entries·k) per step, O(n·k + p·k) memory.

    ``max_iter``: the maximum number of passes over X; None: 2p, but 100 to 5,000.
    """
    p = rows.shape[1]
    limit = max(100, min(2 * p, 5000)) if max_iter is None else max_iter
    system = _System(rows, fit_intercept, alpha, min(tol, MAX_TOL))
    converged, stopped = False, on_step(system.step(0))
    iteration = 0
    while not converged and not stopped and iteration < limit and system.restarts <= MAX_RESTARTS:
        system.advance()
        iteration += 1
        stopped = on_step(system.step(iteration))
        converged = bool(system.has_converged().all())
        if converged and not stopped and iteration < limit and system.may_have_drifted(iteration):
            system.recompute_gradient()
            iteration += 1
            stopped = on_step(system.step(iteration))
            converged = bool(system.has_converged(slack=4.0).all())
    return system.solution(iteration, stopped_at=None if converged or stopped else limit)


class _System:
    def __init__(self, rows: Rows, fit_intercept: bool, alpha: np.ndarray, tol: float):
        assert rows.y is not None
        self.rows, self.alpha, self.tol, self.restarts = rows, alpha, tol, 0
        self.sums: ColumnSums = centered_column_sums(rows, fit_intercept)
        self.fit_intercept = fit_intercept
        n, p = rows.shape
        diagonal = self.sums.square[:, None] + alpha  # (p, k)
        # the coefficient of a constant, unpenalised column stays 0
        scale = np.divide(1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=diagonal > 0)
        # α = 0: scaling would change which w has the least norm. α > 0: on tf-idf and counts,
        # 1,500 × 20,000 and 6,000 × 30,000, e = 1 took half to a fifth of the passes where it is
        # used, and up to twice as many elsewhere
        varying = self.sums.square[self.sums.square > 0]
        unscaled = (alpha <= np.median(varying)) & (n <= p) if len(varying) else alpha < 0
        self.e = np.where(unscaled & (diagonal > 0), 1.0, scale)
        self.scale = scale
        self.w = np.zeros_like(self.sums.Xy)
        self.b_error = np.zeros(len(alpha))
        self.f0 = np.maximum(self.sums.yy, np.finfo(float).tiny)
        self._restart(self.sums.Xy.copy())

    def _restart(self, h: np.ndarray) -> None:
        self.h = h
        self.d = self.e * h
        self.gamma = np.einsum("ij,ij->j", self.d, self.d)

    def advance(self) -> None:
        """Do one step for every target that has not converged, in one pass over X."""
        mean, u = self.sums.mean, self.e * self.d
        Xt, st, stt = normal_product(self.rows, u, (mean @ u)[None])
        curvature = stt + self.alpha * np.einsum("ij,ij->j", u, u)
        moving = (curvature > 0) & ~self.has_converged()
        a = np.divide(self.gamma, curvature, out=np.zeros_like(curvature), where=moving)
        if self.fit_intercept:
            Xt = Xt - np.multiply.outer(mean, st)
        self.w += a * u
        self.h -= a * (Xt + self.alpha * u)
        z = self.e * self.h
        gamma = np.einsum("ij,ij->j", z, z)
        ratio = np.divide(gamma, self.gamma, out=np.zeros_like(gamma), where=self.gamma > 0)
        self.d, self.gamma = z + ratio * self.d, gamma

    def has_converged(self, slack: float = 1.0) -> np.ndarray:
        """Mask of the targets whose gradient is small enough."""
        excess = np.einsum("ij,ij->j", self.scale * self.h, self.scale * self.h)
        with np.errstate(divide="ignore", invalid="ignore"):
            h, w = (np.einsum("ij,ij->j", v, v) for v in (self.h, self.w))
            proven = h <= slack * MAX_PROVEN_SHARE * self.f0 * self.alpha
            proven &= h <= slack * (COEF_RTOL * self.alpha) ** 2 * w
        proven |= (self.alpha == 0) | (excess <= GRADIENT_ROUNDING * self.f0)
        return (excess <= slack * self.tol**2 * self.f0) & proven

    def may_have_drifted(self, iteration: int) -> bool:
        """Return whether h may be inaccurate at tol after this many steps of its recurrence."""
        return iteration > MAX_TRUSTED_STEPS or self.tol < DRIFT_TOL

    def recompute_gradient(self) -> None:
        """Compute h = X̃ᵀ(s∘r) − αw from the residuals, and the error of the intercept."""
        sums = self.sums
        assert self.rows.y is not None
        Xt, st, _ = normal_product(
            self.rows, self.w, self.rows.y - sums.mean_y + sums.mean @ self.w
        )
        h = -Xt - self.alpha * self.w
        if self.fit_intercept:
            h += np.multiply.outer(sums.mean, st)
            self.b_error = -st / sums.S
        self.restarts += 1
        self._restart(h)

    def step(self, iteration: int) -> Step:
        """Step with f(w) = ỹᵀSỹ − wᵀ(X̃ᵀSỹ + h) and the bound f − Σh²/α."""
        f = self.sums.yy - np.einsum("ij,ij->j", self.w, self.sums.Xy + self.h)
        bound = None
        if self.alpha.all():
            bound = float(np.sum(f - np.einsum("ij,ij->j", self.h, self.h) / self.alpha))

        return Step(iteration, float(f.sum()), bound, lambda: self.solution(iteration))

    def solution(self, iteration: int, stopped_at: int | None = None) -> Solution:
        b = self.sums.mean_y - self.sums.mean @ self.w + self.b_error
        return Solution(
            self.w.copy(), b, "conjugate gradients", n_iter=iteration, stopped_at=stopped_at
        )
