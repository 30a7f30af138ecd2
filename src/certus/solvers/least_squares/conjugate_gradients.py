"""Least squares and ridge on sparse rows by conjugate gradients: X is multiplied, never factored.

    min_w,b Σ s_i (y_i − x_iᵀw − b)² + α‖w‖²      ⇔      (G + αI) w = X̃ᵀSỹ,   G = X̃ᵀSX̃

X̃ = X − 1x̄ᵀ is never formed: X̃ᵀSX̃u = Xᵀ(s∘t) − x̄ Σ s t with t = Xu − x̄ᵀu, each entry read once. In
v = w/e the columns (on top of √α) have norm 1, which is all the preconditioning. From v = 0:

    h = X̃ᵀSỹ,  z = e∘h,  d = z                              h: half the negative gradient
    w += a e∘d,  h −= a (G + αI)(e∘d),  z = e∘h,  d = z + (‖z‖²/‖z_before‖²) d,
    a = ‖z‖² / (e∘d)ᵀ(G + αI)(e∘d)

h is carried along by this recurrence and loses digits; when it seems small it is taken from the
residuals themselves, and the iteration starts anew from there if it is not.

α = 0 and more columns than rows: e = 1, and then the w found is the one of least norm. With columns
that repeat others in tall data it is the one of least ‖w/e‖: least norm in columns scaled to 1.
Also with more columns than rows, e = 1 where α is below the median of the columns' ‖x̃_j‖²: the rows
of text have about one norm, its columns have not, and e would favour the rarest.
"""

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import Solution
from ..linalg.sparse_sums import Columns, columns, twice
from ..progress import OnStep, Step, ignore

ACCURATE = 1e-6  # √(relative excess) that is asked for at least; tol asks for less
PROVEN = 1e-7  # share of f₀ that Σh²/α, which proves the fit, shall come down to
COEF_ACCURACY = 1e-5  # … and ‖h‖/α, which bounds ‖w − w*‖, beside ‖w‖
ROUNDING = 1e-24  # … unless Σh²/(G_jj + α) is this: no digit is left in h
RESTARTS = 8
DRIFTS_AFTER = 16  # steps for which the recurrence is trusted to …
DRIFT = 1e-9  # … this; the certificate sees the data's own gradient in any case


def conjugate_gradients(
    rows: Rows,
    fit_intercept: bool,
    alpha: np.ndarray,
    tol: float = ACCURATE,
    max_iter: int | None = None,
    on_step: OnStep = ignore,
) -> Solution:
    """For k targets side by side, alpha (k,). O(entries·k) a step, O(n·k + p·k) memory.

    ``max_iter``: passes over X at most; None for 2p, within 100 and 5,000.
    """
    p = rows.shape[1]
    most = max(100, min(2 * p, 5000)) if max_iter is None else max_iter
    system = _System(rows, fit_intercept, alpha, min(tol, ACCURATE))
    done, stopped = False, on_step(system.step(0))
    iteration = 0
    while not done and not stopped and iteration < most and system.restarts <= RESTARTS:
        system.advance()
        iteration += 1
        stopped = on_step(system.step(iteration))
        done = bool(system.small().all())
        if done and not stopped and iteration < most and system.may_have_drifted(iteration):
            system.take_gradient()
            iteration += 1
            stopped = on_step(system.step(iteration))
            done = bool(system.small(slack=4.0).all())
    return system.solution(iteration, stopped_at=None if done or stopped else most)


