"""Elastic net and lasso with the penalty chosen by cross-validation."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from ..certificate import TOL, certify
from ..data.memory import memory_for_streamed
from ..data.rows import Rows
from ..data.scoring import refuse_without_routing
from ..data.streamed_ranges import folds_of_table
from ..data.types import CV, Seed
from ..data.validation import (
    boolean,
    data_for_fit,
    not_negative,
    one_of,
    positive_whole,
    warn_of_a_column,
)
from ..runtime.progress import monitored
from ..solvers.lasso.coordinate_penalty import L1_L2, NON_NEGATIVE
from ..solvers.lasso.elastic_net_cv import (
    Fold,
    FoldProgress,
    IndexFold,
    fold_errors,
    with_weight,
)
from ..solvers.lasso.elastic_net_path import Regression, full_gram_sums, regressions
from ..text.format import count
from ._constant_target import warn_of_a_constant_target
from ._path import alpha_grid, elastic_net_penalty, enet_path, l1_ratio_in_range, lasso_path
from ._solver_context import SolverContext
from .elastic_net import CoordinateRegressor

CHOICES = ("min", "1se")


class CoordinateRegressorCV(CoordinateRegressor, ABC):
    """Base class of elastic net and lasso with cross-validation."""

    l1_ratio: npt.ArrayLike
    eps: float
    alphas: int | npt.ArrayLike
    cv: CV
    copy_X: bool
    verbose: int
    selection: str
    choice: str

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None, **params: Any) -> Self:
        """Choose α and l, then fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings y and the weights.
        y : array-like of shape (n_samples,)
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of the rows, both in the fits and in the errors.
        **params
            Passed to the splitter, with metadata routing.

        Returns
        -------
        self
        """
        ratios = self._checked_ratios()
        rows, flat = data_for_fit(self, X, y, sample_weight)
        assert rows.y is not None
        if not flat and rows.y.shape[1] == 1:
            warn_of_a_column()
            flat = True
        if rows.y.shape[1] > 1:
            raise ValueError(
                "For multi-task outputs, use MultiTaskElasticNetCV of scikit-learn, or fit each "
                f"target separately: y has {rows.y.shape[1]} columns"
            )
        refuse_without_routing(params if not _routing_enabled() else {})
        if rows.streamed:
            memory_for_streamed(*rows.shape, rows.threads)
        splits = self._splits(rows, sample_weight, params)
        l, problems = self._choose(rows, ratios, splits)
        self._set_ratio(l)
        warn_of_a_constant_target(rows, bool(self.fit_intercept), self.alpha_)
        self._fit_rows(rows, flat, self.alpha_, l, problems)
        return self

    @abstractmethod
    def _set_ratio(self, l: float) -> None:
        """Set l1_ratio_, if l is a parameter."""

    def _checked_ratios(self) -> list[float]:
        for name in ("fit_intercept", "copy_X", "positive"):
            boolean(name, getattr(self, name))
        one_of("selection", self.selection, ("cyclic", "random"))
        one_of("choice", self.choice, CHOICES)
        not_negative("tol", self.tol)
        positive_whole("max_iter", self.max_iter)
        return [
            l1_ratio_in_range("l1_ratio", value) for value in np.atleast_1d(self.l1_ratio).tolist()
        ]

    def _splits(self, rows: Rows, weight: object, params: dict[str, Any]) -> Sequence[Fold]:
        if rows.streamed:
            if params:
                raise ValueError(f"{', '.join(params)} cannot be passed with open_rows")
            return with_weight(rows, folds_of_table(self.cv, rows.X.table))
        if _routing_enabled():
            split_params = process_routing(
                self, "fit", sample_weight=weight, **params
            ).splitter.split
        else:
            split_params = {}
        assert rows.y is not None
        n = rows.shape[0]
        split = check_cv(self.cv).split(np.zeros((n, 1)), rows.y[:, 0], **split_params)
        folds = [IndexFold(np.asarray(train), np.asarray(test), n) for train, test in split]
        return with_weight(rows, folds)

    def _choose(
        self, rows: Rows, ratios: list[float], folds: Sequence[Fold]
    ) -> tuple[float, list[Regression]]:
        """Set alpha_, alphas_ and mse_path_; return the chosen l and the problem of all rows."""
        intercept, p = bool(self.fit_intercept), rows.shape[1]
        code = NON_NEGATIVE if self.positive else L1_L2
        with SolverContext(self, rows):
            sums = full_gram_sums(rows, intercept)
            problems = regressions(rows, intercept, rows.S, sums)
            alphas = [
                alpha_grid(problems, self.alphas, l, float(self.eps), bool(self.positive))
                for l in ratios
            ]
            grids = [
                [elastic_net_penalty(alpha, l, p, code) for alpha in grid]
                for l, grid in zip(ratios, alphas, strict=True)
            ]
            progress = self._record_progress(rows, ratios, folds, alphas)
            errors = fold_errors(
                rows, folds, intercept, grids, TOL, int(self.max_iter), sums, progress
            )
        l, a = self._best_indices(errors)
        for name, value in self._chosen_attributes(alphas, errors, l, a).items():
            setattr(self, name, value)
        return ratios[l], problems

    def _best_indices(self, errors: np.ndarray) -> tuple[int, int]:
        """Indices of the chosen l and α."""
        n_folds = errors.shape[2]
        mean = errors.mean(axis=2)  # folds have equal weight, whatever their rows' weights
        l, a = np.unravel_index(np.argmin(mean), mean.shape)
        if self.choice == "1se":
            spread = errors[l, a].std(ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.0
            a = np.flatnonzero(mean[l] <= mean[l, a] + spread)[0]  # alphas descend
        return int(l), int(a)

    def _chosen_attributes(
        self, alphas: list[np.ndarray], errors: np.ndarray, l: int, a: int
    ) -> dict[str, Any]:
        several = len(alphas) > 1 and isinstance(self.alphas, Integral)
        return {
            "alpha_": float(alphas[l][a]),
            "mse_path_": np.squeeze(errors),
            "alphas_": np.stack(alphas) if several else alphas[0],
        }

    def _record_progress(
        self, rows: Rows, ratios: list[float], folds: Sequence[Fold], alphas: list[np.ndarray]
    ) -> FoldProgress:
        """Record fits of the folds, for Ctrl-C.

        It keeps the best α of the complete folds, with the coefficients of one of them; before the
        first complete fold, the last fit of a path.
        """

        def attributes() -> dict[str, Any]:
            errors = progress.errors.copy()
            if progress.complete:
                done = sorted(progress.complete)
                errors[:, :, [i for i in range(len(folds)) if i not in done]] = np.nan
                l, a = self._best_indices(errors[:, :, done])
                fit = progress.fit_at(l, a)
            else:
                fit = progress.last_fit()
            self._set_ratio(ratios[fit.grid])
            return {
                **self._chosen_attributes(alphas, errors, fit.grid, fit.penalty),
                "coef_": fit.w, "intercept_": fit.b if self.fit_intercept else 0.0,
                "n_iter_": 0, "dual_gap_": np.inf, "solver_": "cd",
            }  # fmt: skip

        def keep(message: str) -> None:
            self._monitor.keep(attributes, lambda: certify(self, rows), message)

        def fold_done(i: int) -> None:
            done = f"after {len(progress.complete)} of {count(len(folds), 'fold')}"
            keep(f"{done}; the model of one fold at the best alpha so far was kept")
            if self.verbose:
                print(f"{type(self).__name__}: fold {i + 1} of {len(folds)} is done")

        first = "in the first folds; the last model of a path was kept, at an alpha not yet chosen"
        progress = FoldProgress(lambda: keep(first), fold_done)
        return progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        mapping = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=check_cv(self.cv), method_mapping=mapping)


def _routing_enabled() -> bool:
    return bool(get_config().get("enable_metadata_routing", False))


class ElasticNetCV(CoordinateRegressorCV):
    r"""Elastic net with α and l chosen by the squared error on rows left out.

    On each fold's training rows, at each l and each α (from the largest to the smallest, with warm
    starts), minimise (1/2S) Σ sᵢ(yᵢ − xᵢᵀw − b)² + αl‖w‖₁ + ½α(1−l)‖w‖²; then fit all rows at the
    pair with the smallest mean error. A drop-in replacement for scikit-learn's class. See
    :class:`ElasticNet`.

    Parameters
    ----------
    l1_ratio : float or array-like of float, default=0.5
        l, or values of l to choose from.
    eps : float, default=1e-3
        Ratio of the smallest α to the largest.
    alphas : int or array-like of shape (n_alphas,), default=100
        The number of α, starting at the smallest α at which all coefficients are 0; or their
        values.
    fit_intercept : bool, default=True
    precompute, copy_X, random_state, selection
        Accepted for compatibility with scikit-learn.
    max_iter, tol
        As in :class:`ElasticNet`. Fits of the folds are always within 1e-6 of their optimum.
    cv : int, splitter or iterable, default=None
        None: five folds.
    verbose : bool or int, default=0
    n_jobs
        Accepted for compatibility with scikit-learn: the folds share the threads of
        ``certus.set_config``.
    positive : bool, default=False
    choice : {"min", "1se"}, default="min"
        "min": the α with the smallest mean error. "1se": the largest α whose mean error is within
        one standard error of the smallest, which gives a sparser model.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The chosen values.
    alphas_ : ndarray of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        Two-dimensional if there are several ``l1_ratio`` and ``alphas`` is a number.
    mse_path_ : ndarray of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        Mean squared errors on rows left out; axes of length 1 are dropped.
    coef_, intercept_, dual_gap_, n_iter_, solver_, n_features_in_, feature_names_in_
        As in :class:`ElasticNet`.
    certificate_ : Certificate
        Certificate of the final fit, at ``alpha_`` and ``l1_ratio_``. The choice is not recomputed.

    Notes
    -----
    Up to 600 columns and at least as many rows: the sums of all folds cost two passes of O(n·p²) in
    total. Otherwise each thread holds a copy of a fold's training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import ElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, y)
    >>> model.l1_ratio_, model.mse_path_.shape
    (1.0, (2, 100, 5))
    >>> model.certificate_.certified
    True
    """

    path: ClassVar[Any] = staticmethod(enet_path)

    def __init__(
        self,
        *,
        l1_ratio: npt.ArrayLike = 0.5,
        eps: float = 1e-3,
        alphas: int | npt.ArrayLike = 100,
        fit_intercept: bool = True,
        precompute: bool | Literal["auto"] | npt.ArrayLike = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: CV = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
        choice: str = "min",
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.choice = choice

    def _set_ratio(self, l: float) -> None:
        self.l1_ratio_ = l


class LassoCV(CoordinateRegressorCV):
    r"""Lasso with α chosen by the squared error on rows left out.

    On each fold's training rows, at each α, minimise (1/2S) Σ sᵢ(yᵢ − xᵢᵀw − b)² + α‖w‖₁; then fit
    all rows at the α with the smallest mean error. A drop-in replacement for scikit-learn's class:
    :class:`ElasticNetCV` with l = 1.

    Parameters
    ----------
    eps, alphas, fit_intercept, precompute, max_iter, tol, copy_X, cv, verbose, n_jobs, positive
    random_state, selection, choice
        As in :class:`ElasticNetCV`.

    Attributes
    ----------
    alpha_, alphas_, mse_path_, coef_, intercept_, dual_gap_, n_iter_, solver_, certificate_
    n_features_in_, feature_names_in_
        As in :class:`ElasticNetCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import LassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> least, sparser = LassoCV().fit(X, y), LassoCV(choice="1se").fit(X, y)
    >>> least.alpha_ < sparser.alpha_
    True
    """

    l1_ratio = 1.0  # fixed, so not a parameter

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: int | npt.ArrayLike = 100,
        fit_intercept: bool = True,
        precompute: bool | Literal["auto"] | npt.ArrayLike = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: CV = None,
        verbose: int = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
        choice: str = "min",
    ):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.choice = choice

    path: ClassVar[Any] = staticmethod(lasso_path)

    def _set_ratio(self, l: float) -> None:
        """Do nothing: l is fixed."""
