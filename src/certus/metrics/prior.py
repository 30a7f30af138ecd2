"""Correction of probabilities after class weights or resampling.

For a model trained where class k has the share ρ_k, and used where it has the share π_k:

    P(k | x) ∝ P_model(k | x)·π_k/ρ_k,      two classes: odds = odds_model·π(1 − ρ)/((1 − π)ρ)

Class weights c make ρ_k = c_k S_k/Σ_j c_j S_j, S_k the weight of class k's rows: with "balanced"
ρ_k = 1/K. The order of rows does not change, and the model's ½ becomes the threshold

    t/(1 − t) = π(1 − ρ)/((1 − π)ρ),      with balanced weights t = π.
"""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..base.collections import accept_collections
from ..data.streamed import StreamedTable
from ..data.streamed_answers import answers_to
from ..data.streamed_input import refuse_table, require_no_arrays_beside
from ..data.streamed_scores import accuracy
from ..runtime.refusals import refuses_in_one_frame
from ._priors import read_prior
from ._trained import FittedClassifier, decides_at_half, shares_of, shift_shares, trained_shares


class PriorCorrectedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier with probabilities corrected to the shares of classes in a population.

    P(k | x) ∝ P_model(k | x)·π_k/ρ_k, with π_k the share of class k in the population and ρ_k its
    share in the training data, class weights included. ``predict`` is the model's own: class
    weights and resampling still determine it, and ``threshold_`` is the threshold that they imply.
    For a model that is already fitted, use ``correct_prior``.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Fitted by ``fit``; its ``class_weight`` (or that of the last step of a pipeline) is read.
    prevalence : float, dict, sequence or None
        π: for two classes the share of the second of ``classes_``; else a share for each label (a
        dict) or for each of ``classes_``. None: the shares in y.
    trained_prevalence : float, dict, sequence or None
        ρ, in the same form. None: the shares in y, times the class weights.

    Attributes
    ----------
    estimator_ : classifier
        The fitted model.
    classes_ : (K,) array
    prevalence_, trained_prevalence_ : (K,) arrays
        π and ρ.
    threshold_ : float or None
        The corrected probability of the second class that corresponds to the model's ½, above which
        it predicts that class. None for more than two classes, and for models with their own
        threshold.
    n_features_in_ : int
    feature_names_in_ : (p,) array of str

    Examples
    --------
    >>> import numpy as np
    >>> from certus.linear_model import LogisticRegression
    >>> from certus.metrics import PriorCorrectedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = np.where(X[:, 0] + rng.logistic(size=4000) > 4, "yes", "no")
    >>> balanced = LogisticRegression(class_weight="balanced").fit(X, y)
    >>> honest = PriorCorrectedClassifier(LogisticRegression(class_weight="balanced")).fit(X, y)
    >>> for model in (balanced, honest):
    ...     print(round(float(model.predict_proba(X)[:, 1].mean()), 3))
    0.402
    0.029
    >>> round(float((y == "yes").mean()), 3), bool((honest.predict(X) == balanced.predict(X)).all())
    (0.029, True)
    """

    estimator_: FittedClassifier
    classes_: np.ndarray
    prevalence_: np.ndarray
    trained_prevalence_: np.ndarray
    threshold_: float | None
    _reads_rows = True  # X is passed to the model only

    def __init__(
        self, estimator: Any, prevalence: object = None, trained_prevalence: object = None
    ):
        self.estimator = estimator
        self.prevalence = prevalence
        self.trained_prevalence = trained_prevalence

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags  # X is passed to the model only
        return tags

    def fit(
        self, X: object, y: object = None, sample_weight: object = None
    ) -> "PriorCorrectedClassifier":
        """Fit the model, and compute the shares that were not given.

        Parameters
        ----------
        X : as the model takes it
        y : array-like of shape (n_samples,)
            None for ``certus.open_rows``, which brings targets and weights.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if isinstance(X, StreamedTable):
            if not getattr(self.estimator, "_reads_rows", False):
                refuse_table(self.estimator)
            require_no_arrays_beside(y, sample_weight)
        fit_params = {} if sample_weight is None else {"sample_weight": sample_weight}
        model = clone(self.estimator).fit(X, y, **fit_params)
        _require_probabilities(model)
        y = X if isinstance(X, StreamedTable) else y
        rho = self.trained_prevalence
        if rho is None:
            rho = trained_shares(model, y, sample_weight)
        pi = self.prevalence
        if pi is None:
            pi = shares_of(y, model, sample_weight)
        return self._set(model, pi, rho)

    def _set(self, model: FittedClassifier, pi: object, rho: object) -> "PriorCorrectedClassifier":
        self.classes_ = np.asarray(model.classes_)
        self.prevalence_ = read_prior("prevalence", pi, self.classes_)
        self.trained_prevalence_ = read_prior("trained_prevalence", rho, self.classes_)
        self.estimator_ = model
        self.threshold_ = None
        if len(self.classes_) == 2 and decides_at_half(model):
            self.threshold_ = float(expit(_shift(self.prevalence_, self.trained_prevalence_)))
        for name in ("n_features_in_", "feature_names_in_"):
            value = getattr(model, name, None)
            if value is not None:
                setattr(self, name, value)
        return self

    def predict_proba(self, X: object) -> np.ndarray:
        """Return P(k | x) in the population, (n_samples, n_classes).

        X may be ``certus.open_rows``, which is read block by block.
        """
        check_is_fitted(self)
        P = np.asarray(answers_to(self.estimator_, "predict_proba", X), dtype=float)
        P = P * (self.prevalence_ / self.trained_prevalence_)
        return P / P.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: object) -> np.ndarray:
        """Return log P(k | x)."""
        with np.errstate(divide="ignore"):  # log 0 is −inf
            return np.log(self.predict_proba(X))

    def predict(self, X: object) -> np.ndarray:
        """Predict as the model does."""
        check_is_fitted(self)
        return np.asarray(answers_to(self.estimator_, "predict", X))

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:
        """Return the accuracy; ``y`` None: X is ``certus.open_rows``, with its targets."""
        if isinstance(X, StreamedTable):
            return accuracy(self, X, y, sample_weight)
        share: float = super().score(X, y, sample_weight)
        return share


