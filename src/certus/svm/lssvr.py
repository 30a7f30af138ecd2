"""The least-squares support vector machine for regression: kernel ridge with an intercept."""

from typing import Literal

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score

from ..data.rows import Rows
from ..data.validation import data_for_fit
from ..runtime.progress import monitored
from ._kernels import KernelOrName
from ._least_squares import LeastSquares


class LSSVR(MultiOutputMixin, RegressorMixin, LeastSquares):
    r"""Least-squares support vector regression, fitted by one linear system.

    Minimise over w in the kernel's space and b

        ½‖w‖² + C/2 Σ sᵢ (yᵢ − wᵀφ(xᵢ) − b)²,        s the sample weights

    so that f(x) = wᵀφ(x) + b = Σ βⱼ K(xⱼ, x) + b with βᵢ = Csᵢeᵢ, eᵢ the residual, and Σβ = 0.
    This is kernel ridge regression with an unpenalised intercept, and the mean of a Gaussian
    process with noise 1/C and an unknown constant. Several targets share one factorisation.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a squared residual: 1/alpha of scikit-learn's ``KernelRidge``, which has no
        intercept.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        K: exp(−γ‖x − z‖²), xᵀz, (γxᵀz + coef0)^degree, tanh(γxᵀz + coef0); the matrix itself,
        which is then given as X; or a function of two sets of rows that returns all their pairs.
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        γ of "rbf", "poly" and "sigmoid": "scale" is 1/(n_features·Var X), rows weighted by
        ``sample_weight``; "auto" 1/n_features. Where papers write exp(−r²/μ²), γ = 1/μ².
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    fit_intercept : bool, default=True
        False: b = 0.
    loo : {"auto", True, False}, default="auto"
        Whether to compute exact leave-one-out predictions, which costs about one more fit; "auto":
        with up to 1,000 rows.
    verbose : int, default=0
        Above 0, the problem and its objective are printed.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_targets, n_samples)
        β.
    intercept_ : ndarray of shape (n_targets,)
        b.
    X_fit_ : ndarray of shape (n_samples, n_features)
        A copy of the rows xⱼ. Not with kernel="precomputed".
    gamma_ : float
        γ; 1 where the kernel has none.
    objective_ : float
        The minimum, summed over targets.
    condition_ : float
        Upper bound on the condition of the factored matrix, RKR + I/C with R = diag √s.
    effective_parameters_ : float or None
        tr S, where f = Sy are the fitted values: the effective number of parameters, the intercept
        included.
    loo_scores_ : ndarray of shape (n_samples,) or (n_samples, n_targets), or None
        The prediction of each row by the model fitted without it.
    loo_r2_ : float or None
        Their R², by ``sample_weight``; the mean over several targets.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have a smaller
        objective by more than the gap*. For an indefinite kernel, that the fit is a stationary
        point.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    O(n²·p + n³/3) operations and one n × n matrix of memory; about twice both with ``loo``. A
    prediction costs O(n·p).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.svm import LSSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LSSVR(C=0.1).fit(X, y)
    >>> round(model.score(X, y), 2), round(model.loo_r2_, 2)
    (0.5, 0.45)
    >>> model.certificate_.status
    'optimal'
    """

    loo_r2_: float | None
    _flat: bool

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelOrName = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        loo: bool | Literal["auto"] = "auto",
        verbose: int = 0,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.loo = loo
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "LSSVR":
        """Solve for β and b.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            With kernel="precomputed" the kernel matrix.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None
            s. A weight of 2 is the same as the row twice, a weight of 0 as no row.

        Returns
        -------
        self
        """
        self._check_machine()
        rows, flat = data_for_fit(self, X, y, sample_weight)
        rows = self._validate_rows(rows)
        assert rows.y is not None
        omega = np.ones(rows.shape[0]) if rows.s is None else rows.s
        kernel = self._kernel(rows)
        fit = self._solve_and_set(
            rows, rows.y, omega, float(self.C), kernel, self._wants_left_out(omega)
        )
        self._flat = flat
        self.loo_r2_ = self._left_out_r2(rows)
        if self.loo_scores_ is not None and not flat:
            self.loo_scores_ = self.loo_scores_.reshape(rows.y.shape)
        self._warn_of_certificate(remarks=self._certify(rows, fit, kernel))
        return self

    def _left_out_r2(self, rows: Rows) -> float | None:
        if self.loo_scores_ is None:
            return None
        assert rows.y is not None
        f = self.loo_scores_.reshape(rows.y.shape)
        return float(r2_score(rows.y, f, sample_weight=rows.s))

    def predict(self, X: object) -> np.ndarray:
        """Return f(x) = Σ β_j K(x_j, x) + b in float64.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
            With kernel="precomputed" K(new rows, rows of the fit).

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        f = self._scores(X)
        return f[:, 0] if self._flat else f
