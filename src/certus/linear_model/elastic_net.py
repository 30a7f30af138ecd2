"""Elastic net and lasso."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.metadata_routing import UNUSED

from ..certificate import TOL, Certificate, certify
from ..data.memory import memory_for_streamed
from ..data.rows import Rows
from ..data.types import Seed
from ..data.validation import boolean, data_for_fit, not_negative, one_of, positive_whole
from ..exceptions import InferenceError
from ..runtime.progress import monitored
from ..solvers.glm.dispatch import RETRY_TOL_FACTORS
from ..solvers.lasso.coordinate_penalty import L1_L2, NON_NEGATIVE, CoordinatePenalty
from ..solvers.lasso.elastic_net import ElasticNetResult
from ..solvers.lasso.elastic_net_path import Regression, fit_one, regressions_of_one_fit
from ..solvers.progress import OnStep, Step
from ._base import LinearRegressor
from ._classifier import MIN_TOL, print_steps
from ._path import elastic_net_penalty, enet_path, l1_ratio_in_range, lasso_path
from ._solver_context import SolverContext
from ._unpenalized import warn_of_aliases

# residual that fits which evaluate all columns reach; a screened fit above it is continued
MAX_COMPLETE_RESIDUAL = 1e-9


class FittedTargets(NamedTuple):
    """Results of all targets."""

    w: np.ndarray  # (p, k)
    b: np.ndarray  # (k,)
    gap: np.ndarray  # (k,)
    objective: np.ndarray  # (k,): targets not fitted yet have that of the intercept alone
    n_iter: list[int]

    def with_target(self, target: int, result: ElasticNetResult) -> "FittedTargets":
        w, b, gap, objective = (a.copy() for a in self[:4])
        w[:, target], b[target] = result.w, result.b[0]
        gap[target], objective[target] = result.gap, result.objective
        n_iter = list(self.n_iter)
        n_iter[target] += result.n_iter
        return FittedTargets(w, b, gap, objective, n_iter)


class CoordinateRegressor(LinearRegressor):
    """Base class of lasso, elastic net and their cross-validated forms: a fit at one α and l."""

    fit_intercept: bool
    positive: bool
    warm_start = False
    max_iter: int
    tol: float
    _reads_rows = True
    _one_target_is_flat = True
    _counts_iterations = True

    def _fit_rows(
        self, rows: Rows, flat: bool, alpha: float, l1_ratio: float,
        problems: list[Regression] | None = None,
    ) -> None:  # fmt: skip
        """Fit at one α and l; set the attributes and the certificate."""
        if alpha * l1_ratio == 0:  # (1/2S)·(Σ s r² + Sα(1−l)‖w‖²)
            penalty = np.array([alpha * rows.S])
            solution = self._solve(
                rows, flat, self._iteration, fit_intercept=bool(self.fit_intercept), alpha=penalty,
                positive=bool(self.positive),
            )  # fmt: skip
            self._conclude(certify(self, rows), solution.stopped_at)
            self.dual_gap_ = self.certificate_.gap
            warn_of_aliases(self, solution, rows.shape[0])
            return
        self._descend(rows, flat, alpha, l1_ratio, problems)

    def _iteration(self) -> dict[str, Any]:
        return {"solver": "auto", "tol": min(float(self.tol), TOL), "max_iter": None}

    def _descend(
        self, rows: Rows, flat: bool, alpha: float, l1_ratio: float,
        problems: list[Regression] | None,
    ) -> None:  # fmt: skip
        assert rows.y is not None
        p, k = rows.shape[1], rows.y.shape[1]
        tol, max_iter = max(min(float(self.tol), TOL), MIN_TOL), int(self.max_iter)
        penalty = elastic_net_penalty(alpha, l1_ratio, p, NON_NEGATIVE if self.positive else L1_L2)
        start, intercept = self._start(p, k), bool(self.fit_intercept)
        if rows.streamed:
            memory_for_streamed(*rows.shape, rows.threads)

        def attributes(fitted: FittedTargets) -> dict[str, Any]:
            one = flat or k == 1
            w = fitted.w[:, 0].copy() if one else fitted.w.T.copy()
            b = (fitted.b[0] if flat else fitted.b) if intercept else 0.0
            return {
                "coef_": w, "intercept_": b, "solver_": "cd",
                "n_iter_": fitted.n_iter[0] if one else fitted.n_iter,
                "dual_gap_": fitted.gap[0] if one else fitted.gap,
            }  # fmt: skip

        on_step: OnStep = self._monitor.iterations(
            attributes, lambda: certify(self, rows, tol), max_iter * k
        )
        if getattr(self, "verbose", 0):  # a parameter of the cross-validated classes
            on_step = print_steps(on_step, type(self).__name__)
        with SolverContext(self, rows):
            problems = problems or regressions_of_one_fit(rows, intercept, rows.S)
            certificate = self._certified_fit(
                rows, problems, penalty, start, on_step, attributes, (tol, max_iter)
            )
        reached = np.max(self.n_iter_) >= max_iter
        self._conclude(certificate, max_iter if reached else None)

    def _certified_fit(
        self, rows: Rows, problems: list[Regression], penalty: CoordinatePenalty,
        start: np.ndarray | None, on_step: OnStep,
        attributes: Callable[[FittedTargets], dict[str, Any]], settings: tuple[float, int],
    ) -> Certificate:  # fmt: skip
        """Fit each target and certify; continue with a smaller tol if the certificate fails."""
        (tol, max_iter), k = settings, len(problems)
        null = np.array([regression.null for regression in problems])
        zeros = np.zeros((rows.shape[1], k)), np.zeros(k), np.full(k, np.inf)
        fitted = FittedTargets(*zeros, null, [0] * k)
        first = problems[0].first_fit(penalty, tol) if k == 1 and start is None else None
        if first is not None:
            stopped = _report_target(on_step, fitted, 0)(first.step())
            fitted = fitted.with_target(0, first)
            certificate = self._certified(rows, attributes(fitted), tol)
            if stopped or certificate.residual <= MAX_COMPLETE_RESIDUAL:
                self.dual_gap_ = certificate.gap
                return certificate
            start = fitted.w
        for tighter in RETRY_TOL_FACTORS:
            for t, regression in enumerate(problems):
                report = _report_target(on_step, fitted, t)
                w = None if start is None else start[:, t]
                left = max_iter - fitted.n_iter[t]
                result = fit_one(regression, penalty, tighter * tol, left, w, report)
                fitted = fitted.with_target(t, result)
                if self._monitor.stopped is not None:
                    break
            certificate = self._certified(rows, attributes(fitted), tol)
            finished = self._monitor.stopped is not None or max(fitted.n_iter) >= max_iter
            is_nonfinite = not np.isfinite(certificate.objective)  # more steps cannot help
            if certificate.certified or finished or is_nonfinite:
                break
            start = fitted.w
        return certificate

    def _certified(self, rows: Rows, attributes: dict[str, Any], tol: float) -> Certificate:
        for name, value in attributes.items():
            setattr(self, name, value)
        return certify(self, rows, tol)

    def _start(self, p: int, k: int) -> np.ndarray | None:
        """Initial coefficients of a warm start, (p, k), or None."""
        if not self.warm_start or "coef_" not in vars(self):
            return None
        w = np.atleast_2d(np.array(self.coef_, dtype=float)).T
        if self.positive:
            w = np.maximum(w, 0.0)
        return w if w.shape == (p, k) and np.isfinite(w).all() else None

    @property
    def sparse_coef_(self) -> Any:
        return sparse.csr_array(np.atleast_2d(self.coef_))

    def inference(self, *_args: object, **_options: object) -> None:
        """Raise InferenceError: usual standard errors do not hold after selection."""
        raise InferenceError(
            f"{type(self).__name__} selects its coefficients and shrinks them towards 0 on the "
            "same rows, so the usual standard errors and p-values do not hold for it. To see how "
            "stable the selection is, resample the rows and fit again (bootstrap, stability "
            "selection); for intervals, use the debiased (desparsified) lasso, or fit "
            "LinearRegression on other rows with the columns selected here"
        )


class ElasticNet(CoordinateRegressor):
    r"""Elastic net: minimise (1/2S) Σ sᵢ(yᵢ − xᵢᵀw − b)² + αl‖w‖₁ + ½α(1−l)‖w‖², S = Σ sᵢ.

    A drop-in replacement for scikit-learn's class. The penalty and the coefficients are in the
    original units; the intercept is not penalised. Each target is fitted separately.

    Parameters
    ----------
    alpha : float, default=1.0
        α ≥ 0. 0 is least squares.
    l1_ratio : float, default=0.5
        l, from 0 (ridge) to 1 (lasso).
    fit_intercept : bool, default=True
    precompute : bool or array-like of shape (n_features, n_features), default=False
        Accepted for compatibility with scikit-learn: sums of products are cached where that
        pays.
    max_iter : int, default=1000
        Maximum number of working sets; a few are usually enough.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn; X is never changed.
    tol : float, default=1e-4
        Duality gap to reach, relative to the objective of the intercept alone; values above 1e-6
        are treated as 1e-6.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.
    positive : bool, default=False
        Minimise over w ≥ 0.
    random_state, selection
        Accepted for compatibility with scikit-learn: the solver is deterministic.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    sparse_coef_ : sparse matrix of shape (1, n_features) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    dual_gap_ : float or ndarray of shape (n_targets,)
        The solver's gap; that of ``certificate_`` is recomputed. If the solver did not evaluate
        all columns, the certificate's gap.
    n_iter_ : int or list of int
        Number of working sets.
    solver_ : str
        "cd" (coordinate descent on working sets); for α = 0 or l = 0 the solver of :class:`Ridge`.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have a smaller
        objective by more than the gap*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    O(n·p) operations per working set of m columns, plus O(n·m²) once, and memory for a copy of
    these columns and m² sums. Up to 600 columns and at least as many rows: O(n·p²) in one pass and
    O(p²) memory. For many rows a subsample is fitted first; if it needs only m < p/3 columns, the
    fit costs O(n·m²), and the certificate checks the other columns.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import ElasticNet
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNet(alpha=0.01).fit(X, y)
    >>> model.certificate_
    Certificate(optimal: objective ..., at most ... above the best possible)
    """

    path: ClassVar[Any] = staticmethod(enet_path)
    __metadata_request__fit: ClassVar = {"check_input": UNUSED}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: bool | npt.ArrayLike = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @monitored
    def fit(
        self, X: object, y: object = None, sample_weight: object = None, check_input: bool = True
    ) -> "ElasticNet":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings y and the weights.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            A weight of 2 equals a repeated row.
        check_input : bool, default=True
            Accepted for compatibility with scikit-learn: X and y are always checked.

        Returns
        -------
        self
        """
        alpha, l1_ratio = self._checked()
        rows, flat = data_for_fit(self, X, y, sample_weight)
        self._fit_rows(rows, flat, alpha, l1_ratio)
        return self

    def _checked(self) -> tuple[float, float]:
        for name in ("fit_intercept", "copy_X", "warm_start", "positive"):
            boolean(name, getattr(self, name))
        if isinstance(self.precompute, str):
            raise ValueError(f"precompute={self.precompute!r}: give True, False or a matrix")
        one_of("selection", self.selection, ("cyclic", "random"))
        not_negative("tol", self.tol)
        positive_whole("max_iter", self.max_iter)
        alpha = not_negative("alpha", self.alpha)
        if alpha.ndim:
            raise ValueError(f"alpha={self.alpha!r}: give one number; fit each target by itself")
        return float(alpha), l1_ratio_in_range("l1_ratio", self.l1_ratio)