accept_collections(PriorCorrectedClassifier)


@refuses_in_one_frame
def correct_prior(
    model: FittedClassifier, prevalence: object, *, trained_prevalence: object = None,
    X: object = None, y: object = None, sample_weight: object = None,
) -> PriorCorrectedClassifier:  # fmt: skip
    """Correct the probabilities of a fitted classifier; its predicted classes do not change.

    The shares in the training data come from one of

    - ``trained_prevalence``: the share itself, 0.5 after resampling to equal classes;
    - ``y``: the labels that the model was fitted on (those after resampling), whose shares are
      multiplied by the model's ``class_weight``;
    - ``X``: rows drawn from the population, without labels; the shift is the one with which their
      mean probability is the prevalence. With ``y`` too, rows with any shares, which are weighted
      to those of the population. Two classes only; use rows that the model was not fitted on;
    - nothing, where the model has ``class_weight="balanced"``: all shares were equal.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``
        Any such model, also a pipeline or a search.
    prevalence : float, dict or sequence
        π: for two classes the share of the second of ``classes_``; else a share for each label (a
        dict) or for each of ``classes_``.
    trained_prevalence : float, dict or sequence, optional
        ρ, in the same form.
    X, y : optional
        As above. Either may be a table of ``certus.open_rows``: X is read block by block, with 16
        bytes a row in memory, and used with its target if it has one; of y only the weights of
        the classes are summed.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows of X and y.

    Returns
    -------
    PriorCorrectedClassifier
        Fitted. A clone of it keeps the model and the shift when it is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from certus.metrics import correct_prior
    >>> X = np.array([[-1.0], [0.0], [1.0], [1.0], [2.0], [3.0]])
    >>> y = np.array(["no", "no", "no", "yes", "yes", "yes"])  # as many of each
    >>> model = GaussianNB().fit(X, y)
    >>> honest = correct_prior(model, prevalence=0.1, y=y)  # but 'yes' is rare
    >>> model.predict_proba([[1.0]]).round(3), honest.predict_proba([[1.0]]).round(3)
    (array([[0.5, 0.5]]), array([[0.9, 0.1]]))
    >>> round(honest.threshold_, 3)
    0.1
    """
    check_is_fitted(model)
    _require_probabilities(model)
    classes = np.asarray(model.classes_)
    pi = read_prior("prevalence", prevalence, classes)
    if trained_prevalence is not None:
        if X is not None or y is not None:
            raise ValueError("give trained_prevalence, or rows to compute it from, not both")
        rho = read_prior("trained_prevalence", trained_prevalence, classes)
    elif X is not None:
        rho = shift_shares(model, pi, X, y, sample_weight)
    else:
        rho = trained_shares(model, y, sample_weight)
    shares = [dict(zip(classes.tolist(), share.tolist(), strict=True)) for share in (pi, rho)]
    corrected = PriorCorrectedClassifier(FrozenEstimator(model), *shares)
    return corrected._set(corrected.estimator, pi, rho)


def _shift(pi: np.ndarray, rho: np.ndarray) -> float:
    return float(np.log(pi[1] / pi[0]) - np.log(rho[1] / rho[0]))


def _require_probabilities(model: object) -> None:
    if not callable(getattr(model, "predict_proba", None)):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba: add it with "
            "sklearn.calibration.CalibratedClassifierCV, which calibrates to the rows that it is "
            "fitted on"
        )
