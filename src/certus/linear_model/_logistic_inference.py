"""From a certified logistic fit and its rows to standard errors; everything else is refused."""

from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..certificate import Certificate
from ..data.validation import data_for_verify, memory_for_gram, one_of
from ..exceptions import InferenceError
from ..inference import LogisticInference
from ..inference.base import feature_names
from ..runtime.pool import blas_limiter
from ..solvers.inference.logistic import COVARIANCES, Estimates, infer_logistic
from ..solvers.inference.profile_likelihood import Profile
from ._inference import require_certified_and_unedited, require_same_objective, require_same_rows

if TYPE_CHECKING:
    from .logistic import LogisticRegression


def logistic_inference(
    model: "LogisticRegression", X: object, y: object, sample_weight: object, cov: str
) -> LogisticInference:
    """Of a fitted LogisticRegression. The solver's w and b are used; all else is recomputed."""
    check_is_fitted(model)
    one_of("cov", cov, COVARIANCES)
    certificate = model.certificate_
    fitted = certificate.parameters
    _refuse_what_has_no_theory(certificate)
    require_certified_and_unedited(model)
    rows = data_for_verify(model, X, y, sample_weight)
    require_same_rows(certificate, rows)
    w, b, C, l2 = fitted["w"], fitted["b"], cast(float, fitted["C"]), fitted["l2"]
    n_classes, p = len(model.classes_), len(w)
    memory_for_gram((p + 1) * (n_classes - 1) + 1, (p + 1) * (n_classes - 1), rows.threads)
    with blas_limiter.for_work(rows.shape):
        found = infer_logistic(rows, w, b, n_classes, l2 / C, fitted["fit_intercept"], cov)
    objective = -C * found.log_likelihood + l2 / 2 * float(np.sum(w**2))
    require_same_objective(certificate, objective)
    names = feature_names(vars(model).get("feature_names_in_"), p, fitted["fit_intercept"])
    return results(found, names, tuple(map(str, model.classes_)), l2 / C, cov)


def _refuse_what_has_no_theory(certificate: Certificate) -> None:
    fitted = certificate.parameters
    if certificate.status == "no finite optimum":
        raise InferenceError(
            "no finite optimum: the classes can be separated, so coefficients grow without limit. "
            "Do not read the coefficients, odds ratios or p-values. See certificate_.explain()"
        )
    if fitted["l1"]:
        raise InferenceError(
            "with an L1 penalty the same rows select which coefficients are 0, and usual standard "
            "errors ignore that. Fit with l1_ratio=0, or without a penalty (C=np.inf)"
        )
    if fitted.get("class_weight") is not None:
        raise InferenceError(
            "class_weight counts rows that do not exist: what is maximised is then no likelihood, "
            "and usual standard errors are wrong. Fit with class_weight=None; to predict the rare "
            "class more often, move the threshold"
        )
    if fitted.get("intercept_scaling") is not None:
        raise InferenceError(
            "the intercept is penalised (intercept_scaling), which shifts all coefficients. Fit "
            "with another solver"
        )


def results(
    found: Estimates, names: tuple[str, ...], classes: tuple[str, ...], alpha: float, cov: str
) -> LogisticInference:
    two = len(classes) == 2
    return LogisticInference(
        names=names,
        coef=found.coef[:, 0] if two else found.coef.copy(),
        standard_errors=found.standard_errors[:, 0] if two else found.standard_errors,
        covariance=found.covariance,
        n=int(found.n) if found.n.is_integer() else found.n,
        cov=cov,
        fit_intercept=found.likelihood.intercept,
        alpha=alpha,
        classes=classes,
        maximum=found.log_likelihood,
        null=found.null_log_likelihood,
        effective_parameters=found.effective_parameters if alpha else float(found.rank),
        make_profile=partial(Profile, found.likelihood, found.theta, found.basis),
    )
