"""Standard errors of a certified logistic fit; fits without a valid theory are refused."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...certificate import Certificate
from ...data.memory import memory_for_gram, memory_for_streamed
from ...data.validation import data_for_verify, one_of
from ...exceptions import InferenceError
from ...inference import LogisticInference
from ...inference.base import feature_names
from ...runtime.pool import blas_limiter
from ...solvers.inference.logistic import COVARIANCES, LogisticEstimates, infer_logistic
from ...solvers.inference.profile_likelihood import Profile
from .groups import n_groups_of, read_groups
from .linear import (
    design_of,
    require_certified_and_unedited,
    require_same_objective,
    require_same_rows,
)

if TYPE_CHECKING:
    from ..logistic import LogisticRegression


def logistic_inference(
    model: "LogisticRegression", X: object, y: object, sample_weight: object, cov: str,
    groups: object = None,
) -> LogisticInference:  # fmt: skip
    """Return the inference of a fitted LogisticRegression.

    All but its w and b is recomputed from the rows.
    """
    check_is_fitted(model)
    one_of("cov", cov, COVARIANCES)
    certificate = model.certificate_
    fitted = certificate.parameters
    _refuse_what_has_no_theory(certificate)
    if cov in ("HC2", "HC3") and len(model.classes_) > 2:
        raise InferenceError(
            f"cov={cov!r} divides by 1 − leverage, which is a number for two classes only: use "
            "cov='HC0' or 'HC1'"
        )
    require_certified_and_unedited(model)
    rows = data_for_verify(model, X, y, sample_weight)
    require_same_rows(certificate, rows)
    clusters = read_groups(groups, rows, cov)
    w, b, C, l2 = fitted["w"], fitted["b"], cast(float, fitted["C"]), fitted["l2"]
    n_classes, p = len(model.classes_), len(w)
    d = (p + 1) * (n_classes - 1)
    memory_for_gram(d + 1, d, rows.threads)
    if rows.streamed:
        memory_for_streamed(*rows.shape, rows.threads)
    with blas_limiter.for_work(rows.shape):
        estimates = infer_logistic(
            rows, w, b, n_classes, l2 / C, fitted["fit_intercept"], cov, clusters
        )
    objective = -C * estimates.log_likelihood + l2 / 2 * float(np.sum(w**2))
    require_same_objective(certificate, objective)
    names = feature_names(vars(model).get("feature_names_in_"), p, fitted["fit_intercept"])
    found = results(estimates, names, tuple(map(str, model.classes_)), l2 / C, cov)
    return replace(found, design=design_of(rows), n_groups=n_groups_of(clusters))


def _refuse_what_has_no_theory(certificate: Certificate) -> None:
    fitted = certificate.parameters
    if certificate.status == "no finite optimum":
        raise InferenceError(
            "no finite optimum: the classes can be separated, so coefficients grow without limit. "
            "Do not read the coefficients, odds ratios or p-values. See certificate_.explain()"
        )
    if fitted["l1"]:
        raise InferenceError(
            "with an L1 penalty the same rows select which coefficients are 0, and the usual "
            "standard errors ignore that. Fit with l1_ratio=0, or without a penalty (C=np.inf)"
        )
    if fitted.get("class_weight") is not None:
        raise InferenceError(
            "class_weight counts rows that do not exist: the objective is then not a likelihood, "
            "and the usual standard errors are wrong. Fit with class_weight=None; to predict the "
            "rare class more often, move the threshold"
        )
    if fitted.get("intercept_scaling") is not None:
        raise InferenceError(
            "the intercept is penalised (intercept_scaling), which shifts all coefficients. Fit "
            "with another solver"
        )


def results(
    estimates: LogisticEstimates,
    names: tuple[str, ...],
    classes: tuple[str, ...],
    alpha: float,
    cov: str,
) -> LogisticInference:
    two = len(classes) == 2
    profile = partial(Profile, estimates.likelihood, estimates.theta, estimates.basis)
    has_ratios = not alpha and cov == "classical"  # otherwise the rows are not needed any longer
    return LogisticInference(
        names=names,
        coef=estimates.coef[:, 0] if two else estimates.coef.copy(),
        standard_errors=estimates.standard_errors[:, 0] if two else estimates.standard_errors,
        covariance=estimates.covariance,
        n=int(estimates.n) if estimates.n.is_integer() else estimates.n,
        cov=cov,
        fit_intercept=estimates.likelihood.intercept,
        alpha=alpha,
        classes=classes,
        maximum=estimates.log_likelihood,
        null=estimates.null_log_likelihood,
        effective_parameters=estimates.effective_parameters if alpha else float(estimates.rank),
        make_profile=profile if has_ratios else None,
        factors=(estimates.factors,),
    )
