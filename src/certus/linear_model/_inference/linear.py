"""Standard errors of a certified linear fit from its own rows; anything else is refused."""

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...certificate import Certificate
from ...certificate.fingerprint import MAX_HASHED_ROWS, fingerprint
from ...data.memory import memory_for_gram, memory_for_streamed
from ...data.rows import Rows
from ...data.validation import data_for_verify, one_of
from ...exceptions import InferenceError
from ...inference import Inference
from ...inference.base import feature_names
from ...inference.fitted_columns import FittedColumns
from ...runtime.pool import blas_limiter
from ...solvers.inference.linear import COVARIANCES, LinearEstimates, infer
from .groups import n_groups_of, read_groups

if TYPE_CHECKING:
    from .._base import LinearRegressor
    from .._classifier import LinearClassifier

OBJECTIVE_RTOL = 1e-9  # rounding of the objective on the same rows, summed in another order


def linear_inference(
    model: "LinearRegressor", X: object, y: object, sample_weight: object, cov: str,
    groups: object = None,
) -> Inference:  # fmt: skip
    """Inference of a fitted LinearRegression or Ridge.

    The fitted w is used; everything else is recomputed from the rows.
    """
    check_is_fitted(model)
    one_of("cov", cov, COVARIANCES)
    certificate = model.certificate_
    fitted = certificate.parameters
    if fitted["positive"]:
        raise InferenceError(
            "with positive=True the same rows select which coefficients are 0, and usual standard "
            "errors ignore that. Fit with positive=False"
        )
    require_certified_and_unedited(model)
    rows = data_for_verify(model, X, y, sample_weight)
    require_same_rows(certificate, rows)
    clusters = read_groups(groups, rows, cov)
    w, k = fitted["w"], fitted["w"].shape[1]
    alpha = np.broadcast_to(np.ravel(fitted["alpha"]), (k,))
    p, fit_intercept = len(w), fitted["fit_intercept"]
    if rows.streamed:
        memory_for_streamed(*rows.shape, rows.threads)
    else:
        memory_for_gram(p + 1, p, rows.threads)
    with blas_limiter.for_work(rows.shape):
        estimates = infer(rows, w, alpha, fit_intercept, cov, clusters)
    objective = float(np.sum(estimates.rss) + np.sum((np.sqrt(alpha) * w) ** 2))
    require_same_objective(certificate, objective, float(np.sum(estimates.rss_error)))
    theta = np.vstack([fitted["b"], w]) if fit_intercept else w
    names = feature_names(vars(model).get("feature_names_in_"), p, fit_intercept)
    flat = model.coef_.ndim == 1
    return _results(theta, alpha, estimates, names, cov, rows, flat, n_groups_of(clusters))


def require_certified_and_unedited(model: "LinearRegressor | LinearClassifier") -> None:
    """Raise InferenceError unless the coefficients are the optimum, where the formulas hold."""
    certificate = model.certificate_
    if not certificate.certified:
        raise InferenceError(
            f"the fit is not certified ({certificate.status}): standard errors are those of the "
            "optimum. certus.inference(model, X, y) fits it again from here, up to the optimum; or "
            "see certificate_.explain()"
        )
    fitted = certificate.parameters
    w = np.atleast_2d(model.coef_).T
    b = np.ravel(model.intercept_)
    fitted_b = -fitted["thresholds"] if "thresholds" in fitted else fitted["b"]
    if w.shape != fitted["w"].shape or np.any(w != fitted["w"]) or np.any(b != fitted_b):
        raise InferenceError("coef_ or intercept_ was changed after the fit: fit again")


def require_same_rows(certificate: Certificate, rows: Rows) -> None:
    difference = certificate.fingerprint.differs(fingerprint(rows))
    if difference is not None:
        raise InferenceError(f"not the rows it was fitted on: {difference}")


def require_same_objective(
    certificate: Certificate, objective: float, rounding: float = 0.0
) -> None:
    """Raise InferenceError if the objective differs.

    This finds changes that the fingerprint, which samples rows, may have missed.
    """
    gap = certificate.gap if np.isfinite(certificate.gap) else 0.0
    rounding += OBJECTIVE_RTOL * abs(certificate.objective) + gap
    if abs(certificate.objective - objective) > rounding:
        raise InferenceError(
            "not the rows it was fitted on (or coef_ was changed): the objective on these rows "
            "differs from that of the fit. Give the X, y and sample_weight of the fit"
        )


def _results(
    theta: np.ndarray, alpha: np.ndarray, estimates: LinearEstimates, names: tuple[str, ...],
    cov: str, rows: Rows, flat: bool, n_groups: int | None,
) -> Inference:  # fmt: skip
    def target_shape(values: np.ndarray) -> Any:
        if not flat:
            return values.copy()
        # NumPy scalars, which divide by 0 without raising
        return values[:, 0] if values.ndim == 2 else values[0]

    log_weights = 0.0 if rows.s is None else rows.reduce_targets(_log_weights)[0]
    return Inference(
        names=names,
        coef=target_shape(theta),
        standard_errors=target_shape(estimates.standard_errors),
        covariance=estimates.covariance[0] if flat else estimates.covariance,
        rss=target_shape(estimates.rss),
        tss=target_shape(estimates.tss),
        degrees_of_freedom=target_shape(estimates.residual_df),
        effective_parameters=target_shape(estimates.parameters),
        n=estimates.n,
        cov=cov,
        alpha=target_shape(alpha),
        fit_intercept=len(names) > rows.shape[1],
        log_weights=log_weights,
        factors=tuple(estimates.factors),
        design=design_of(rows),
        n_groups=n_groups,
    )


def design_of(rows: Rows) -> FittedColumns:
    """Return hashes of the columns, targets and weights."""
    X, y, s = rows.sample_block(MAX_HASHED_ROWS)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    return FittedColumns(
        n_rows=rows.shape[0],
        targets="" if y is None else _hash(y),
        weights="" if s is None else _hash(s),
        columns=tuple(_hash(column) for column in np.asarray(X).T),
    )


def _hash(values: np.ndarray) -> str:
    return blake2b(np.ascontiguousarray(values, dtype=float).data, digest_size=12).hexdigest()


def _log_weights(_y: object, s: np.ndarray) -> tuple[float]:
    """Σ log s over the rows of positive weight."""
    return (float(np.log(s[s > 0]).sum()),)
