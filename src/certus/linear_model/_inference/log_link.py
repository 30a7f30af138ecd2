"""Standard errors of a certified Poisson or Gamma fit; fits without a valid theory are refused."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...certificate.offsets import with_offsets
from ...data.memory import memory_for_gram, memory_for_streamed
from ...data.validation import data_for_verify, one_of
from ...exceptions import InferenceError
from ...inference import LogLinkInference
from ...inference.base import feature_names
from ...runtime.pool import blas_limiter
from ...solvers.inference.log_link import COVARIANCES, infer_log_link
from .groups import n_groups_of, read_groups
from .linear import (
    design_of,
    require_certified_and_unedited,
    require_same_objective,
    require_same_rows,
)


def log_link_inference(
    model: Any, X: object, y: object, sample_weight: object, cov: str,
    offset: object, exposure: object, groups: object = None,
) -> LogLinkInference:  # fmt: skip
    """Return the inference of a fitted model; all but its w and b is recomputed from the rows."""
    check_is_fitted(model)
    one_of("cov", cov, COVARIANCES)
    certificate = model.certificate_
    fitted = certificate.parameters
    if certificate.status == "no finite optimum":
        raise InferenceError(
            "no finite optimum: some means fall without limit, and coefficients with them. Do not "
            "read the coefficients, rate ratios or p-values. See certificate_.explain()"
        )
    if fitted["l1"]:
        raise InferenceError(
            "with an L1 penalty the same rows select which coefficients are 0, and the usual "
            "standard errors ignore that. Fit with l1_ratio=0, or without a penalty (alpha=0)"
        )
    require_certified_and_unedited(model)
    rows = with_offsets(data_for_verify(model, X, y, sample_weight), offset, exposure)
    require_same_rows(certificate, rows)
    if rows.y.shape[1] != 1 + model.has_offset_:
        raise InferenceError("give the offset or exposure of the fit, and none where it had none")
    clusters = read_groups(groups, rows, cov)
    w, b, p = fitted["w"][:, 0], float(fitted["b"][0]), len(fitted["w"])
    S = rows.S
    memory_for_gram(p + 1, p, rows.threads)
    if rows.streamed:
        memory_for_streamed(*rows.shape, rows.threads)
    with blas_limiter.for_work(rows.shape):
        found = infer_log_link(
            rows, fitted["family"], model._loss, w, b, fitted["l2"] * S, fitted["fit_intercept"],
            cov, model._null(rows, fitted["fit_intercept"]), clusters,
        )  # fmt: skip
    objective = found.deviance / (2 * S) + fitted["l2"] / 2 * float(w @ w)
    require_same_objective(certificate, objective)
    names = feature_names(vars(model).get("feature_names_in_"), p, fitted["fit_intercept"])
    return LogLinkInference(
        names=names,
        coef=np.append(b, w) if fitted["fit_intercept"] else w.copy(),
        standard_errors=found.standard_errors,
        covariance=found.covariance,
        n=int(found.n) if found.n.is_integer() else found.n,
        cov=cov,
        fit_intercept=fitted["fit_intercept"],
        alpha=fitted["l2"] * S,
        family=fitted["family"],
        rank=found.rank,
        effective_parameters=found.effective_parameters,
        deviance=found.deviance,
        null_deviance=found.null_deviance,
        pearson_chi2=found.pearson_chi2,
        maximum=found.log_likelihood,
        factors=(found.factors,),
        design=design_of(rows),
        n_groups=n_groups_of(clusters),
    )
