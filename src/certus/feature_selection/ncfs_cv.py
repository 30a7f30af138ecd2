"""NCFS for classes with λ chosen on rows left out."""

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
from ..text.table import Table
from ._alpha_result import CHOICES, Choice, name_of_score, require_folds, table, values_of_alphas
from ._base import fit_at
from ._classes import NCFSOfClasses
from ._fold_path import FoldPath, path_tol
from ._messages import alone
from ._parameters import check_parameters
from ._task import Task
from ._types import Costs, Folds, Prior
from .ncfs import NCFSClassifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import AlphaCurveDisplay


Scorer = Callable[..., float]  # of a model, X and y


class NCFSClassifierCV(ScoredByChoice, NCFSOfClasses):
    r"""Which columns tell classes apart, with λ chosen by the score on rows left out.

    For each fold's training rows, at each λ, maximise

        F(W) = Σᵢ aᵢ Σⱼ pᵢⱼ [yᵢ = yⱼ] − λ Σₗ Wₗ,     pᵢⱼ ∝ exp(−D_W(xᵢ, xⱼ)/σ),  j ≠ i

    and score what its rows say of those left out; then, at the λ that was chosen, maximise F for
    all rows. See :class:`NCFSClassifier`. Columns are scaled, weighted and selected within each
    fold, so that scores are of rows that had no part in it. λ of a fold is λ times its share of Σa:
    the sum form and the mean form choose the same.

    Parameters
    ----------
    alphas : int or array-like of shape (n_alphas,), default=20
        Values of λ. A whole number: so many, evenly on a logarithmic scale, from the strongest that
        matters down to a thousandth of it. The strongest is the largest slope of Σ aᵢ Σⱼ pᵢⱼ [yᵢ =
        yⱼ] by a weight, at W = 0 and at W = 1: from there on W = 0 is a local optimum, and all
        weights fall from W = 1 ("euclidean" has a kink at W = 0: the slope at W = 1 alone).
    cv : int, splitter or iterable, default=5
        Folds, of whole numbers stratified.
    choice : {"1se", "best"}, default="1se"
        "best": the λ of the best mean score, of equal ones the strongest. "1se": the strongest λ
        whose mean score is within one standard error of the best: the fewest columns that these
        rows cannot tell from the best.
    scoring : str, callable or None, default=None
        What is best, by scikit-learn's names; larger is better. None: the accuracy of the soft
        nearest-neighbour rule, rows weighted as in ``fit``.
    n_jobs : int or None, default=None
        Threads at most; None: as many as ``certus.set_config`` allows. The answer is the same.
    sigma, metric, prior, loss, form, scale, solver, max_iter, tol, step
        As in :class:`NCFSClassifier`; ``tol`` is that of the last fit. "phi_s" has no λ to choose.
    threshold, n_features_to_select
        As in :class:`NCFSClassifier`, in every fold.
    verbose : int, default=0
        Above 0, a line is printed for each fold, and for each step of the last fit.

    Attributes
    ----------
    alpha_ : float
        The λ that was chosen, ``alphas_[chosen_index_]``.
    alphas_ : ndarray of shape (n_alphas,)
        The strongest first.
    scores_ : ndarray of shape (n_alphas, n_folds)
    scores_without_columns_ : ndarray of shape (n_folds,)
        With all weights 0: the shares of the classes in the fold's training rows.
    n_selected_ : ndarray of shape (n_alphas, n_folds) of int
        How many columns each fold selected.
    best_index_, chosen_index_ : int
        Of the λ with the best mean score, and of the one that was taken.
    weights_, weights_in_units_, feature_importances_, support_, objective_, loo_score_
        As in :class:`NCFSClassifier`, of all rows at ``alpha_``. ``loo_score_`` is too good: its
        rows chose the weights. ``scores_`` are not.
    n_iter_, n_evaluations_, solver_, shift_, scale_, classes_, n_features_in_, feature_names_in_
        As in :class:`NCFSClassifier`. The last fit begins near the better of two optima: that
        reached from the mean of the folds' weights, and from W = 1.
    certificate_ : Certificate
        Of the last fit. The choice of λ is not recomputed.

    Notes
    -----
    At a λ that leaves no column of all rows although most folds selected some, the next weaker is
    taken instead.

    Within a fold λ goes from the weakest to the strongest and back, each fit beginning where the
    one before ended, and of the two fits for each λ the better is kept. A fold costs 2·n_alphas
    short fits. Where a fold's n²·(n_features + 16) is above 10⁷, λ goes from the strongest to the
    weakest, few are tried the other way, and fits of more than 64 columns with weight end early, in
    float32: scores of weak λ may then be those of other local optima, of about the same F.

    The best of many scores is a little too good. For an honest score of the whole method put the
    estimator itself into ``cross_val_score``.

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

    warm_start = False  # the folds say where to begin

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
        """Choose λ and find the weights.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s: how much it counts that a row is answered rightly, in fits and (with metadata
            routing: if the scorer asks for it) in scores.
        **params : dict
            For the scorer and the splitter, with scikit-learn's metadata routing enabled.

        Returns
        -------
        self
        """
        check_parameters(self)
        one_of("choice", self.choice, CHOICES)
        alphas = values_of_alphas(self.alphas)
        if self.metric == "phi_s":
            raise ValueError(
                "metric='phi_s' has no λ to choose, only ratios of weights matter: use "
                "NCFSClassifier(metric='phi_s')"
            )
        routed = self._routed(sample_weight, params)
        with config_context(threads=effective_threads(self.n_jobs)):
            rows, classes = data_for_classification(self, X, y, sample_weight)
            task = self._prepare(rows, classes, 0.0)
            self._keep_classes(task, classes)
            labels = classes[self._fit_y]
            splits = check_cv(self.cv, labels, classifier=True).split(X, labels, **routed["split"])
            folds = list(splits)
            require_folds(folds, classes, self._fit_y, rows.s)
            self.alphas_ = alpha_grid(task.problem, alphas) if isinstance(alphas, int) else alphas
            start = self._choose(task, folds, routed["score"])
            fit = self._maximise(task.at(self.alpha_), start)
        self._warn_of_fit(fit, [] if self._costs is not None else alone(classes, self._fit_y))
        return self

    def table(self) -> Table:
        """The scores, a row for each λ; to be read, or taken elsewhere (``to_pandas``)."""
        check_is_fitted(self)
        return table(self)

    def plot(self, ax: "Axes | None" = None) -> "AlphaCurveDisplay":
        """Draw scores and numbers of columns against λ: a ``certus.plotting.AlphaCurveDisplay``."""
        from ..plotting import AlphaCurveDisplay

        check_is_fitted(self)
        choice = Choice.of(self.scores_)
        return AlphaCurveDisplay(
            self.alphas_, choice.mean, choice.error, self.n_selected_, best=choice.best,
            chosen=self.chosen_index_, score=name_of_score(self.scoring),
            baseline=float(np.mean(self.scores_without_columns_)),
        ).plot(ax)  # fmt: skip

    # --- folds ---

    def _choose(self, task: Task, folds: Folds, score_params: dict[str, object]) -> np.ndarray:
        """Set what the folds say; return where the last fit begins."""
        shape = len(self.alphas_), len(folds)
        self._monitor.begin(2 * shape[0] * shape[1] + int(self.max_iter))
        self.scores_, self.n_selected_ = np.empty(shape), np.empty(shape, dtype=np.intp)
        self.scores_without_columns_ = np.empty(len(folds))
        W = np.zeros((shape[0], task.rows.shape[1]))
        total, n = float(task.problem.a.sum()), task.rows.shape[0]
        scorer = self._scorer_of_folds()
        for f, (train, test) in enumerate(folds):
            fold = self._prepare(task.rows.take(train), self.classes_, 0.0)
            heard = partial(self._keep_fit, task, fold) if f == 0 else _ignore
            fits = self._path(fold, float(fold.problem.a.sum()) / total, heard)
            params = {name: of_rows(value, test, n) for name, value in score_params.items()}
            left_out = task.rows.take(test)
            model = self._model_of_fold(fold)
            for a, fit in enumerate(fits):
                model._set(fold, fit, left_out=False)
                self.scores_[a, f] = _score(model, left_out, scorer, params)
                self.n_selected_[a, f] = np.count_nonzero(model.support_)
                W[a] += model.weights_ / len(folds)
            nothing = fits[0]._replace(W=np.zeros_like(fits[0].W))
            model._set(fold, nothing, left_out=False)
            self.scores_without_columns_[f] = _score(model, left_out, scorer, params)
            self._keep_folds(task, W * (len(folds) / (f + 1)), f + 1, len(folds))
            self._tell_of_fold(f, len(folds))
        found = Choice.of(self.scores_)
        self.best_index_ = found.best
        self.chosen_index_ = found.strongest if self.choice == "1se" else found.best
        return self._last_start(task, W)

    def _last_start(self, task: Task, W: np.ndarray) -> np.ndarray:
        """Where the last fit begins; ``W``: the folds' mean for each λ.

        A λ that leaves nothing of all rows is passed over for the next weaker one, if most folds
        selected something at it: what was scored is another model.
        """
        last = len(self.alphas_) - 1
        for a in range(self.chosen_index_, last + 1):
            self.chosen_index_, self.alpha_ = a, float(self.alphas_[a])
            start, found = self._better_start(task.at(self.alpha_), W[a])
            if found or np.median(self.n_selected_[a]) == 0:
                break
        return start

    def _path(self, fold: Task, share: float, on_fit: Callable[[float, NCFSFit], None]) -> list[NCFSFit]:
        """Fits of a fold's training rows, for each λ; ``on_fit`` hears of each."""

        def done(alpha: float, fit: NCFSFit) -> None:
            on_fit(alpha, fit)
            self._monitor.part_done("fold")

        path = FoldPath(self, fold, share, partial(self._solve, tol=path_tol(self)), done)
        return path.fits(self._start(fold), self.alphas_.tolist())

    # --- Ctrl-C ---

    def _keep_folds(self, task: Task, W: np.ndarray, done: int, folds: int) -> None:
        """From here on Ctrl-C keeps the mean weights W of these folds at their best λ."""
        scores, n_selected = self.scores_[:, :done].copy(), self.n_selected_[:, :done].copy()
        without_columns = self.scores_without_columns_[:done].copy()

        def attributes() -> dict[str, Any]:
            found = Choice.of(scores)
            chosen = found.strongest if self.choice == "1se" else found.best
            return {
                "scores_": scores, "n_selected_": n_selected,
                "scores_without_columns_": without_columns, "best_index_": found.best,
                "chosen_index_": chosen, **self._with_weights(task, chosen, W[chosen]),
            }  # fmt: skip

        said = (
            f"after {done} of {count(folds, 'fold')}; the mean weights of their fits at the best "
            "alpha so far were kept"
        )
        self._monitor.keep(attributes, lambda: self._check(task), said)

    def _keep_fit(self, task: Task, fold: Task, alpha: float, fit: NCFSFit) -> None:
        """Until a fold is complete Ctrl-C keeps the last fit of the first one's path."""

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

        said = "in the first fold; the last model of its path was kept, whose alpha nothing chose"
        self._monitor.keep(attributes, lambda: self._check(task), said)

    def _with_weights(self, task: Task, a: int, W: np.ndarray) -> dict[str, Any]:
        """Fitted attributes of weights of all columns at the λ of number a."""
        own = task.at(float(self.alphas_[a]))
        return self._attributes(own, fit_at(own.problem, 0, W[task.scaling.columns]))

    def _check(self, task: Task) -> Certificate:
        return certify(self, task.rows, self._certificate_tol())

    def _better_start(self, task: Task, W: np.ndarray) -> tuple[np.ndarray, bool]:
        """F has several maxima: that near the folds' weights, or near W = 1. Has it any weight?"""
        starts = [self._start(task)]
        if W.any():
            starts.append(self._start(task, W))
        fits = [self._solve(task, start, tol=path_tol(self)) for start in starts]
        best = max(fits, key=lambda fit: fit.objective)
        return (best.W, True) if best.W.any() else (starts[0], False)

    def _model_of_fold(self, fold: Task) -> NCFSClassifier:
        own = NCFSClassifier().get_params(deep=False)
        shared = {name: getattr(self, name) for name in own if name != "alpha"}
        model = NCFSClassifier(**shared)
        model.n_features_in_ = fold.rows.shape[1]
        model._keep_classes(fold, self.classes_)
        return model

    def _tell_of_fold(self, f: int, folds: int) -> None:
        if self.verbose:
            a = int(np.argmax(self.scores_[:, f]))
            told = (
                f"{type(self).__name__}: fold {f + 1} of {folds}, {name_of_score(self.scoring)} "
                f"{number(float(self.scores_[a, f]), 4)} at λ = {number(float(self.alphas_[a]), 3)}"
            )
            print(printable(told))


def _ignore(alpha: float, fit: NCFSFit) -> None:
    """Keep nothing: a fold is complete, and what it says is kept."""


def _score(
    model: NCFSClassifier, rows: Rows, scorer: Scorer | None, params: dict[str, object]
) -> float:
    """Of a fold's model, on the rows left out; ``scorer`` None: accuracy by weight."""
    assert rows.y is not None
    y = model.classes_[rows.y[:, 0].astype(np.intp)]
    if scorer is None:
        return float(model.score(rows.X, y, sample_weight=rows.s))
    with warnings.catch_warnings():
        # a strong λ leaves no column, and one class is then predicted for all rows
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(scorer(model, rows.X, y, **params))
