"""What PoissonRegressor and GammaRegressor share: fits, predictions and scores with a log link.

    F(w, b) = 1/S Σ_i s_i ℓ(y_i, o_i + x_iᵀw + b) + αl‖w‖₁ + α(1 − l)/2 ‖w‖²

Solvers know no offsets: a count y of exposure e = exp(o) and weight s has the loss of the rate y/e
with weight s·e, an amount y that of y/e with weight s.
"""

from abc import ABC
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ..base.certified import CertifiedEstimator
from ..certificate import TOL, Certificate, certify
from ..certificate.offsets import with_offsets
from ..data.memory import memory_for_gram
from ..data.rows import Rows
from ..data.validation import (
    boolean,
    data_for_fit,
    one_of,
    warn_of_a_column,
)
from ..penalties import ElasticNet
from ..runtime.progress import monitored
from ..solvers.glm.dispatch import (
    MAX_HESSIAN_COLUMNS,
    RETRY_TOL_FACTORS,
    SMALL_HESSIAN_WORK,
    choose,
    solve,
)
from ..solvers.glm.newton import Newton
from ..solvers.glm.rates import as_rates
from ..solvers.loop import Fit, Solver
from ..solvers.problem import Problem
from ..solvers.progress import OnStep
from ..solvers.separation.zero_counts import falling_direction
from ._classifier import MIN_TOL, print_steps
from ._log_link_answers import LogLinkAnswers
from ._parameters import positive, whole_number
from ._solver_context import SolverContext
from ._unpenalized import least_norm, warn_of_aliases

SOLVERS = ("lbfgs", "newton-cholesky", "newton-cg", "auto")
RUN_AS_NAMED = ("newton-cholesky", "newton-cg")
MORE_DIGITS = 1e-4  # factor of tol where a step costs little: coefficients to 1e-10, not 1e-8
ENDLESS = "no finite optimum"
LOWEST_INTERCEPT = float(np.log(np.finfo(float).tiny))  # where every count is 0


