"""Tests and intervals of a certified fit of Firth's logistic regression."""

from functools import partial
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from ...certificate.facts import FirthFacts
from ...certificate.findings import facts_of
from ...data.memory import memory_for_gram
from ...data.validation import data_for_verify
from ...inference import FirthInference
from ...inference.base import feature_names
from ...runtime.pool import blas_limiter
from ...solvers.inference.firth import PenalizedLikelihood
from ...solvers.inference.logistic import infer_logistic
from ...solvers.inference.profile_likelihood import Profile
from .linear import require_certified_and_unedited, require_same_objective, require_same_rows

if TYPE_CHECKING:
    from ..firth import FirthLogisticRegression


def firth_inference(
    model: "FirthLogisticRegression", X: object, y: object, sample_weight: object
) -> FirthInference:
    """Return the inference of a fitted model; all but its w and b is recomputed from the rows."""
    check_is_fitted(model)
    certificate = model.certificate_
    require_certified_and_unedited(model)
    rows = data_for_verify(model, X, y, sample_weight)
    require_same_rows(certificate, rows)
    fitted = certificate.parameters
    w, b, intercept = fitted["w"], fitted["b"], fitted["fit_intercept"]
    memory_for_gram(len(w) + 2, len(w) + 1, rows.threads)
    with blas_limiter.for_work(rows.shape):
        inference_result = infer_logistic(rows, w, b, 2, 0.0, intercept)
        penalized = PenalizedLikelihood(inference_result.likelihood, inference_result.rank)
        penalized.require_digits(inference_result.theta)
        loss, null_loss = penalized.at(inference_result.theta).loss, penalized.without_columns()
    log_det = facts_of(certificate, FirthFacts).log_det
    require_same_objective(certificate, -inference_result.log_likelihood - log_det / 2)
    maximum = -certificate.objective
    return FirthInference(
        names=feature_names(vars(model).get("feature_names_in_"), len(w), intercept),
        coef=inference_result.coef[:, 0],
        standard_errors=inference_result.standard_errors[:, 0],
        covariance=inference_result.covariance,
        n=int(inference_result.n) if inference_result.n.is_integer() else inference_result.n,
        cov="classical",
        fit_intercept=intercept,
        alpha=0.0,
        classes=tuple(map(str, model.classes_)),
        maximum=maximum,
        null=maximum - (null_loss - loss),
        effective_parameters=float(inference_result.rank),
        make_profile=partial(Profile, penalized, inference_result.theta, inference_result.basis),
        factors=(inference_result.factors,),
    )
