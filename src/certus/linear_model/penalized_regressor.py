"""Linear regression with any loss, penalty and solver."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..certificate import TOL, Certificate, certify, unproven
from ..data.memory import memory_for_gram
from ..data.rows import Rows
from ..data.types import Start
from ..data.validation import boolean, data_for_fit, not_negative
from ..losses.base import Loss
from ..penalties.base import Penalty
from ..runtime.progress import monitored
from ..solvers.glm.dispatch import RETRY_TOL_FACTORS, solve
from ..solvers.glm.newton import Newton
from ..solvers.glm.regression_dispatch import MultiTargetFit, choose, target_problems
from ..solvers.loop import Fit, Solver
from ..solvers.problem import Problem, objective
from ..solvers.progress import OnStep
from ._base import LinearRegressor
from ._classifier import MIN_TOL, print_steps
from ._parameters import whole_number
from ._partial_fit import fit_next_part, supports_partial_fit
from ._partial_fit_data import targets_of_part
from ._registry import REGRESSION, component, make_penalty, make_solver
from ._solver_context import SolverContext


class PenalizedRegressor(LinearRegressor):
    r"""Any loss and penalty: minimise Σ sᵢ ℓ(yᵢ, xᵢᵀw + b) + pen(w), s the sample weights.

    Each target is a separate problem. The intercept is not penalised.

    Parameters
    ----------
    loss : {"squared", "huber"} or object
        ℓ, by name or an object of ``certus.losses`` (or your own, see ``certus.losses.Loss``).
        "squared" is ½(y − z)².
    penalty : {"l1", "l2", "elasticnet", "mcp", "scad", "nonnegative", "simplex"}, object or None
        pen, by name (of strength 1) or an object of ``certus.penalties``, which also has
        ``GroupL2`` and ``Box`` (or your own, see ``certus.penalties.Penalty``; its w has shape
        (n_features, 1)).
    solver : {"auto", "newton", "newton-cg", "cd", "proximal-gradient", "fista", "ista", \
            "subgradient", "gd", "agd", "nesterov", "sgd", "asgd"} or object
        By name or an object of ``certus.solvers``. "newton", "newton-cg" and ``LBFGS()`` take
        smooth penalties (L2, None); "cd" takes L1, L2 and ElasticNet, with the squared loss also
        MCP and SCAD. "proximal-gradient" takes all penalties and is the same as "fista"; "ista" has
        no momentum. "subgradient" is slow and meant for comparison; so are "gd" (gradient descent),
        "agd" (heavy ball), "nesterov", "sgd", "asgd" (SGD with momentum) and ``SAGA()``, which run
        on X as given and take smooth penalties.
    fit_intercept : bool, default=True
    tol : float, default=1e-6
        Residual to reach: the excess of F over its minimum, relative to F of the intercept alone
        (with the feasible w nearest to 0, if 0 is not feasible).
    max_iter : int, default=10000
        Maximum number of steps for each target.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.
    verbose : int, default=0
        If above 0, print a line for each step.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    loss_, penalty_ : object
        The objects that were minimised.
    n_iter_ : int or ndarray of shape (n_targets,)
    solver_ : str
    certificate_ : Certificate
        With a convex penalty: no other w and b have an objective that is smaller by more than the
        gap. With MCP and SCAD only: no small change of w and b lowers the objective. "not proven"
        if certus has no definition of the loss or the penalty.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    Textbooks minimise (Φw − y)ᵀ(Φw − y) + λ·pen(w), which is twice this objective with pen
    multiplied by λ/2: for λ‖w‖₁ use ``L1(λ/2)``, for λ‖w‖² use ``L2(λ)``. scikit-learn's
    ``Lasso(alpha)`` divides the squares by 2n: use ``L1(n*alpha)``. See the table in
    docs/penalised.md.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import PenalizedRegressor
    >>> from certus.penalties import L1
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PenalizedRegressor("squared", L1(200.0)).fit(X, y)
    >>> model.certificate_
    Certificate(optimal: objective ..., at most ... above the best possible)
    >>> int((model.coef_ != 0).sum())
    4
    """

    def __init__(
        self,
        loss: str | Loss = "squared",
        penalty: str | Penalty | None = "l2",
        solver: str | Solver = "auto",
        *,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        warm_start: bool = False,
        verbose: int = 0,
    ):
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "PenalizedRegressor":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A weight of 2 equals a repeated row.

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        boolean("warm_start", self.warm_start)
        not_negative("tol", self.tol)
        whole_number("max_iter", self.max_iter)
        loss, penalty = self._loss_and_penalty()
        rows, flat = data_for_fit(self, X, y, sample_weight)
        problems = target_problems(rows, loss, penalty, fit_intercept, center=True)
        start = self._start(rows.shape[1], problems)
        self.loss_, self.penalty_ = loss, penalty
        self._forget("_streams")
        fit, certificate = self._minimize(problems, rows, flat, start)
        self._conclude(certificate, fit.stopped_at, fit.message)
        return self

    @available_if(supports_partial_fit)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: object, y: object, sample_weight: object = None
    ) -> "PenalizedRegressor":
        """Do one epoch of solver="sgd" or "asgd" on these rows, which are one part of the data.

        The objective is that of all rows so far. There is no ``certificate_`` afterwards, since
        earlier rows are not stored: ``certus.verify`` checks the coefficients on rows that you
        give it.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of these rows, relative to each other.

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        loss, penalty = self._loss_and_penalty()
        rows, flat = targets_of_part(self, X, y, sample_weight)
        problems = target_problems(rows, loss, penalty, fit_intercept)
        solver = self._solver(problems[0])
        start = None
        if "coef_" in vars(self):
            b = np.broadcast_to(self.intercept_, (len(problems),))
            start = np.atleast_2d(self.coef_).T, b
        w, b, parts = fit_next_part(self, solver, problems, start)  # type: ignore[arg-type]
        self.loss_, self.penalty_ = loss, penalty
        for name, value in self._attributes(Fit(w, b, solver.name, parts), flat).items():
            setattr(self, name, value)
        return self

    def _loss_and_penalty(self) -> tuple[Any, Any]:
        loss = component("loss", self.loss, REGRESSION)
        if loss.several:
            raise ValueError(
                f"loss={self.loss!r} takes several scores per row: use PenalizedClassifier"
            )
        return loss, make_penalty(self.penalty)

    def _minimize(
        self, problems: list[Problem], rows: Rows, flat: bool, start: Start
    ) -> tuple[Fit, Certificate]:
        """Solve and certify; continue with a smaller tol if the certificate fails."""
        solver = self._solver(problems[0])
        tol = max(min(float(self.tol), TOL), MIN_TOL)
        on_step = self._monitor.iterations(
            lambda fit: self._attributes(fit, flat),
            lambda: self._check(problems, rows, tol),
            self.max_iter * len(problems),
        )
        starts = [start and (start[0][:, [k]], start[1][[k]]) for k in range(len(problems))]
        together = MultiTargetFit(problems, on_step)
        fits = together.fits
        for tighter in RETRY_TOL_FACTORS:
            for k, problem in enumerate(problems):
                together.k = k
                target_name = f", target {k}" if len(problems) > 1 else ""
                listener: OnStep = together
                if self.verbose > 0:
                    listener = print_steps(together, f"{type(self).__name__}{target_name}")
                fits[k] = self._solve_one(
                    problem, solver, starts[k], tol * tighter, listener, fits[k].n_iter
                )
                if self._monitor.stopped is not None:
                    break
            fit = together.fit()
            for name, value in self._attributes(fit, flat).items():
                setattr(self, name, value)
            self.n_iter_: int | np.ndarray = np.array([one.n_iter for one in fits], dtype=np.int32)
            if len(fits) == 1:
                self.n_iter_ = fit.n_iter
            certificate = self._check(problems, rows, tol)
            may_continue = (
                fit.converged and fit.n_iter < self.max_iter and self._monitor.stopped is None
            )
            is_nonfinite = not np.isfinite(certificate.objective)  # more steps cannot help
            if (
                certificate.certified
                or is_nonfinite
                or not may_continue
                or certificate._finding.unproven is not None
            ):
                break
            starts = [(one.w, one.b) for one in fits]
        return fit, certificate

    def _solver(self, problem: Problem) -> Solver:
        solver = make_solver(self.solver, problem, choose)
        if isinstance(solver, Newton):
            p = problem.rows.shape[1]
            memory_for_gram(p + 1, p, problem.rows.threads)
        return solver

    def _solve_one(
        self,
        problem: Problem,
        solver: Solver,
        start: Start,
        tol: float,
        on_step: OnStep,
        before: int,
    ) -> Fit:
        with SolverContext(self, problem.rows):
            return solve(problem, solver, start, tol, self.max_iter, on_step, before)

    def _attributes(self, fit: Fit, flat: bool) -> dict[str, Any]:
        b = (float(fit.b[0]) if flat else fit.b.copy()) if self.fit_intercept else 0.0
        w = fit.w[:, 0].copy() if flat else fit.w.T.copy()
        return {"coef_": w, "intercept_": b, "n_iter_": fit.n_iter, "solver_": fit.solver}

    def _check(self, problems: list[Problem], rows: Rows, tol: float) -> Certificate:
        """Certificate of the fitted attributes."""
        try:
            return certify(self, rows, tol)
        except ValueError as error:  # no definition for this loss or penalty
            reason = str(error)
        w, b = np.atleast_2d(self.coef_), np.broadcast_to(self.intercept_, (len(problems),))
        total = sum(
            objective(problem, w[[k]].T, b[[k]] - problem.shift)
            for k, problem in enumerate(problems)
        )
        formula = f"Σ ℓ(yᵢ, xᵢᵀw + b) + pen(w), ℓ = {self.loss_!r}, pen = {self.penalty_!r}"
        return unproven(self, rows, formula, total, reason, tol)

    def _start(self, p: int, problems: list[Problem]) -> tuple[np.ndarray, np.ndarray] | None:
        """Initial (w, b) of a warm start, or None."""
        if not self.warm_start or "coef_" not in vars(self):
            return None
        w = np.array(np.atleast_2d(self.coef_).T, dtype=float)
        b = np.array(np.broadcast_to(self.intercept_, (w.shape[1],)), dtype=float)
        if w.shape != (p, len(problems)) or not (np.isfinite(w).all() and np.isfinite(b).all()):
            return None
        shift = np.array([problem.shift for problem in problems])
        return w, b - shift if self.fit_intercept else np.zeros_like(b)
