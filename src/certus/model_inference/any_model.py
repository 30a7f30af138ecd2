"""Standard errors of a model inside pipelines and searches, by certus or by scikit-learn.

The rows pass through the fitted steps of the pipeline, and the results bear the names of the
columns that come out. Standard errors are those of the optimum: a model that is not there is fitted
again, starting from its own coefficients, and a remark below every table says how far away it was.
"""

from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..certificate import verify
from ..exceptions import CannotVerifyError, InferenceError
from ..inference.base import Estimated
from ..text.format import listed
from .refit import REFITTABLE, from_scikit_learn, is_loose, refitted
from .walk import Walked, walk

MAX_UNMENTIONED_DISTANCE = 0.01  # standard errors: less than the digits that tables show


def infer(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    cov: str = "classical",
    groups: Any = None,
    offset: Any = None,
    exposure: Any = None,
) -> Estimated:
    """Return standard errors, tests and intervals of a fitted model; see ``certus.inference``."""
    walked = walk(model, X, y)
    inner = walked.model
    options: dict[str, Any] = {"sample_weight": sample_weight}
    options |= {"cov": cov} if cov != "classical" else {}
    options |= {"groups": groups} if groups is not None else {}
    offsets = {"offset": offset, "exposure": exposure}
    offsets = {name: value for name, value in offsets.items() if value is not None}
    _require_offsets(inner, offsets)
    options |= offsets
    if type(inner).__module__.startswith("sklearn."):
        return _of_scikit_learn(walked, options)
    if not (isinstance(inner, BaseEstimator) and hasattr(inner, "inference")):
        raise InferenceError(
            f"there is no inference for {type(inner).__name__}: standard errors have a theory for "
            f"the linear models of certus, and for scikit-learn's {', '.join(REFITTABLE)}"
        )
    check_is_fitted(inner)
    _require_covariance(inner, cov)
    if not is_loose(inner, sample_weight):
        return _named(inner.inference(walked.X, walked.y, **options), walked)
    again = refitted(inner, walked.X, walked.y, sample_weight, **offsets)
    found = again.inference(walked.X, walked.y, **options)
    distance = _distance(inner, found)
    if inner.certificate_.certified and distance <= MAX_UNMENTIONED_DISTANCE:
        return _named(found, walked)
    return _named(found, walked, _refit_remark("the fit", distance))


def _require_covariance(model: Any, cov: str) -> None:
    """Refuse a covariance that the model's own ``inference`` does not offer."""
    parameters = signature(model.inference).parameters
    if cov != "classical" and not {"cov", "kwargs"} & set(parameters):
        raise InferenceError(
            f"{type(model).__name__} has classical standard errors only: leave cov={cov!r} out"
        )


def _require_offsets(model: Any, offsets: dict[str, Any]) -> None:
    """Refuse offsets of a model that was fitted without any."""
    if offsets and not getattr(model, "has_offset_", False):
        name = type(model).__name__
        raise InferenceError(
            f"this {name} was fitted without an offset: leave {listed([*offsets])} out"
        )


def _of_scikit_learn(walked: Walked, options: dict[str, Any]) -> Estimated:
    """Return the inference of certus's model at the optimum of scikit-learn's."""
    inner, X, y, s = walked.model, walked.X, walked.y, options["sample_weight"]
    name = f"scikit-learn's {type(inner).__name__}"
    check_is_fitted(inner)
    twin = from_scikit_learn(inner)
    try:
        certified = verify(inner, X, y, s).certified
    except CannotVerifyError as error:
        raise InferenceError(f"{name}: {error}") from error
    twin.fit(X, y, sample_weight=s)
    found = twin.inference(X, y, **options)
    distance = _distance(inner, found)
    if certified and distance <= MAX_UNMENTIONED_DISTANCE:
        return _named(found, walked, f"{name}, proven optimal")
    return _named(found, walked, _refit_remark(name, distance))


def _named(found: Estimated, walked: Walked, *remarks: str) -> Estimated:
    """Return results with the names of the pipeline's columns, its steps and remarks."""
    names = found.names
    if walked.names is not None and len(walked.names) == len(found._feature_names):
        names = found._with_features(walked.names)
    return replace(
        found,
        names=names,
        prepare=walked.steps if walked.steps.pipelines else None,
        remarks=(*found.remarks, *walked.remarks, *remarks),
    )


def _refit_remark(what: str, distance: float) -> str:
    return (
        f"{what} was not at the optimum: its coefficients are up to {distance:.1g} standard errors "
        "away. These are the results of a refit, which started there"
    )


def _distance(model: Any, found: Estimated) -> float:
    """Return the largest distance of a model's slopes from the optimum, in standard errors."""
    w = np.atleast_2d(model.coef_).T
    if len(getattr(found, "classes", ())) > 2 and w.shape[1] > 1:  # relative to the first class
        w = w[:, 1:] - w[:, :1]
    of_slopes = slice(int(found.fit_intercept), int(found.fit_intercept) + len(w))
    best, errors = (
        values.reshape(len(found.names), -1)[of_slopes]
        for values in (found.coef, found.standard_errors)
    )
    return float(np.nanmax(np.abs(w - best) / errors, initial=0.0))
