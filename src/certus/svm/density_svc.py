"""DSVM-CIL: scikit-learn's SVC with rows weighted by local density, certified."""

from typing import Any, NoReturn

import numpy as np
from sklearn.base import ClassifierMixin

from ..certificate import certify
from ..data.rows import Rows
from ..data.types import ClassWeight
from ..data.validation import (
    boolean,
    data_for_classification,
    data_for_predict,
    not_negative,
    one_of,
)
from ..runtime.progress import monitored
from ..solvers.lssvm import predict
from ..solvers.progress import Step
from ..text.format import count, number
from ._base import KernelMachine
from ._classes import codes, weights_of_classes
from ._density import check_density, density_of
from ._kernels import KernelOrName, check_gamma, check_kernel, gamma_of, kernel_of
from ._libsvm import by_interior_point, libsvm, objective, polished
from ._messages import classes_without_weight, gamma_remarks, indefinite
from ._pairs import as_dual_coef, ovr_scores, pairwise_beta, votes
from ._parameters import check_C

# libsvm ends when no slope violates its condition by more than tol, so the gap is below tol·Σ C_i;
# multiplied by the share of the lightest class, since the gap is measured relative to its weight
LIBSVM_TOLERANCES = (1e-5, 1e-7, 1e-9)
# with 1,000 rows a step takes 4e-6 s and a run at most 0.3 s; 500 to 20,000 steps are usual
MIN_LIBSVM_STEPS, LIBSVM_STEPS_PER_ROW = 50_000, 20
LAST_RUN_FACTOR = 10  # more steps in the last run, if nothing else helped
MAX_ROUNDING_RESIDUAL = 1e-3  # of a converged interior point; kernel values of 1e8 leave 1e-5


