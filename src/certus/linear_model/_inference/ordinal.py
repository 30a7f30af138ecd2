"""Standard errors, intervals and Brant's test of a certified ordinal regression."""

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.memory import memory_for_gram, memory_for_streamed
from ...data.validation import data_for_verify
from ...exceptions import InferenceError
from ...inference import OrdinalInference
from ...inference.base import feature_names
from ...runtime.pool import blas_limiter
from ...solvers.inference.brant import fit_binary_models
from ...solvers.inference.ordinal import OrdinalEstimates, infer_ordinal
from ...solvers.inference.profile_likelihood import Profile
from .linear import (
    design_of,
    require_certified_and_unedited,
    require_same_objective,
    require_same_rows,
)

if TYPE_CHECKING:
    from ..ordinal import OrdinalRegression


def ordinal_inference(
    model: "OrdinalRegression", X: object, y: object, sample_weight: object
) -> OrdinalInference:
    """Return the inference of a fitted model; all but its w and c is recomputed from the rows."""
    check_is_fitted(model)
    certificate = model.certificate_
    if certificate.status == "no finite optimum":
        raise InferenceError(
            "no finite optimum: some score puts the rows in the order of their classes, so "
            "coefficients grow without limit. Do not read the coefficients, odds ratios or "
            "p-values. See certificate_.explain()"
        )
    require_certified_and_unedited(model)
    rows = data_for_verify(model, X, y, sample_weight)
    require_same_rows(certificate, rows)
    fitted = certificate.parameters
    w, thresholds, alpha = fitted["w"][:, 0], fitted["thresholds"], float(fitted["alpha"])
    side = len(w) + len(thresholds)
    memory_for_gram(side + 1, side, rows.threads)
    if rows.streamed:
        memory_for_streamed(*rows.shape, rows.threads)
    with blas_limiter.for_work(rows.shape):
        estimates = infer_ordinal(rows, w, thresholds, alpha)
    objective = -estimates.log_likelihood + alpha / 2 * float(w @ w)
    require_same_objective(certificate, objective)
    classes = tuple(map(str, model.classes_))
    between = (f"{low}|{high}" for low, high in pairwise(classes))
    features = feature_names(vars(model).get("feature_names_in_"), len(w), False)
    return OrdinalInference(
        names=(*features, *between),
        coef=np.concatenate([w, thresholds]),
        standard_errors=estimates.standard_errors,
        covariance=estimates.covariance,
        n=int(estimates.n) if estimates.n.is_integer() else estimates.n,
        cov="classical",
        fit_intercept=False,
        alpha=alpha,
        classes=classes,
        maximum=estimates.log_likelihood,
        null=estimates.null_log_likelihood,
        effective_parameters=estimates.effective_parameters if alpha else float(side),
        make_profile=None if alpha else partial(
            Profile, estimates.likelihood, estimates.theta, estimates.basis
        ),
        make_slopes=None if alpha else partial(_slopes, estimates, classes),
        factors=(estimates.factors,),
        design=design_of(rows),
    )  # fmt: skip


def _slopes(estimates: OrdinalEstimates, classes: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    likelihood = estimates.likelihood
    with blas_limiter.for_work(likelihood.rows.shape):
        found = fit_binary_models(likelihood.rows, likelihood.coordinates, len(classes), classes)
    return found.slopes, found.covariance
