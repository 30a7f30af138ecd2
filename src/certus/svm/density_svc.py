"""DSVM-CIL: scikit-learn's SVC whose rows count by how densely they lie, certified."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from .._validation import boolean, data_for_classification, data_for_predict, not_negative, one_of
from .._watching import watched
from .._words import count, number
from ..certificate import certify
from ..rows import Rows
from ..solvers.lssvm import predict
from ._base import KernelMachine
from ._classes import codes, weights_of_classes
from ._density import density_of
from ._kernels import check_gamma, check_kernel, gamma_of, kernel_of
from ._parameters import check_C
from ._telling import classes_without_weight, indefinite, odd_gamma

# libsvm ends when no slope violates its condition by more than tol, so the gap is below tol·Σ C_i;
# times the share of the lightest class, since its weight is what the gap is measured by
TIGHTER = (1e-5, 1e-7, 1e-9)


class DensityWeightedSVC(ClassifierMixin, KernelMachine):
    r"""Support vector machine with density weights, for classes of unequal size (DSVM-CIL).

    With dᵢ = 1 − rᵢ/max r, rᵢ the distance of row i to its k-th nearest other row
    (``density_weights``), and y = ±1: minimise

        ½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(wᵀφ(xᵢ) + b)),        Cᵢ = C·dᵢ·sᵢ·c of its class

    Solved by scikit-learn's ``SVC`` (libsvm), as tightly as it takes for the duality gap, which is
    recomputed from the data, to be 1e-6 of what the intercept alone leaves. Of more classes there
    is such a machine for each pair of them, which vote.

    Parameters
    ----------
    C : float, default=1.0
        What a violation of the margin costs.
    n_neighbors : int, default=5
        k. The row itself is not counted.
    density : {"global", "per_class"}, default="global"
        Whether neighbours, and the largest r, are those of all rows or of the row's own class.
    kernel : {"rbf", "linear", "poly", "sigmoid"} or callable, default="rbf"
        K: exp(−γ‖x − z‖²), xᵀz, (γxᵀz + coef0)^degree, tanh(γxᵀz + coef0); or a function of two
        sets of rows that gives all their pairs.
    degree : int, default=3
        Of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        γ of "rbf", "poly" and "sigmoid", as in scikit-learn. The paper's exp(−r²/μ²) is γ = 1/μ².
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    class_weight : dict, "balanced" or None, default="balanced"
        c multiplies C. Density alone works against a small class, whose rows have fewer others
        around them; None is the paper's.
    tol : float, default=1e-3
        libsvm's tolerance at most. It is made smaller until the fit is certified.
    shrinking : bool, default=True
    cache_size : float, default=200
        MB of kernel rows that libsvm keeps.
    max_iter : int, default=-1
        Steps of libsvm at most; −1: no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Of more than two classes: a column for each class, or for each pair.
    break_ties : bool, default=False
        Of more than two classes, whether equal votes are decided by scores.
    verbose : int, default=0
        Above 0, a line is printed for each run of libsvm.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    density_weights_ : ndarray of shape (n_samples,)
        d.
    class_weight_ : ndarray of shape (n_classes,)
        c.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, fit_status_
        As of scikit-learn's ``SVC``.
    gamma_ : float
        γ; 1 where the kernel has none.
    objective_ : float
        What was minimised; of more than two classes the sum over pairs.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data, density among it: *no other w and b have
        a smaller objective by more than the gap*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    Between O(n²·p) and O(n³·p) operations in libsvm, O(n²·p) for the certificate. Rows whose
    density is 0 take no part. Density sees the rows as they are, whatever they weigh: weight 2 is
    not the row twice, which would be its own neighbour.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from certus.svm import DensityWeightedSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(MinMaxScaler(), DensityWeightedSVC(C=10)).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    >>> model[-1].certificate_.status
    'optimal'
    """

    classes_: np.ndarray
    density_weights_: np.ndarray
    _svc: SVC

    def __init__(
        self,
        C: float = 1.0,
        *,
        n_neighbors: int = 5,
        density: str = "global",
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        class_weight: Any = "balanced",
        tol: float = 1e-3,
        shrinking: bool = True,
        cache_size: float = 200,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        verbose: int = 0,
    ):
        self.C = C
        self.n_neighbors = n_neighbors
        self.density = density
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.verbose = verbose

    @watched
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "DensityWeightedSVC":
        """Find the densities, then the machine.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s multiplies the row's C. It does not change the density.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows, classes = data_for_classification(self, X, y, sample_weight)
        rows = self._look_at(rows)
        self.density_weights_ = d = density_of(self, rows, classes)
        for said in classes_without_weight(classes, codes(rows), d):
            raise ValueError(said)
        self.classes_, self.class_weight_ = classes, weights_of_classes(self, classes, rows)
        self.gamma_ = gamma_of(self.gamma, self.kernel, rows)
        times = d * self.class_weight_[codes(rows)] * (1.0 if rows.s is None else rows.s)
        self._watching.begin()
        self._solve(rows, times)
        weak = odd_gamma(rows.X, kernel_of(self, self.gamma_))
        if self.certificate_.kind == "stationary":
            weak = [*indefinite(self, 0), *weak]
        self._tell(weak)
        return self

    def _check_parameters(self) -> None:
        check_C(self.C)
        check_kernel(self)
        check_gamma(self.gamma)
        not_negative("tol", self.tol)
        boolean("shrinking", self.shrinking)
        boolean("break_ties", self.break_ties)
        one_of("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))

    def _solve(self, rows: Rows, times: np.ndarray) -> None:
        """Run libsvm, tighter each time, until the certificate holds."""
        # libsvm, too, drops rows of weight 0, but then numbers support_ without them
        used = np.flatnonzero(times > 0)
        total = np.bincount(codes(rows), weights=times)
        share = len(total) * total.min() / total.sum()
        for tol in TIGHTER:
            tol = share * (min(tol, float(self.tol)) if self.tol > 0 else tol)
            svc = SVC(
                C=float(self.C), kernel=self.kernel, degree=int(self.degree), gamma=self.gamma_,
                coef0=float(self.coef0), tol=tol, shrinking=bool(self.shrinking),
                cache_size=self.cache_size, max_iter=self.max_iter,
                decision_function_shape=self.decision_function_shape,
                break_ties=self.break_ties,
            )  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate will tell
                svc.fit(rows.X[used], self.classes_[codes(rows)[used]], times[used])
            self._take(svc, used)
            self.objective_ = self._objective(rows, float(self.C) * times)
            self.certificate_ = self._watching.label(certify(self, rows))
            self._say(
                f"tol {tol:.0e}, {count(len(self.support_), 'support vector')}, objective "
                f"{number(self.objective_, 10)}, residual {self.certificate_.residual:.0e}"
            )
            if self.certificate_.certified or svc.fit_status_ != 0:
                break

    def _take(self, svc: SVC, used: np.ndarray) -> None:
        self._svc = svc
        for name in (
            "support_vectors_", "n_support_", "dual_coef_", "intercept_", "n_iter_", "fit_status_",
        ):  # fmt: skip
            setattr(self, name, getattr(svc, name))
        self.support_ = used[svc.support_]

    def _objective(self, rows: Rows, C: np.ndarray) -> float:
        """½βᵀKβ + Σ C_i max(0, 1 − y_i f(x_i)), summed over pairs of classes."""
        k, K = codes(rows), len(self.classes_)
        pairs = [(1, 0)] if K == 2 else [(i, j) for i in range(K) for j in range(i + 1, K)]
        beta = np.zeros((len(k), len(pairs)))
        own = k[self.support_]
        for t, (i, j) in enumerate(pairs):
            for c, other in ((i, j), (j, i)):
                # row of dual_coef_: the other class, without the own one
                at, line = np.flatnonzero(own == c), 0 if K == 2 else other - (other > c)
                beta[self.support_[at], t] = self.dual_coef_[line, at]
        f = predict(rows.X, rows.X, beta, self.intercept_, kernel_of(self, self.gamma_))
        total = 0.5 * float(np.sum(beta * (f - self.intercept_)))
        for t, (i, j) in enumerate(pairs):
            y = (k == i).astype(float) - (k == j)
            total += float(np.sum(C * np.abs(y) * np.maximum(0.0, 1 - y * f[:, t])))
        return total

    # --- new rows ---

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores, as scikit-learn's ``SVC`` gives them.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: above 0 is ``classes_[1]``.
        """
        X = self._new(X)
        f: np.ndarray = self._svc.decision_function(X)
        return f

    def predict(self, X: Any) -> np.ndarray:
        """The class that most pairs vote for.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._new(X)
        said: np.ndarray = self._svc.predict(X)
        return said

    def _new(self, X: Any) -> np.ndarray:
        return self._finite(self._dense(data_for_predict(self, X)))
