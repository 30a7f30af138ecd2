"""LSSVC with C and γ chosen by exact leave-one-out."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..certificate import certify
from ..data.rows import Rows
from ..data.types import ClassWeight
from ..data.validation import boolean, data_for_classification, memory_for_kernel, one_of
from ..runtime.progress import monitored
from ..solvers.lssvm import Fit, Kernel, grid
from ..text.format import count, number
from ..text.table import Table
from ._classes import LeastSquaresClassifier, codes, signs
from ._grid_choice import C_RANGE, BestOfGrid, best_of, gammas_of, table_of, values_of
from ._kernels import KernelOrName, check_kernel, kernel_of
from ._left_out_scores import SCORES, name_of_score, score_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import ScoreGridDisplay


class LSSVCCV(LeastSquaresClassifier):
    r"""LSSVC with C and γ chosen by leaving out every row, without refitting.

    For every C and γ of a grid, f⁻ⁱ(xᵢ) = yᵢ − aᵢ/(rᵢgᵢ) is the score of row i by the model fitted
    without it, exactly; one eigendecomposition for each γ gives them for all C. The best C and γ
    then minimise ½‖w‖² + C/2 Σ ωᵢ (yᵢ − wᵀφ(xᵢ) − b)² on all rows, as ``LSSVC`` does.

    Parameters
    ----------
    Cs : int or array-like, default=10
        C to be tried; a whole number: so many from 0.01 to 10,000, in equal steps of log C.
    gammas : int, array-like, "scale" or "auto", default=10
        γ to be tried; a whole number: so many from 0.01 to 100 times "scale" (see ``LSSVC``). No
        effect where the kernel has no γ.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in ``LSSVC``.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    fit_intercept : bool, default=True
        False: b = 0.
    scoring : {"accuracy", "balanced_accuracy", "geometric_mean", "mse", "log"} or callable
        What scores of rows left out are judged by, default "accuracy". "mse" and "log" are losses
        with their sign changed, rows weighted as in the fit. Or a function ``scoring(y, scores)``
        of labels and scores, as ``sklearn.metrics.roc_auc_score`` of two classes; more is better.
    class_weight : dict, "balanced" or None, default=None
        As in ``LSSVC``.
    verbose : int, default=0
        Above 0, what is tried and chosen is printed.

    Attributes
    ----------
    C_, gamma_ : float
        The best: of equal scores the smallest γ, then the smallest C.
    Cs_, gammas_ : ndarray
        What was tried, ascending.
    scores_ : ndarray of shape (n_gammas, n_Cs)
        Of rows left out; more is better.
    best_score_ : float
        The largest of them. On new rows expect a little less.
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        β.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The rows xⱼ, a copy. Not with kernel="precomputed".
    class_weight_ : ndarray of shape (n_classes,)
        c.
    objective_, condition_, effective_parameters_, loo_scores_, loo_accuracy_
        Of the model at ``C_`` and ``gamma_``; see ``LSSVC``.
    certificate_ : Certificate
        That the fit at ``C_`` and ``gamma_`` is optimal, as of ``LSSVC``; a note says what was
        recomputed of the choice.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    About 10n³ operations for each γ, and three n × n matrices for each thread. A grid search over
    k folds refits k times for each pair.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.svm import LSSVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LSSVCCV(scoring="mse").fit(X, y)
    >>> round(model.C_, 1), round(model.gamma_, 3)
    (4.6, 0.829)
    >>> model.scores_.shape, round(model.loo_accuracy_, 3)
    ((10, 10), 0.953)
    """

    _every_class_has_weight = True

    C_: float
    Cs_: np.ndarray
    gammas_: np.ndarray
    scores_: np.ndarray
    best_score_: float

    def __init__(
        self,
        Cs: int | npt.ArrayLike = 10,
        gammas: int | npt.ArrayLike = 10,
        *,
        kernel: KernelOrName = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] = "accuracy",
        class_weight: ClassWeight = None,
        verbose: int = 0,
    ):
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.class_weight = class_weight
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "LSSVCCV":
        """Choose C and γ, and solve for β and b.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            With kernel="precomputed" the kernel matrix.
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s, in fits and in scores.

        Returns
        -------
        self
        """
        check_kernel(self)
        boolean("fit_intercept", self.fit_intercept)
        if not callable(self.scoring):
            one_of("scoring", self.scoring, SCORES)
        Cs = values_of("Cs", self.Cs, C_RANGE)
        rows, classes = data_for_classification(self, X, y, sample_weight)
        rows = self._look_at(rows)
        omega = self._weights(rows, classes)
        self.Cs_, self.gammas_ = Cs, gammas_of(self, rows)
        self.scores_ = self._scores_of_grid(rows, omega)
        g, c = best_of(self.scores_)
        self.best_score_ = float(self.scores_[g, c])
        self.C_ = float(self.Cs_[c])
        kernel = kernel_of(self, float(self.gammas_[g]))
        self._say(
            f"best {name_of_score(self.scoring)} {number(self.best_score_, 4)} at C = "
            f"{number(self.C_, 3)}, γ = {number(kernel.gamma, 3)}"
        )
        several = bool(np.count_nonzero(omega) > 1)  # without a row there is nothing left
        odd = self._fit_classes(rows, omega, self.C_, kernel, left_out=several)
        self._warn_of_certificate(remarks=odd)
        return self

    def _scores_of_grid(self, rows: Rows, omega: np.ndarray) -> np.ndarray:
        n, k = rows.shape[0], codes(rows)
        memory_for_kernel(n, 3 * min(rows.threads, len(self.gammas_)))
        self._monitor.begin()
        self._say(
            f"{count(n, 'row')}, {count(len(self.gammas_), 'value')} of γ and {len(self.Cs_)} of C"
        )
        y = signs(k, len(self.classes_))
        s = np.ones(n) if rows.s is None else rows.s
        score = score_of(self.scoring, self.classes_, k, y, s, omega)
        kernels = [kernel_of(self, float(gamma)) for gamma in self.gammas_]
        so_far = BestOfGrid((len(kernels), len(self.Cs_)))

        def kept() -> dict[str, Any]:
            return self._of_point(rows, y, omega, kernels, so_far)

        self._monitor.keep(kept, lambda: certify(self, rows), so_far.message, so_far.there)
        return grid(
            rows.X, y, omega, self.Cs_.tolist(), kernels, bool(self.fit_intercept), score,
            rows.threads, so_far.hear,
        )  # fmt: skip

    def _of_point(
        self, rows: Rows, y: np.ndarray, omega: np.ndarray, kernels: list[Kernel], best: BestOfGrid
    ) -> dict[str, Any]:
        """Fitted attributes of the best point so far, for Ctrl-C."""
        point, (g, c) = best.point, best.at
        assert point is not None
        kernel, C = kernels[g], float(self.Cs_[c])
        condition = 1 + C * float(kernel.diagonal(rows.X) @ omega)
        P = 0.5 * float(np.einsum("nq,nq->", point.beta, y))
        condition = condition if kernel.semidefinite else float("nan")
        fit = Fit(point.beta, point.b, P, condition, 0, point.left_out)
        self._set(rows, fit, kernel)
        self._set_accuracy(rows)
        return {"scores_": best.scores.copy(), "best_score_": best.score, "C_": C}

    def table(self) -> Table:
        """The best C for each γ and its score; to be read, or taken elsewhere (``to_pandas``)."""
        check_is_fitted(self)
        return table_of(self)

    def plot(self, ax: "Axes | None" = None) -> "ScoreGridDisplay":
        """Draw the scores of the grid: a ``certus.plotting.ScoreGridDisplay``."""
        from ..plotting import ScoreGridDisplay

        check_is_fitted(self)
        return ScoreGridDisplay(
            self.Cs_, self.gammas_, self.scores_, best=best_of(self.scores_),
            score=name_of_score(self.scoring),
        ).plot(ax)  # fmt: skip
