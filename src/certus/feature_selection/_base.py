r"""What the estimators of NCFS share: from rows to a problem, to weights, to attributes.

    rows ── _task ──► Task(rows, problem, scaling) ── _solve ──► Fit ── _attributes ──► weights_, …

None of the three sets anything on the estimator; ``_maximise`` runs them and does.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..base.certified import CertifiedEstimator
from ..certificate import TOL, certify
from ..data.csr import CSR
from ..data.finite import require_finite
from ..data.rows import Rows
from ..data.validation import data_for_predict
from ..solvers.ncfs import Fit, OfClasses, OfValues, Problem, in_float64, reference_sums
from ..solvers.progress import OnStep, Step, ignore
from ..text.format import count, number, printable
from ._messages import fewer, gathered, nothing_selected
from ._scaling import Scaling, held_as, learn_scaling
from ._selection import check_selection, fewer_than_asked, selected
from ._task import Task, aims_at_kkt, solve

LEAST_ROWS = 3  # of two rows each has one neighbour, whatever the weights
RETRY_TOL_FACTORS = (0.5, 0.05)  # times tol: the definition adds in another order
MIN_TOL = 1e-12


class NCFS(SelectorMixin, CertifiedEstimator, ABC):
    """Weights W of columns."""

    alpha: float | str
    sigma: float
    metric: str
    form: str
    scale: str | None
    solver: str
    max_iter: int
    tol: float
    step: float | str
    warm_start: bool
    threshold: float | str
    n_features_to_select: int | float | None
    verbose: int

    weights_: np.ndarray
    support_: np.ndarray
    shift_: np.ndarray
    scale_: np.ndarray
    _fit_X: np.ndarray
    _fit_columns: np.ndarray
    _without_weights: str  # what is then predicted

    # --- from rows to weights ---

    def _scaling(self, rows: Rows) -> Scaling:
        """Of rows that are looked at for the first time."""
        check_selection(self.threshold, self.n_features_to_select, rows.shape[1])
        scaling = learn_scaling(rows, self.scale, vars(self).get("feature_names_in_"))
        columns = scaling.columns
        if self.metric == "phi_s" and len(columns) < 2:
            raise ValueError(
                f"metric='phi_s' compares patterns of at least two columns, and X has "
                f"{count(len(columns), 'column')} that {'varies' if len(columns) == 1 else 'vary'}:"
                " use metric='manhattan'"
            )
        if not len(columns):  # none says anything; one stands for all
            return scaling._replace(columns=np.zeros(1, dtype=np.intp))
        return scaling

    def _task(
        self, rows: Rows, scaling: Scaling, G: OfClasses | OfValues, a: np.ndarray, alpha: float
    ) -> Task:
        """The problem of rows whose gains and weights are known; λ as a number."""
        X = scaling.of(rows.X, scaling.columns, held_as(rows.X))
        threads = rows.threads
        return Task(rows, Problem(X, G, a, float(self.sigma), alpha, self.metric, threads), scaling)

    def _require_rows(self, n: int) -> None:
        if n < LEAST_ROWS:
            raise ValueError(
                f"n_samples={n}: {type(self).__name__} compares each row with at least two others, "
                f"give {LEAST_ROWS} rows or more"
            )

    def _start(self, task: Task, before: np.ndarray | None = None) -> np.ndarray:
        """W = 1, or that of an earlier fit."""
        columns, p = task.scaling.columns, len(task.scaling.shift)
        if before is not None and len(before) == p and np.isfinite(before).all():
            W = np.array(before[columns], dtype=float)
            if not task.problem.scale_free or np.count_nonzero(W) > 1:
                return W
        return np.ones(len(columns))

    def _solve(
        self, task: Task, W: np.ndarray, *, on_step: OnStep = ignore,
        tol: float | None = None, max_iter: int | None = None,
    ) -> Fit:  # fmt: skip
        """From W (P,) by the solver that was asked for."""
        return solve(self, task, W, on_step, tol, max_iter)

    def _maximise(self, task: Task, W: np.ndarray) -> Fit:
        """Solve, set the fitted attributes and certificate_."""
        tol, most = self._certificate_tol(), int(self.max_iter)
        told, aims = self._listener(task, tol), aims_at_kkt(self)
        fit = self._solve(task, W, on_step=told, tol=RETRY_TOL_FACTORS[0] * tol if aims else None)
        self._set(task, fit)
        found = certify(self, task.rows, tol)
        for tighter in RETRY_TOL_FACTORS[1:] if aims else ():
            ended = not fit.converged or fit.n_iter >= most
            if found.certified or ended or self._monitor.stopped is not None:
                break
            before, later = fit, _later(told, fit.n_iter)
            left = most - fit.n_iter
            fit = self._solve(task, fit.W, on_step=later, tol=tighter * tol, max_iter=left)
            self._set(task, fit := _together(before, fit))
            found = certify(self, task.rows, tol)
        self._set_certificate(found)
        return fit

    def _certificate_tol(self) -> float:
        return max(min(float(self.tol), TOL), MIN_TOL)

    def _listener(self, task: Task, tol: float) -> OnStep:
        on_step = self._monitor.iterations(
            lambda iterate: self._attributes(task, fit_at(task.problem, *iterate)),
            lambda: certify(self, task.rows, tol),
            int(self.max_iter),
            maximised=True,
        )
        name = type(self).__name__

        def told(step: Step) -> bool:
            if self.verbose:
                objective = number(step.objective, 10)
                print(printable(f"{name}: iteration {step.iteration}, objective {objective}"))
            iterate = step.iteration, step.parameters()
            return on_step(step._replace(parameters=lambda: iterate))

        return told

    # --- attributes ---

    def _set(self, task: Task, fit: Fit, left_out: bool = True) -> None:
        for name, value in self._attributes(task, fit, left_out).items():
            setattr(self, name, value)

    def _attributes(self, task: Task, fit: Fit, left_out: bool = True) -> dict[str, Any]:
        """Fitted attributes of a fit; ``left_out``: with ``loo_score_``, which takes O(n²)."""
        scaling, problem = task.scaling, task.problem
        W = np.zeros(len(scaling.shift))
        W[scaling.columns] = fit.W
        if problem.scale_free and W.sum() > 0:
            W *= len(W) / W.sum()
        used = np.flatnonzero(W)
        at = np.searchsorted(scaling.columns, used)
        X = np.ascontiguousarray(problem.X[:, at])
        exact, F = X, fit.objective
        if task.narrow:  # what is claimed has all its digits
            exact = task.exact(at)
            F = in_float64(problem, exact).value(W[used])
        return {
            "weights_": W,
            "weights_in_units_": _in_units(W, scaling.scale, self.metric),
            "support_": selected(W, self.threshold, self.n_features_to_select),
            "objective_": float(F),
            "alpha_": float(problem.alpha),
            "n_iter_": int(fit.n_iter),
            "n_evaluations_": int(fit.n_evaluations),
            "solver_": self.solver,
            "shift_": scaling.shift,
            "scale_": scaling.scale,
            "loo_score_": self._left_out_score(task, exact, W[used]) if left_out else np.nan,
            "_fit_X": X,
            "_fit_columns": used,
            "_largest_decrease": float(fit.fell),
        }

    @abstractmethod
    def _left_out_score(self, task: Task, X: np.ndarray, W: np.ndarray) -> float:
        """How well rows of the fit are answered by the others."""

    def _sums(
        self, X: np.ndarray | None, V: np.ndarray, own: tuple[np.ndarray, np.ndarray] | None = None
    ) -> np.ndarray:
        """Σ_j p_j(x) V_j of new rows, or of the rows of the fit without themselves."""
        X_ref, W = own if own is not None else (self._fit_X, self.weights_[self._fit_columns])
        return reference_sums(X_ref, W, float(self.sigma), self.metric, X, V)

    # --- what people are told ---

    def _warn_of_fit(self, fit: Fit, weak: list[str]) -> None:
        """Warn at most once; ``weak``: what else is odd."""
        c = self.certificate_
        names = vars(self).get("feature_names_in_")
        asked = fewer_than_asked(self.weights_, self.n_features_to_select)
        if not self.support_.any():
            W, alpha, instead = self.weights_, self.alpha_, self._without_weights
            weak = [*weak, nothing_selected(W, alpha, fit.slope, self.threshold, instead)]
        elif asked is not None:
            weak = [*weak, fewer(self.weights_, asked, names)]
        weak = [*weak, *gathered(self.weights_, self.metric, names)]
        ended = not fit.converged and fit.n_iter >= int(self.max_iter)
        claimed = aims_at_kkt(self) or c.status == "contradicted"
        claimed = claimed or (ended and self.solver == "yang")
        stopped_at = int(self.max_iter) if ended else None
        self._warn_of_certificate(stopped_at, remarks=weak, claimed=claimed)

    # --- new rows ---

    def _scaled(self, X: object) -> np.ndarray:
        """New rows, as those of the fit are kept."""
        X = self._dense(data_for_predict(self, X))
        require_finite(X, vars(self).get("feature_names_in_"))
        scaling = Scaling(self.shift_, self.scale_, self._fit_columns)
        return scaling.of(X, self._fit_columns, self._fit_X.dtype)

    def _dense(self, X: Any) -> Any:
        if isinstance(X, CSR):
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} compares every column of every "
                "pair of rows: use X.toarray()"
            )
        return X

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    @property
    def feature_importances_(self) -> np.ndarray:
        """W as shares of their sum; zeros where all weights are 0."""
        check_is_fitted(self)
        return np.asarray(self.weights_ / (self.weights_.sum() or 1.0))

    # --- for scikit-learn ---

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _in_units(W: np.ndarray, scale: np.ndarray, metric: str) -> np.ndarray | None:
    """Weights of the columns as they were given; None where D is no sum over columns."""
    if metric == "phi_s":
        return None
    return W / (scale if metric == "manhattan" else scale**2)


def fit_at(problem: Problem, iteration: int, W: np.ndarray) -> Fit:
    """The fit that ends here."""
    value = problem.value_and_slope(W)
    return Fit(W, value.F, value.slope, value.q, iteration, iteration + 1, False, 0.0)


def _together(before: Fit, after: Fit) -> Fit:
    """The fit that went on where another had ended."""
    return after._replace(
        n_iter=before.n_iter + after.n_iter,
        n_evaluations=before.n_evaluations + after.n_evaluations,
        fell=max(before.fell, after.fell),
    )


def _later(on_step: OnStep, before: int) -> OnStep:
    """Steps of a solver that goes on after so many."""

    def told(step: Step) -> bool:
        return step.iteration > 0 and on_step(step._replace(iteration=before + step.iteration))

    return told