class DensityWeightedSVC(ClassifierMixin, KernelMachine):
    r"""Support vector machine with density weights, for classes of unequal size (DSVM-CIL).

    With dᵢ = 1 − rᵢ/max r, rᵢ the distance of row i to its k-th nearest other row
    (``density_weights``), and y = ±1: minimise

        ½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(wᵀφ(xᵢ) + b)),        Cᵢ = C·dᵢ·sᵢ·c of its class

    Solved by scikit-learn's ``SVC`` (libsvm) with decreasing tolerance until the duality gap,
    recomputed from the data, is 1e-6 of the loss of the intercept alone. Where libsvm, whose kernel
    is in float32, is not accurate enough, its answer is refined; where it takes too many steps, as
    with columns of large scale, an interior-point method is used. With more classes there is one
    machine for each pair of classes, and the pairs vote.

    Parameters
    ----------
    C : float, default=1.0
        The cost of violating the margin.
    n_neighbors : int, default=5
        k. The row itself does not count.
    density : {"global", "per_class"}, default="global"
        Whether neighbours, and the largest r, are those of all rows or of the row's class.
    kernel : {"rbf", "linear", "poly", "sigmoid"} or callable, default="rbf"
        K: exp(−γ‖x − z‖²), xᵀz, (γxᵀz + coef0)^degree, tanh(γxᵀz + coef0); or a function of two
        sets of rows that returns all their pairs.
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        γ of "rbf", "poly" and "sigmoid", as in scikit-learn. The paper's exp(−r²/μ²) is γ = 1/μ².
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    class_weight : dict, "balanced" or None, default="balanced"
        c multiplies C. Density alone works against a small class, whose rows have fewer others
        around them; the paper uses None.
    tol : float, default=1e-3
        The largest tolerance of libsvm. It is reduced until the fit is certified.
    shrinking : bool, default=True
    cache_size : float, default=200
        Size of libsvm's kernel cache in MB.
    max_iter : int, default=-1
        Maximal number of steps in one run of libsvm, for each pair of classes; −1: chosen by the
        number of rows.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With more than two classes: a column for each class, or for each pair.
    break_ties : bool, default=False
        With more than two classes, whether scores decide between equal votes.
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
        As in scikit-learn's ``SVC``.
    gamma_ : float
        γ; 1 where the kernel has none.
    objective_ : float
        The minimum; with more than two classes the sum over pairs.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data, densities included: *no other w and b
        have a smaller objective by more than the gap*.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    Between O(n²·p) and O(n³·p) operations in libsvm, O(n²·p) for the certificate. Rows of density 0
    are ignored. Sample weights do not change the density: a weight of 2 is not the row twice, since
    a copy would be its neighbour.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from certus.svm import DensityWeightedSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(MinMaxScaler(), DensityWeightedSVC(C=10)).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    >>> model[-1].certificate_.status
    'optimal'
    """

    _every_class_has_weight = True

    classes_: np.ndarray
    density_weights_: np.ndarray
    support_: np.ndarray
    support_vectors_: np.ndarray
    n_support_: np.ndarray

    def __init__(
        self,
        C: float = 1.0,
        *,
        n_neighbors: int = 5,
        density: str = "global",
        kernel: KernelOrName = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        class_weight: ClassWeight = "balanced",
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

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "DensityWeightedSVC":
        """Compute the density weights, then fit the machines.

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
        rows = self._validate_rows(rows)
        self.density_weights_ = d = density_of(self, rows, classes)
        for message in classes_without_weight(classes, codes(rows), d):
            raise ValueError(message)
        self.classes_, self.class_weight_ = classes, weights_of_classes(self, classes, rows)
        self.gamma_ = gamma_of(self.gamma, self.kernel, rows)
        row_weights = d * self.class_weight_[codes(rows)] * (1.0 if rows.s is None else rows.s)
        self._solve(rows, row_weights)
        remarks = gamma_remarks(rows.X, kernel_of(self, self.gamma_))
        if self.certificate_.kind == "stationary":
            remarks = [*indefinite(self, 0), *remarks]
        self._warn_of_certificate(remarks=remarks)
        return self

    def _check_parameters(self) -> None:
        check_C(self.C)
        check_kernel(self)
        check_gamma(self.gamma)
        check_density(self)
        not_negative("tol", self.tol)
        boolean("shrinking", self.shrinking)
        boolean("break_ties", self.break_ties)
        one_of("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))

    def _solve(self, rows: Rows, row_weights: np.ndarray) -> None:
        """Run libsvm with decreasing tolerance, and refine its answer, until it is certified.

        Where libsvm does not converge in a bounded number of steps, an interior-point method
        follows, and if that fails too, one more, longer run of libsvm.
        """
        # libsvm would drop rows of weight 0 too, but number support_ without them
        used = np.flatnonzero(row_weights > 0)
        k, K = codes(rows), len(self.classes_)
        X, labels = rows.X[used], self.classes_[k[used]]
        total = np.bincount(k, weights=row_weights)
        share = K * total.min() / total.sum()
        max_steps = self._max_steps(len(used))

        def run(tol: float, steps: int) -> tuple[bool, bool]:
            """Return whether the fit is certified, and whether libsvm converged."""
            svc = libsvm(self, tol, steps, X, labels, row_weights[used])
            self.n_iter_, self.fit_status_ = svc.n_iter_, svc.fit_status_
            beta = np.zeros((len(k), len(svc.intercept_)))
            support = used[svc.support_]
            beta[support] = pairwise_beta(svc.dual_coef_, k[support], K)
            done = self._improve(rows, row_weights, beta, svc.intercept_, f"libsvm, tol {tol:.0e}")
            converged = svc.fit_status_ == 0 or steps == self.max_iter
            # refinement works near the optimum only
            return done or (converged and self._polish(rows, row_weights)), svc.fit_status_ == 0

        self._monitor.iterations(
            lambda solution: self._attributes(rows, row_weights, *solution),
            lambda: certify(self, rows),
        )
        for tol in LIBSVM_TOLERANCES:
            tol = share * (min(tol, float(self.tol)) if self.tol > 0 else tol)
            certified, converged = run(tol, max_steps)
            if certified:
                return
            if not converged:
                break
        else:
            return
        if max_steps == self.max_iter:  # the user's limit
            return
        solution = by_interior_point(self, rows, row_weights, *self._dual())
        if self._improve(rows, row_weights, *solution, "interior point") or self._polish(
            rows, row_weights
        ):
            return
        if self.certificate_.residual < MAX_ROUNDING_RESIDUAL:  # only rounding is left
            return
        longer = LAST_RUN_FACTOR * max_steps
        run(tol, longer if self.max_iter < 0 else min(longer, self.max_iter))

    def _max_steps(self, n: int) -> int:
        max_steps = max(MIN_LIBSVM_STEPS, LIBSVM_STEPS_PER_ROW * n)
        return max_steps if self.max_iter < 0 else min(max_steps, self.max_iter)

    def _polish(self, rows: Rows, row_weights: np.ndarray) -> bool:
        solution = polished(self, rows, row_weights, *self._dual())
        return self._improve(rows, row_weights, *solution, "polished")

    def _dual(self) -> tuple[np.ndarray, np.ndarray]:
        """Return β (n, pairs) and b of the fitted attributes."""
        K = len(self.classes_)
        beta = np.zeros((len(self.density_weights_), len(self.intercept_)))
        class_of = np.repeat(np.arange(K), self.n_support_)
        beta[self.support_] = pairwise_beta(self.dual_coef_, class_of, K)
        return beta, self.intercept_

    def _improve(
        self, rows: Rows, row_weights: np.ndarray, beta: np.ndarray, b: np.ndarray, method: str
    ) -> bool:
        """Set the attributes of β (n, pairs) and b if they have a smaller residual.

        Return whether the model is certified, or the fit was stopped.
        """
        before = dict(vars(self)) if self._monitor.trace else None
        self.__dict__.update(self._attributes(rows, row_weights, beta, b))
        step = len(self._monitor.trace)
        stop = self._monitor(Step(step, self.objective_, None, lambda: (beta, b)))
        self._set_certificate(certify(self, rows))
        self._print(
            f"{method}: {count(len(self.support_), 'support vector')}, objective "
            f"{number(self.objective_, 10)}, residual {self.certificate_.residual:.0e}"
        )
        if before is not None and not (
            self.certificate_.certified
            or self.certificate_.residual < before["certificate_"].residual
        ):
            self.__dict__.update(before)
            self._set_certificate(self.certificate_)
        return stop or self.certificate_.certified

    def _attributes(
        self, rows: Rows, row_weights: np.ndarray, beta: np.ndarray, b: np.ndarray
    ) -> dict[str, Any]:
        k, K = codes(rows), len(self.classes_)
        nonzero = np.flatnonzero(beta.any(axis=1))
        support = nonzero[np.argsort(k[nonzero], kind="stable")].astype(np.int32)
        intercept = np.array(b, dtype=float)
        return {
            "support_": support,
            "n_support_": np.bincount(k[nonzero], minlength=K).astype(np.int32),
            "support_vectors_": rows.X[support].astype(float),
            "dual_coef_": as_dual_coef(beta[support], k[support], K),
            "intercept_": intercept,
            "objective_": objective(self, rows, row_weights, beta, intercept),
        }

    # --- new rows ---

    @property
    def predict_proba(self) -> NoReturn:
        """Raises AttributeError with a remedy: margins are no probabilities."""
        raise AttributeError(
            f"{type(self).__name__} has no predict_proba: its scores are margins, not "
            "probabilities. For probabilities, fit certus.metrics.CalibratedClassifier("
            f"{type(self).__name__}(…)), which learns them from rows that are left out"
        )

    def decision_function(self, X: object) -> np.ndarray:
        """Return the scores, as scikit-learn's ``SVC`` does.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: above 0 is ``classes_[1]``.
        """
        f, K = self._pair_scores(X), len(self.classes_)
        if K == 2:
            return f[:, 0]
        return f if self.decision_function_shape == "ovo" else ovr_scores(f, K)

    def predict(self, X: object) -> np.ndarray:
        """Predict the class that most pairs vote for; ties go to the first, or see ``break_ties``.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        f, K = self._pair_scores(X), len(self.classes_)
        which = (ovr_scores if self.break_ties else votes)(f, K).argmax(axis=1)
        return self.classes_[which]

    def _pair_scores(self, X: object) -> np.ndarray:
        """Return f of new rows, (m, pairs)."""
        X = self._finite(self._dense(data_for_predict(self, X)))
        class_of = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        beta = pairwise_beta(self.dual_coef_, class_of, len(self.classes_))
        kernel = kernel_of(self, self.gamma_)
        return predict(X, self.support_vectors_, beta, self.intercept_, kernel)
