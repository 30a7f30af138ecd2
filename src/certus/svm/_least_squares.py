r"""Base of the least-squares machines: one linear system, its attributes, leave-one-out.

    minimise ½‖w‖² + C/2 Σ ω_i e_i²,   e_i = y_i − wᵀφ(x_i) − b,   w = Σ β_i φ(x_i)

At the optimum β_i = C ω_i e_i and P = ½ Σ β_i y_i, for each column of y.
"""

from typing import Literal

import numpy as np

from ..certificate import certify
from ..data.memory import memory_for_kernel
from ..data.rows import Rows
from ..data.validation import boolean, one_of
from ..solvers.lssvm import Kernel, LSSVMFit, solve
from ..text.format import count, number
from ._base import KernelMachine
from ._kernels import check_gamma, check_kernel, gamma_of, kernel_of
from ._messages import gamma_remarks, ill_conditioned, indefinite
from ._parameters import check_C

MAX_AUTO_LOO_ROWS = 1000  # up to here loo="auto" computes left-out scores, about one fit more


class LeastSquares(KernelMachine):
    """Base class of models whose β and b solve one linear system."""

    fit_intercept: bool
    loo: bool | Literal["auto"]
    loo_scores_: np.ndarray | None
    objective_: float
    condition_: float
    effective_parameters_: float | None

    def _check_machine(self) -> None:
        check_C(self.C)
        check_kernel(self)
        check_gamma(self.gamma)
        boolean("fit_intercept", self.fit_intercept)
        if not isinstance(self.loo, bool | np.bool_):
            one_of("loo", self.loo, ("auto", True, False))

    def _wants_left_out(self, omega: np.ndarray) -> bool:
        if np.count_nonzero(omega) < 2:  # no other row to fit
            return False
        return len(omega) <= MAX_AUTO_LOO_ROWS if isinstance(self.loo, str) else bool(self.loo)

    def _kernel(self, rows: Rows) -> Kernel:
        return kernel_of(self, gamma_of(self.gamma, self.kernel, rows))

    def _solve_and_set(
        self, rows: Rows, y: np.ndarray, omega: np.ndarray, C: float, kernel: Kernel, left_out: bool
    ) -> LSSVMFit:
        """Solve for all columns of y and set the fitted attributes."""
        n = rows.shape[0]
        memory_for_kernel(n, 1)
        self._monitor.begin()
        self._print(f"{count(n, 'row')}, {count(y.shape[1], 'right-hand side')}")
        fit = solve(rows.X, y, omega, C, kernel, bool(self.fit_intercept), left_out, rows.threads)
        self._set(rows, fit, kernel)
        return fit

    def _set(self, rows: Rows, fit: LSSVMFit, kernel: Kernel) -> None:
        self._store_rows(rows.X)
        self.gamma_ = float(kernel.gamma)
        self.dual_coef_ = np.ascontiguousarray(fit.beta.T)
        self.intercept_ = np.array(fit.b, dtype=float)
        self.objective_, self.condition_ = float(fit.objective), float(fit.condition)
        self._print(f"objective {number(self.objective_, 10)}, condition {fit.condition:.1e}")
        self.effective_parameters_ = None if fit.effective is None else float(fit.effective)
        f = fit.left_out
        self.loo_scores_ = None if f is None else f[:, 0].copy() if f.shape[1] == 1 else f

    def _certify(self, rows: Rows, fit: LSSVMFit, kernel: Kernel) -> list[str]:
        """Set certificate_ and return remarks on the kernel and its condition."""
        self._set_certificate(certify(self, rows))
        remarks = gamma_remarks(rows.X, kernel)
        if self.certificate_.kind == "stationary":
            return [*indefinite(self, fit.indefinite), *remarks]
        return [*ill_conditioned(self), *remarks]
