"""PoissonRegressor and GammaRegressor of certus and scikit-learn: mean deviance plus a penalty.

    F(w, b) = 1/(2S) Σ_i s_i d(y_i, exp(o_i + x_iᵀw + b)) + αl‖w‖₁ + α(1 − l)/2 ‖w‖²

S is the sum of the weights, d the deviance of one target. scikit-learn's have no offset o, and
l = 0.
"""

from typing import TYPE_CHECKING, Any

from .linear import _coefficients
from .penalized import _elastic_net_words, _iteration
from .types import FittedModel

if TYPE_CHECKING:
    from ..data.rows import Rows

FORMULA = "1/(2{D}) Σ sᵢ d(yᵢ, exp({z})){penalty}, d the {family} deviance"
FAMILY_NAMES = {"poisson": "Poisson", "gamma": "gamma"}


def read_poisson(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _read(model, rows, "poisson")


def read_gamma(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _read(model, rows, "gamma")


def _read(model: FittedModel, rows: "Rows", family: str) -> dict[str, Any]:
    has_offset = bool(vars(model).get("has_offset_", False))
    given = rows.y is not None and rows.y.shape[1] > 1
    if has_offset and not given:
        raise ValueError(
            f"this {type(model).__name__} was fitted with an offset or an exposure: give it as "
            "well (offset=… or exposure=…)"
        )
    if given and not has_offset:
        raise ValueError(
            f"this {type(model).__name__} was fitted without an offset: leave offset and "
            "exposure out"
        )
    alpha, ratio = float(model.alpha), float(vars(model).get("l1_ratio", 0.0))
    l1, l2 = alpha * ratio, alpha * (1 - ratio)
    coefficients = _coefficients(model)
    score = ["oᵢ"] * has_offset + ["xᵢᵀw"] + ["b"] * coefficients["fit_intercept"]
    weighted = rows.s is not None
    reading: dict[str, Any] = {
        "definition": "log_link",
        "formula": FORMULA.format(
            D="Σsᵢ" if weighted else "n", z=" + ".join(score), family=FAMILY_NAMES[family],
            penalty=_elastic_net_words(l1, l2, False)[0],
        ),
        "parameters": {
            "family": family, **coefficients, "l1": l1, "l2": l2, "offset": has_offset,
        },
        "iteration": _iteration(model),
    }  # fmt: skip
    direction = vars(model).get("_direction")
    if direction is not None:
        reading["parameters"]["direction"] = direction
    return reading
