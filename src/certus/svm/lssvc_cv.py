"""LSSVC with C and γ chosen by exact leave-one-out."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..certificate import certify
from ..data.memory import memory_for_kernel
from ..data.rows import Rows
from ..data.types import ClassWeight
from ..data.validation import boolean, data_for_classification, one_of
from ..runtime.progress import monitored
from ..solvers.lssvm import Kernel, LSSVMFit, grid
from ..text.format import count, number
from ..text.table import ResultTable
from ._classes import LeastSquaresClassifier, codes, signs
from ._grid_choice import C_RANGE, BestOfGrid, best_of, gammas_of, table_of, values_of
from ._kernels import KernelOrName, check_kernel, kernel_of
from ._left_out_scores import SCORES, name_of_score, score_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import ScoreGridDisplay


class LSSVCCV(LeastSquaresClassifier):
    r"""LSSVC with C and γ chosen by exact leave-one-out, without refitting.

    For every C and γ of a grid, f⁻ⁱ(xᵢ) = yᵢ − aᵢ/(rᵢgᵢ) is exactly the score of row i by the model
    fitted without it; one reduction of the kernel matrix for each γ serves all C. With the best C
    and γ, ½‖w‖² + C/2 Σ ωᵢ (yᵢ − wᵀφ(xᵢ) − b)² is minimised on all rows, as in ``LSSVC``.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C to try, or the number of log-spaced values from 0.01 to 10,000.
    gammas : int, array-like, "scale" or "auto", default=10
        Values of γ to try, or the number of log-spaced values from 0.01 to 100 times "scale" (see
        ``LSSVC``). No effect where the kernel has no γ.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in ``LSSVC``.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    fit_intercept : bool, default=True
        False: b = 0.
    scoring : {"accuracy", "balanced_accuracy", "geometric_mean", "mse", "log"} or callable
        The measure of leave-one-out scores, default "accuracy". "mse" and "log" are negated losses,
        with rows weighted as in the fit. Or a function ``scoring(y, scores)`` of labels and scores,
        such as ``sklearn.metrics.roc_auc_score`` for two classes; higher is better.
    class_weight : dict, "balanced" or None, default=None
        As in ``LSSVC``.
    verbose : int, default=0
        Above 0, the grid and the choice are printed.

    Attributes
    ----------
    C_, gamma_ : float
        The best pair; ties go to the smallest γ, then to the smallest C.
    Cs_, gammas_ : ndarray
        The values tried, ascending.
    scores_ : ndarray of shape (n_gammas, n_Cs)
        Leave-one-out scores; higher is better.
    best_score_ : float
        The largest of them. Expect slightly less on new rows.
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        β.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    X_fit_ : ndarray of shape (n_samples, n_features)
        A copy of the rows xⱼ. Not with kernel="precomputed".
    class_weight_ : ndarray of shape (n_classes,)
        c.
    objective_, condition_, effective_parameters_, loo_scores_, loo_accuracy_
        Those of the model at ``C_`` and ``gamma_``; see ``LSSVC``.
    certificate_ : Certificate
        Proves that the fit at ``C_`` and ``gamma_`` is optimal, as in ``LSSVC``; a note says which
        part of the choice was recomputed.
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
            s, in the fits and in the scores.

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
        rows = self._validate_rows(rows)
        omega = self._weights(rows, classes)
        self.Cs_, self.gammas_ = Cs, gammas_of(self, rows)
        self.scores_ = self._scores_of_grid(rows, omega)
        g, c = best_of(self.scores_)
        self.best_score_ = float(self.scores_[g, c])
        self.C_ = float(self.Cs_[c])
        kernel = kernel_of(self, float(self.gammas_[g]))
        self._print(
            f"best {name_of_score(self.scoring)} {number(self.best_score_, 4)} at C = "
            f"{number(self.C_, 3)}, γ = {number(kernel.gamma, 3)}"
        )
        leaves_rows = bool(np.count_nonzero(omega) > 1)  # leaving out the only row leaves none
        remarks = self._fit_classes(rows, omega, self.C_, kernel, left_out=leaves_rows)
        self._warn_of_certificate(remarks=remarks)
        return self

    def _scores_of_grid(self, rows: Rows, omega: np.ndarray) -> np.ndarray:
        n, k = rows.shape[0], codes(rows)
        memory_for_kernel(n, 3 * min(rows.threads, len(self.gammas_)))
        self._monitor.begin()
        self._print(
            f"{count(n, 'row')}, {count(len(self.gammas_), 'value')} of γ and {len(self.Cs_)} of C"
        )
        y = signs(k, len(self.classes_))
        s = np.ones(n) if rows.s is None else rows.s
        score = score_of(self.scoring, self.classes_, k, y, s, omega)
        kernels = [kernel_of(self, float(gamma)) for gamma in self.gammas_]
        best = BestOfGrid((len(kernels), len(self.Cs_)))

        def attributes_so_far() -> dict[str, Any]:
            return self._attributes_of_best(rows, y, omega, kernels, best)

        self._monitor.keep(
            attributes_so_far, lambda: certify(self, rows), best.message, best.has_point
        )
        return grid(
            rows.X, y, omega, self.Cs_.tolist(), kernels, bool(self.fit_intercept), score,
            rows.threads, best.add,
        )  # fmt: skip

    def _attributes_of_best(
        self, rows: Rows, y: np.ndarray, omega: np.ndarray, kernels: list[Kernel], best: BestOfGrid
    ) -> dict[str, Any]:
        """Return the fitted attributes of the best point so far, for a fit stopped by Ctrl-C."""
        point, (g, c) = best.point, best.at
        assert point is not None
        kernel, C = kernels[g], float(self.Cs_[c])
        condition = 1 + C * float(kernel.diagonal(rows.X) @ omega)
        P = 0.5 * float(np.einsum("nq,nq->", point.beta, y))
        condition = condition if kernel.semidefinite else float("nan")
        fit = LSSVMFit(point.beta, point.b, P, condition, 0, point.left_out)
        self._set(rows, fit, kernel)
        self._set_accuracy(rows)
        return {"scores_": best.scores.copy(), "best_score_": best.score, "C_": C}

    def table(self) -> ResultTable:
        """Table of the best C for each γ and its score, to print or to convert."""
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
