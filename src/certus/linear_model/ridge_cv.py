"""Ridge regression with its penalty chosen by leave-one-out cross-validation."""

from functools import partial
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from ..certificate import certify
from ..data.memory import memory_for_gram, memory_for_streamed
from ..data.rows import Rows
from ..data.streamed_ranges import folds_of_table
from ..data.types import CV, Scoring
from ..data.validation import boolean, data_for_fit, not_negative, one_of
from ..exceptions import InferenceError
from ..runtime.pool import interruptible, long_enough_to_listen
from ..runtime.progress import monitored
from ..solvers.lasso.elastic_net_cv import with_weight
from ..solvers.least_squares.ridge_cv import leave_one_out
from ..solvers.least_squares.ridge_folds import SCORES, fold_scores
from ..solvers.least_squares.sparse import MAX_GRAM_COLUMNS
from ._base import LinearRegressor
from ._constant_target import warn_of_a_constant_target
from ._recording_scorer import RecordingScorer
from ._solver_context import SolverContext
from .ridge import Ridge

MAX_DENSIFIED_ELEMENTS = 1 << 26  # of sparse X with fewer rows than columns: 512 MB when dense


class RidgeCV(LinearRegressor):
    r"""Ridge with α chosen among ``alphas`` by the error on rows left out.

    Minimises Σ sᵢ(yᵢ − xᵢᵀw − b)² + α‖w‖², at the α with the least

        (1/n) Σᵢ sᵢ (rᵢ(α) / (1 − hᵢᵢ(α)))²,    h the hat matrix,

    which is the exact leave-one-out error; one factorisation serves all α, without refits.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Penalties to choose from, all above 0 (with ``cv``: not negative).
    fit_intercept : bool, default=True
    scoring : str, callable or None, default=None
        None: minus the mean squared error above (with ``cv``: R²).
    cv : int, splitter or iterable, default=None
        None: exact leave-one-out. Else the folds of a grid search.
    gcv_mode : {None, "auto", "svd", "eigen"}
        Accepted for compatibility with scikit-learn: the smaller of XᵀX and XXᵀ is factored.
    store_cv_results : bool, default=False
        Store every row's error (or prediction, with ``scoring``) for every α in ``cv_results_``.
    alpha_per_target : bool, default=False
        Choose a separate α for each target.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
    best_score_ : float or ndarray of shape (n_targets,)
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        With ``store_cv_results``.
    coef_, intercept_, solver_, n_features_in_, feature_names_in_
        As in :class:`Ridge`.
    certificate_ : Certificate
        Certificate of the ridge fit at ``alpha_``; with ``cv=None`` and ``scoring=None`` it also
        recomputes the leave-one-out error of every α and fails if ``alpha_`` is not the best.

    Notes
    -----
    O(n·p² + n·p·n_alphas) operations for n > p; O(n²·p + n²·n_alphas) for n ≤ p. Sparse X: up to
    4,096 columns, O(entries·p); with fewer rows than columns it is made dense, up to 512 MB.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import RidgeCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(X, y).alpha_
    0.01
    """

    _reads_rows = True
    _one_target_is_flat = True

    def __init__(
        self,
        alphas: npt.ArrayLike = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Scoring = None,
        cv: CV = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    @monitored
    def fit(
        self, X: object, y: object = None, sample_weight: object = None, **params: Any
    ) -> "RidgeCV":
        """Choose α and fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings y and the weights.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
        **params : dict
            For the scorer and the splitter, with scikit-learn's metadata routing enabled.

        Returns
        -------
        self
        """
        routing = get_config()["enable_metadata_routing"]
        if params and not routing:
            raise ValueError(
                f"{', '.join(params)} can be passed only with "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        boolean("store_cv_results", self.store_cv_results)
        boolean("alpha_per_target", self.alpha_per_target)
        one_of("gcv_mode", self.gcv_mode, (None, "auto", "svd", "eigen"))
        alphas = np.atleast_1d(not_negative("alphas", self.alphas))
        if alphas.size == 0 or alphas.ndim != 1:
            raise ValueError(f"alphas={self.alphas!r}: give at least one penalty")
        if self.cv is None and not alphas.all():
            raise ValueError(
                "alphas holds 0: leave-one-out needs penalties above 0. Use LinearRegression for "
                "0, or cv=5"
            )
        rows, flat = data_for_fit(self, X, y, sample_weight)
        self._monitor.begin()
        counted = rows.shape[0] if rows.s is None else rows.reduce_targets(_count_weights)[0]
        if self.cv is None and counted < 2:
            raise ValueError("leave-one-out needs at least 2 rows that count: n_samples = 1")
        if rows.streamed:
            self._refuse_values_of_rows(params)
        if self.cv is not None and rows.streamed:
            self._choose_by_ranges(rows, alphas, fit_intercept)
        elif self.cv is not None:
            self._choose_by_folds(rows, X, y, alphas, fit_intercept, params)
        else:
            if routing:
                params = process_routing(self, "fit", **params).scorer.score
            self._choose_by_leave_one_out(rows, alphas, fit_intercept, flat, params)
        alpha = np.atleast_1d(self.alpha_).astype(float)
        warn_of_a_constant_target(rows, fit_intercept, self.alpha_)
        self._solve(rows, flat, fit_intercept=fit_intercept, alpha=alpha, positive=False)
        self._conclude(certify(self, rows))
        return self

    def inference(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise InferenceError: alpha was chosen on the rows that the errors would come from."""
        raise InferenceError(
            "alpha was chosen on these rows, so standard errors from the same rows are too small. "
            "Split the data: choose alpha on one part, and use Ridge(alpha=…).fit(X, y)"
            ".inference(X, y) on the other; or fix alpha beforehand"
        )

    def _choose_by_leave_one_out(
        self,
        rows: Rows,
        alphas: np.ndarray,
        fit_intercept: bool,
        flat: bool,
        score_params: dict[str, Any],
    ) -> None:
        keep_errors = self.store_cv_results or self.scoring is not None
        self._require_room(rows)
        with SolverContext(self, rows):
            choose = partial(leave_one_out, rows, alphas, fit_intercept, keep_errors)
            path = interruptible(choose) if long_enough_to_listen(rows.shape) else choose()
        results = None
        if self.scoring is None:
            scores = -path.squares / rows.shape[0]  # (A, k)
            if path.errors is not None:
                results = path.errors**2
        else:
            results = _predictions(rows, path.errors)
            scores = self._scores(rows, results, flat, score_params)
        if not self.alpha_per_target:
            scores = scores.mean(axis=1, keepdims=True)
        best = scores.argmax(axis=0)
        alpha, score = alphas[best], scores.max(axis=0)
        per_target = self.alpha_per_target and not flat
        self.alpha_ = alpha if per_target else float(alpha[0])
        self.best_score_ = score if per_target else float(score[0])
        self._forget("cv_results_")
        if self.store_cv_results:
            assert results is not None
            self.cv_results_ = results[:, 0] if flat else results

    def _require_room(self, rows: Rows) -> None:
        """Raise before the fit if the p×p or dense n×p matrix of leave-one-out is too large."""
        n, p = rows.shape
        if rows.sparse and (p > MAX_GRAM_COLUMNS if n > p else n * p > MAX_DENSIFIED_ELEMENTS):
            raise ValueError(
                f"leave-one-out on sparse X of {n:,} rows × {p:,} columns needs matrices that are "
                "too large: use cv=5, or fewer columns"
            )
        (memory_for_streamed if rows.streamed else memory_for_gram)(n, p, rows.threads)

    def _refuse_values_of_rows(self, params: dict[str, Any]) -> None:
        """Raise for what needs a number for each of streamed rows, or functions of all of them."""
        options = [None] if self.cv is None else [None, *SCORES]
        given = [name for name in ("store_cv_results", "alpha_per_target") if getattr(self, name)]
        if self.store_cv_results and self.cv is None:
            raise ValueError(
                "store_cv_results=True keeps numbers for every row, and open_rows has too many: "
                "use store_cv_results=False"
            )
        if given and self.cv is not None:
            raise ValueError(f"cv!=None and {given[0]}=True are incompatible: use cv=None")
        if not any(self.scoring is option or self.scoring == option for option in options):
            shown = " or ".join(repr(option) for option in options)
            raise ValueError(
                f"scoring={self.scoring!r} needs the predictions of all rows at once, and "
                f"open_rows reads them block by block: use scoring={shown}"
            )
        if params:
            raise ValueError(f"{', '.join(params)} cannot be passed with open_rows")

    def _choose_by_ranges(self, rows: Rows, alphas: np.ndarray, fit_intercept: bool) -> None:
        """Choose by folds of consecutive rows, which are not copied."""
        self._require_room(rows)
        folds = folds_of_table(self.cv, rows.X.table)
        with_weight(rows, folds)
        with SolverContext(self, rows):
            scores = fold_scores(rows, folds, alphas, fit_intercept, str(self.scoring or "r2"))
        mean = scores.mean(axis=0)
        best = int(mean.argmax())
        self.alpha_, self.best_score_ = float(alphas[best]), float(mean[best])

    def _scorer(self) -> Any:
        if self.scoring is None and get_config()["enable_metadata_routing"]:
            return get_scorer("r2").set_score_request(sample_weight=True)
        return check_scoring(self, scoring=self.scoring, allow_none=True)

    def _scores(
        self, rows: Rows, predictions: np.ndarray, flat: bool, params: dict[str, Any]
    ) -> np.ndarray:
        """Scores of the predictions for rows left out, (A, k)."""
        scorer = self._scorer()
        assert rows.y is not None
        k, count = predictions.shape[1:]
        if self.alpha_per_target or flat:
            targets = [(predictions[:, t], rows.y[:, t]) for t in range(k)]
        else:
            targets = [(predictions, rows.y)]
        return np.array(
            [
                [scorer(_Identity(), given[..., a], true, **params) for given, true in targets]
                for a in range(count)
            ]
        )

    def _choose_by_folds(
        self, rows: Rows, X: object, y: object, alphas: np.ndarray, fit_intercept: bool,
        params: dict[str, Any],
    ) -> None:  # fmt: skip
        if self.store_cv_results or self.alpha_per_target:
            name = "store_cv_results" if self.store_cv_results else "alpha_per_target"
            raise ValueError(f"cv!=None and {name}=True are incompatible: use cv=None")
        ridge = Ridge(fit_intercept=fit_intercept)
        if get_config()["enable_metadata_routing"]:
            ridge.set_fit_request(sample_weight=True)
        recorder = RecordingScorer(self._scorer(), len(alphas))
        self._monitor.keep(
            recorder.attributes, lambda: certify(self, rows), recorder.message, recorder.has_model
        )
        search = GridSearchCV(ridge, {"alpha": alphas}, cv=self.cv, scoring=recorder, refit=False)
        search.fit(X, y, **params)
        recorder.finish()
        self.alpha_ = float(search.best_params_["alpha"])
        self.best_score_ = float(search.best_score_)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of the scorer and the splitter."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                scorer=self._scorer(),
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )


def _count_weights(_y: object, s: np.ndarray) -> tuple[int]:
    return (int(np.count_nonzero(s)),)


def _predictions(rows: Rows, errors: np.ndarray | None) -> np.ndarray:
    """Predictions ŷ = y − e for rows left out, (n, k, A)."""
    assert errors is not None
    assert rows.y is not None
    if rows.s is not None:
        root = np.sqrt(rows.s)[:, None, None]
        errors = np.divide(errors, root, out=np.zeros_like(errors), where=root > 0)
    predictions: np.ndarray = rows.y[:, :, None] - errors
    return predictions


class _Identity(RegressorMixin, BaseEstimator):
    """Estimator for scorers: ``predict`` returns the predictions that it is given."""

    def predict(self, y_predicted: np.ndarray) -> np.ndarray:
        return y_predicted
