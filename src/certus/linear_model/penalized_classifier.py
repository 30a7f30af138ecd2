"""A linear classifier with any loss, penalty and solver."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..certificate import Certificate, certify, unproven
from ..data.labels import class_weights
from ..data.rows import Rows
from ..data.types import ClassWeight
from ..data.validation import boolean, data_for_classification, not_negative
from ..losses import Logistic
from ..losses.base import Loss
from ..penalties.base import Penalty
from ..runtime.progress import monitored
from ..solvers.glm.dispatch import choose, classification, one_vs_rest
from ..solvers.loop import Fit, Solver
from ..solvers.problem import Problem, objective
from ._classifier import (
    LargestScore,
    LinearClassifier,
    attributes_of,
    attributes_of_fits,
    log_probabilities,
    probabilities,
)
from ._parameters import whole_number
from ._partial_fit import fit_class_part, supports_partial_fit
from ._registry import CLASSIFICATION, component, make_penalty, make_solver


def _gives_probabilities(model: "PenalizedClassifier") -> bool:
    fitted = vars(model)
    loss = fitted.get("loss_", model.loss)
    name = loss if isinstance(loss, str) else getattr(loss, "name", None)
    if name not in ("logistic", "softmax"):
        raise AttributeError(
            f"the scores of loss={model.loss!r} are not log-odds, so there are no probabilities: "
            "use loss='logistic' (more than two classes: 'softmax'), or sklearn.calibration"
        )
    if name == "logistic" and len(fitted.get("classes_", ())) > 2:
        raise AttributeError(
            "one logistic model for each class against the rest does not give probabilities that "
            "sum to 1: use loss='softmax'"
        )
    return True


class PenalizedClassifier(LargestScore, LinearClassifier):
    r"""Any loss and penalty: minimise Σ sᵢ ℓ(yᵢ, xᵢᵀw + b) + pen(w).

    yᵢ = ±1 and one score for two classes; s are the sample weights times class weights. More
    classes: ``Softmax`` minimises over all scores jointly, every other loss separately for each
    class against the rest (whose class weight is 1). The intercept is not penalised.

    Parameters
    ----------
    loss : {"logistic", "softmax", "squared_hinge", "huber", "squared"} or object
        ℓ, by name or an object of ``certus.losses`` (or your own, see ``certus.losses.Loss``).
        "softmax" with two classes is "logistic".
    penalty : {"l1", "l2", "elasticnet", "mcp", "scad", "nonnegative", "simplex"}, object or None
        pen, by name (of strength 1) or an object of ``certus.penalties`` (or your own, see
        ``certus.penalties.Penalty``; its w has shape (n_features, n_scores)).
    solver : {"auto", "newton", "newton-cg", "cd", "proximal-gradient", "fista", "ista", \
            "subgradient", "gd", "agd", "nesterov", "sgd", "asgd"} or object
        A name or an object of ``certus.solvers``. "newton", "newton-cg" and ``LBFGS()`` accept no
        L1 part. A penalty of your own is used through its prox: by "proximal-gradient", which is
        "fista", or by "ista", which has no momentum. "gd" (gradient descent), "agd" (heavy ball),
        "nesterov", "sgd", "asgd" (SGD with momentum) and ``SAGA()`` run on X as it is, without an
        L1 part: they are slower, and offered for comparison.
    fit_intercept : bool, default=True
    class_weight : dict or "balanced", default=None
    tol : float, default=1e-6
        Largest residual (gap relative to the loss of the intercept alone) of a certified fit.
    max_iter : int, default=1000
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    loss_, penalty_ : object
        What was minimised.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
    solver_ : str
    certificate_ : Certificate
        No other w and b have an objective smaller by more than the gap. "not proven" for losses or
        penalties without a definition in certus, or where no bound is known: "huber" and
        "squared_hinge" without a penalty.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from certus.linear_model import PenalizedClassifier
    >>> from certus.penalties import L2
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PenalizedClassifier("squared_hinge", L2(10.0)).fit(X, y)
    >>> model.certificate_
    Certificate(optimal: objective ..., at most ... above the best possible)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        loss: str | Loss = "logistic",
        penalty: str | Penalty | None = "l2",
        solver: str | Solver = "auto",
        *,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int = 0,
    ):
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "PenalizedClassifier":
        """Fit w and b.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind, two or more.
        sample_weight : float or array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two equal rows.

        Returns
        -------
        self
        """
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        boolean("warm_start", self.warm_start)
        not_negative("tol", self.tol)
        whole_number("max_iter", self.max_iter)
        loss = component("loss", self.loss, CLASSIFICATION)
        penalty = make_penalty(self.penalty)
        rows, classes = data_for_classification(self, X, y, sample_weight, weightless=True)
        assert rows.y is not None
        weight = class_weights(self.class_weight, classes, rows.y[:, 0].astype(np.intp), rows.s)
        start = self._start(classes, rows.shape[1])
        self.classes_, self.penalty_ = classes, penalty
        self.loss_ = Logistic() if loss.several and len(classes) == 2 else loss
        self._problems = self._problems_of(rows, classes, weight, fit_intercept)
        self._forget("_streams")
        if len(self._problems) == 1:
            (problem,) = self._problems
            solver = self._solver(problem)
            fit, certificate = self._solve(
                problem, rows, solver, float(self.tol), self.max_iter, start
            )
        else:
            fit, certificate = self._solve_each(
                self._problems, rows, self._solver, float(self.tol), self.max_iter,
                attributes_of_fits, start,
            )  # fmt: skip
        self._forget("_problems")
        self._conclude(certificate, fit.stopped_at, fit.message)
        return self

    @available_if(supports_partial_fit)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: object, y: object, classes: object = None, sample_weight: object = None
    ) -> "PenalizedClassifier":
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
        fit_intercept = boolean("fit_intercept", self.fit_intercept)
        loss, penalty = component("loss", self.loss, CLASSIFICATION), make_penalty(self.penalty)

        def problems(
            rows: Rows, classes: np.ndarray, weight: np.ndarray | None
        ) -> tuple[Any, list[Problem]]:
            self.loss_ = Logistic() if loss.several and len(classes) == 2 else loss
            self.penalty_ = penalty
            all_problems = self._problems_of(rows, classes, weight, fit_intercept)
            return self._solver(all_problems[0]), all_problems

        fit_class_part(self, X, y, classes, sample_weight, problems)
        return self

    def _problems_of(
        self, rows: Rows, classes: np.ndarray, weight: np.ndarray | None, fit_intercept: bool
    ) -> list[Problem]:
        """Return one problem for all scores jointly, or one for each class against the rest."""
        loss, penalty, K = self.loss_, self.penalty_, len(classes)
        if K == 2 or loss.several:
            return [classification(rows, loss, penalty, fit_intercept, K, 1.0, weight)]
        return one_vs_rest(rows, loss, penalty, fit_intercept, K, weight)

    def _solver(self, problem: Problem) -> Solver:
        return make_solver(self.solver, problem, choose)

    def _attributes(self, fit: Fit) -> dict[str, Any]:
        return attributes_of(fit)

    def _check(self, rows: Rows, tol: float) -> Certificate:
        try:
            return certify(self, rows, tol)
        except ValueError as error:  # no claim that a definition could check
            why = str(error)
        columns = zip(
            self._problems, np.split(self.coef_.T, len(self._problems), axis=1), strict=True
        )
        b = np.split(self.intercept_, len(self._problems))
        total = sum(objective(problem, w, b[k]) for k, (problem, w) in enumerate(columns))
        formula = f"Σ ℓ(yᵢ, xᵢᵀw + b) + pen(w), ℓ = {self.loss_!r}, pen = {self.penalty_!r}"
        return unproven(self, rows, formula, total, why, tol)

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: object) -> np.ndarray:
        """Return P(class | x), in the order of ``classes_``, for the logistic and softmax losses.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return probabilities(self.decision_function(X))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: object) -> np.ndarray:
        """Return log P(class | x), which is finite even where the probability underflows to 0.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return log_probabilities(self.decision_function(X))
