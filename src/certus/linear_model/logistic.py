"""Logistic regression for two classes, softmax regression for more."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from ..certificate import Certificate, certify
from ..data.constant_column import with_constant
from ..data.labels import class_weights_of_rows
from ..data.rows import Rows
from ..data.streamed import StreamedTable
from ..data.types import ClassWeight, Seed
from ..data.validation import boolean, data_for_classification, not_negative, one_of
from ..inference import LogisticInference
from ..losses import Logistic, Softmax
from ..penalties import ElasticNet
from ..runtime.progress import monitored
from ..solvers.first_order.sgd import SGD
from ..solvers.glm.dispatch import MAX_HESSIAN_COLUMNS, choose, classification
from ..solvers.glm.newton import Newton
from ..solvers.loop import Fit, Solver
from ..solvers.problem import Problem
from ._classifier import LinearClassifier, Probabilities, attributes_of
from ._inference import logistic_inference
from ._parameters import Strength, positive, strength_of, whole_number
from ._partial_fit import fit_class_part, supports_partial_fit
from ._registry import component, make_solver
from ._unpenalized import least_norm, separation, warn_of_aliases

SOLVERS = ("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
NAMED_OPTIMIZERS = ("gd", "agd", "nesterov", "sgd", "asgd")  # run on X as it is
SOLVERS_OF_BLOCKS = ("newton", "newton-cg", "cd")  # take rows that are read block by block
MAX_FALLBACK_WORK = 2**35  # n(pK)² up to which Newton's method continues where a solver ended
# run as named; 'lbfgs' is scikit-learn's default rather than a request: the shape decides
RUN_AS_NAMED = {"newton-cg": "newton-cg", "newton-cholesky": "newton-cholesky"}


class LogisticRegression(Probabilities, LinearClassifier):
    r"""Logistic regression: minimise C Σ sᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½(1−l)‖w‖² + l‖w‖₁.

    yᵢ = ±1 for two classes, s the sample weights times class weights, l = ``l1_ratio``. More
    classes: softmax, minimise C Σ sᵢ (log Σₖ exp zᵢₖ − z_{i yᵢ}) + penalty, zᵢₖ = xᵢᵀwₖ + bₖ.

    A drop-in replacement for scikit-learn's class. Columns are centred and scaled internally, but
    the penalty and the coefficients are in your units. The intercept is not penalised (but see
    "liblinear").

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}, default="deprecated"
        As in scikit-learn, which deprecated it: use ``l1_ratio`` and ``C``.
    C : float, default=1.0
        Inverse strength of the penalty; ``inf``: none.
    l1_ratio : float, default=0.0
        l, from 0 (ridge) to 1 (lasso).
    dual : bool, default=False
        Ignored; accepted for compatibility with scikit-learn.
    tol : float, default=1e-4
        Largest residual (gap relative to the loss of the intercept alone) of a certified fit;
        values above 1e-6 count as 1e-6. A fit that misses it is not certified, and warns.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
        Used with solver="liblinear" only, see there.
    class_weight : dict or "balanced", default=None
        Weights multiply the loss of a class's rows. They shift the probabilities; a note in the
        certificate says by how much.
    random_state : int, RandomState or None, default=None
        Seed of "sgd" and "asgd"; None: a fixed one. No other solver is random.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "auto", "gd", \
            "agd", "nesterov", "sgd", "asgd"} or object
        Every name of scikit-learn is accepted with every penalty; ``solver_`` says what ran.
        "newton-cholesky" and "newton-cg" run as named; scikit-learn's other names run whatever
        suits the problem. "gd", "agd", "nesterov", "sgd" and "asgd" run as named on X as it is, as
        do objects of ``certus.solvers`` (``SAGA()``, ``LBFGS()``, ``SGD(average=10)``…): they are
        slower, offered for comparison, and accept no L1 part.
        "liblinear" penalises the intercept, as in scikit-learn: X gets an additional constant
        column of value ``intercept_scaling`` whose coefficient is penalised like the others (two
        classes only; X is copied).
    max_iter : int, default=100
    verbose : int, default=0
        Above 0: print a line for each iteration.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.
    n_jobs
        Ignored; accepted for compatibility with scikit-learn: see ``certus.set_config(threads=…)``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    n_iter_ : ndarray of shape (1,)
    solver_ : str
        "newton", "newton-cg" or "cd" (coordinate descent), or the solver that was requested.
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and b have an objective
        smaller by more than the gap*. Without a penalty, also that a finite optimum exists.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    K = 1 for two classes. Few columns: O(n(pK)²) operations a step, O((pK)²) memory a thread. Many
    columns, or sparse X: O(n·p·K) operations a pass (sparse: entries times K), O(n·K + p·K) memory;
    and, where products are bound by memory and enough is free, a copy of X in float32.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from certus.linear_model import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.certificate_
    Certificate(optimal: objective ..., at most ... above the best possible)
    >>> model.predict_proba(X[:1]).round(3)
    array([[1., 0.]])
    """

    _reads_rows = True

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        random_state: Seed = None,
        solver: str | Solver = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    @monitored
    def fit(
        self, X: object, y: object = None, sample_weight: object = None
    ) -> "LogisticRegression":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            A table of ``certus.open_rows`` is read block by block and brings y and the weights.
        y : array-like of shape (n_samples,)
            Labels of any kind, two or more.
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two equal rows.

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        boolean("dual", self.dual)
        boolean("warm_start", self.warm_start)
        not_negative("tol", self.tol)
        whole_number("max_iter", self.max_iter)
        self._check_solver()
        strength = strength_of(self)
        if isinstance(X, StreamedTable):
            self._require_solver_of_blocks(fit_intercept)
        rows, classes = data_for_classification(self, X, y, sample_weight, weightless=True)
        weight = class_weights_of_rows(self.class_weight, classes, rows)
        start = self._start(classes, rows.shape[1])
        self.classes_ = classes
        self._fit_rows(rows, strength, weight, fit_intercept, start)
        return self

    @available_if(supports_partial_fit)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: object, y: object, classes: object = None, sample_weight: object = None
    ) -> "LogisticRegression":
        """Make one pass over these rows, one part of many; with solver="sgd" or "asgd".

        The objective is that of all rows so far. There is no ``certificate_`` afterwards, since
        earlier rows are no longer available: ``certus.verify`` checks the coefficients on rows that
        you give it.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All labels that y can contain. Required in the first call.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of the rows of this part.

        Returns
        -------
        self
        """
        fit_intercept, strength = boolean("fit_intercept", self.fit_intercept), strength_of(self)
        self._constant: float | None = None

        def problems(
            rows: Rows, classes: np.ndarray, weight: np.ndarray | None
        ) -> tuple[Any, list[Problem]]:
            problem = self._problem(rows, len(classes), strength, weight, fit_intercept)
            return self._solver(problem), [problem]

        fit_class_part(self, X, y, classes, sample_weight, problems)
        return self

    def inference(
        self, X: object, y: object = None, sample_weight: object = None, cov: str = "classical",
        groups: object = None,
    ) -> LogisticInference:  # fmt: skip
        """Return standard errors, tests, intervals and odds ratios, from the rows of the fit.

        Without a penalty (``C=inf``) all of them are available. With an L2 penalty only covariance
        and intervals, which ignore its bias and say so. L1, class weights and separated classes are
        refused, with the reason.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, or their table. Weights are counts: weight 3 is three rows.
            Likelihood ratios read the rows again when they are asked for.
        cov : {"classical", "HC0", "HC1", "HC2", "HC3", "cluster"}, default="classical"
            From the information matrix, or a sandwich estimator, which is valid even where the
            model is wrong. "HC1" is n/(n − rank) times "HC0"; "HC2" and "HC3", for two classes,
            divide by 1 − h and (1 − h)², h the leverage of a row.
        groups : array-like of shape (n_samples,), optional
            With cov="cluster": the group of each row (a patient, a school), within which errors
            may be correlated.

        Returns
        -------
        certus.inference.LogisticInference
            More than two classes: coefficients relative to the first class.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_breast_cancer
        >>> from certus.linear_model import LogisticRegression
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> X = X[:, :2]
        >>> inference = LogisticRegression(C=np.inf).fit(X, y).inference(X, y)
        >>> inference.standard_errors.round(3)
        array([1.774, 0.101, 0.037])
        """
        return logistic_inference(self, X, y, sample_weight, cov, groups)

    def _fit_rows(
        self, rows: Rows, strength: Strength, weight: np.ndarray | None, fit_intercept: bool,
        start: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:  # fmt: skip
        K = len(self.classes_)
        design = rows
        self._constant = self._penalized_constant(fit_intercept)
        if self._constant is not None:
            design, fit_intercept, start = with_constant(rows, self._constant), False, None
        problem = self._problem(design, K, strength, weight, fit_intercept)
        solver, fallback = self._solver(problem), self._fallback_solver(problem)
        self._forget("_direction", "_streams")
        fit, certificate = self._solve(
            problem, rows, solver, float(self.tol), self.max_iter, start, fallback
        )
        if strength.l1 + strength.l2 == 0:
            certificate = self._without_penalty(rows, fit, certificate)
        self._conclude(certificate, fit.stopped_at, fit.message)

    @staticmethod
    def _problem(
        rows: Rows, K: int, strength: Strength, weight: np.ndarray | None, fit_intercept: bool
    ) -> Problem:
        loss = Logistic() if K == 2 else Softmax()
        total = strength.l1 + strength.l2
        penalty = ElasticNet(total, strength.l1 / total if total else 0.0)
        return classification(rows, loss, penalty, fit_intercept, K, strength.C, weight)

    def _check_solver(self) -> None:
        names = (*SOLVERS, *NAMED_OPTIMIZERS)
        if isinstance(self.solver, str):
            one_of("solver", self.solver, names)
        else:
            component("solver", self.solver, dict.fromkeys(names))

    def _require_solver_of_blocks(self, fit_intercept: bool) -> None:
        """Refuse solvers that need all rows in memory."""
        if self._is_liblinear and fit_intercept:
            raise ValueError(
                "solver='liblinear' adds a column to X, which is read block by block: use "
                "solver='auto', which does not penalise the intercept"
            )
        by_name = isinstance(self.solver, str) and self.solver in SOLVERS
        if not by_name and getattr(self.solver, "name", "") not in SOLVERS_OF_BLOCKS:
            raise ValueError(
                f"solver={self.solver!r} needs all rows in memory, and X is read block by block: "
                "use solver='auto', or an array"
            )

    def _solver(self, problem: Problem) -> Solver:
        if isinstance(self.solver, str) and self.solver in SOLVERS:
            return choose(problem, RUN_AS_NAMED.get(self.solver, "auto"))
        return make_solver(self._seeded_solver(), problem, choose)

    def _fallback_solver(self, problem: Problem) -> Solver | None:
        """Return Newton's method, which resolves columns that nearly repeat others.

        None where it is too expensive, or a solver was requested.
        """
        n, unknowns = problem.rows.shape[0], problem.rows.shape[1] * problem.outputs
        is_small = unknowns <= MAX_HESSIAN_COLUMNS and n * unknowns**2 <= MAX_FALLBACK_WORK
        by_name = isinstance(self.solver, str) and self.solver in SOLVERS
        is_requested = not by_name or self.solver in RUN_AS_NAMED
        unpenalized = problem.l1 == 0 and problem.l2 == 0
        return Newton() if unpenalized and is_small and not is_requested else None

    def _seeded_solver(self) -> Any:
        """Return the solver as given; "sgd" and "asgd" with the seed of ``random_state``."""
        if self.random_state is None or self.solver not in ("sgd", "asgd"):
            return self.solver
        seed = check_random_state(self.random_state).randint(2**31)
        return SGD(momentum=0.9 if self.solver == "asgd" else 0.0, random_state=seed)

    def _penalized_constant(self, fit_intercept: bool) -> float | None:
        """Return the value of liblinear's constant column, whose coefficient is the intercept."""
        if not self._is_liblinear or not fit_intercept:
            return None
        K = len(self.classes_)
        if K > 2:
            raise ValueError(
                "Only binary classification is supported. solver='liblinear' takes two classes and "
                f"y has {K}: use solver='auto'"
            )
        return positive("intercept_scaling", self.intercept_scaling)

    @property
    def _is_liblinear(self) -> bool:
        return isinstance(self.solver, str) and self.solver == "liblinear"

    def _without_penalty(self, rows: Rows, fit: Fit, certificate: Certificate) -> Certificate:
        """Take the optimum of least norm; where there is none, find what separates the classes."""
        tol, intercept = self._certificate_tol(self.tol), bool(self.fit_intercept)
        # a solver that factors nothing cannot detect repeated columns
        unknown = fit.solver != Newton.name and rows.shape[1] <= MAX_HESSIAN_COLUMNS
        if certificate.certified and (fit.singular or unknown):
            least = least_norm(rows, fit.w, fit.b, intercept)
            if least.aliases is not None:
                b = least.b if intercept else fit.b
                self._set(fit._replace(w=least.w, b=b))
                smaller = certify(self, rows, tol)
                if smaller.certified:
                    warn_of_aliases(self, least, rows.shape[0])
                    return smaller
                self._set(fit)  # a column taken for a repeat matters after all
        proven = certificate.certified and certificate.kind == "global"
        if not proven and self._monitor.stopped is None:
            direction = separation(
                rows, len(self.classes_), intercept, (fit.w, fit.b), fit.stopped_at is None
            )
            if direction is not None:
                self._direction = direction
                return certify(self, rows, tol)
        return certificate

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._is_liblinear
        return tags

    def _attributes(self, fit: Fit) -> dict[str, Any]:
        if self._constant is not None:  # the penalised intercept is the last coefficient
            fit = fit._replace(w=fit.w[:-1], b=self._constant * fit.w[-1])
        return attributes_of(fit)

    def _check(self, rows: Rows, tol: float) -> Certificate:
        return certify(self, rows, tol)
