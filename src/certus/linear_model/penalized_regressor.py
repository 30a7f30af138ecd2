"""Linear regression with any loss, penalty and solver."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..certificate import TOL, Certificate, certify, unproven
from ..data.rows import Rows
from ..data.types import Start
from ..data.validation import boolean, data_for_fit, memory_for_gram, not_negative
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

    Each target is its own problem. The intercept is not penalised.

    Parameters
    ----------
    loss : {"squared", "huber"} or object
        ℓ, by name or one of ``certus.losses`` (or your own, see ``certus.losses.Loss``).
        "squared" is ½(y − z)².
    penalty : {"l1", "l2", "elasticnet", "mcp", "scad", "nonnegative", "simplex"}, object or None
        pen, by name (of strength 1) or one of ``certus.penalties``: these, ``GroupL2``, ``Box``
        (or your own, see ``certus.penalties.Penalty``; its w has shape (n_features, 1)).
    solver : {"auto", "newton", "newton-cg", "cd", "proximal-gradient", "fista", "ista", \
            "subgradient", "gd", "agd", "nesterov", "sgd", "asgd"} or object
        By name or one of ``certus.solvers``. "newton", "newton-cg" and ``LBFGS()`` take smooth
        penalties (L2, None), "cd" takes L1, L2 and ElasticNet, and of squares also MCP and SCAD.
        "proximal-gradient" takes all and is "fista"; "ista" is the same without momentum.
        "subgradient" is slow, and here to be compared with; so are "gd" (gradient descent), "agd"
        (heavy ball), "nesterov", "sgd", "asgd" (SGD with momentum) and ``SAGA()``, which run on X
        as it is and take smooth penalties.
    fit_intercept : bool, default=True
    tol : float, default=1e-6
        The residual that is asked for: what F may lie above its least value, as a share of what
        the intercept alone leaves (with the allowed w nearest to 0, where 0 is not allowed).
    max_iter : int, default=10000
        Steps for each target.
    warm_start : bool, default=False
        Start from the coefficients of the fit before.
    verbose : int, default=0
        Above 0, a line is printed for each step.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    loss_, penalty_ : object
        What was minimised.
    n_iter_ : int or ndarray of shape (n_targets,)
    solver_ : str
    certificate_ : Certificate
        A convex penalty: no other w and b have a smaller objective by more than the gap. MCP and
        SCAD: no small change of w and b lowers it, which is all that is claimed. "not proven" where
        no definition of certus knows the loss or the penalty.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    Textbooks minimise (Φw − y)ᵀ(Φw − y) + λ·pen(w). That is twice ours with pen multiplied by λ/2:
    for λ‖w‖₁ use ``L1(λ/2)``, for λ‖w‖² use ``L2(λ)``. scikit-learn's ``Lasso(alpha)`` divides the
    squares by 2n: use ``L1(n*alpha)``. docs/penalised.md has the table.

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
            Weight 2 is the same as the row twice.

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
        problems = target_problems(rows, loss, penalty, fit_intercept, centre=True)
        start = self._start(rows.shape[1], problems)
        self.loss_, self.penalty_ = loss, penalty
        self._forget("_streams")
        fit, found = self._minimise(problems, rows, flat, start)
        self._conclude(found, fit.stopped_at, fit.message)
        return self

    @available_if(supports_partial_fit)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: object, y: object, sample_weight: object = None
    ) -> "PenalizedRegressor":
        """Go over these rows once, as one part of many: with solver="sgd" or "asgd".

        What is minimised is the objective of all rows so far. There is no ``certificate_``
        afterwards, for the rows before are gone: ``certus.verify`` says what the coefficients are
        worth on rows that you give it.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Beside those of the same part.

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        loss, penalty = self._loss_and_penalty()
        rows, flat = targets_of_part(self, X, y, sample_weight)
        problems = target_problems(rows, loss, penalty, fit_intercept)
        solver = self._solver(problems[0])
        begun = None
        if "coef_" in vars(self):
            b = np.broadcast_to(self.intercept_, (len(problems),))
            begun = np.atleast_2d(self.coef_).T, b
        w, b, parts = fit_next_part(self, solver, problems, begun)  # type: ignore[arg-type]
        self.loss_, self.penalty_ = loss, penalty
        for name, value in self._attributes(Fit(w, b, solver.name, parts), flat).items():
            setattr(self, name, value)
        return self

    def _loss_and_penalty(self) -> tuple[Any, Any]:
        loss = component("loss", self.loss, REGRESSION)
        if loss.several:
            raise ValueError(
                f"loss={self.loss!r} is for several scores a row: use PenalizedClassifier"
            )
        return loss, make_penalty(self.penalty)

    def _minimise(
        self, problems: list[Problem], rows: Rows, flat: bool, start: Start
    ) -> tuple[Fit, Certificate]:
        """Solve, certify, and go on where the certificate asks for more."""
        solver = self._solver(problems[0])
        tol = max(min(float(self.tol), TOL), MIN_TOL)
        on_step = self._monitor.iterations(
            lambda fit: self._attributes(fit, flat),
            lambda: self._check(problems, rows, tol),
            self.max_iter * len(problems),
        )
        starts = [start and (start[0][:, [k]], start[1][[k]]) for k in range(len(problems))]
        all_of_them = MultiTargetFit(problems, on_step)
        fits = all_of_them.fits
        for tighter in RETRY_TOL_FACTORS:
            for k, problem in enumerate(problems):
                all_of_them.k = k
                of_target = f", target {k}" if len(problems) > 1 else ""
                listener: OnStep = all_of_them
                if self.verbose > 0:
                    listener = print_steps(all_of_them, f"{type(self).__name__}{of_target}")
                fits[k] = self._solve_one(
                    problem, solver, starts[k], tol * tighter, listener, fits[k].n_iter
                )
                if self._monitor.stopped is not None:
                    break
            fit = all_of_them.fit()
            for name, value in self._attributes(fit, flat).items():
                setattr(self, name, value)
            self.n_iter_: int | np.ndarray = np.array([one.n_iter for one in fits], dtype=np.int32)
            if len(fits) == 1:
                self.n_iter_ = fit.n_iter
            found = self._check(problems, rows, tol)
            more = fit.converged and fit.n_iter < self.max_iter and self._monitor.stopped is None
            lost = not np.isfinite(found.objective)  # there is no way from here
            if found.certified or lost or not more or found._finding.unproven is not None:
                break
            starts = [(one.w, one.b) for one in fits]
        return fit, found

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
        """The certificate of what is set."""
        try:
            return certify(self, rows, tol)
        except ValueError as error:  # no claim that a definition could check
            why = str(error)
        w, b = np.atleast_2d(self.coef_), np.broadcast_to(self.intercept_, (len(problems),))
        total = sum(
            objective(problem, w[[k]].T, b[[k]] - problem.shift)
            for k, problem in enumerate(problems)
        )
        formula = f"Σ ℓ(yᵢ, xᵢᵀw + b) + pen(w), ℓ = {self.loss_!r}, pen = {self.penalty_!r}"
        return unproven(self, rows, formula, total, why, tol)

    def _start(self, p: int, problems: list[Problem]) -> tuple[np.ndarray, np.ndarray] | None:
        """Where a warm start begins; None: from nothing."""
        if not self.warm_start or "coef_" not in vars(self):
            return None
        w = np.array(np.atleast_2d(self.coef_).T, dtype=float)
        b = np.array(np.broadcast_to(self.intercept_, (w.shape[1],)), dtype=float)
        if w.shape != (p, len(problems)) or not (np.isfinite(w).all() and np.isfinite(b).all()):
            return None
        shift = np.array([problem.shift for problem in problems])
        return w, b - shift if self.fit_intercept else np.zeros_like(b)
