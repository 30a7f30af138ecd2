"""Linear support vector machines: hinge and squared hinge, certified."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..certificate import Certificate, certify
from ..data.constant_column import with_constant
from ..data.labels import class_weights_of_rows
from ..data.rows import Rows
from ..data.types import ClassWeight, Seed
from ..data.validation import boolean, data_for_classification, one_of
from ..linear_model._classes_so_far import ClassesSoFar
from ..linear_model._classifier import (
    LargestScore,
    LinearClassifier,
    attributes_of,
    combine_fits,
    print_steps,
)
from ..linear_model._solver_context import SolverContext
from ..losses import SquaredHinge
from ..penalties import ElasticNet
from ..runtime.pool import run_on_threads
from ..runtime.progress import monitored
from ..solvers.glm.dispatch import RETRY_TOL_FACTORS, choose, classification, one_vs_rest
from ..solvers.hinge import dispatch
from ..solvers.hinge.dispatch import DualSteps, HingeFit, HingeProblem
from ..solvers.loop import Fit
from ..solvers.progress import OnStep


class LinearSVC(LargestScore, LinearClassifier):
    r"""Linear support vector machine: minimise C Σ sᵢ ℓ(yᵢ(xᵢᵀw + b)) + ½(‖w‖² + (b/g)²).

    ℓ(m) = [1 − m]₊² ("squared_hinge") or [1 − m]₊ ("hinge"), yᵢ = ±1, s the sample weights times
    class weights, g = ``intercept_scaling``. With penalty="l1" the penalty is ‖w‖₁ + |b|/g. More
    classes: one such problem for each, its rows against the rest.

    A drop-in replacement for scikit-learn's class. As there, the intercept is penalised: b/g is the
    coefficient of a constant column g. Penalty and coefficients are in the units of X, and columns
    of very different scales are no obstacle.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        "l1" with the squared hinge only.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    dual : bool or "auto", default="auto"
        Accepted for compatibility, with every loss and penalty; ``solver_`` is the solver that ran.
    tol : float, default=1e-4
        The requested residual (gap relative to the loss of the intercept alone), at most 1e-6 in
        any case. A fit that misses it is not certified, and warns.
    C : float, default=1.0
        Inverse strength of the penalty.
    multi_class : {"ovr"}, default="ovr"
        Each class against the rest. scikit-learn's "crammer_singer" is refused.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
        g: the larger, the less the intercept is penalised.
    class_weight : dict or "balanced", default=None
        Weights multiply the loss of a class's rows, but not that of the rest.
    verbose : int, default=0
        Above 0, a line is printed for each iteration.
    random_state : int, RandomState or None, default=None
        Seed of the order of rows in solver "dual". None: the same order each time.
    max_iter : int, default=1000
        Maximal number of iterations for each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        With the hinge: β, yᵢβᵢ from 0 to Csᵢ, a point of the dual problem whose objective is the
        certificate's bound. At the optimum w = Σ βᵢxᵢ; rows with β = 0 are not support vectors.
    dual_steps_ : ndarray of shape (1 or n_classes, n_steps, n_features + 2)
        With the hinge, of a fit to ``certus.open_rows`` in place of ``dual_coef_``: (σ, θ) of each
        step, from which yᵢβᵢ = Csᵢa follows for any row: a ← clip(a + σ(1 − yᵢx̂ᵢᵀθ), 0, 1), from 0.
    n_iter_ : int
        The largest number of iterations of a class.
    solver_ : str
        "newton" (proximal Newton steps for the hinge), "newton-cg", "cd" (coordinate descent) or
        "dual" (coordinate steps and conjugate gradients in the dual).
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have a smaller
        objective by more than the gap*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    For each class: few columns, O(n·p) operations a step and O(m·p²), m the rows within their
    margin (squared hinge) or near it (hinge), O(p²) memory a thread. Many, or sparse X: O(n·p) (or
    the entries) a pass, O(n + p) memory. The squared hinge works on a copy of X with one more
    column, if there is an intercept. Rows of ``certus.open_rows`` are read again in every pass, two
    or three for each step; O(p²) memory, nothing for each row with the hinge, and three numbers in
    a temporary file with the squared hinge.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from certus.svm import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC(loss="hinge").fit(X, y)
    >>> model.certificate_
    Certificate(optimal: objective 49.95903, at most ... above the best possible)
    >>> round(model.score(X, y), 3)
    0.965
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        verbose: int = 0,
        random_state: Seed = None,
        max_iter: int = 1000,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    _reads_rows = True

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "LinearSVC":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings y and the weights.
        y : array-like of shape (n_samples,)
            Labels of any kind, two or more.
        sample_weight : float or array-like of shape (n_samples,), default=None
            A weight of 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows, classes = data_for_classification(self, X, y, sample_weight, weightless=True)
        weight = class_weights_of_rows(self.class_weight, classes, rows)
        self.classes_ = classes
        self._forget("dual_coef_", "dual_steps_")
        solve = self._solve_hinge if self.loss == "hinge" else self._solve_squared
        stopped_at, certificate, message = solve(rows, weight)
        self._conclude(certificate, stopped_at, message)
        return self

    def _check_parameters(self) -> None:
        one_of("penalty", self.penalty, ("l1", "l2"))
        one_of("loss", self.loss, ("hinge", "squared_hinge"))
        if self.dual != "auto":
            boolean("dual", self.dual)
        boolean("fit_intercept", self.fit_intercept)
        for name in ("tol", "C", "intercept_scaling"):
            value = getattr(self, name)
            is_number = isinstance(value, Real) and not isinstance(value, bool)
            if not (is_number and 0 < float(value) < np.inf):
                raise ValueError(f"{name}={value!r}: give a finite number above 0")
        max_iter = self.max_iter
        if isinstance(max_iter, bool) or not isinstance(max_iter, Integral) or max_iter < 0:
            raise ValueError(f"max_iter={max_iter!r}: give a whole number, 0 or above")
        one_of("multi_class", self.multi_class, ("ovr", "crammer_singer"))
        if self.multi_class == "crammer_singer":
            raise ValueError(
                "multi_class='crammer_singer' is not supported: use multi_class='ovr', or "
                "certus.linear_model.LogisticRegression for one problem over all classes"
            )
        if self.penalty == "l1" and self.loss == "hinge":
            raise ValueError(
                "Unsupported set of arguments: penalty='l1' with loss='hinge'. Use "
                "loss='squared_hinge', or penalty='l2'"
            )

    @property
    def _constant(self) -> float:
        """Value of the constant column that carries the intercept; 0: no intercept."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    # --- squared hinge ---

    def _solve_squared(
        self, rows: Rows, weight: np.ndarray | None
    ) -> tuple[int | None, Certificate, str]:
        """Return max_iter if it ended the fit, the certificate, and why the solver stopped."""
        K, C = len(self.classes_), float(self.C)
        penalty = ElasticNet(1.0, 1.0 if self.penalty == "l1" else 0.0)
        design = with_constant(rows, self._constant) if self._constant else rows
        tol, max_iter = float(self.tol), int(self.max_iter)
        if K == 2:
            problem = classification(design, SquaredHinge(), penalty, False, K, C, weight)
            fit, certificate = self._solve(problem, rows, choose(problem), tol, max_iter)
        else:
            design = design.recoded(_weights_of_losses, C)
            problems = one_vs_rest(design, SquaredHinge(), penalty, False, K, weight)
            fit, certificate = self._solve_each(
                problems,
                rows,
                choose,
                tol,
                max_iter,
                lambda fits: self._attributes(combine_fits(fits)),
            )
        return fit.stopped_at, certificate, fit.message

    def _attributes(self, fit: Fit | HingeFit) -> dict[str, Any]:
        """Return the fitted attributes; for the hinge they include the dual point."""
        if isinstance(fit, HingeFit):
            return self._hinge_attributes([fit])
        if self._constant:  # the penalised intercept is the last coefficient
            fit = fit._replace(w=fit.w[:-1], b=self._constant * fit.w[-1])
        return {**attributes_of(fit), "n_iter_": fit.n_iter}

    def _check(self, rows: Rows, tol: float) -> Certificate:
        return certify(self, rows, tol)

    # --- hinge ---

    def _solve_hinge(
        self, rows: Rows, weight: np.ndarray | None
    ) -> tuple[int | None, Certificate, str]:
        solver = dispatch.choose(rows)
        in_parallel = len(self.classes_) > 2 and solver.on_one_thread
        problems = self._hinge_problems(rows, weight, 1 if in_parallel else rows.threads)
        tol, max_iter = self._certificate_tol(float(self.tol)), int(self.max_iter)
        so_far = ClassesSoFar(len(problems), lambda k: _start_of(problems[k]))
        if len(problems) > 1:
            self._monitor.begin(None)
            self._monitor.keep(
                lambda: self._hinge_attributes(so_far.fits()), lambda: self._check(rows, tol),
                so_far.message, so_far.has_steps,
            )  # fmt: skip
        else:
            on_step: OnStep = self._monitor.iterations(
                self._attributes, lambda: self._check(rows, tol), max_iter
            )
            if self.verbose > 0:
                on_step = print_steps(on_step, type(self).__name__)
        fits: list[Any] = [None] * len(problems)
        for tighter in RETRY_TOL_FACTORS:

            def solve_class(k: int, tighter: float = tighter) -> None:
                listener = so_far.listener(k) if len(problems) > 1 else on_step
                fits[k] = dispatch.solve(
                    problems[k], solver, fits[k], tol * tighter, max_iter, listener
                )
                so_far.done(k, fits[k])

            with SolverContext(self, rows):
                solver.prepare(problems[0])
                run_on_threads(solve_class, len(problems), rows.threads if in_parallel else 1)
            for name, value in self._hinge_attributes(fits).items():
                setattr(self, name, value)
            certificate = self._check(rows, tol)
            can_improve = all(fit.converged for fit in fits) and self._monitor.stopped is None
            can_improve = can_improve and bool(np.isfinite(certificate.objective))
            if certificate.certified or not can_improve:
                break
        for _ in range(len(problems) if len(problems) > 1 else 0):
            self._monitor.part_done("class")
        stopped_at = next((fit.stopped_at for fit in fits if fit.stopped_at is not None), None)
        return stopped_at, certificate, ""

    def _hinge_problems(
        self, rows: Rows, weight: np.ndarray | None, threads: int
    ) -> list[HingeProblem]:
        K = len(self.classes_)
        cache: dict[str, Any] = {}
        c = np.ones(K) if weight is None else weight
        shared_rows, problems = Rows(rows.X, threads=threads), []
        for k in (1,) if K == 2 else range(K):
            if rows.streamed:
                of_class = rows.recoded(_signs_and_bounds, k, float(self.C), c)
                problems.append(HingeProblem(of_class, None, None, self._constant, cache=cache))
                continue
            y, u = _signs_and_bounds(rows.y, rows.s, k, float(self.C), c)
            problems.append(
                HingeProblem(shared_rows, y[:, 0], u, self._constant, self._seed(), cache)
            )
        return problems

    def _seed(self) -> int:
        if self.random_state is None:
            return 1
        return int(check_random_state(self.random_state).randint(1, np.iinfo(np.int32).max))

    def _hinge_attributes(self, fits: list[HingeFit]) -> dict[str, Any]:
        if isinstance(fits[0].alpha, DualSteps):
            dual_point = {"dual_steps_": _as_array([fit.alpha for fit in fits])}
        else:
            dual_point = {"dual_coef_": np.stack([fit.alpha * fit.y for fit in fits])}
        return {
            "coef_": np.stack([fit.w for fit in fits]),
            "intercept_": np.concatenate([fit.b for fit in fits]),
            **dual_point,
            "n_iter_": max(fit.n_iter for fit in fits),
            "solver_": next((fit.solver for fit in fits if fit.solver), ""),
        }


def _weights_of_losses(
    y: np.ndarray, s: np.ndarray | None, C: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return targets, and the weights C s."""
    return y, np.full(len(y), C) if s is None else C * s


def _signs_and_bounds(
    code: np.ndarray, s: np.ndarray | None, k: int, C: float, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return y = ±1, (n, 1), of class k against the rest, and the bounds u of α."""
    is_class = code[:, 0] == k
    s = C * (np.ones(len(code)) if s is None else s)
    u = s * (c[code[:, 0].astype(np.intp)] if len(c) == 2 else np.where(is_class, c[k], 1.0))
    return np.where(is_class, 1.0, -1.0)[:, None], u


def _as_array(points: list[DualSteps]) -> np.ndarray:
    """Return (σ, θ) of all steps of all classes; steps of σ = 0, which change nothing, first."""
    longest, columns = max(len(steps.sigma) for steps in points), points[0].theta.shape[1]
    out = np.zeros((len(points), longest, 1 + columns))
    for row, steps in zip(out, points, strict=True):
        if len(steps.sigma):
            row[-len(steps.sigma) :] = np.column_stack(steps)
    return out


def _start_of(problem: HingeProblem) -> HingeFit:
    """Return the fit of a class whose solver has not started: w = 0, α = 0."""
    w = np.zeros(problem.rows.shape[1])
    return HingeFit(w, np.zeros(1), problem.no_dual_point, problem.y, "", 0)