class Lasso(ElasticNet):
    r"""Lasso: minimise (1/2S) Σ sᵢ(yᵢ − xᵢᵀw − b)² + α‖w‖₁, S = Σ sᵢ.

    A drop-in replacement for scikit-learn's class: :class:`ElasticNet` with l = 1. If columns
    repeat each other the coefficients are not unique, and the certificate says so.

    Parameters
    ----------
    alpha : float, default=1.0
        α ≥ 0. 0 is least squares. From ``max|X̃ᵀỹ|/n`` upwards, all coefficients are 0.
    fit_intercept, precompute, copy_X, max_iter, tol, warm_start, positive, random_state, selection
        As in :class:`ElasticNet`.

    Attributes
    ----------
    coef_, sparse_coef_, intercept_, dual_gap_, n_iter_, solver_, certificate_, n_features_in_
    feature_names_in_
        As in :class:`ElasticNet`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Lasso(alpha=0.5).fit(X, y)
    >>> int((model.coef_ != 0).sum())
    4
    >>> model.certificate_.certified
    True
    """

    path: ClassVar[Any] = staticmethod(lasso_path)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: bool | npt.ArrayLike = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
    ):
        super().__init__(
            alpha=alpha, l1_ratio=1.0, fit_intercept=fit_intercept, precompute=precompute,
            max_iter=max_iter, copy_X=copy_X, tol=tol, warm_start=warm_start, positive=positive,
            random_state=random_state, selection=selection,
        )  # fmt: skip


def _report_target(on_step: OnStep, fitted: FittedTargets, target: int) -> OnStep:
    """Callback that reports a step of one target as a step of the fit of all targets."""

    def report(step: Step) -> bool:
        combined = fitted.with_target(target, step.parameters())
        single_target = len(combined.n_iter) == 1
        step = step._replace(
            iteration=sum(combined.n_iter),
            objective=float(combined.objective.sum()),
            bound=step.bound if single_target else None,
            parameters=lambda: combined,
        )
        return bool(on_step(step))

    return report
