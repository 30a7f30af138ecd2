r"""Base class of the NCFS estimators: from rows to a problem, to weights, to attributes.

    rows ── _task ──► Task(rows, problem, scaling) ── _solve ──► Fit ── _attributes ──► weights_, …

None of the three changes the estimator; ``_maximize`` runs them and sets the attributes.
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
from ..solvers.ncfs import (
    BatchedProblem,
    BatchTerms,
    ClassGains,
    ClassTargets,
    NCFSFit,
    NCFSObjective,
    NCFSProblem,
    ValueGains,
    ValueTargets,
    reference_sums,
)
from ..solvers.progress import OnStep, Step, ignore
from ..text.format import count, number, printable
from ._batches import TABLE_BATCH_SIZE, BatchTask, ReferenceRows, Survey, batch_scaling
from ._messages import fewer_selected, nothing_selected, single_column_pattern
from ._scaling import Scaling, learn_scaling, stored_dtype
from ._selection import check_selection, selected, unmet_selection
from ._task import Task, aims_at_kkt

MIN_ROWS = 3  # with two rows each has one neighbour, whatever the weights
SOLVER_TOL_RATIOS = (0.5, 0.05)  # of the solver's tol to that of the proof, which rounds otherwise
MIN_TOL = 1e-12

AnyTask = Task | BatchTask


class NCFS(SelectorMixin, CertifiedEstimator, ABC):
    """Feature selector with weights W of the columns."""

    alpha: float | str
    sigma: float
    metric: str
    form: str
    scale: str | None
    batch_size: int | None = None  # of an estimator that has no such parameter
    solver: str
    max_iter: int
    tol: float
    step: float | str
    warm_start: bool
    threshold: float | str
    n_features_to_select: int | float | None
    verbose: int

    _answers_in_blocks = True  # of a table: each row is compared with rows in memory

    weights_: np.ndarray
    batch_size_: int | None
    support_: np.ndarray
    shift_: np.ndarray
    scale_: np.ndarray
    _fit_X: np.ndarray
    _fit_columns: np.ndarray
    _fit_rows: np.ndarray | None
    _without_weights: str  # the prediction if all weights are 0, in words

    # --- from rows to weights ---

    def _batch_rows(self, rows: Rows) -> int | None:
        """Return the largest number of rows of a batch; None: all rows at once."""
        if self.batch_size is not None:
            return int(self.batch_size)
        return TABLE_BATCH_SIZE if rows.streamed else None

    def _scaling(self, rows: Rows) -> Scaling:
        """Check the selection parameters and learn the scaling of new rows."""
        check_selection(self.threshold, self.n_features_to_select, rows.shape[1])
        return self._with_columns(
            learn_scaling(rows, self.scale, vars(self).get("feature_names_in_"))
        )

    def _with_columns(self, scaling: Scaling) -> Scaling:
        """Return the scaling with the columns of the problem, at least one."""
        columns = scaling.columns
        if self.metric == "phi_s" and len(columns) < 2:
            raise ValueError(
                f"metric='phi_s' compares patterns of at least two columns, and X has "
                f"{count(len(columns), 'column')} that {'varies' if len(columns) == 1 else 'vary'}:"
                " use metric='manhattan'"
            )
        if not len(columns):  # the problem needs at least one column
            return scaling._replace(columns=np.zeros(1, dtype=np.intp))
        return scaling

    def _task(
        self, rows: Rows, scaling: Scaling, G: ClassGains | ValueGains, a: np.ndarray, alpha: float
    ) -> Task:
        """Problem of rows with gains G, row weights a and λ as a number."""
        X = scaling.of(rows.X, scaling.columns, stored_dtype(rows.X))
        problem = NCFSProblem(X, G, a, float(self.sigma), alpha, self.metric, rows.threads)
        return Task(rows, problem, scaling)

    def _batch_task(
        self, rows: Rows, batch_size: int, survey: Survey, kept: ReferenceRows,
        targets: ClassTargets | ValueTargets, a_total: float, unit: float,
    ) -> BatchTask:  # fmt: skip
        """Problem of rows in batches; ``unit``: λ="auto" is that times the mean a of a row."""
        check_selection(self.threshold, self.n_features_to_select, rows.shape[1])
        names = vars(self).get("feature_names_in_")
        scaling = self._with_columns(batch_scaling(rows, survey, self.scale, batch_size, names))
        columns = scaling.columns
        shift, scale = scaling.shift[columns], scaling.scale[columns]
        terms = BatchTerms(columns, shift, scale, targets, float(self.sigma), self.metric)
        auto = unit * a_total * len(rows.edges(batch_size)) / rows.shape[0]
        alpha = auto if isinstance(self.alpha, str) else float(self.alpha)
        widest = float(((survey.high - survey.low)[columns] / scale).max())
        problem = BatchedProblem(rows, batch_size, terms, alpha, a_total, widest)
        return BatchTask(rows, problem, scaling, kept)

    def _require_rows(self, n: int) -> None:
        if n < MIN_ROWS:
            raise ValueError(
                f"n_samples={n}: {type(self).__name__} compares each row with at least two others, "
                f"give {MIN_ROWS} rows or more"
            )

    def _start(self, task: AnyTask, before: np.ndarray | None = None) -> np.ndarray:
        """Starting weights: those of an earlier fit, or W = 1."""
        columns, p = task.scaling.columns, len(task.scaling.shift)
        if before is not None and len(before) == p and np.isfinite(before).all():
            W = np.array(before[columns], dtype=float)
            if not task.problem.scale_free or np.count_nonzero(W) > 1:
                return W
        return np.ones(len(columns))

    def _solve(
        self, task: AnyTask, W: np.ndarray, *, on_step: OnStep = ignore,
        tol: float | None = None, max_iter: int | None = None,
    ) -> NCFSFit:  # fmt: skip
        """Maximise F from W (P,) by the estimator's solver."""
        return task.solve(self, W, on_step, tol, max_iter)

    def _maximize(self, task: AnyTask, W: np.ndarray) -> NCFSFit:
        """Solve, and set the fitted attributes and the certificate."""
        tol, max_iter = self._certificate_tol(), int(self.max_iter)
        on_iteration, aims = self._listener(task, tol), aims_at_kkt(self)
        first_tol = SOLVER_TOL_RATIOS[0] * tol if aims else None
        fit = self._solve(task, W, on_step=on_iteration, tol=first_tol)
        self._set(task, fit)
        certificate = certify(self, task.rows, tol)
        for ratio in SOLVER_TOL_RATIOS[1:] if aims else ():
            ended = not fit.converged or fit.n_iter >= max_iter
            if certificate.certified or ended or self._monitor.stopped is not None:
                break
            before, on_step = fit, _continued_steps(on_iteration, fit.n_iter)
            remaining = max_iter - fit.n_iter
            fit = self._solve(task, fit.W, on_step=on_step, tol=ratio * tol, max_iter=remaining)
            self._set(task, fit := _joined(before, fit))
            certificate = certify(self, task.rows, tol)
        self._set_certificate(certificate)
        return fit

    def _certificate_tol(self) -> float:
        return max(min(float(self.tol), TOL), MIN_TOL)

    def _listener(self, task: AnyTask, tol: float) -> OnStep:
        on_step = self._monitor.iterations(
            lambda iterate: self._attributes(task, fit_at(task.problem, *iterate)),
            lambda: certify(self, task.rows, tol),
            int(self.max_iter),
            maximized=True,
        )
        name = type(self).__name__

        def on_iteration(step: Step) -> bool:
            if self.verbose:
                objective = number(step.objective, 10)
                print(printable(f"{name}: iteration {step.iteration}, objective {objective}"))
            iterate = step.iteration, step.parameters()
            return on_step(step._replace(parameters=lambda: iterate))

        return on_iteration

    # --- attributes ---

    def _set(self, task: AnyTask, fit: NCFSFit, left_out: bool = True) -> None:
        for name, value in self._attributes(task, fit, left_out).items():
            setattr(self, name, value)

    def _attributes(self, task: AnyTask, fit: NCFSFit, left_out: bool = True) -> dict[str, Any]:
        """Fitted attributes; ``left_out``: compute ``loo_score_``, which takes O(n²)."""
        scaling, problem = task.scaling, task.problem
        W = np.zeros(len(scaling.shift))
        W[scaling.columns] = fit.W
        if problem.scale_free and W.sum() > 0:
            W *= len(W) / W.sum()
        used = np.flatnonzero(W)
        at = np.searchsorted(scaling.columns, used)
        kept = task.kept(fit, at, W[used])
        return {
            "weights_": W,
            "weights_in_units_": _in_units(W, scaling.scale, self.metric),
            "support_": selected(W, self.threshold, self.n_features_to_select),
            "objective_": float(kept.F),
            "alpha_": float(problem.alpha),
            "n_iter_": int(fit.n_iter),
            "n_evaluations_": int(fit.n_evaluations),
            "solver_": self.solver,
            "shift_": scaling.shift,
            "scale_": scaling.scale,
            "batch_size_": task.batch_size,
            "loo_score_": task.score(self, kept, at, W[used]) if left_out else np.nan,
            "_fit_X": kept.X,
            "_fit_rows": task.kept_numbers,
            "_fit_columns": used,
            "_largest_decrease": float(fit.largest_decrease),
        }

    @abstractmethod
    def _loo_score(self, task: Task, X: np.ndarray, W: np.ndarray) -> float:
        """Leave-one-out score of the rows of the fit."""

    @abstractmethod
    def _batch_score(self, task: BatchTask, columns: np.ndarray, W: np.ndarray) -> float:
        """Return the score of each row by the others of its batch."""

    def _sums(
        self, X: np.ndarray | None, V: np.ndarray,
        reference: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Compute Σ_j p_j(x) V_j for new rows, or (X None) leave-one-out for those of the fit."""
        if reference is None:
            reference = self._fit_X, self.weights_[self._fit_columns]
        X_ref, W = reference
        return reference_sums(X_ref, W, float(self.sigma), self.metric, X, V)

    # --- warnings ---

    def _warn_of_fit(self, fit: NCFSFit, remarks: list[str]) -> None:
        """Warn at most once; ``remarks``: further sentences."""
        c = self.certificate_
        names = vars(self).get("feature_names_in_")
        requested = unmet_selection(self.weights_, self.n_features_to_select)
        if not self.support_.any():
            W, alpha, prediction = self.weights_, self.alpha_, self._without_weights
            remarks = [*remarks, nothing_selected(W, alpha, fit.slope, self.threshold, prediction)]
        elif requested is not None:
            remarks = [*remarks, fewer_selected(self.weights_, requested, names)]
        remarks = [*remarks, *single_column_pattern(self.weights_, self.metric, names)]
        ended = not fit.converged and fit.n_iter >= int(self.max_iter)
        claimed = aims_at_kkt(self) or c.status == "contradicted"
        claimed = claimed or (ended and self.solver == "yang")
        stopped_at = int(self.max_iter) if ended else None
        self._warn_of_certificate(stopped_at, remarks=remarks, claimed=claimed)

    # --- new rows ---

    def _scaled(self, X: object) -> np.ndarray:
        """New rows, scaled and restricted to the columns with weight."""
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
        """Weights divided by their sum; zeros if all weights are 0."""
        check_is_fitted(self)
        return np.asarray(self.weights_ / (self.weights_.sum() or 1.0))

    # --- scikit-learn ---

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _in_units(W: np.ndarray, scale: np.ndarray, metric: str) -> np.ndarray | None:
    """Weights for unscaled columns; None if D is not a sum over columns."""
    if metric == "phi_s":
        return None
    return W / (scale if metric == "manhattan" else scale**2)


def fit_at(problem: NCFSObjective, iteration: int, W: np.ndarray) -> NCFSFit:
    """Fit that ends at this iterate."""
    value = problem.value_and_slope(W)
    return NCFSFit(W, value.F, value.slope, value.q, iteration, iteration + 1, False, 0.0)


def _joined(before: NCFSFit, after: NCFSFit) -> NCFSFit:
    """Combine a fit with the one that continued it."""
    return after._replace(
        n_iter=before.n_iter + after.n_iter,
        n_evaluations=before.n_evaluations + after.n_evaluations,
        largest_decrease=max(before.largest_decrease, after.largest_decrease),
    )


def _continued_steps(on_step: OnStep, before: int) -> OnStep:
    """Callback for a solver that continues after ``before`` iterations."""

    def on_iteration(step: Step) -> bool:
        return step.iteration > 0 and on_step(step._replace(iteration=before + step.iteration))

    return on_iteration
