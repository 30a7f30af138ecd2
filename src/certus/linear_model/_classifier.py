"""Base classes of the linear classifiers: certified fits, scores, labels, probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, log_softmax, softmax
from sklearn.base import ClassifierMixin

from ..base.certified import CertifiedEstimator
from ..certificate import TOL, Certificate
from ..data.memory import memory_for_gram
from ..data.rows import Rows
from ..data.types import Start
from ..solvers.glm.dispatch import RETRY_TOL_FACTORS, solve
from ..solvers.glm.newton import Newton
from ..solvers.loop import Fit, Solver
from ..solvers.problem import Problem
from ..solvers.progress import OnStep, Step
from ..text.format import number, printable
from ._classes_so_far import ClassesSoFar
from ._scores import scores
from ._solver_context import SolverContext

MIN_TOL = 1e-12  # float64 cannot resolve less


class LinearClassifier(ClassifierMixin, CertifiedEstimator, ABC):
    """Base of classifiers with w and b: one score for two classes, else one for each class."""

    classes_: np.ndarray
    coef_: Any
    intercept_: np.ndarray
    fit_intercept: bool
    warm_start: bool

    @abstractmethod
    def _attributes(self, fit: Fit) -> dict[str, Any]:
        """Return the fitted attributes of a solver's parameters."""

    @abstractmethod
    def _check(self, rows: Rows, tol: float) -> Certificate:
        """Return the certificate of the attributes as they are set."""

    def _solve(
        self, problem: Problem, rows: Rows, solver: Solver, tol: float, max_iter: int,
        start: tuple[np.ndarray, np.ndarray] | None = None, otherwise: Solver | None = None,
    ) -> tuple[Fit, Certificate]:  # fmt: skip
        """Minimise a loss plus a penalty.

        ``rows``: those of the problem. ``otherwise``: the solver that continues where the first
        one ended without a certificate.
        """
        if isinstance(solver, Newton) or (rows.streamed and solver.name == "cd"):
            side = rows.shape[1] * problem.outputs
            memory_for_gram(side + 1, side, rows.threads)
        solvers = [otherwise or solver, solver]

        def run(start: Start, tol: float, on_step: OnStep, before: int) -> Fit:
            current_solver = solvers.pop() if len(solvers) > 1 else solvers[0]
            return solve(problem, current_solver, start, tol, max_iter, on_step, before)

        return self._solve_until_certified(run, rows, tol, max_iter, start)

    def _solve_until_certified(
        self, run: Callable[..., Fit], rows: Rows, tol: float, max_iter: int,
        start: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[Fit, Certificate]:  # fmt: skip
        """Solve and certify; continue with a smaller tol while the certificate misses its own.

        ``run(start, tol, on_step, before)`` runs the solver, after ``before`` steps.
        """
        tol = self._certificate_tol(tol)
        on_step: OnStep = self._monitor.iterations(
            self._attributes, lambda: self._check(rows, tol), max_iter
        )
        if getattr(self, "verbose", 0) > 0:
            on_step = print_steps(on_step, type(self).__name__)
        before = 0
        for factor in RETRY_TOL_FACTORS:
            with SolverContext(self, rows):
                fit = run(start, tol * factor, on_step, before)
            self._set(fit)
            certificate = self._check(rows, tol)
            can_improve = fit.converged and fit.n_iter < max_iter and self._monitor.stopped is None
            can_improve = can_improve and bool(
                np.isfinite(certificate.objective)
            )  # else no restart can help
            if (
                certificate.certified
                or not can_improve
                or certificate.status == "no finite optimum"
            ):
                break
            start, before = (fit.w, fit.b), fit.n_iter
        return fit, certificate

    def _solve_each(
        self, problems: list[Problem], rows: Rows, choose: Callable[[Problem], Solver], tol: float,
        max_iter: int, attributes: Callable[[list[Fit]], dict[str, Any]],
        start: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[Fit, Certificate]:  # fmt: skip
        """Solve one problem for each class against the rest.

        ``attributes`` maps the fits of all classes to fitted attributes.
        """
        self._monitor.begin(None)
        tol = self._certificate_tol(tol)
        starts = [
            None if start is None else (start[0][:, [k]], start[1][[k]])
            for k in range(len(problems))
        ]
        steps = [0] * len(problems)
        class_fits = ClassesSoFar(len(problems), lambda k: _initial_fit(problems[k], starts[k]))
        self._monitor.keep(
            lambda: attributes(class_fits.fits()), lambda: self._check(rows, tol),
            class_fits.message, class_fits.has_steps,
        )  # fmt: skip
        for factor in RETRY_TOL_FACTORS:
            fits = []
            for k, problem in enumerate(problems):
                with SolverContext(self, rows):
                    fits.append(
                        solve(
                            problem, choose(problem), starts[k], tol * factor, max_iter,
                            class_fits.listener(k), steps[k],
                        )
                    )  # fmt: skip
                class_fits.done(k, fits[k])
                self._monitor.part_done("class")
            fit = combine_fits(fits)
            self.__dict__.update(attributes(fits))
            certificate = self._check(rows, tol)
            is_lost = not np.isfinite(certificate.objective)  # no restart can help
            if certificate.certified or is_lost or not fit.converged or fit.n_iter >= max_iter:
                break
            starts, steps = [(one.w, one.b) for one in fits], [one.n_iter for one in fits]
        return fit, certificate

    def _start(self, classes: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return (w, b) of a warm start; None for a cold one."""
        if not self.warm_start or "coef_" not in vars(self):
            return None
        w, b = self.densify().coef_.T, np.array(self.intercept_, dtype=float)
        same = np.array_equal(self.classes_, classes) and len(w) == p
        if not (same and np.isfinite(w).all() and np.isfinite(b).all()):
            return None
        return np.array(w, dtype=float), b if self.fit_intercept else np.zeros_like(b)

    def _set(self, fit: Fit) -> None:
        for name, value in self._attributes(fit).items():
            setattr(self, name, value)

    @staticmethod
    def _certificate_tol(tol: float) -> float:
        return max(min(tol, TOL), MIN_TOL)

    # --- methods of fitted models ---

    def sparsify(self) -> "LinearClassifier":
        """Convert ``coef_`` to a sparse matrix, which saves memory after an L1 penalty."""
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> "LinearClassifier":
        """Convert ``coef_`` back to an array."""
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LargestScore:
    """Scores Xw + b, and predictions by the largest score."""

    classes_: np.ndarray

    def decision_function(self, X: object) -> np.ndarray:
        """Return the scores Xw + b, in float64.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: a score above 0 predicts ``classes_[1]``.
        """
        z = scores(self, X)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict(self, X: object) -> np.ndarray:
        """Return the class of the largest score, which has the largest probability.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        z = self.decision_function(X)
        return self.classes_[(z > 0).astype(np.intp) if z.ndim == 1 else z.argmax(axis=1)]


class Probabilities(LargestScore):
    """Probabilities of the logistic and the softmax model."""

    def predict_proba(self, X: object) -> np.ndarray:
        """Return P(class | x), in the order of ``classes_``.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return probabilities(self.decision_function(X))

    def predict_log_proba(self, X: object) -> np.ndarray:
        """Return log P(class | x), which is finite even where the probability underflows to 0.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return log_probabilities(self.decision_function(X))


def probabilities(z: np.ndarray) -> np.ndarray:
    """Return P(class | x) from scores: (n,) for two classes, (n, K) for more."""
    return np.column_stack([expit(-z), expit(z)]) if z.ndim == 1 else softmax(z, axis=1)


def log_probabilities(z: np.ndarray) -> np.ndarray:
    """Return log P(class | x) from scores: (n,) for two classes, (n, K) for more."""
    if z.ndim == 1:
        return np.column_stack([-np.logaddexp(0, z), -np.logaddexp(0, -z)])
    logs: np.ndarray = log_softmax(z, axis=1)
    return logs


def attributes_of(fit: Fit) -> dict[str, Any]:
    """Return the fitted attributes of a solver's w and b."""
    return {
        "coef_": fit.w.T.copy(),
        "intercept_": fit.b.copy(),
        "n_iter_": np.array([fit.n_iter], dtype=np.int32),
        "solver_": fit.solver,
    }


def attributes_of_fits(fits: list[Fit]) -> dict[str, Any]:
    """Return the fitted attributes of one fit for each class."""
    steps = np.array([one.n_iter for one in fits], dtype=np.int32)
    return {**attributes_of(combine_fits(fits)), "n_iter_": steps}


def print_steps(on_step: OnStep, name: str) -> OnStep:
    """Return an ``on_step`` that prints a line for each step before calling the given one."""

    def print_step(step: Step) -> bool:
        line = f"{name}: iteration {step.iteration}, objective {number(step.objective, 10)}"
        if step.bound is not None and np.isfinite(step.bound):
            line += f", at most {number(step.objective - step.bound, 2)} above the best possible"
        print(printable(line))
        return on_step(step)

    return print_step


def _initial_fit(problem: Problem, start: tuple[np.ndarray, np.ndarray] | None) -> Fit:
    """Return the fit at the start of a class whose solver has not run yet."""
    w, b = (problem.null_w, problem.null[0]) if start is None else start
    return Fit(w, b, "", 0)


def combine_fits(fits: list[Fit]) -> Fit:
    """Return the fits of all classes as one."""
    stopped = [one.stopped_at for one in fits if one.stopped_at is not None]
    messages = [one.message for one in sorted(fits, key=lambda one: one.converged) if one.message]
    return Fit(
        w=np.hstack([one.w for one in fits]),
        b=np.concatenate([one.b for one in fits]),
        solver=next((one.solver for one in fits if one.solver), ""),
        n_iter=max(one.n_iter for one in fits),
        stopped_at=stopped[0] if stopped else None,
        converged=all(one.converged for one in fits),
        message=messages[0] if messages else "",  # classes that did not converge come first
    )
