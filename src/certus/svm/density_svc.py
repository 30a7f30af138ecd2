"""DSVM-CIL: scikit-learn's SVC whose rows count by how densely they lie, certified."""

from typing import Any

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
from ._messages import classes_without_weight, indefinite, odd_gamma
from ._pairs import as_dual_coef, by_pairs, one_for_each, votes
from ._parameters import check_C

# libsvm ends when no slope violates its condition by more than tol, so the gap is below tol·Σ C_i;
# times the share of the lightest class, since its weight is what the gap is measured by
RETRY_TOLS = (1e-5, 1e-7, 1e-9)
# a run of libsvm: 0.3 s of 1,000 rows, whose step takes 4e-6 s; 500 to 20,000 steps are usual
LIBSVM_STEPS, LIBSVM_STEPS_A_ROW = 50_000, 20
LONGER = 10  # the last run, where nothing else helps
ARRIVED = 1e-3  # residual of an interior point that is one: kernel values of 1e8 leave 1e-5


class DensityWeightedSVC(ClassifierMixin, KernelMachine):
    r"""Support vector machine with density weights, for classes of unequal size (DSVM-CIL).

    With dᵢ = 1 − rᵢ/max r, rᵢ the distance of row i to its k-th nearest other row
    (``density_weights``), and y = ±1: minimise

        ½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(wᵀφ(xᵢ) + b)),        Cᵢ = C·dᵢ·sᵢ·c of its class

    Solved by scikit-learn's ``SVC`` (libsvm), as tightly as it takes for the duality gap, which is
    recomputed from the data, to be 1e-6 of what the intercept alone leaves; where libsvm, whose
    kernel is in float32, has no such digits, its answer is polished, and where it takes too many
    steps, as on columns of large scale, an interior-point method takes over. Of more classes there
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
        Steps of one run of libsvm at most, for each pair of classes; −1: as many as are useful.
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
        self._solve(rows, times)
        weak = odd_gamma(rows.X, kernel_of(self, self.gamma_))
        if self.certificate_.kind == "stationary":
            weak = [*indefinite(self, 0), *weak]
        self._warn_of_certificate(remarks=weak)
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

    def _solve(self, rows: Rows, times: np.ndarray) -> None:
        """Run libsvm, tighter each time, and polish its answer, until the certificate holds.

        Where libsvm does not arrive in a bounded number of steps, an interior-point method takes
        over, and if that fails too libsvm gets one more, longer run.
        """
        # libsvm, too, drops rows of weight 0, but then numbers support_ without them
        used = np.flatnonzero(times > 0)
        k, K = codes(rows), len(self.classes_)
        X, labels = rows.X[used], self.classes_[k[used]]
        total = np.bincount(k, weights=times)
        share = K * total.min() / total.sum()
        most_steps = self._most_steps(len(used))

        def run(tol: float, steps: int) -> tuple[bool, bool]:
            """Is it certified, and did libsvm arrive?"""
            svc = libsvm(self, tol, steps, X, labels, times[used])
            self.n_iter_, self.fit_status_ = svc.n_iter_, svc.fit_status_
            beta = np.zeros((len(k), len(svc.intercept_)))
            support = used[svc.support_]
            beta[support] = by_pairs(svc.dual_coef_, k[support], K)
            done = self._improve(rows, times, beta, svc.intercept_, f"libsvm, tol {tol:.0e}")
            converged = svc.fit_status_ == 0 or steps == self.max_iter
            # far from the optimum there is nothing to polish
            return done or (converged and self._polish(rows, times)), svc.fit_status_ == 0

        self._monitor.iterations(
            lambda found: self._attributes(rows, times, *found), lambda: certify(self, rows)
        )
        for tol in RETRY_TOLS:
            tol = share * (min(tol, float(self.tol)) if self.tol > 0 else tol)
            certified, converged = run(tol, most_steps)
            if certified:
                return
            if not converged:
                break
        else:
            return
        if most_steps == self.max_iter:  # the person's own limit
            return
        found = by_interior_point(self, rows, times, *self._dual())
        if self._improve(rows, times, *found, "interior point") or self._polish(rows, times):
            return
        if self.certificate_.residual < ARRIVED:  # what is left is rounding
            return
        longer = LONGER * most_steps
        run(tol, longer if self.max_iter < 0 else min(longer, self.max_iter))

    def _most_steps(self, n: int) -> int:
        most = max(LIBSVM_STEPS, LIBSVM_STEPS_A_ROW * n)
        return most if self.max_iter < 0 else min(most, self.max_iter)

    def _polish(self, rows: Rows, times: np.ndarray) -> bool:
        found = polished(self, rows, times, *self._dual())
        return self._improve(rows, times, *found, "polished")

    def _dual(self) -> tuple[np.ndarray, np.ndarray]:
        """β (n, pairs) and b of the attributes."""
        K = len(self.classes_)
        beta = np.zeros((len(self.density_weights_), len(self.intercept_)))
        own = np.repeat(np.arange(K), self.n_support_)
        beta[self.support_] = by_pairs(self.dual_coef_, own, K)
        return beta, self.intercept_

    def _improve(
        self, rows: Rows, times: np.ndarray, beta: np.ndarray, b: np.ndarray, how: str
    ) -> bool:
        """Set attributes of β (n, pairs) and b, unless those that are set prove more.

        Is the model certified?
        """
        before = dict(vars(self)) if self._monitor.trace else None
        self.__dict__.update(self._attributes(rows, times, beta, b))
        step = len(self._monitor.trace)
        stop = self._monitor(Step(step, self.objective_, None, lambda: (beta, b)))
        self._set_certificate(certify(self, rows))
        self._say(
            f"{how}: {count(len(self.support_), 'support vector')}, objective "
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
        self, rows: Rows, times: np.ndarray, beta: np.ndarray, b: np.ndarray
    ) -> dict[str, Any]:
        k, K = codes(rows), len(self.classes_)
        there = np.flatnonzero(beta.any(axis=1))
        support = there[np.argsort(k[there], kind="stable")].astype(np.int32)
        intercept = np.array(b, dtype=float)
        return {
            "support_": support,
            "n_support_": np.bincount(k[there], minlength=K).astype(np.int32),
            "support_vectors_": rows.X[support].astype(float),
            "dual_coef_": as_dual_coef(beta[support], k[support], K),
            "intercept_": intercept,
            "objective_": objective(self, rows, times, beta, intercept),
        }

    # --- new rows ---

    def decision_function(self, X: object) -> np.ndarray:
        """Scores, as scikit-learn's ``SVC`` gives them.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: above 0 is ``classes_[1]``.
        """
        f, K = self._of_pairs(X), len(self.classes_)
        if K == 2:
            return f[:, 0]
        return f if self.decision_function_shape == "ovo" else one_for_each(f, K)

    def predict(self, X: object) -> np.ndarray:
        """The class that most pairs vote for; of equal ones the first, but for ``break_ties``.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        f, K = self._of_pairs(X), len(self.classes_)
        which = (one_for_each if self.break_ties else votes)(f, K).argmax(axis=1)
        return self.classes_[which]

    def _of_pairs(self, X: object) -> np.ndarray:
        """f of new rows, (m, pairs)."""
        X = self._finite(self._dense(data_for_predict(self, X)))
        own = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        beta = by_pairs(self.dual_coef_, own, len(self.classes_))
        kernel = kernel_of(self, self.gamma_)
        return predict(X, self.support_vectors_, beta, self.intercept_, kernel)