class _System:
    def __init__(self, rows: Rows, fit_intercept: bool, alpha: np.ndarray, tol: float):
        assert rows.y is not None
        self.rows, self.alpha, self.tol, self.restarts = rows, alpha, tol, 0
        self.of: Columns = columns(rows, fit_intercept)
        self.fit_intercept = fit_intercept
        n, p = rows.shape
        diagonal = self.of.square[:, None] + alpha  # (p, k)
        # a constant column that no penalty holds stays at 0
        scale = np.divide(1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=diagonal > 0)
        # α = 0: in other units another w has the least norm. α > 0: measured on tf-idf and counts,
        # 1,500 × 20,000 and 6,000 × 30,000: half to a fifth of the passes, or up to twice as many
        varying = self.of.square[self.of.square > 0]
        unscaled = (alpha <= np.median(varying)) & (n <= p) if len(varying) else alpha < 0
        self.e = np.where(unscaled & (diagonal > 0), 1.0, scale)
        self.scale = scale
        self.w = np.zeros_like(self.of.Xy)
        self.b_error = np.zeros(len(alpha))
        self.f0 = np.maximum(self.of.yy, np.finfo(float).tiny)
        self._start(self.of.Xy.copy())

    def _start(self, h: np.ndarray) -> None:
        self.h = h
        self.d = self.e * h
        self.gamma = np.einsum("ij,ij->j", self.d, self.d)

    def advance(self) -> None:
        """One step for every target that has not arrived; one pass over X."""
        mean, u = self.of.mean, self.e * self.d
        Xt, st, stt = twice(self.rows, u, (mean @ u)[None])
        curvature = stt + self.alpha * np.einsum("ij,ij->j", u, u)
        moving = (curvature > 0) & ~self.small()
        a = np.divide(self.gamma, curvature, out=np.zeros_like(curvature), where=moving)
        if self.fit_intercept:
            Xt = Xt - np.multiply.outer(mean, st)
        self.w += a * u
        self.h -= a * (Xt + self.alpha * u)
        z = self.e * self.h
        gamma = np.einsum("ij,ij->j", z, z)
        ratio = np.divide(gamma, self.gamma, out=np.zeros_like(gamma), where=self.gamma > 0)
        self.d, self.gamma = z + ratio * self.d, gamma

    def small(self, slack: float = 1.0) -> np.ndarray:
        """Targets whose gradient is as small as it was asked to be."""
        excess = np.einsum("ij,ij->j", self.scale * self.h, self.scale * self.h)
        with np.errstate(divide="ignore", invalid="ignore"):
            h, w = (np.einsum("ij,ij->j", v, v) for v in (self.h, self.w))
            proven = h <= slack * PROVEN * self.f0 * self.alpha
            proven &= h <= slack * (COEF_ACCURACY * self.alpha) ** 2 * w
        proven |= (self.alpha == 0) | (excess <= ROUNDING * self.f0)
        return (excess <= slack * self.tol**2 * self.f0) & proven

    def may_have_drifted(self, iteration: int) -> bool:
        """Is h, carried along for this many steps, possibly wrong in a digit that was asked for?"""
        return iteration > DRIFTS_AFTER or self.tol < DRIFT

    def take_gradient(self) -> None:
        """h = X̃ᵀ(s∘r) − αw from the residuals, and what the intercept lacks."""
        of = self.of
        assert self.rows.y is not None
        Xt, st, _ = twice(self.rows, self.w, self.rows.y - of.mean_y + of.mean @ self.w)
        h = -Xt - self.alpha * self.w
        if self.fit_intercept:
            h += np.multiply.outer(of.mean, st)
            self.b_error = -st / of.S
        self.restarts += 1
        self._start(h)

    def step(self, iteration: int) -> Step:
        """f(w) = ỹᵀSỹ − wᵀ(X̃ᵀSỹ + h), and f − Σh²/α below it."""
        f = self.of.yy - np.einsum("ij,ij->j", self.w, self.of.Xy + self.h)
        bound = None
        if self.alpha.all():
            bound = float(np.sum(f - np.einsum("ij,ij->j", self.h, self.h) / self.alpha))

        return Step(iteration, float(f.sum()), bound, lambda: self.solution(iteration))

    def solution(self, iteration: int, stopped_at: int | None = None) -> Solution:
        b = self.of.mean_y - self.of.mean @ self.w + self.b_error
        return Solution(
            self.w.copy(), b, "conjugate gradients", n_iter=iteration, stopped_at=stopped_at
        )
