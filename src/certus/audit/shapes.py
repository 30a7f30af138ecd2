"""Checks of fitted attributes: one that does not fit the rows is named before any computation.

coef_ has shape (p,) with one intercept, or (k, p) with k; a classifier's is (1, p) for two classes.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from .labels import Labels
from .types import FittedModel

if TYPE_CHECKING:
    from ..data.rows import Rows


# names of penalties in definitions, and in messages
PENALTIES = {
    "alpha": "the penalty alpha", "C": "C", "strength": "the strength of the penalty",
    "l1": "the factor of ‖w‖₁ (of alpha and l1_ratio)",
    "l2": "the factor of ‖w‖² (of alpha and l1_ratio)",
}  # fmt: skip
# raised by a reader that meets an attribute of an unexpected type or shape
READING_ERRORS = (AttributeError, TypeError, ValueError, LookupError, ArithmeticError)


def why_unreadable(model: object, error: Exception) -> str:
    """Return why a model cannot be checked: an attribute is missing, or not of the right kind."""
    if isinstance(error, AttributeError) and hasattr(type(error.obj), "fit"):
        return f"{type(error.obj).__name__} has no {error.name} any more: fit it again"
    return (
        f"an attribute of {type(model).__name__} is not as fit leaves it "
        f"({type(error).__name__}: {error}): fit it again. If that does not help, certus is at "
        "fault: please report it"
    )


def require_parameters(model: FittedModel) -> None:
    """Raise AttributeError if a constructor parameter is missing: scikit-learn's tools read all."""
    parameter_names = getattr(type(model), "_get_param_names", list)
    missing = [name for name in parameter_names() if not hasattr(model, name)]
    if missing:
        raise AttributeError(f"no {missing[0]}", name=missing[0], obj=model)


def require_coefficients(
    model: FittedModel, parameters: dict[str, Any], rows: "Rows", labels: Labels | None
) -> None:
    """Raise ValueError unless w (p, k) and b (k,) match the columns and the targets or classes."""
    w, b = parameters.get("w"), parameters.get("b")
    if w is None:
        return
    p, coef = rows.shape[1], np.shape(model.coef_)
    if len(coef) > 2 or w.ndim != 2 or len(w) != p:
        raise ValueError(f"coef_ has shape {coef}, and X has {p:,} columns: fit again")
    k, b_shape = w.shape[1], np.shape(vars(model).get("intercept_", 0.0))
    if labels is not None and k != _scores(labels, parameters):
        raise ValueError(
            f"coef_ has shape {coef}, and there are {len(labels.classes)} classes: fit again"
        )
    # for y of shape (n, 1) some models have coef_ (p,) and intercept_ (1,)
    flat = len(b_shape) == 1 or (len(b_shape) == 0 and len(coef) == 1)
    flat = flat or (len(b_shape) == 0 and not parameters.get("fit_intercept"))
    if b is not None and (not flat or (len(b_shape) == 1 and b_shape[0] not in (1, k))):
        raise ValueError(
            f"intercept_ has shape {b_shape} and coef_ {coef}: they do not fit together. Fit again"
        )


def require_penalties(parameters: dict[str, Any]) -> None:
    """Raise ValueError unless penalties are finite and ≥ 0; else the objective is unbounded."""
    factors = {name: parameters[name] for name in PENALTIES if name in parameters}
    penalty = parameters.get("penalty")
    if isinstance(penalty, dict):
        factors |= {name: penalty[name] for name in PENALTIES if name in penalty}
    for name, value in factors.items():
        values = np.asarray(value, dtype=float)
        good = np.isfinite(values) & (values > 0 if name == "C" else values >= 0)
        if not good.all():
            least = "above 0" if name == "C" else "0 or above"
            wrong = values[~good].ravel()[0]
            raise ValueError(
                f"{PENALTIES[name]} is {wrong:g}, and must be finite and {least}: fit again"
            )


def _scores(labels: Labels, parameters: dict[str, Any]) -> int:
    """Return the number of scores per row."""
    K = len(labels.classes)
    return 1 if K == 2 or "thresholds" in parameters else K
