"""Ordinal regression by proportional odds, for ordered classes."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from ..certificate import Certificate, certify
from ..data.labels import guessed_order, in_order
from ..data.memory import memory_for_gram
from ..data.rows import Rows
from ..data.types import Start
from ..data.validation import boolean, data_for_classification, not_negative
from ..exceptions import OrderWarning
from ..inference import OrdinalInference
from ..runtime.progress import monitored
from ..runtime.user_frame import warn_user
from ..solvers.glm.ordinal import OrdinalProblem, minimize, ordinal_problem
from ..solvers.loop import Fit
from ..solvers.progress import OnStep
from ..solvers.separation.ordering import ordering_direction
from ._classifier import LinearClassifier, attributes_of
from ._inference import ordinal_inference
from ._parameters import whole_number
from ._scores import scores
from ._unpenalized import warn_of_aliases


class OrdinalRegression(LinearClassifier):
    r"""Proportional odds for ordered classes: minimise −Σ sᵢ log P(yᵢ|xᵢ) + ½α‖w‖².

    P(y ≤ k | x) = σ(c_k − xᵀw) with increasing thresholds c_1 < c_2 < …: one score for all classes,
    and the odds of being above a threshold grow by the same factor exp wⱼ at every threshold. The
    thresholds are not penalised.

    Parameters
    ----------
    categories : "auto" or list, default="auto"
        The classes in their order, lowest first. "auto": numbers by size; text in the order of its
        type where that has one (pandas' ordered categories, polars' Enum), else alphabetically,
        which is seldom intended and therefore warned about.
    alpha : float, default=0.0
        Strength of the penalty.
    tol : float, default=1e-6
        Largest residual (gap relative to the loss of the thresholds alone) of a certified fit;
        values above 1e-6 count as 1e-6.
    max_iter : int, default=100
    verbose : int, default=0
        Above 0: print a line for each iteration.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        In their order.
    coef_ : ndarray of shape (1, n_features)
        w: with a positive coefficient, larger values go with higher classes.
    thresholds_ : ndarray of shape (n_classes - 1,)
        c, increasing.
    intercept_ : ndarray of shape (n_classes - 1,)
        −c: ``X @ coef_.T + intercept_`` are the log-odds of being above each threshold.
    n_iter_ : ndarray of shape (1,)
    solver_ : str
    certificate_ : Certificate
        Objective, bound and gap, recomputed from the data: *no other w and c have an objective
        smaller by more than the gap*; it also proves that a finite optimum exists. Without a
        penalty there is none where some score orders all rows by class: then that is proven, and
        the columns are named.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has column names.

    Notes
    -----
    Newton's method: O(n·m² + m³) operations a step, O(m²) memory a thread, m = min(n, p). Columns
    that nearly repeat others are replaced by orthogonal combinations internally. Sparse X is read
    in dense blocks. With two classes it is ``LogisticRegression`` with C = 1/α.

    References
    ----------
    McCullagh, P. (1980). Regression models for ordinal data. Journal of the Royal Statistical
    Society B 42, 109–142.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.linear_model import OrdinalRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> pain = np.digitize(X @ [2.0, -1.0] + rng.logistic(size=300), [-1.0, 1.0])
    >>> y = np.array(["none", "mild", "severe"])[pain]
    >>> model = OrdinalRegression(categories=["none", "mild", "severe"]).fit(X, y)
    >>> model.certificate_
    Certificate(optimal: objective ..., at most ... above the best possible)
    >>> model.coef_.round(1), model.thresholds_.round(1)
    (array([[ 2.1, -1. ]]), array([-1.2,  1.1]))
    """

    _reads_rows = True
    _every_class_has_weight = True

    fit_intercept = True  # the thresholds are its intercepts: no parameter

    def __init__(
        self,
        *,
        categories: npt.ArrayLike = "auto",
        alpha: float = 0.0,
        tol: float = 1e-6,
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
    ):
        self.categories = categories
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start

    @property
    def intercept_(self) -> np.ndarray:  # type: ignore[override]
        """Intercepts −c of the log-odds of being above each threshold."""
        return -self.thresholds_

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "OrdinalRegression":
        """Fit w and c.

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
        boolean("warm_start", self.warm_start)
        alpha = not_negative("alpha", self.alpha)
        if alpha.ndim:
            raise ValueError(f"alpha={self.alpha!r}: give one number")
        not_negative("tol", self.tol)
        whole_number("max_iter", self.max_iter)
        rows, known = data_for_classification(self, X, y, sample_weight)
        classes = in_order(known, self.categories, y, None if rows.streamed else rows.y[:, 0])
        doubt = guessed_order(known, self.categories, y)
        if doubt is not None:
            warn_user(doubt, OrderWarning)
        place = np.array([classes.tolist().index(label) for label in known.tolist()], dtype=float)
        rows = rows.recoded(_in_their_order, place)
        start = self._start(classes, rows.shape[1])
        self.classes_ = classes
        self._fit_rows(rows, float(alpha), start)
        return self

    def inference(
        self, X: object, y: object = None, sample_weight: object = None
    ) -> OrdinalInference:
        """Return standard errors, tests, intervals and odds ratios, from the rows of the fit.

        Its method ``proportional_odds()`` tests the assumption that all thresholds share one w.
        With a penalty only covariance and intervals, which ignore its bias and say so.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, or the table. Weights are counts: weight 3 is three rows.

        Returns
        -------
        certus.inference.OrdinalInference

        Examples
        --------
        >>> import numpy as np
        >>> from certus.linear_model import OrdinalRegression
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 2))
        >>> y = np.digitize(X @ [2.0, -1.0] + rng.logistic(size=300), [-1.0, 1.0])
        >>> inference = OrdinalRegression().fit(X, y).inference(X, y)
        >>> inference.names, inference.standard_errors.round(2)
        (('x0', 'x1', '0|1', '1|2'), array([0.19, 0.15, 0.17, 0.17]))
        """
        return ordinal_inference(self, X, y, sample_weight)

    def _fit_rows(self, rows: Rows, alpha: float, start: Start) -> None:
        K, m = len(self.classes_), min(rows.shape)
        memory_for_gram(m + K, m + K, rows.threads)
        self._forget("_direction")
        problem: OrdinalProblem | None = None

        def run(start: Start, tol: float, on_step: OnStep, before: int) -> Fit:
            nonlocal problem
            problem = problem or ordinal_problem(rows, K, alpha)
            return minimize(problem, start, tol, self.max_iter, on_step, before)

        fit, certificate = self._solve_until_certified(
            run, rows, float(self.tol), self.max_iter, start
        )
        if alpha == 0:
            certificate = self._without_penalty(rows, fit, certificate)
        self._conclude(certificate, fit.stopped_at)

    def _without_penalty(self, rows: Rows, fit: Fit, certificate: Certificate) -> Certificate:
        """Warn of repeated columns; where there is no optimum, find a score that orders the
        classes."""
        if certificate.certified and fit.aliases is not None:
            warn_of_aliases(self, fit, rows.shape[0])
        finite = np.isfinite(fit.w).all() and np.isfinite(fit.b).all()
        if not certificate.certified and finite and self._monitor.stopped is None:
            direction = ordering_direction(
                rows, len(self.classes_), (fit.w, fit.b), fit.stopped_at is None
            )
            if direction is not None:
                self._direction = direction
                return certify(self, rows, self._certificate_tol(float(self.tol)))
        return certificate

    def _attributes(self, fit: Fit) -> dict[str, Any]:
        attributes = attributes_of(fit)
        del attributes["intercept_"]
        return {**attributes, "thresholds_": -fit.b}

    def _check(self, rows: Rows, tol: float) -> Certificate:
        return certify(self, rows, tol)

    # --- methods of fitted models ---

    def decision_function(self, X: object) -> np.ndarray:
        """Return xᵀw − c for two classes, positive for the second; for more, log P(class | x).

        ``latent`` returns the score xᵀw itself, to which the thresholds refer.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        above = scores(self, X)
        return above[:, 0] if above.shape[1] == 1 else self._log_proba(above)

    def latent(self, X: object) -> np.ndarray:
        """Return xᵀw, the score that all classes share.

        Where it is above ``thresholds_[k]``, a class above k has a probability of more than ½.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return scores(self, X)[:, 0] + self.thresholds_[0]

    def predict(self, X: object) -> np.ndarray:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        above = scores(self, X)  # checks first that the model is fitted
        return self.classes_[self._log_proba(above).argmax(axis=1)]

    def predict_proba(self, X: object) -> np.ndarray:
        """Return P(class | x), in the order of ``classes_``.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        above = scores(self, X)
        P = np.empty((len(above), len(self.classes_)))
        P[:, 0], P[:, -1] = expit(-above[:, 0]), expit(above[:, -1])
        # σ(a) − σ(b) = σ(a)σ(−b)(1 − e^{b−a}): no cancellation
        between = -np.expm1(-np.diff(self.thresholds_))
        P[:, 1:-1] = expit(-above[:, 1:]) * expit(above[:, :-1]) * between
        return P

    def predict_log_proba(self, X: object) -> np.ndarray:
        """Return log P(class | x), which is finite even where the probability underflows to 0.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._log_proba(scores(self, X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes without an order
        return tags

    def _log_proba(self, above: np.ndarray) -> np.ndarray:
        """Return log P(class | x) from the log-odds of being above each threshold."""
        logs = np.zeros((len(above), len(self.classes_)))
        logs[:, :-1] -= np.logaddexp(0.0, above)
        logs[:, 1:] -= np.logaddexp(0.0, -above)
        logs[:, 1:-1] += np.log(-np.expm1(-np.diff(self.thresholds_)))
        return logs


def _in_their_order(
    y: np.ndarray, s: np.ndarray | None, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    return place[y.astype(np.intp)], s