class LogLinkRegressor(LogLinkAnswers, RegressorMixin, CertifiedEstimator, ABC):
    """Base of regressors whose mean is exp(o + xᵀw + b)."""

    _reads_rows = True
    n_iter_: int

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        l1_ratio: float = 0.0,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.l1_ratio = l1_ratio

    @monitored
    def fit(
        self,
        X: object,
        y: object = None,
        sample_weight: object = None,
        offset: object = None,
        exposure: object = None,
    ) -> Any:
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings y and the weights.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two equal rows.
        offset : float, array-like of shape (n_samples,) or str, default=None
            o, a part of log mean whose coefficient is 1. Of a table, the name of its second target.
        exposure : float, array-like of shape (n_samples,) or str, default=None
            e > 0, such as the time or the population behind each target: offset log e.

        Returns
        -------
        self
        """
        l1, l2 = self._strengths()
        rows = self._rows(X, y, sample_weight, offset, exposure)
        start = self._start(rows.shape[1])
        self.has_offset_ = bool(rows.y.shape[1] > 1)
        self._forget("_direction")
        total, (n_used,) = l1 + l2, rows.reduce_targets(_sum_of_targets)
        if self.fit_intercept and n_used == 0:  # every count is 0
            self._monitor.begin()
            self._set(Fit(np.zeros((rows.shape[1], 1)), np.array([LOWEST_INTERCEPT]), "none", 0))
            self._direction = np.zeros((rows.shape[1], 1)), -np.ones(1)
            self._conclude(certify(self, rows, self._certificate_tol()))
            return self
        penalty = ElasticNet(total * rows.S, l1 / total if total else 0.0)
        intercept = bool(self.fit_intercept)
        solved, shift = as_rates(rows, self._mean_has_weight, intercept)
        problem = Problem(solved, self._loss, penalty, intercept, shift=shift)
        fit, certificate = self._solve(problem, rows, start)
        if total == 0:
            certificate = self._without_penalty(rows, fit, certificate)
        self._conclude(certificate, fit.stopped_at, fit.message)
        return self

    # --- the fit ---

    def _strengths(self) -> tuple[float, float]:
        """Check the parameters, and return the factors of ‖w‖₁ and of ½‖w‖²."""
        boolean("fit_intercept", self.fit_intercept)
        boolean("warm_start", self.warm_start)
        one_of("solver", self.solver, SOLVERS)
        positive("tol", self.tol)
        if whole_number("max_iter", self.max_iter) == 0:
            raise ValueError("max_iter=0: give a whole number above 0")
        whole_number("verbose", int(self.verbose))  # scikit-learn's may be True
        alpha, ratio = self.alpha, self.l1_ratio
        if alpha != 0:
            positive("alpha", alpha)
        if isinstance(ratio, bool) or not 0 <= ratio <= 1:
            raise ValueError(f"l1_ratio={ratio!r}: give a number from 0 (ridge) to 1 (lasso)")
        return float(alpha) * float(ratio), float(alpha) * (1 - float(ratio))

    def _rows(
        self, X: object, y: object, sample_weight: object, offset: object, exposure: object
    ) -> Rows:
        rows, flat = data_for_fit(self, X, y, sample_weight)
        if rows.streamed:
            return self._in_range(with_offsets(rows, offset, exposure))
        if rows.y.shape[1] > 1:
            raise ValueError(
                f"y should be a 1d array, got an array of shape {rows.y.shape} instead: fit a "
                "model for each target"
            )
        if not flat:
            warn_of_a_column()
        return with_offsets(self._in_range(rows), offset, exposure)

    def _start(self, p: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return (w, b) of a warm start; None for a cold one."""
        if not self.warm_start or "coef_" not in vars(self) or np.shape(self.coef_) != (p,):
            return None
        b = np.array([self.intercept_ if self.fit_intercept else 0.0], dtype=float)
        return np.array(self.coef_, dtype=float)[:, None], b

    def _solver(self, problem: Problem) -> Solver:
        name = self.solver if self.solver in RUN_AS_NAMED else "auto"
        solver = choose(problem, name)
        unpenalized = problem.l1 == 0 and problem.l2 == 0
        if name == "auto" and unpenalized and problem.rows.shape[1] <= MAX_HESSIAN_COLUMNS:
            solver = Newton()  # it resolves columns that nearly repeat others
        if isinstance(solver, Newton) or (problem.rows.streamed and solver.name == "cd"):
            p = problem.rows.shape[1]
            memory_for_gram(p + 1, p, problem.rows.threads)
        return solver

    def _certificate_tol(self) -> float:
        return max(min(float(self.tol), TOL), MIN_TOL)

    def _solve(
        self, problem: Problem, rows: Rows, start: tuple[np.ndarray, np.ndarray] | None
    ) -> tuple[Fit, Certificate]:
        """Solve and certify; continue with a smaller tol while the certificate misses its own."""
        tol, solver = self._certificate_tol(), self._solver(problem)
        n, p = rows.shape
        digits = MORE_DIGITS if n * p**2 <= SMALL_HESSIAN_WORK and isinstance(solver, Newton) else 1
        on_step: OnStep = self._monitor.iterations(
            lambda fit: self._attributes(_shifted(fit, problem.shift)),
            lambda: certify(self, rows, tol),
            self.max_iter,
        )
        if self.verbose > 0:
            on_step = print_steps(on_step, type(self).__name__)
        before, start = 0, start and (start[0], start[1] - problem.shift)
        for factor in RETRY_TOL_FACTORS:
            goal = tol * factor * digits
            with SolverContext(self, rows):
                fit = solve(problem, solver, start, goal, self.max_iter, on_step, before)
            start, fit = (fit.w, fit.b), _shifted(fit, problem.shift)
            self._set(fit)
            certificate = certify(self, rows, tol)
            can_improve = fit.converged and fit.n_iter < self.max_iter
            can_improve = can_improve and self._monitor.stopped is None
            can_improve = can_improve and bool(np.isfinite(certificate.objective))
            if certificate.certified or not can_improve or certificate.status == ENDLESS:
                break
            before = fit.n_iter
        return fit, certificate

    def _without_penalty(self, rows: Rows, fit: Fit, certificate: Certificate) -> Certificate:
        """Take the optimum of least norm; where there is none, find what keeps it away."""
        tol, intercept = self._certificate_tol(), bool(self.fit_intercept)
        # a solver that factors nothing cannot detect repeated columns
        unknown = fit.solver != Newton.name and rows.shape[1] <= MAX_HESSIAN_COLUMNS
        if certificate.certified and (fit.singular or unknown):
            least = least_norm(rows, fit.w, fit.b, intercept)
            if least.aliases is not None:
                self._set(fit._replace(w=least.w, b=least.b if intercept else fit.b))
                smaller = certify(self, rows, tol)
                if smaller.certified:
                    warn_of_aliases(self, least, rows.shape[0])
                    return smaller
                self._set(fit)  # a column taken for a repeat matters after all
        if (certificate.certified and certificate.kind == "global") or self._monitor.stopped:
            return certificate
        known = getattr(getattr(certificate._finding, "facts", None), "separated", None)
        direction = known.direction if known is not None else None
        if direction is None and self._loss.name == "poisson":
            direction = falling_direction(rows, intercept)
        if direction is None:
            return certificate
        self._direction = direction
        return certify(self, rows, tol)

    def _attributes(self, fit: Fit) -> dict[str, Any]:
        return {
            "coef_": fit.w[:, 0].copy(),
            "intercept_": float(fit.b[0]) if self.fit_intercept else 0.0,
            "n_iter_": fit.n_iter,
            "solver_": fit.solver,
        }

    def _set(self, fit: Fit) -> None:
        for name, value in self._attributes(fit).items():
            setattr(self, name, value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.positive_only = True
        return tags


def _shifted(fit: Any, shift: float) -> Any:
    """Return a fit to rates as that to the targets."""
    return fit._replace(b=fit.b + shift)


def _sum_of_targets(y: np.ndarray, s: np.ndarray | None) -> tuple[float]:
    return (float(np.count_nonzero(y[:, 0] if s is None else y[s > 0, 0])),)
