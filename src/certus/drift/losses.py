"""The loss of every row under given parameters, without the penalty.

z = xᵀw + b

squares       Σ_t (y_t − z_t)²
logistic      log(1 + exp(−m)), m = ±z; one score for each class against the rest: their sum
softmax       log Σ_k exp(z_k) − z_y
ordinal       −log(σ(c_y − z) − σ(c_{y−1} − z))
hinge         [1 − m]₊, or its square
log link      half the deviance d(y, exp(o + z))/2 of counts or amounts, o the offset
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..audit import Reading
from ..data.rows import Rows

Parameters = dict[str, Any]


class NamedLoss(NamedTuple):
    """A loss of rows: its name, and its values from scores, targets and parameters."""

    name: str
    of_rows: Callable[[np.ndarray, np.ndarray, Parameters], np.ndarray]


def _squares(z: np.ndarray, y: np.ndarray, _p: Parameters) -> np.ndarray:
    return np.asarray(((y - z) ** 2).sum(axis=1))


def _margins(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Margins m (n, k) of one score for two classes, else of one for each class."""
    first = 1 if z.shape[1] == 1 else 0
    return np.where(y[:, :1] == np.arange(first, first + z.shape[1]), z, -z)


def _log_one_plus_exp(z: np.ndarray) -> np.ndarray:
    return np.asarray(np.logaddexp(0.0, z))


def _logistic(z: np.ndarray, y: np.ndarray, _p: Parameters) -> np.ndarray:
    return np.asarray(_log_one_plus_exp(-_margins(z, y)).sum(axis=1))


def _softmax(z: np.ndarray, y: np.ndarray, _p: Parameters) -> np.ndarray:
    own = np.take_along_axis(z, y[:, :1].astype(np.intp), axis=1)[:, 0]
    return np.asarray(np.logaddexp.reduce(z, axis=1) - own)


def _ordinal(z: np.ndarray, y: np.ndarray, p: Parameters) -> np.ndarray:
    """σ(u) − σ(v) = σ(u) σ(−v) (1 − e^{v−u}), without cancellation."""
    edges = np.concatenate([[-np.inf], np.asarray(p["thresholds"], dtype=float), [np.inf]])
    k = y[:, 0].astype(np.intp)
    u, v = edges[k + 1] - z[:, 0], edges[k] - z[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):  # thresholds out of order: no likelihood
        loss = _log_one_plus_exp(-u) + _log_one_plus_exp(v) - np.log(-np.expm1(v - u))
    return np.where(np.isnan(loss), np.inf, loss)


def _hinge(z: np.ndarray, y: np.ndarray, _p: Parameters) -> np.ndarray:
    return np.asarray(np.maximum(1 - _margins(z, y), 0.0).sum(axis=1))


def _squared_hinge(z: np.ndarray, y: np.ndarray, _p: Parameters) -> np.ndarray:
    return np.asarray((np.maximum(1 - _margins(z, y), 0.0) ** 2).sum(axis=1))


def _half_deviance(z: np.ndarray, y: np.ndarray, p: Parameters) -> np.ndarray:
    eta, y = z[:, 0] + y[:, 1:].sum(axis=1), y[:, 0]
    mean = np.exp(eta)
    if p["family"] == "poisson":
        return np.asarray(y * (np.log(np.where(y > 0, y, 1.0)) - eta) - y + mean)
    return np.asarray(eta - np.log(y) + y / mean - 1)


LOSSES = {
    "least_squares": NamedLoss("mean squared error", _squares),
    "penalized": NamedLoss("mean squared error", _squares),
    "logistic": NamedLoss("log loss", _logistic),
    "softmax": NamedLoss("log loss", _softmax),
    "ordinal": NamedLoss("log loss", _ordinal),
    "hinge": NamedLoss("hinge loss", _hinge),
    "squared_hinge": NamedLoss("squared hinge loss", _squared_hinge),
    "log_link": NamedLoss("half deviance", _half_deviance),
}


def row_losses(reading: Reading, parameters: Parameters, defined: Rows) -> np.ndarray:
    """Return ℓ of every row (n,); ``defined``: rows with the targets of the definition."""
    w = np.asarray(parameters["w"], dtype=float)
    b = np.zeros(w.shape[1]) if "thresholds" in parameters else np.asarray(parameters["b"])
    z = defined.map(_scores, np.empty((defined.shape[0], w.shape[1])), w, b)
    with np.errstate(over="ignore"):  # an infinite loss is one
        return LOSSES[reading.definition].of_rows(z, np.asarray(defined.y), parameters)


def _scores(X: Any, _y: object, _s: object, w: np.ndarray, b: np.ndarray) -> Any:
    return X @ w + b
