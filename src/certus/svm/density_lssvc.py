"""IDLSSVM-CIL: a least-squares SVM whose rows are weighted by local density."""

from typing import Literal

import numpy as np

from ..data.memory import memory_for_kernel
from ..data.rows import Rows
from ..data.types import ClassWeight
from ..data.validation import data_for_classification, one_of
from ..runtime.progress import monitored
from ..solvers.lssvm import Kernel, solve_primal
from ..text.format import count
from ._classes import LeastSquaresClassifier, codes, signs
from ._density import check_density, density_of
from ._kernels import KernelOrName
from ._messages import classes_without_weight
from ._parameters import is_finite


class DensityWeightedLSSVC(LeastSquaresClassifier):
    r"""Least-squares SVM with density weights, for classes of unequal size (IDLSSVM-CIL).

    Hazarika and Gupta (2021), corrected. With dᵢ = 1 − rᵢ/max r, rᵢ the distance of row i to its
    k-th nearest other row (``density_weights``), and y = ±1: minimise

        dual      ½‖w‖² + C/2 Σ ωᵢ (yᵢ − wᵀφ(xᵢ) − b)²,        ωᵢ = dᵢ²·sᵢ·c of its class
        primal    ½(1/C + ε)‖v‖² + ½ Σ ωᵢ (yᵢ − Σⱼ vⱼK(xⱼ, xᵢ) − vₙ₊₁)²

    "dual" is LSSVC with these weights. "primal" is a different estimator, the published one: it
    penalises the coefficients v of the kernel functions, the intercept vₙ₊₁ included, instead of w.
    Rows far from all others, presumably noise, have less weight. With more classes there is one
    problem for each class against the rest.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a squared residual.
    n_neighbors : int, default=5
        k. The row itself does not count.
    density : {"global", "per_class"}, default="global"
        Whether neighbours, and the largest r, are those of all rows or of the row's class.
    formulation : {"dual", "primal"}, default="dual"
    epsilon : float, default=0.0
        ε of "primal". The effective C is 1/(1/C + ε): it cannot exceed 1/ε.
    kernel : {"rbf", "linear", "poly", "sigmoid"} or callable, default="rbf"
        K: exp(−γ‖x − z‖²), xᵀz, (γxᵀz + coef0)^degree, tanh(γxᵀz + coef0); or a function of two
        sets of rows that returns all their pairs.
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        γ of "rbf", "poly" and "sigmoid", as in scikit-learn. The paper's exp(−r²/μ²) is γ = 1/μ².
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    fit_intercept : bool, default=True
        False: b = 0. Must be True for "primal".
    class_weight : dict, "balanced" or None, default="balanced"
        c multiplies the loss of the class's rows. Density alone works against a small class, whose
        rows have fewer others around them; the paper uses None.
    loo : {"auto", True, False}, default="auto"
        Whether to compute exact leave-one-out scores, with ω held fixed; "auto": with up to 1,000
        rows. Not for "primal", where a left-out row would remain as a kernel function.
    verbose : int, default=0
        Above 0, the problem and its objective are printed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    density_weights_ : ndarray of shape (n_samples,)
        d.
    class_weight_ : ndarray of shape (n_classes,)
        c.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        β, or v for "primal". Two classes: ``classes_[1]`` is y = 1.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    X_fit_ : ndarray of shape (n_samples, n_features)
        A copy of the rows xⱼ.
    gamma_ : float
        γ; 1 where the kernel has none.
    objective_ : float
        The minimum; with more than two classes the sum over them.
    condition_ : float
        Upper bound on the condition of the factored matrix.
    effective_parameters_ : float or None
        tr S, where f = Sy are the scores of the training rows.
    loo_scores_ : ndarray of shape (n_samples,) or (n_samples, n_classes), or None
        ``decision_function`` of each row by the model fitted without it.
    loo_accuracy_ : float or None
        The share of rows, by ``sample_weight``, that these scores predict correctly.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data, densities included: *no other choice has
        a smaller objective by more than the gap*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    O(n²·p + n³/3) operations and one n × n matrix of memory ("primal": two). Sample weights do not
    change the density: a weight of 2 is not the row twice, since a copy would be its neighbour.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from certus.svm import DensityWeightedLSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = MinMaxScaler().fit_transform(X[50:]), y[50:] == 1
    >>> model = DensityWeightedLSSVC(C=10, gamma=1.0, class_weight=None).fit(X, y)
    >>> model.intercept_.round(6)
    array([0.196969])
    >>> model.certificate_.status
    'optimal'
    """

    density_weights_: np.ndarray

    def __init__(
        self,
        C: float = 1.0,
        *,
        n_neighbors: int = 5,
        density: str = "global",
        formulation: str = "dual",
        epsilon: float = 0.0,
        kernel: KernelOrName = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = "balanced",
        loo: bool | Literal["auto"] = "auto",
        verbose: int = 0,
    ):
        self.C = C
        self.n_neighbors = n_neighbors
        self.density = density
        self.formulation = formulation
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.loo = loo
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "DensityWeightedLSSVC":
        """Compute the density weights, then solve for β and b.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s multiplies the row's loss. It does not change the density.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows, classes = data_for_classification(self, X, y, sample_weight, weightless=True)
        rows = self._validate_rows(rows)
        self.density_weights_ = d = density_of(self, rows, classes)
        omega = self._weights(rows, classes, d)
        kernel, weight_remarks = self._kernel(rows), classes_without_weight(classes, codes(rows), d)
        if self.formulation == "dual":
            left_out = self._wants_left_out(omega)
            remarks = self._fit_classes(rows, omega, float(self.C), kernel, left_out)
        else:
            remarks = self._fit_primal(rows, omega, kernel)
        self._warn_of_certificate(remarks=[*weight_remarks, *remarks])
        return self

    def _check_parameters(self) -> None:
        self._check_machine()
        check_density(self)
        one_of("formulation", self.formulation, ("dual", "primal"))
        epsilon = self.epsilon
        if not is_finite(epsilon) or epsilon < 0:
            raise ValueError(f"epsilon={epsilon!r}: give a finite number of at least 0")
        if self.formulation == "primal" and not self.fit_intercept:
            raise ValueError(
                "fit_intercept=False: formulation='primal' always has an intercept, which it "
                "penalises; use formulation='dual'"
            )
        if self.formulation == "dual" and epsilon:
            raise ValueError(
                f"epsilon={epsilon!r} belongs to formulation='primal'; in 'dual' it would only "
                "change C: use epsilon=0"
            )

    def _fit_primal(self, rows: Rows, omega: np.ndarray, kernel: Kernel) -> list[str]:
        y, C, epsilon = signs(codes(rows), len(self.classes_)), float(self.C), float(self.epsilon)
        memory_for_kernel(rows.shape[0], 2)
        self._monitor.begin()
        self._print(f"{count(rows.shape[0], 'row')}, {count(y.shape[1], 'right-hand side')}")
        fit = solve_primal(rows.X, y, omega, C, epsilon, kernel)
        self._set(rows, fit, kernel)
        self._set_accuracy(rows)
        return self._certify(rows, fit, kernel)
