"""NCFS for classification with λ chosen by cross-validation."""

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils.validation import check_is_fitted

from ..certificate import Certificate, certify
from ..data.rows import Rows
from ..data.scoring import ScoredByChoice, of_rows
from ..data.validation import data_for_classification, one_of
from ..runtime.config import config_context, effective_threads
from ..runtime.progress import monitored
from ..solvers.ncfs import NCFSFit, alpha_grid
from ..text.format import count, number, printable
from ..text.table import ResultTable
from ._alpha_result import CHOICES, AlphaChoice, read_alphas, require_folds, score_name, table
from ._base import fit_at
from ._classes import NCFSClassifierBase
from ._fold_path import FoldPath, path_tol
from ._messages import single_row_classes
from ._parameters import check_parameters
from ._task import Task
from ._types import Costs, Folds, Prior
from .ncfs import NCFSClassifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import AlphaCurveDisplay


Scorer = Callable[..., float]  # takes a model, X and y


class NCFSClassifierCV(ScoredByChoice, NCFSClassifierBase):
    r"""Neighbourhood component feature selection with λ chosen by cross-validation.

    For each fold's training rows, at each λ, maximise

        F(W) = Σᵢ aᵢ Σⱼ pᵢⱼ [yᵢ = yⱼ] − λ Σₗ Wₗ,     pᵢⱼ ∝ exp(−D_W(xᵢ, xⱼ)/σ),  j ≠ i

    and score its predictions for the rows left out; then, at the chosen λ, maximise F for all rows.
    See :class:`NCFSClassifier`. Columns are scaled, weighted and selected within each fold, so that
    the rows scored had no part in the fit. In a fold, λ is multiplied by the fold's share of Σa, so
    that the sum form and the mean form choose the same λ.

    Parameters
    ----------
    alphas : int or array-like of shape (n_alphas,), default=20
        Values of λ, or their number: then a geometric grid from the strongest useful λ down to a
        thousandth of it. The strongest is the largest slope of Σ aᵢ Σⱼ pᵢⱼ [yᵢ = yⱼ] in a weight,
        at W = 0 and at W = 1: for any larger λ, W = 0 is a local optimum and all slopes at W = 1
        are negative ("euclidean" has a kink at W = 0, so only the slope at W = 1 is used).
    cv : int, splitter or iterable, default=5
        Folds; stratified if a number.
    choice : {"1se", "best"}, default="1se"
        "best": the λ of the best mean score; ties go to the strongest. "1se": the strongest λ whose
        mean score is within one standard error of the best, which these rows do not distinguish
        from it.
    scoring : str, callable or None, default=None
        Score by scikit-learn's names; larger is better. None: the accuracy of the soft
        nearest-neighbour rule, with rows weighted as in ``fit``.
    n_jobs : int or None, default=None
        Largest number of threads; None: as many as ``certus.set_config`` allows. The result does
        not depend on it.
    sigma, metric, prior, loss, form, scale, solver, max_iter, tol, step
        As in :class:`NCFSClassifier`; ``tol`` applies to the last fit. "phi_s" has no λ to choose.
    threshold, n_features_to_select
        As in :class:`NCFSClassifier`, in every fold.
    verbose : int, default=0
        If above 0, print a line for each fold, and for each step of the last fit.

    Attributes
    ----------
    alpha_ : float
        The chosen λ, ``alphas_[chosen_index_]``.
    alphas_ : ndarray of shape (n_alphas,)
        Values of λ, the strongest first.
    scores_ : ndarray of shape (n_alphas, n_folds)
    scores_without_columns_ : ndarray of shape (n_folds,)
        Scores with all weights 0, where class shares in the training rows are predicted.
    n_selected_ : ndarray of shape (n_alphas, n_folds) of int
        Number of columns that each fold selected.
    best_index_, chosen_index_ : int
        Index of the λ with the best mean score, and of the chosen one.
    weights_, weights_in_units_, feature_importances_, support_, objective_, loo_score_
        As in :class:`NCFSClassifier`, for all rows at ``alpha_``. ``loo_score_`` is optimistic,
        since its rows determined the weights; ``scores_`` are not.
    n_iter_, n_evaluations_, solver_, shift_, scale_, classes_, n_features_in_, feature_names_in_
        As in :class:`NCFSClassifier`. The last fit starts near the better of two optima: the one
        reached from the mean of the folds' weights, and the one reached from W = 1.
    batch_size_ : None
        All rows are compared with each other.
    certificate_ : Certificate
        Certificate of the last fit. The choice of λ is not recomputed.

    Notes
    -----
    If all rows select no column at the chosen λ although most folds did, the next weaker λ is used.

    Within a fold, λ goes from the weakest to the strongest and back, each fit starting where the
    previous one ended, and the better of the two fits for each λ is kept. A fold costs 2·n_alphas
    short fits. If a fold's n²·(n_features + 16) is above 10⁷, λ goes from the strongest to the
    weakest, only a few are fitted in the other direction, and fits with more than 64 nonzero
    weights end early, in float32: scores of weak λ may then belong to other local optima with about
    the same F.

    The best of many scores is slightly optimistic. For an unbiased score of the whole method, pass
    the estimator itself to ``cross_val_score``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.feature_selection import NCFSClassifierCV
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = NCFSClassifierCV(alphas=[0.1, 1.0, 10.0], cv=3).fit(X, y)
    >>> model.alpha_
    10.0
    >>> model.get_feature_names_out().tolist()
    ['petal width (cm)']
    >>> model.n_selected_.tolist()
    [[1, 1, 1], [2, 2, 1], [2, 3, 3]]
    >>> print(model.scores_.mean(axis=1).round(2))
    [0.97 0.95 0.95]
    """

    warm_start = False  # the last fit starts from the folds' weights

    def __init__(
        self,
        alphas: int | ArrayLike = 20,
        *,
        cv: int | BaseCrossValidator | Iterable[tuple[np.ndarray, np.ndarray]] = 5,
        choice: str = "1se",
        scoring: str | Scorer | None = None,
        n_jobs: int | None = None,
        sigma: float = 1.0,
        metric: str = "manhattan",
        prior: Prior = "empirical",
        loss: Costs = None,
        form: str = "sum",
        scale: str | None = "minmax",
        solver: str = "lbfgs",
        max_iter: int = 1000,
        tol: float = 1e-6,
        step: float | str = "auto",
        threshold: float | str = "0.01*max",
        n_features_to_select: int | float | None = None,
        verbose: int = 0,
    ):
        self.alphas = alphas
        self.cv = cv
        self.choice = choice
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.sigma = sigma
        self.metric = metric
        self.prior = prior
        self.loss = loss
        self.form = form
        self.scale = scale
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.step = step
        self.threshold = threshold
        self.n_features_to_select = n_features_to_select
        self.verbose = verbose

    @monitored
    def fit(
        self, X: object, y: object, sample_weight: object = None, **params: Any
    ) -> "NCFSClassifierCV":
        """Choose λ and fit the weights.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s: how much a correct prediction of the row counts, in fits and (with metadata routing:
            if the scorer requests it) in scores.
        **params : dict
            For the scorer and the splitter, with scikit-learn's metadata routing enabled.

        Returns
        -------
        self
        """
        check_parameters(self)
        one_of("choice", self.choice, CHOICES)
        alphas = read_alphas(self.alphas)
        if self.metric == "phi_s":
            raise ValueError(
                "metric='phi_s' has no λ to choose, only ratios of weights matter: use "
                "NCFSClassifier(metric='phi_s')"
            )
        routed = self._routed(sample_weight, params)
        with config_context(threads=effective_threads(self.n_jobs)):
            rows, classes = data_for_classification(self, X, y, sample_weight)
            task = self._prepare(rows, classes, 0.0)
            self._set_classes(task, classes)
            labels = classes[self._fit_y]
            splits = check_cv(self.cv, labels, classifier=True).split(X, labels, **routed["split"])
            folds = list(splits)
            require_folds(folds, classes, self._fit_y, rows.s)
            self.alphas_ = alpha_grid(task.problem, alphas) if isinstance(alphas, int) else alphas
            start = self._choose(task, folds, routed["score"])
            fit = self._maximize(task.at(self.alpha_), start)
        singles = [] if self._costs is not None else single_row_classes(classes, self._fit_y)
        self._warn_of_fit(fit, singles)
        return self

    def table(self) -> ResultTable:
        """Table of the scores with a row for each λ; ``to_pandas`` makes it a DataFrame."""
        check_is_fitted(self)
        return table(self)

    def plot(self, ax: "Axes | None" = None) -> "AlphaCurveDisplay":
        """Plot scores and numbers of columns against λ (``certus.plotting.AlphaCurveDisplay``)."""
        from ..plotting import AlphaCurveDisplay

        check_is_fitted(self)
        choice = AlphaChoice.of(self.scores_)
        return AlphaCurveDisplay(
            self.alphas_, choice.mean, choice.error, self.n_selected_, best=choice.best,
            chosen=self.chosen_index_, score=score_name(self.scoring),
            baseline=float(np.mean(self.scores_without_columns_)),
        ).plot(ax)  # fmt: skip

    # --- folds ---

    def _choose(self, task: Task, folds: Folds, score_params: dict[str, object]) -> np.ndarray:
        """Fit and score the folds, set the chosen λ, and return the start of the last fit."""
        shape = len(self.alphas_), len(folds)
        self._monitor.begin(2 * shape[0] * shape[1] + int(self.max_iter))
        self.scores_, self.n_selected_ = np.empty(shape), np.empty(shape, dtype=np.intp)
        self.scores_without_columns_ = np.empty(len(folds))
        W = np.zeros((shape[0], task.rows.shape[1]))
        total, n = float(task.problem.a.sum()), task.rows.shape[0]
        scorer = self._scorer_of_folds()
        for f, (train, test) in enumerate(folds):
            fold = self._prepare(task.rows.take(train), self.classes_, 0.0)
            on_fit = partial(self._save_fit, task, fold) if f == 0 else _ignore
            fits = self._path(fold, float(fold.problem.a.sum()) / total, on_fit)
            params = {name: of_rows(value, test, n) for name, value in score_params.items()}
            left_out = task.rows.take(test)
            model = self._model_of_fold(fold)
            for a, fit in enumerate(fits):
                model._set(fold, fit, left_out=False)
                self.scores_[a, f] = _score(model, left_out, scorer, params)
                self.n_selected_[a, f] = np.count_nonzero(model.support_)
                W[a] += model.weights_ / len(folds)
            empty_fit = fits[0]._replace(W=np.zeros_like(fits[0].W))
            model._set(fold, empty_fit, left_out=False)
            self.scores_without_columns_[f] = _score(model, left_out, scorer, params)
            self._save_folds(task, W * (len(folds) / (f + 1)), f + 1, len(folds))
            self._print_fold(f, len(folds))
        choice = AlphaChoice.of(self.scores_)
        self.best_index_ = choice.best
        self.chosen_index_ = choice.strongest if self.choice == "1se" else choice.best
        return self._last_start(task, W)

    def _last_start(self, task: Task, W: np.ndarray) -> np.ndarray:
        """Start of the last fit; ``W`` are the folds' mean weights for each λ.

        If all weights are 0 at a λ although most folds selected columns, the next weaker λ is
        used, since the folds scored another model.
        """
        last = len(self.alphas_) - 1
        for a in range(self.chosen_index_, last + 1):
            self.chosen_index_, self.alpha_ = a, float(self.alphas_[a])
            start, has_weight = self._better_start(task.at(self.alpha_), W[a])
            if has_weight or np.median(self.n_selected_[a]) == 0:
                break
        return start

    def _path(
        self, fold: Task, share: float, on_fit: Callable[[float, NCFSFit], None]
    ) -> list[NCFSFit]:
        """Fit a fold's training rows for each λ; ``on_fit`` is called with each fit."""

        def done(alpha: float, fit: NCFSFit) -> None:
            on_fit(alpha, fit)
            self._monitor.part_done("fold")

        path = FoldPath(self, fold, share, partial(self._solve, tol=path_tol(self)), done)
        return path.fits(self._start(fold), self.alphas_.tolist())

    # --- Ctrl-C ---

    def _save_folds(self, task: Task, W: np.ndarray, done: int, folds: int) -> None:
        """Let Ctrl-C from now on keep the mean weights W of these folds at their best λ."""
        scores, n_selected = self.scores_[:, :done].copy(), self.n_selected_[:, :done].copy()
        without_columns = self.scores_without_columns_[:done].copy()

        def attributes() -> dict[str, Any]:
            choice = AlphaChoice.of(scores)
            chosen = choice.strongest if self.choice == "1se" else choice.best
            return {
                "scores_": scores, "n_selected_": n_selected,
                "scores_without_columns_": without_columns, "best_index_": choice.best,
                "chosen_index_": chosen, **self._with_weights(task, chosen, W[chosen]),
            }  # fmt: skip

        message = (
            f"after {done} of {count(folds, 'fold')}; the mean weights of their fits at the best "
            "alpha so far were kept"
        )
        self._monitor.keep(attributes, lambda: self._check(task), message)

    def _save_fit(self, task: Task, fold: Task, alpha: float, fit: NCFSFit) -> None:
        """Let Ctrl-C keep this fit of the first fold's path until the fold is complete."""

        def attributes() -> dict[str, Any]:
            W = np.zeros(task.rows.shape[1])
            W[fold.scaling.columns] = fit.W
            at = int(np.argmin(np.abs(self.alphas_ - alpha)))
            none = np.empty((len(self.alphas_), 0))
            return {
                "scores_": none, "n_selected_": none.astype(np.intp),
                "scores_without_columns_": np.empty(0), "best_index_": at, "chosen_index_": at,
                **self._with_weights(task, at, W),
            }  # fmt: skip

        message = (
            "in the first fold; the last model of its path was kept, and its alpha was not chosen"
        )
        self._monitor.keep(attributes, lambda: self._check(task), message)

    def _with_weights(self, task: Task, a: int, W: np.ndarray) -> dict[str, Any]:
        """Fitted attributes for weights W of all columns at ``alphas_[a]``."""
        at_alpha = task.at(float(self.alphas_[a]))
        return self._attributes(at_alpha, fit_at(at_alpha.problem, 0, W[task.scaling.columns]))

    def _check(self, task: Task) -> Certificate:
        return certify(self, task.rows, self._certificate_tol())

    def _better_start(self, task: Task, W: np.ndarray) -> tuple[np.ndarray, bool]:
        """Better of the optima reached from the folds' weights and from W = 1; has it weight?"""
        starts = [self._start(task)]
        if W.any():
            starts.append(self._start(task, W))
        fits = [self._solve(task, start, tol=path_tol(self)) for start in starts]
        best = max(fits, key=lambda fit: fit.objective)
        return (best.W, True) if best.W.any() else (starts[0], False)

    def _model_of_fold(self, fold: Task) -> NCFSClassifier:
        parameters = NCFSClassifier().get_params(deep=False)
        shared = {name: getattr(self, name) for name in parameters if name != "alpha"}
        model = NCFSClassifier(**shared)
        model.n_features_in_ = fold.rows.shape[1]
        model._set_classes(fold, self.classes_)
        return model

    def _print_fold(self, f: int, folds: int) -> None:
        if self.verbose:
            a = int(np.argmax(self.scores_[:, f]))
            line = (
                f"{type(self).__name__}: fold {f + 1} of {folds}, {score_name(self.scoring)} "
                f"{number(float(self.scores_[a, f]), 4)} at λ = {number(float(self.alphas_[a]), 3)}"
            )
            print(printable(line))


def _ignore(alpha: float, fit: NCFSFit) -> None:
    """Ignore a fit: the results of complete folds are kept instead."""


def _score(
    model: NCFSClassifier, rows: Rows, scorer: Scorer | None, params: dict[str, object]
) -> float:
    """Score of a fold's model on the rows left out; ``scorer`` None: weighted accuracy."""
    assert rows.y is not None
    y = model.classes_[rows.y[:, 0].astype(np.intp)]
    if scorer is None:
        return float(model.score(rows.X, y, sample_weight=rows.s))
    with warnings.catch_warnings():
        # a strong λ leaves no column, and one class is then predicted for all rows
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(scorer(model, rows.X, y, **params))
