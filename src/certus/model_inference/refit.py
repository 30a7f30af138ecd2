"""Models at their optimum, fitted again from coefficients that are near it."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from ..exceptions import InferenceError
from ..linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)

REFITTABLE = {
    "LinearRegression": LinearRegression,
    "Ridge": Ridge,
    "LogisticRegression": LogisticRegression,
    "PoissonRegressor": PoissonRegressor,
    "GammaRegressor": GammaRegressor,
}
ITERATIVE = ("LogisticRegression", "PoissonRegressor", "GammaRegressor")
MAX_GAP = 1e-6  # of the log-likelihood: coefficients are √(2·gap) standard errors from the optimum
TOL = 1e-10
MAX_ITER = 1000
# settings of how to solve, not of what
SOLVING = ("solver", "tol", "max_iter", "warm_start", "verbose", "n_jobs", "dual", "random_state")
STATES = ("coef_", "intercept_", "thresholds_", "classes_")


def is_loose(model: Any, sample_weight: Any = None) -> bool:
    """Return whether a fit may be too far from its optimum for inference, and a refit may help."""
    certificate = vars(model).get("certificate_")
    if certificate is None or certificate.status == "no finite optimum":
        return False  # its own inference says why
    if not certificate.certified:
        return True
    if hasattr(model, "has_offset_"):  # its objective is a mean over the weights
        n = certificate.shape[0]
        S = n if sample_weight is None else np.sum(np.broadcast_to(sample_weight, n))
        return bool(certificate.gap * S > MAX_GAP)
    scale = getattr(model, "C", 1.0)
    scale = scale if np.isfinite(scale) else 1.0
    return hasattr(model, "classes_") and bool(certificate.gap > MAX_GAP * scale)


def refitted(model: Any, X: Any, y: Any, sample_weight: Any, **offsets: Any) -> Any:
    """Return a copy of a model of certus at its optimum."""
    parameters = model.get_params(deep=False)
    again = clone(model)
    settings: dict[str, Any] = {"tol": TOL, "max_iter": MAX_ITER, "warm_start": True, "verbose": 0}
    if parameters.get("solver") not in (None, "liblinear"):
        settings["solver"] = type(model)().get_params()["solver"]
    again.set_params(**{name: value for name, value in settings.items() if name in parameters})
    _start_at(again, model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its inference refuses what is not certified
        again.fit(X, y, sample_weight=sample_weight, **offsets)
    return again


def from_scikit_learn(model: Any) -> Any:
    """Return certus's model of the same objective, to be fitted from the same coefficients."""
    name = type(model).__name__
    if name not in REFITTABLE:
        raise InferenceError(
            f"there is no inference for scikit-learn's {name}: standard errors have a theory for "
            f"{', '.join(REFITTABLE)}"
        )
    twin = REFITTABLE[name]()
    known = twin.get_params()
    parameters = {
        key: value
        for key, value in model.get_params(deep=False).items()
        if key in known and key not in SOLVING
    }
    if name in ITERATIVE:
        parameters |= {"tol": TOL, "max_iter": MAX_ITER, "warm_start": True}
        _start_at(twin, model)
    if name == "LogisticRegression":
        parameters |= {"solver": "liblinear"} if model.solver == "liblinear" else {}
        if parameters.get("penalty", "deprecated") is None:
            parameters |= {"penalty": "deprecated", "C": np.inf}
    return twin.set_params(**parameters)


def _start_at(again: Any, model: Any) -> None:
    """Let a warm start find the coefficients of another model."""
    for name in STATES:
        value = vars(model).get(name)
        if value is not None:
            setattr(again, name, np.array(value))
