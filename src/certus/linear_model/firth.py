"""Logistic regression with Firth's penalty: finite where the classes are separated."""

from typing import Any

from ..certificate import Certificate, certify
from ..data.labels import named
from ..data.memory import memory_for_gram
from ..data.rows import Rows
from ..data.types import Start
from ..data.validation import boolean, data_for_classification, not_negative
from ..inference import FirthInference
from ..runtime.progress import monitored
from ..solvers.glm.firth import FirthProblem, firth_problem, minimize
from ..solvers.loop import Fit
from ..solvers.progress import OnStep
from ._classifier import LinearClassifier, Probabilities, attributes_of
from ._inference import firth_inference
from ._parameters import whole_number
from ._unpenalized import warn_of_aliases


class FirthLogisticRegression(Probabilities, LinearClassifier):
    r"""Firth's logistic regression: minimise −Σ sᵢ log P(yᵢ|xᵢ) − ½ log det I.

    I = Σ sᵢ pᵢ(1 − pᵢ) x̃ᵢx̃ᵢᵀ is the information, pᵢ = σ(xᵢᵀw + b) the probability of the second
    class, x̃ = (x, 1). The second term (Jeffreys's prior) removes the leading bias of the maximum
    likelihood estimates and makes them finite for every data set, including separated classes and
    rare events. It has no strength to choose and does not depend on units: coefficients scale with
    their columns as without a penalty. Two classes only.

    It acts as if half of a row's leverage hᵢ were added to either class, which draws probabilities
    towards ½: unlike in ``LogisticRegression``, their mean is not the observed share; for rare
    classes it is above. The certificate reports both.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Without one x̃ = x.
    tol : float, default=1e-6
        Largest residual (gain of one more scoring step, relative to the loss of the intercept
        alone) of a certified fit; values above 1e-6 count as 1e-6.
    max_iter : int, default=100
    verbose : int, default=0
        Above 0: print a line for each iteration.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    coef_ : ndarray of shape (1, n_features)
        Where columns repeat others (an AliasWarning names them), det is that of the others, and of
        all w with the best scores the one of least norm is taken.
    intercept_ : ndarray of shape (1,)
    n_iter_ : ndarray of shape (1,)
    solver_ : str
    certificate_ : Certificate
        Recomputed from the data: *no small change of w and b lowers the objective*. The objective
        need not be convex, so nothing is claimed about a global optimum.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    Newton's method, for m columns including the constant: two passes of O(n·m²) operations a step,
    or O(n·m³) for m ≤ 48, with fewer steps; O(m³) memory a thread. Sparse X is read in dense
    blocks.

    References
    ----------
    Firth, D. (1993). Bias reduction of maximum likelihood estimates. Biometrika 80, 27–38.
    Heinze, G. and Schemper, M. (2002). A solution to the problem of separation in logistic
    regression. Statistics in Medicine 21, 2409–2419.

    Examples
    --------
    Ten of fifty treated rows and none of fifty others are cases: the maximum likelihood estimate is
    infinite; Firth's is that of the table with half a row added to each cell.

    >>> import numpy as np
    >>> from certus.linear_model import FirthLogisticRegression
    >>> X = np.repeat([[1.0], [0.0]], 50, axis=0)
    >>> y = np.arange(100) < 10
    >>> model = FirthLogisticRegression().fit(X, y)
    >>> model.coef_.round(4), np.log((10.5 / 40.5) / (0.5 / 50.5)).round(4)
    (array([[3.2652]]), np.float64(3.2652))
    >>> model.certificate_.status
    'stationary'
    """

    _every_class_has_weight = True
    _closest_on_tables = (
        "LogisticRegression(C=np.inf), the same model without the penalty, whose inference(table) "
        "has Wald and likelihood-ratio intervals"
    )

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
    ):
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "FirthLogisticRegression":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind, two of them.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights are counts: a row of weight 2 counts as two equal rows. (The penalty does not
            grow with them, so their sum matters.)

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        boolean("warm_start", self.warm_start)
        not_negative("tol", self.tol)
        whole_number("max_iter", self.max_iter)
        rows, classes = data_for_classification(self, X, y, sample_weight)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. FirthLogisticRegression takes two "
                f"classes and y has {len(classes)}: {named(classes)}. Use LogisticRegression, or "
                "one model for each class against the rest (sklearn.multiclass)"
            )
        start = self._start(classes, rows.shape[1])
        self.classes_ = classes
        self._fit_rows(rows, fit_intercept, start)
        return self

    def inference(self, X: object, y: object, sample_weight: object = None) -> FirthInference:
        """Return tests, intervals and odds ratios by the penalised likelihood, from the fit's rows.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit. Weights are counts: weight 3 is three rows.

        Returns
        -------
        certus.inference.FirthInference

        Examples
        --------
        >>> import numpy as np
        >>> from certus.linear_model import FirthLogisticRegression
        >>> X = np.repeat([[1.0], [0.0]], 50, axis=0)
        >>> y = np.arange(100) < 10
        >>> inference = FirthLogisticRegression().fit(X, y).inference(X, y)
        >>> inference.lr_pvalues.round(5)
        array([0.     , 0.00046])
        """
        return firth_inference(self, X, y, sample_weight)

    def _fit_rows(self, rows: Rows, fit_intercept: bool, start: Start) -> None:
        m = min(rows.shape) + fit_intercept
        memory_for_gram(m, m, rows.threads)
        problem: FirthProblem | None = None

        def run(start: Start, tol: float, on_step: OnStep, before: int) -> Fit:
            nonlocal problem
            problem = problem or firth_problem(rows, fit_intercept)
            return minimize(problem, start, tol, self.max_iter, on_step, before)

        fit, certificate = self._solve_until_certified(
            run, rows, float(self.tol), self.max_iter, start
        )
        if fit.aliases is not None:
            warn_of_aliases(self, fit, rows.shape[0])
        self._conclude(certificate, fit.stopped_at)

    def _attributes(self, fit: Fit) -> dict[str, Any]:
        return attributes_of(fit)

    def _check(self, rows: Rows, tol: float) -> Certificate:
        return certify(self, rows, tol)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
