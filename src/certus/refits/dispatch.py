"""refit(): the optimum of a claim's objective, from the claimed parameters.

Each function below takes the parameters of one claim and returns those that change.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..data.rows import Rows
from ..runtime.pool import blas_limiter
from .classifiers import hinge, huber, logistic, ordinal, softmax, squared_hinge
from .no_refit import NoRefitError
from .regressions import huber_regression, least_squares, log_link, penalized

Parameters = Mapping[str, Any]
_REFITS: dict[str, Callable[[Parameters, Rows, int], dict[str, Any]]] = {
    "least_squares": least_squares,
    "penalized": penalized,
    "huber_regression": huber_regression,
    "log_link": log_link,
    "logistic": logistic,
    "softmax": softmax,
    "ordinal": ordinal,
    "squared_hinge": squared_hinge,
    "huber": huber,
    "hinge": hinge,
}
WITNESSES = ("beta", "steps", "direction")  # of the model's own parameters, not of others
CONVEX = tuple(_REFITS)  # the claims that have a refit


def refit(definition: str, parameters: Parameters, rows: Rows, n_classes: int) -> dict[str, Any]:
    """Return the parameters at the optimum; ``rows`` have the targets of the definition.

    Raises ``NoRefitError`` with the reason if there is no solver for this objective.
    """
    if definition not in _REFITS:
        raise NoRefitError("certus has no solver that starts from its parameters")
    with blas_limiter.for_work(rows.shape):
        changed = _REFITS[definition](parameters, rows, n_classes)
    if not all(np.isfinite(value).all() for value in changed.values()):
        raise NoRefitError("the refit did not end at finite coefficients")
    kept = {name: value for name, value in parameters.items() if name not in WITNESSES}
    return {**kept, **changed}
