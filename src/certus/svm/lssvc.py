"""The least-squares support vector machine for classification."""

from typing import Literal

from ..data.types import ClassWeight
from ..data.validation import data_for_classification
from ..runtime.progress import monitored
from ._classes import LeastSquaresClassifier
from ._kernels import KernelOrName


class LSSVC(LeastSquaresClassifier):
    r"""Least-squares support vector classifier, fitted by one linear system.

    For two classes, y = ±1, minimise over w in the kernel's space and b

        ½‖w‖² + C/2 Σ ωᵢ (yᵢ − wᵀφ(xᵢ) − b)²,        ωᵢ = sᵢ·c of its class

    so that f(x) = wᵀφ(x) + b = Σ βⱼ K(xⱼ, x) + b with βᵢ = Cωᵢeᵢ, eᵢ the residual, and Σβ = 0. With
    more classes there is one such problem for each class against the rest; all share one
    factorisation.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a squared residual. scikit-learn's ``KernelRidge(alpha)``, which has no
        intercept, corresponds to C = 1/alpha.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        K: exp(−γ‖x − z‖²), xᵀz, (γxᵀz + coef0)^degree, tanh(γxᵀz + coef0); the matrix itself,
        which is then given as X; or a function of two sets of rows that returns all their pairs.
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        γ of "rbf", "poly" and "sigmoid", as in scikit-learn: "scale" is 1/(n_features·Var X), rows
        weighted by ``sample_weight``; "auto" 1/n_features. Where papers write exp(−r²/μ²),
        γ = 1/μ²; where they write exp(−r²/2σ²), γ = 1/2σ².
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    fit_intercept : bool, default=True
        False: b = 0.
    class_weight : dict, "balanced" or None, default=None
        c multiplies the loss of the class's rows; "balanced": Σs/(K·Σs of the class).
    loo : {"auto", True, False}, default="auto"
        Whether to compute exact leave-one-out scores, which costs about one more fit; "auto": with
        up to 1,000 rows.
    verbose : int, default=0
        Above 0, the problem and its objective are printed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        β. Two classes: ``classes_[1]`` is y = 1.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    X_fit_ : ndarray of shape (n_samples, n_features)
        A copy of the rows xⱼ. Not with kernel="precomputed".
    gamma_ : float
        γ; 1 where the kernel has none.
    class_weight_ : ndarray of shape (n_classes,)
        c.
    objective_ : float
        The minimum; with more than two classes the sum over them.
    condition_ : float
        Upper bound on the condition of the factored matrix, RKR + I/C with R = diag √ω.
    effective_parameters_ : float or None
        tr S, where f = Sy are the scores of the training rows: the effective number of parameters,
        the intercept included.
    loo_scores_ : ndarray of shape (n_samples,) or (n_samples, n_classes), or None
        ``decision_function`` of each row by the model fitted without it (ω held fixed).
    loo_accuracy_ : float or None
        The share of rows, by ``sample_weight``, that these scores predict correctly.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have a smaller
        objective by more than the gap*. For an indefinite kernel, that the fit is a stationary
        point. It does not say that the classes are separable.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    O(n²·p + n³/3) operations and one n × n matrix of memory; about twice both with ``loo``. A
    prediction costs O(n·p): every row has a β ≠ 0. There are no probabilities; use scikit-learn's
    ``CalibratedClassifierCV``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.svm import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LSSVC(C=10).fit(X, y)
    >>> round(model.score(X, y), 3), round(model.loo_accuracy_, 3)
    (0.987, 0.98)
    >>> model.certificate_.status
    'optimal'
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelOrName = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        loo: bool | Literal["auto"] = "auto",
        verbose: int = 0,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.loo = loo
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "LSSVC":
        """Solve for β and b.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            With kernel="precomputed" the kernel matrix.
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s. A weight of 2 is the same as the row twice, a weight of 0 as no row.

        Returns
        -------
        self
        """
        self._check_machine()
        rows, classes = data_for_classification(self, X, y, sample_weight, weightless=True)
        rows = self._validate_rows(rows)
        omega = self._weights(rows, classes)
        kernel, left_out = self._kernel(rows), self._wants_left_out(omega)
        remarks = self._fit_classes(rows, omega, float(self.C), kernel, left_out)
        self._warn_of_certificate(remarks=remarks)
        return self
