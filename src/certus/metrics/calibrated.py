"""Probabilities from the scores of a classifier that has none, or none that are honest (Platt).

    two classes     p = 1/(1 + exp(−(a f + b)))
    more classes    p_k ∝ exp(a f_k + b_k)

a and b minimise the log loss over rows that the scores' models were not fitted on. Platt's targets
(S_k + 1)/(S_k + K) instead of 1 keep a finite where the scores separate the classes.
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ..base.collections import accept_collections
from ..certificate import Certificate
from ..data.labels import encode_as, read_labels, require_two_classes
from ..data.streamed import StreamedTable
from ..data.streamed_answers import answers_to
from ..data.streamed_input import refuse_table, require_no_arrays_beside
from ..data.streamed_ranges import TableRanges, folds_of_table
from ..data.streamed_scores import accuracy, codes_of_table
from ..data.types import CV
from ..data.validation import require_target, weights

RIDGE = 1e-6  # keeps b finite where a class has no weight


class CalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""A classifier whose scores are turned into probabilities by Platt's method.

    p = 1/(1 + exp(−(a f(x) + b))), or with more classes p_k ∝ exp(a f_k(x) + b_k); a and b minimise
    the log loss of rows that were left out of the fits of their scores. f is the model's
    ``decision_function``; without one, the log-odds of its shares of votes.

    Parameters
    ----------
    estimator : classifier
        Fitted on all rows by ``fit``.
    slope : float or None, default=None
        a. None: it is estimated together with b.
    intercept : float, sequence of K floats, or None, default=None
        b. Given together with ``slope``: nothing is estimated, and ``cv`` has no effect.
    cv : int, splitter or iterable, default=5
        Folds by which rows are left out; stratified if a number. Those of a table of
        ``certus.open_rows`` are consecutive rows: a number, or a ``KFold`` that does not shuffle.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows.
    slope_ : float
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray of shape (K,)
    certificate_ : Certificate
        That of ``estimator_``, of a certus estimator. a and b are not part of it.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines. Advances in Large Margin
    Classifiers, 61–74.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.metrics import CalibratedClassifier
    >>> from certus.svm import LSSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = np.where(X[:, 0] + rng.logistic(size=500) > 1, "yes", "no")
    >>> model = CalibratedClassifier(LSSVC(C=0.1)).fit(X, y)
    >>> P = model.predict_proba(X)
    >>> bool(abs(P[:, 1].mean() - (y == "yes").mean()) < 0.02)  # right on average
    True
    """

    estimator_: Any
    slope_: float
    intercept_: np.ndarray
    classes_: np.ndarray
    _reads_rows = True  # X is passed to the model only

    def __init__(
        self, estimator: Any, *, slope: float | None = None, intercept: object = None, cv: CV = 5
    ):
        self.estimator = estimator
        self.slope = slope
        self.intercept = intercept
        self.cv = cv

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags  # X is passed to the model only
        return tags

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the fitted model."""
        certificate: Certificate = self.estimator_.certificate_
        return certificate

    def fit(
        self, X: object, y: object = None, sample_weight: object = None
    ) -> "CalibratedClassifier":
        """Fit the model, and a and b where they were not given.

        Parameters
        ----------
        X : as the model takes it
            Of ``certus.open_rows`` the scores of left-out rows are in memory while a and b are
            found: about 100 bytes a row and class.
        y : array-like of shape (n_samples,)
            None for ``certus.open_rows``, which brings targets and weights.
        sample_weight : array-like of shape (n_samples,), optional
            For the model and for the log loss.

        Returns
        -------
        self
        """
        k, classes, labels, s = self._read(X, y, sample_weight)
        require_two_classes(classes, len(k))
        if (self.slope is None) != (self.intercept is None):
            raise ValueError("give slope and intercept together, or neither: they belong together")
        if self.slope is None:
            self.slope_, self.intercept_ = calibration(self._left_out(X, labels, s), k, s)
        else:
            self.slope_ = float(self.slope)
            self.intercept_ = np.atleast_1d(np.asarray(self.intercept, dtype=float))
            q = 1 if len(classes) == 2 else len(classes)
            if self.intercept_.shape != (q,):
                raise ValueError(
                    f"intercept has {self.intercept_.size} values: {q} needed for "
                    f"{len(classes)} classes"
                )
        self.estimator_ = self._fitted(X, labels, s)
        self.classes_ = np.asarray(self.estimator_.classes_)
        for name in ("n_features_in_", "feature_names_in_"):
            value = getattr(self.estimator_, name, None)
            if value is not None:
                setattr(self, name, value)
        return self

    def _read(self, X: object, y: object, sample_weight: object) -> tuple[Any, ...]:
        """Return indices of classes, the classes, labels (None: of a table) and weights."""
        if isinstance(X, StreamedTable):
            if not getattr(self.estimator, "_reads_rows", False):
                refuse_table(self.estimator)
            require_no_arrays_beside(y, sample_weight)
            k, classes, s = codes_of_table(X)
            return k, classes, None, s
        require_target(self, y)
        labels, _ = read_labels(y, len(np.asarray(y)))
        classes = np.unique(labels)
        return encode_as(labels, classes), classes, labels, weights(sample_weight, len(labels))

    def _fitted(self, X: object, y: Any, s: np.ndarray | None) -> Any:
        model = clone(self.estimator)
        if isinstance(X, StreamedTable):
            return model.fit(X)
        if s is None:
            return model.fit(X, y)
        if not has_fit_parameter(model, "sample_weight"):
            raise TypeError(f"{type(model).__name__} takes no weights")
        return model.fit(X, y, sample_weight=s)

    def _left_out(self, X: Any, y: Any, s: np.ndarray | None) -> np.ndarray:
        """Scores of each row by a model that was fitted without it."""
        found: np.ndarray | None = None
        if isinstance(X, StreamedTable):
            n, parts = X.shape[0], []
            for fold in folds_of_table(self.cv, X):
                ranges = [(0, fold.start), (fold.stop, n)]
                model = self._fitted(TableRanges(X, ranges), None, None)
                parts.append(scores_of(model, TableRanges(X, [(fold.start, fold.stop)])))
            return np.concatenate(parts)
        for train, test in check_cv(self.cv, y, classifier=True).split(X, y):
            model = self._fitted(_taken(X, train), y[train], None if s is None else s[train])
            f = scores_of(model, _taken(X, test))
            if found is None:
                found = np.zeros((len(y), *f.shape[1:]))
            found[test] = f
        assert found is not None
        return found

    def predict_proba(self, X: object) -> np.ndarray:
        """Return P(k | x), (n_samples, n_classes); of ``certus.open_rows`` block by block."""
        check_is_fitted(self)
        return probabilities(scores_of(self.estimator_, X), self.slope_, self.intercept_)

    def predict(self, X: object) -> np.ndarray:
        """Predict the class with the largest probability."""
        P = self.predict_proba(X)
        return np.asarray(self.classes_[P.argmax(axis=1)])

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:
        """Return the accuracy; ``y`` None: X is ``certus.open_rows``, with its targets."""
        if isinstance(X, StreamedTable):
            return accuracy(self, X, y, sample_weight)
        share: float = super().score(X, y, sample_weight)
        return share


accept_collections(CalibratedClassifier)


def scores_of(model: Any, X: object) -> np.ndarray:
    """Scores (n,) of the second of two classes, or (n, K)."""
    if hasattr(model, "decision_function"):
        return np.asarray(answers_to(model, "decision_function", X), dtype=float)
    P = np.asarray(answers_to(model, "predict_proba", X), dtype=float)
    return share_scores(P, float(getattr(model, "n_neighbors", 1 / np.finfo(float).eps)))


def share_scores(P: np.ndarray, n_voters: float) -> np.ndarray:
    """Scores of shares of votes: log((n p + ½)/(n + K/2)); two classes: the log-odds of the second.

    Half a vote for each class keeps the score of a share of 0 finite.
    """
    logs = np.log((n_voters * P + 0.5) / (n_voters + 0.5 * P.shape[-1]))
    return logs[..., 1] - logs[..., 0] if P.shape[-1] == 2 else logs


def probabilities(f: np.ndarray, a: float, b: np.ndarray) -> np.ndarray:
    """P (n, K) of scores: (n,) of two classes, (n, K) of more."""
    if f.ndim == 1:
        z = a * f + b[0]
        return np.exp(-np.logaddexp(0, np.stack([z, -z], axis=1)))
    return np.exp(log_softmax(a * f + b, axis=1))


def calibration(f: np.ndarray, k: np.ndarray, s: np.ndarray | None) -> tuple[float, np.ndarray]:
    """a ≥ 0 and b that minimise the log loss of scores f with Platt's targets.

    ``k``: indices of the classes; scores are (n,) for two classes, else (n, K).
    """
    s = np.ones(len(k)) if s is None else s
    K = 2 if f.ndim == 1 else f.shape[1]
    scale = float(f.std()) or 1.0
    F = np.stack([np.zeros(len(f)), f / scale], axis=1) if f.ndim == 1 else f / scale
    total = np.bincount(k, weights=s, minlength=K)
    own, other = (total + 1) / (total + K), 1 / (total + K)
    T = np.where(np.arange(K) == k[:, None], own[k][:, None], other[k][:, None])

    def loss(v: np.ndarray) -> tuple[float, np.ndarray]:
        logs = log_softmax(v[0] * F + v[1:], axis=1)
        residual = s[:, None] * (np.exp(logs) - T)
        slope = np.r_[np.sum(residual * F), residual.sum(axis=0)] + RIDGE * np.r_[0.0, v[1:]]
        return float(-np.sum(s[:, None] * T * logs) + RIDGE / 2 * v[1:] @ v[1:]), slope

    start = np.r_[1.0, np.log((total + 1) / (s.sum() + K))]
    bounds = [(0.0, None), *[(None, None)] * K]
    v = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds,
                 options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-9}).x  # fmt: skip
    b = np.array([v[2] - v[1]]) if f.ndim == 1 else v[1:] - v[1:].mean()
    return float(v[0]) / scale, b


def _taken(X: Any, rows: np.ndarray) -> Any:
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)
