"""Logistic regression whose penalty is chosen by cross-validation."""

from typing import Any, Literal, NoReturn, cast

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv

from ..data.constant_column import with_constant
from ..data.labels import class_weights
from ..data.rows import Rows
from ..data.scoring import ScoredByChoice, of_rows
from ..data.types import CV, ClassWeight, Scoring, Seed
from ..data.validation import boolean, data_for_classification, not_negative, one_of
from ..exceptions import InferenceError
from ..losses import Logistic, Softmax
from ..penalties import ElasticNet
from ..runtime.progress import monitored
from ..runtime.user_frame import warn_user
from ..solvers.glm.dispatch import classification
from ..solvers.glm.path import path
from ..solvers.loop import Fit
from ..text.format import count
from ._folds import (
    Grid,
    Paths,
    fold_score,
    values_of_C,
    values_of_l,
)
from ._parameters import Strength, whole_number
from ._solver_context import SolverContext
from .logistic import (
    RUN_AS_NAMED,
    SOLVERS,
    LogisticRegression,
)

PENALTIES = ("l1", "l2", "elasticnet", "deprecated")


class LogisticRegressionCV(ScoredByChoice, LogisticRegression):
    r"""Logistic regression with C and l chosen by the score on left-out rows.

    At each pair of ``Cs`` and ``l1_ratios``, and for each fold's training rows, minimise
    C Σ sᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½(1−l)‖w‖² + l‖w‖₁ (more classes: softmax); then, at the
    pair with the best mean score, for all rows. See :class:`LogisticRegression`.

    A drop-in replacement for scikit-learn's class, with its defaults but without its warnings that
    they will change. Within a fold C increases, and each fit starts from the previous one. The
    folds' fits are within 1e-10 of their optimum (relative to the loss of the intercept alone),
    whatever ``tol`` is, so that scores do not depend on a solver.

    Parameters
    ----------
    Cs : int or array-like of shape (n_cs,), default=10
        Values of C, or how many to space evenly on a logarithmic scale from 1e-4 to 1e4. ``inf``:
        no penalty.
    l1_ratios : array-like of shape (n_l1_ratios,), default="warn"
        Values of l, from 0 (ridge) to 1 (lasso). By default only l = 0.
    fit_intercept : bool, default=True
    cv : int, splitter or iterable, default=None
        None: five stratified folds.
    dual : bool, default=False
        Ignored; accepted for compatibility with scikit-learn.
    penalty : {"l1", "l2", "elasticnet"}, default="deprecated"
        As in scikit-learn, which deprecated it: use ``l1_ratios``.
    scoring : str, callable or None, default="warn"
        The score to maximise. None and the default: accuracy. Where probabilities matter choose
        "neg_log_loss", which will be scikit-learn's default from 1.11 on.
    solver, tol, max_iter, class_weight, intercept_scaling, random_state
        As in :class:`LogisticRegression`; ``tol`` is that of the final fit. "balanced" weights are
        those of all rows, in every fold. With "liblinear" the final fit uses ``intercept_scaling``
        too (scikit-learn's uses 1).
    n_jobs
        Ignored; accepted for compatibility with scikit-learn: see ``certus.set_config(threads=…)``.
    verbose : int, default=0
    refit : bool, default=True
        False: no final fit; ``C_``, ``l1_ratio_``, ``coef_`` and ``intercept_`` are the averages of
        each fold's best. Averages minimise nothing, so there is no certificate.
    use_legacy_attributes : bool, default="warn"
        Shapes of attributes as in scikit-learn 1.9 (True, and the default), or simpler ones as in
        1.10 (False).

    Attributes
    ----------
    C_, l1_ratio_ : ndarray of shape (1,) or (n_classes,), the same value in each; or float
        What was chosen.
    Cs_ : ndarray of shape (n_cs,)
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        ``[None]`` where none were given.
    coefs_paths_ : dict of ndarray of shape (n_folds, n_cs, n_l1_ratios, n_dof)
        By class (of two: the second), the intercept last; without the third axis where no
        ``l1_ratios`` were given. Simple shape: (n_folds, n_l1_ratios, n_cs, n_classes or 1, n_dof).
    scores_ : dict of ndarray of shape (n_folds, n_cs, n_l1_ratios)
        The same for every class. Simple shape: (n_folds, n_l1_ratios, n_cs).
    n_iter_ : ndarray of shape (1, n_folds, n_cs, n_l1_ratios)
        Steps of the folds' fits. Simple shape: (n_folds, n_l1_ratios, n_cs).
    classes_, coef_, intercept_, solver_, n_features_in_, feature_names_in_
        As in :class:`LogisticRegression`.
    certificate_ : Certificate or None
        Certificate of the final fit, at ``C_`` and ``l1_ratio_``. The choice is not recomputed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.linear_model import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(scoring="neg_log_loss", use_legacy_attributes=False).fit(X, y)
    >>> round(model.C_, 2)
    166.81
    >>> model.certificate_.certified
    True
    """

    coefs_paths_: np.ndarray | dict[Any, np.ndarray]
    scores_: np.ndarray | dict[Any, np.ndarray]
    certificate_: Any

    _also_default = "warn"
    _reads_rows = False

    def __init__(
        self,
        *,
        Cs: int | npt.ArrayLike = 10,
        l1_ratios: npt.ArrayLike | None = "warn",
        fit_intercept: bool = True,
        cv: CV = None,
        dual: bool = False,
        penalty: str = "deprecated",
        scoring: Scoring = "warn",
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Seed = None,
        use_legacy_attributes: bool | Literal["warn"] = "warn",
    ):
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    @monitored
    def fit(
        self, X: object, y: object = None, sample_weight: object = None, **params: Any
    ) -> "LogisticRegressionCV":
        """Choose C and l, and fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind, two or more.
        sample_weight : float or array-like of shape (n_samples,), default=None
            For the fits and the scorer (with metadata routing: if the scorer requests them).
        **params : dict
            For the scorer and the splitter, with scikit-learn's metadata routing enabled.

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        refit = boolean("refit", self.refit)
        boolean("dual", self.dual)
        not_negative("tol", self.tol)
        whole_number("max_iter", self.max_iter)
        one_of("solver", self.solver, SOLVERS)
        if self.use_legacy_attributes != "warn":
            boolean("use_legacy_attributes", self.use_legacy_attributes)
        grid = self._grid()
        routed = self._routed(sample_weight, params)
        rows, classes = data_for_classification(self, X, y, sample_weight, weightless=True)
        assert rows.y is not None
        k = rows.y[:, 0].astype(np.intp)
        weight = class_weights(self.class_weight, classes, k, rows.s)
        self.classes_ = classes
        folds = list(
            check_cv(self.cv, classes[k], classifier=True).split(X, classes[k], **routed["split"])
        )
        for f, (train, _) in enumerate(folds):
            if rows.s is not None and not rows.s[train].any():
                raise ValueError(
                    f"fold {f}: all rows of its training part have weight 0. Use fewer folds, or "
                    "omit the rows of weight 0"
                )
        paths = self._paths(rows, folds, grid, weight, fit_intercept, routed["score"])
        self._publish(paths, grid)
        strength, mean = self._choose(paths, grid)
        if not refit:
            mean = self._average(paths, grid)
        w, b = mean[:, : rows.shape[1]], mean[:, -1] if fit_intercept else np.zeros(len(mean))
        if refit:
            self._fit_rows(rows, strength, weight, fit_intercept, (w.T, b))
        else:
            self.coef_, self.intercept_ = w.copy(), b.copy()
            self.solver_, self.certificate_ = "average of the folds", None
        return self

    def inference(self, *args: object, **kwargs: object) -> NoReturn:
        """Raise InferenceError: C was chosen on the rows that the errors would be computed from."""
        raise InferenceError(
            "C was chosen on these rows, so standard errors from the same rows are too small. "
            "Split the data: choose C on one part, use LogisticRegression(C=…) on the other"
        )

    # --- parameters ---

    def _grid(self) -> Grid:
        one_of("penalty", self.penalty, PENALTIES)
        if self.penalty != "deprecated":
            warn_user(
                "'penalty' is deprecated in scikit-learn 1.8: use l1_ratios=(0,) for 'l2', "
                "l1_ratios=(1,) for 'l1', numbers between for 'elasticnet'",
                FutureWarning,
            )
        given = None if isinstance(self.l1_ratios, str) else self.l1_ratios
        if isinstance(self.l1_ratios, str):
            one_of("l1_ratios", self.l1_ratios, ("warn",))
        elif given is None and self.penalty == "deprecated":
            warn_user("'l1_ratios=None' is deprecated: give numbers from 0 to 1", FutureWarning)
        if given is None and self.penalty == "elasticnet":
            raise ValueError("l1_ratios is missing: penalty='elasticnet' needs numbers from 0 to 1")
        ratios = np.array([0.0]) if given is None else values_of_l(given)
        fixed = {"l1": 1.0, "l2": 0.0}.get(self.penalty or "")
        return Grid(
            values_of_C(self.Cs), ratios if fixed is None else np.full_like(ratios, fixed), given
        )

    # --- folds ---

    def _paths(
        self, rows: Rows, folds: list[Any], grid: Grid, weight: np.ndarray | None,
        fit_intercept: bool, score_params: dict[str, Any],
    ) -> Paths:  # fmt: skip
        """Return the path of every fold and l, with its scores on the left-out rows."""
        shape = len(folds), len(grid.ratios), len(grid.Cs)
        K, p = 1 if len(self.classes_) == 2 else len(self.classes_), rows.shape[1]
        self._monitor.begin(int(np.prod(shape)) + self.max_iter)
        all_paths = Paths(
            np.full((*shape, K, p + 1), np.nan), np.full(shape, np.nan), np.zeros(shape, np.int32)
        )
        used = all_paths if fit_intercept else all_paths._replace(coefs=all_paths.coefs[..., :-1])
        model = LogisticRegression()
        model.classes_, model.n_features_in_ = self.classes_, p
        scorer = self._scorer_of_folds()
        self._keep_first_path(rows, used, grid, fit_intercept)
        for f, (train, test) in enumerate(folds):
            fitted_on, left_out = rows.take(train), rows.take(test)
            params = {
                name: of_rows(value, test, rows.shape[0]) for name, value in score_params.items()
            }
            for l, ratio in enumerate(grid.ratios):
                path_coefs = all_paths.coefs[f, l]  # filled fit by fit, for Ctrl-C
                all_paths.n_iter[f, l] = self._path(
                    fitted_on, grid.Cs, ratio, weight, fit_intercept, path_coefs
                )
                w, b = path_coefs[:, :, :-1].transpose(0, 2, 1), path_coefs[:, :, -1]
                for a in range(len(grid.Cs)):
                    model.coef_, model.intercept_ = w[a].T, b[a]
                    all_paths.scores[f, l, a] = fold_score(model, left_out, scorer, params)
            self._keep_folds(rows, used, grid, f + 1, fit_intercept)
        return used

    def _path(
        self, rows: Rows, Cs: np.ndarray, ratio: float, weight: np.ndarray | None,
        fit_intercept: bool, coefs: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Fill ``coefs`` (A, K, p + 1), the intercept last, fit by fit; return n_iter (A,)."""
        constant = self._penalized_constant(fit_intercept)
        design = rows if constant is None else with_constant(rows, constant)
        K = len(self.classes_)
        problem = classification(
            design, Logistic() if K == 2 else Softmax(), ElasticNet(),
            fit_intercept and constant is None, K, 1.0, weight,
        )  # fmt: skip

        def on_fit(a: int, w: np.ndarray, b: np.ndarray) -> None:
            coefs[a, :, :-1] = w.T if constant is None else w[:-1].T
            coefs[a, :, -1] = b if constant is None else constant * w[-1]
            self._monitor.part_done("fold")

        with SolverContext(self, rows):
            solver = RUN_AS_NAMED.get(cast(str, self.solver), "auto")
            return path(problem, Cs, ratio, solver, self.max_iter, on_fit).n_iter

    def _keep_folds(
        self, rows: Rows, paths: Paths, grid: Grid, done: int, fit_intercept: bool
    ) -> None:
        """Let Ctrl-C keep the mean of these folds' fits at their best C, from now on."""

        def attributes() -> dict[str, Any]:
            self._publish(paths, grid)
            _, mean = self._choose(Paths(*(part[:done] for part in paths)), grid)
            return self._mean_attributes(mean, rows.shape[1], fit_intercept)

        self._monitor.keep(
            attributes, lambda: self._check(rows, self._certificate_tol(self.tol)),
            f"after {done} of {count(len(paths.scores), 'fold')}; the mean of their models at the "
            "best C so far was kept",
        )  # fmt: skip

    def _keep_first_path(self, rows: Rows, paths: Paths, grid: Grid, fit_intercept: bool) -> None:
        """Let Ctrl-C keep the last fit of the first path, if any, until a fold is complete."""
        order = np.argsort(grid.Cs, kind="stable")

        def fitted() -> np.ndarray:
            is_fitted = np.isfinite(paths.coefs[0, 0]).all(axis=(1, 2))
            return order[is_fitted[order]]

        def attributes() -> dict[str, Any]:
            self._publish(paths, grid)
            a, ratio = int(fitted()[-1]), float(grid.ratios[0])
            self._set_choice(float(grid.Cs[a]), None if grid.given is None else ratio, ratio)
            return self._mean_attributes(paths.coefs[0, 0, a], rows.shape[1], fit_intercept)

        self._monitor.keep(
            attributes, lambda: self._check(rows, self._certificate_tol(self.tol)),
            "in the first fold; the last model of its path was kept, whose C was not chosen",
            lambda: len(fitted()) > 0,
        )  # fmt: skip

    def _mean_attributes(self, mean: np.ndarray, p: int, fit_intercept: bool) -> dict[str, Any]:
        self._constant = self._penalized_constant(fit_intercept)
        b = mean[:, -1].copy() if fit_intercept else np.zeros(len(mean))
        return {"coef_": mean[:, :p].copy(), "intercept_": b, "solver_": "average of the folds"}

    def _publish(self, paths: Paths, grid: Grid) -> None:
        """Set the attributes of the folds, in the requested shapes."""
        self.Cs_ = grid.Cs
        self.l1_ratios_ = np.asarray([None] if grid.given is None else grid.given)
        self.coefs_paths_, self.scores_, self.n_iter_ = paths
        if self._legacy():
            self.coefs_paths_, self.scores_, self.n_iter_ = paths.by_class(
                self.classes_, grid.given is not None
            )

    def _legacy(self) -> bool:
        return bool(self.use_legacy_attributes)

    # --- the choice ---

    def _choose(self, paths: Paths, grid: Grid) -> tuple[Strength, np.ndarray]:
        """Return the penalty of the best mean score, and the folds' mean fit (K, …) there."""
        a, l = paths.best()
        C, ratio = float(grid.Cs[a]), float(grid.ratios[l])
        self._set_choice(C, None if grid.given is None else ratio, ratio)
        strength = Strength(1.0, 0.0, 0.0) if np.isinf(C) else Strength(C, ratio, 1.0 - ratio)
        return strength, paths.coefs[:, l, a].mean(axis=0)

    def _average(self, paths: Paths, grid: Grid) -> np.ndarray:
        """Return the mean (K, …) of each fold's best fit, and set the mean of their penalties."""
        best = paths.best_of_each()
        C, ratio = np.mean([(grid.Cs[a], grid.ratios[l]) for a, l in best], axis=0).tolist()
        self._set_choice(C, ratio, ratio)
        mean: np.ndarray = np.mean([paths.coefs[f, l, a] for f, (a, l) in enumerate(best)], axis=0)
        return mean

    def _set_choice(self, C: float, shown: float | None, ratio: float) -> None:
        n = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.C_: float | np.ndarray = np.full(n, C) if self._legacy() else C
        self.l1_ratio_: float | np.ndarray = np.full(n, shown) if self._legacy() else ratio

    def _attributes(self, fit: Fit) -> dict[str, Any]:
        attributes = super()._attributes(fit)
        del attributes["n_iter_"]  # n_iter_ is that of the folds
        return attributes
