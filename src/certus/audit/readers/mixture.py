"""Mixtures of certus, and scikit-learn's GaussianMixture: shares, components and other attributes.

scikit-learn adds reg_covar to the diagonals of covariances. The log densities and components that
its models compute for some of their rows are read too.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..answers import without_column_names
from ..types import FittedModel
from .clusters import MAX_PREDICTED_ROWS
from .neighbor_metrics import is_ours

if TYPE_CHECKING:
    from ...data.rows import Rows


RELATIVE_PRIOR_ROWS = 1e-6  # ε, rows of the prior where reg_covar="relative"
MAX_LISTED_COLUMNS = 5
SHAPES = ("full", "tied", "diag", "spherical")
GAUSSIAN_FORMULA = "Σ sᵢ log Σₖ πₖ N(xᵢ; μₖ, {C})"
COVARIANCE_PRIOR = {
    "tied": " − ½ε (log|C| + tr(DC⁻¹))",
    "other": " − ½ε Σₖ (log|Cₖ| + tr(DCₖ⁻¹))",
}
COUNT_FORMULA = "Σ sᵢ log Σₖ πₖ {name}(xᵢ; {theta}ₖ)"
COUNT_PRIOR = " + a Σₖ log {name}(x̄; {theta}ₖ)"


def read_gaussian(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    shape, reg = model.covariance_type, model.reg_covar
    if shape not in SHAPES:
        raise ValueError(f"covariance_type={shape!r} is none of {', '.join(SHAPES)}")
    relative = isinstance(reg, str)
    added = 0.0 if relative or reg is None else float(reg)
    formula = GAUSSIAN_FORMULA.format(C="C" if shape == "tied" else "Cₖ")
    if relative:
        formula += COVARIANCE_PRIOR["tied" if shape == "tied" else "other"]
    theta = {"means": _finite(model, "means_"), "covariances": _finite(model, "covariances_")}
    constant = np.asarray(vars(model).get("constant_columns_", ()), dtype=np.intp)
    parameters = {
        "family": shape,
        "theta": theta,
        "epsilon": RELATIVE_PRIOR_ROWS if relative else 0.0,
        "added": added,
        "constant": constant,
        "single": np.asarray(model.means_).dtype == np.float32,
    }
    reading = _reading(model, rows, formula, parameters)
    if len(constant):
        which = ", ".join(map(str, constant[:MAX_LISTED_COLUMNS])) + (
            ", …" if len(constant) > MAX_LISTED_COLUMNS else ""
        )
        text = "column {} never changes" if len(constant) == 1 else "columns {} never change"
        reading["notes"] = (f"left out, for {text.format(which)}",)
    reading["extra_claims"]["claims"] |= {
        name: _finite(model, f"{name}_") for name in ("precisions", "precisions_cholesky")
    }
    return reading


def read_bernoulli(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _counts(model, rows, "bernoulli", "probabilities_", "Bernoulli", "θ")


def read_poisson(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _counts(model, rows, "poisson", "rates_", "Poisson", "λ")


def read_multinomial(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _counts(model, rows, "multinomial", "probabilities_", "Multinomial", "θ")


def _counts(
    model: FittedModel, rows: "Rows", family: str, attribute: str, name: str, theta: str
) -> dict[str, Any]:
    a = float(model.prior or 0.0)
    formula = COUNT_FORMULA.format(name=name, theta=theta)
    if a:
        formula += COUNT_PRIOR.format(name=name, theta=theta)
    values = {"values": _finite(model, attribute)}
    return _reading(model, rows, formula, {"family": family, "theta": values, "epsilon": a})


def _reading(
    model: FittedModel, rows: "Rows", formula: str, parameters: dict[str, Any]
) -> dict[str, Any]:
    fitted, ours, weights = vars(model), is_ours(model), _finite(model, "weights_")
    trace = fitted.get("lower_bounds_")
    claims: dict[str, Any] = {
        "shares": float(weights.sum()),
        "lower_bound": float(model.lower_bound_),
        "trace": None if trace is None else np.asarray(trace, dtype=float),
        "tol": fitted.get("tol"),
        "restarts": _restarts(model),
        "largest_decrease": float(fitted.get("_largest_decrease", 0.0)),
    }
    return {
        "definition": "mixture",
        "formula": formula,
        "parameters": {"weights": weights, "ours": ours, **parameters},
        "extra_claims": {
            "claims": claims,
            "answers": None if ours else _answers(model, rows),
            "stopped": ours and not fitted.get("converged_", True),
        },
        "iteration": _iteration(model),
    }


def _finite(model: FittedModel, name: str) -> np.ndarray:
    values = np.asarray(getattr(model, name), dtype=float)
    if not np.isfinite(values).all():
        where = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"{name} holds {values[tuple(where)]} (at {', '.join(map(str, where))})")
    return values


def _restarts(model: FittedModel) -> Any:
    """Return the objective of each start; scikit-learn stores only the best."""
    fitted = vars(model)
    if "restarts_" in fitted:
        return np.asarray(fitted["restarts_"], dtype=float)
    return [float(model.lower_bound_)] if fitted.get("n_init") == 1 else None


def _iteration(model: FittedModel) -> dict[str, Any]:
    """Return tol, and max_iter if it was reached."""
    fitted = vars(model)
    reached = not fitted.get("converged_", True)
    return {"tol": fitted.get("tol"), "max_iter": fitted.get("max_iter") if reached else None}


def _answers(model: FittedModel, rows: "Rows") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rows, their log densities, their components) for a sample of the rows."""
    n = rows.shape[0]
    i = np.unique(
        (np.arange(min(n, MAX_PREDICTED_ROWS)) * 0.6180339887498949 % 1.0 * n).astype(np.intp)
    )
    X = rows.take(i).block(0, len(i))[0]
    plain_model = without_column_names(model)
    return (
        i,
        np.asarray(plain_model.score_samples(X), dtype=float),
        np.asarray(plain_model.predict(X)),
    )
