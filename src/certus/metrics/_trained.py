"""The shares ρ of classes that a fitted model was trained on, class weights included.

    ρ_k = c_k S_k/Σ_j c_j S_j,  S_k the weight of class k's rows, c_k its class weight

or, from rows of the population, the ρ with which their mean probability is the prevalence π.
"""

from typing import Any, Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline

from ..data.labels import class_weights, encode_as, named, read_labels
from ..data.streamed import StreamedTable
from ..data.streamed_answers import answers_to
from ..data.streamed_input import require_no_arrays_beside
from ..data.streamed_scores import class_totals, codes_of_table, targets_of_table
from ..data.validation import weights
from ..text.format import count
from ._priors import read_prior

THRESHOLD_CLASSES = (FixedThresholdClassifier, TunedThresholdClassifierCV)
BALANCED_WEIGHTS = (
    "balanced",
    "balanced_subsample",
)  # class weights that make all shares 1/K for any y


class FittedClassifier(Protocol):
    """A fitted classifier of any library, possibly wrapped in others."""

    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row."""
        ...

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class."""
        ...


def trained_shares(model: FittedClassifier, y: object, sample_weight: object) -> np.ndarray:
    """Return ρ from the model's parameters and the labels that it was fitted on."""
    classes = np.asarray(model.classes_)
    last, wrappers = _unwrapped(model)
    for name in ("priors", "class_prior"):  # of naive Bayes and discriminants
        stated = getattr(last, name, None)
        if stated is not None:
            return read_prior(name, stated, classes)
    c = getattr(last, "class_weight", None)
    if isinstance(c, str) and c in BALANCED_WEIGHTS:
        return np.full(len(classes), 1 / len(classes))
    if y is None:
        raise ValueError(
            "the shares of classes that the model was trained on are unknown: give "
            "trained_prevalence=, or y= the labels that it was fitted on, or X= rows of the "
            "population"
        )
    _require_plain(last, wrappers)
    shares = shares_of(y, model, sample_weight)
    if c is not None:
        shares = shares * class_weights(c, classes, np.arange(len(classes)), shares)
    return shares / shares.sum()


def _unwrapped(model: Any) -> tuple[Any, list[Any]]:
    """Return the classifier inside pipelines, searches and thresholds, and its wrappers."""
    wrappers: list[Any] = []
    while True:
        wrappers.append(model)
        if isinstance(model, Pipeline):
            wrappers += [step for _, step in model.steps[:-1]]
            model = model.steps[-1][1]
        elif getattr(model, "best_estimator_", None) is not None:
            model = model.best_estimator_
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        elif isinstance(model, THRESHOLD_CLASSES):
            model = model.estimator_
        else:
            return model, wrappers[:-1]


def decides_at_half(model: object) -> bool:
    """Return whether the model has no threshold other than ½."""
    return not any(isinstance(wrapper, THRESHOLD_CLASSES) for wrapper in _unwrapped(model)[1])


def _require_plain(last: Any, wrappers: list[Any]) -> None:
    """Raise where the shares in y are not those that the model was trained on."""
    sampler = next((w for w in wrappers if callable(getattr(w, "fit_resample", None))), None)
    if sampler is not None:
        raise ValueError(
            f"{type(sampler).__name__} resamples y before the model sees it: give "
            "trained_prevalence=, e.g. 0.5 if it makes classes equal"
        )
    if isinstance(last, CalibratedClassifierCV):  # calibrated to y, for any inner model
        return
    for name, value in last.get_params().items():
        if name.endswith("__class_weight") and value is not None:
            raise ValueError(
                f"{name}={value!r} is inside {type(last).__name__}: give trained_prevalence=, e.g. "
                "0.5 if it makes two classes equal"
            )


def shares_of(y: object, model: FittedClassifier, sample_weight: object) -> np.ndarray:
    """Return S_k/Σ_j S_j; of a table by one pass over its targets."""
    classes = np.asarray(model.classes_)
    if isinstance(y, StreamedTable):
        require_no_arrays_beside(None, sample_weight)
        total = class_totals(model, y)
    else:
        n = len(np.asarray(y))
        k = encode_as(read_labels(y, n)[0], classes)
        total = np.bincount(k, weights=weights(sample_weight, n), minlength=len(classes))
    for label, weight in zip(classes.tolist(), total, strict=True):
        if not weight > 0:
            raise ValueError(f"class {label!r} has no row in y: give the y of the fit")
    return total / total.sum()


def shift_shares(
    model: FittedClassifier, pi: np.ndarray, X: object, y: object, sample_weight: object
) -> np.ndarray:
    """Return ρ with which the mean probability of rows is π: a root of Σ s σ(z + shift)/Σs − π."""
    classes = np.asarray(model.classes_)
    if len(classes) != 2:
        raise ValueError(
            f"the classes are {named(classes)}, but a shift from X needs two: give "
            "trained_prevalence=, or y= alone"
        )
    p = np.asarray(answers_to(model, "predict_proba", X), dtype=float)
    s = _population_weights(model, pi, X, y, sample_weight)
    s = np.full(len(p), 1 / len(p)) if s is None else s / s.sum()
    with np.errstate(divide="ignore"):
        z = np.log(p[:, 1]) - np.log(p[:, 0])
    ones, zeros = float(s @ (z == np.inf)), float(s @ (z == -np.inf))
    if not ones < pi[1] < 1 - zeros:
        raise ValueError(
            f"the model gives {count(int(np.isinf(z).sum()), 'row')} of {len(p):,} a probability "
            f"of 0 or 1, which no shift changes: the mean cannot be {pi[1]:g}. Calibrate first "
            "(sklearn.calibration)"
        )
    bracket = np.abs(z[np.isfinite(z)]).max() + abs(logit(pi[1])) + 40.0  # beyond, σ is 0 or 1
    shift = brentq(lambda t: float(s @ expit(z + t)) - pi[1], -bracket, bracket, xtol=1e-14)
    rho = float(expit(logit(pi[1]) - shift))
    return np.array([1 - rho, rho])


def _population_weights(
    model: FittedClassifier, pi: np.ndarray, X: Any, y: object, sample_weight: object
) -> np.ndarray | None:
    """Return weights of rows with which labelled classes have the shares π; None: all equal."""
    classes = np.asarray(model.classes_)
    if isinstance(X, StreamedTable):
        require_no_arrays_beside(y, sample_weight)
        if X.n_targets == 0:
            return targets_of_table(X)[1]
        code, labels, s = codes_of_table(X)
        factor = (pi / shares_of(X, model, None))[encode_as(labels, classes)][code]
        return factor if s is None else s * factor
    n = np.shape(X)[0]
    s = weights(sample_weight, n)
    if y is None:
        return s
    factor = (pi / shares_of(y, model, s))[encode_as(read_labels(y, n)[0], classes)]
    return factor if s is None else s * factor
