"""Linear regression with a penalty, each model by its own objective.

    F(w, b) = (1/D) Σ_i s_i ℓ(y_i − x_iᵀw − b) + pen(w)

They differ in D, in the loss, and in what the penalty is computed from.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import FittedModel
from .linear import _coefficients

if TYPE_CHECKING:
    from ...data.rows import Rows


def _iteration(model: FittedModel) -> dict[str, Any]:
    """Return how the fit ended, as far as recorded: max_iter if it was reached, and tol."""
    fitted = vars(model)
    max_iter, tol = fitted.get("max_iter"), fitted.get("tol")
    steps = np.max(np.asarray(fitted.get("n_iter_", 0), dtype=float), initial=0.0)
    reached = max_iter is not None and steps >= max_iter > 0
    return {"max_iter": int(max_iter) if reached and max_iter is not None else None, "tol": tol}


def _reading(
    model: FittedModel,
    rows: "Rows",
    loss: dict[str, Any],
    penalty: dict[str, Any],
    divisor: str | None,
) -> dict[str, Any]:
    parameters = {
        **_coefficients(model), "loss": loss, "penalty": penalty, "divisor": divisor,
    }  # fmt: skip
    return {
        "definition": "penalized",
        "formula": formula(rows.s is not None, **parameters),
        "parameters": parameters,
        "iteration": _iteration(model),
    }


# --- coordinate descent and least angles ----------------------------------------------------------


def _elastic_net(alpha: Any, l1_ratio: Any, positive: object) -> dict[str, Any]:
    alpha, ratio = float(alpha), float(l1_ratio)
    return {
        "name": "elastic_net", "l1": alpha * ratio, "l2": alpha * (1 - ratio),
        "positive": bool(positive),
    }  # fmt: skip


def read_elastic_net(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read Lasso and ElasticNet: (1/2S) Σ s r² + αl‖w‖₁ + α(1 − l)/2 ‖w‖², S the sum of weights."""
    l1_ratio = vars(model).get("l1_ratio", 1.0)  # a lasso has none
    penalty = _elastic_net(model.alpha, l1_ratio, model.positive)
    return _reading(model, rows, {"name": "squared"}, penalty, "weights")


def read_elastic_net_cv(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    l1_ratio = vars(model).get("l1_ratio_", 1.0)
    penalty = _elastic_net(model.alpha_, l1_ratio, model.positive)
    both = "l1_ratio_" in vars(model)
    what, which = ("alpha_ and l1_ratio_", "them") if both else ("alpha_", "it")
    note = f"the choice of {what} was not recomputed, the fit at {which} was"
    return {**_reading(model, rows, {"name": "squared"}, penalty, "weights"), "notes": (note,)}


def _least_angles(model: FittedModel, rows: "Rows", alpha: float) -> dict[str, Any]:
    """Read a lasso by least angles: (1/2n) Σ r² + α‖w‖₁, without weights."""
    if vars(model).get("jitter") is not None:
        raise ValueError(
            f"{type(model).__name__}(jitter={model.jitter:g}) adds noise to y before it fits: "
            "nothing can be checked on the y given. Use jitter=None"
        )
    penalty = _elastic_net(alpha, 1.0, model.positive)
    return _reading(model, rows, {"name": "squared"}, penalty, "rows")


def read_lasso_lars(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _least_angles(model, rows, model.alpha)


def read_chosen_lasso_lars(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    notes = ["the choice of alpha_ was not recomputed, the fit at it was"]
    alpha = float(model.alpha_)
    if alpha < 0:  # with positive=True the path of scikit-learn can end below 0
        notes.append(f"alpha_ is {alpha:.3g}, below 0, where a path ends: it was read as 0")
    return {**_least_angles(model, rows, max(alpha, 0.0)), "notes": tuple(notes)}


# --- stochastic gradient descent, and Huber's scale -----------------------------------------------


def read_sgd_regressor(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read SGDRegressor: (1/n) Σ_i s_i ℓ_i + α(l‖w‖₁ + (1 − l)/2 ‖w‖²); n counts rows."""
    losses: dict[str, dict[str, Any]] = {
        "squared_error": {"name": "squared"},
        "huber": {"name": "huber", "delta": float(model.epsilon)},
    }
    if model.loss not in losses:
        raise ValueError(
            f"SGDRegressor(loss={model.loss!r}) cannot be audited: only "
            f"{' and '.join(f'loss={name!r}' for name in losses)} can"
        )
    if model.early_stopping:
        raise ValueError(
            "SGDRegressor(early_stopping=True) fits on a part of the rows only, and the model does "
            "not record which: nothing can be checked on the rows given"
        )
    ratio = {"l1": 1.0, "elasticnet": model.l1_ratio}.get(model.penalty, 0.0)
    alpha = 0.0 if model.penalty is None else model.alpha
    penalty = _elastic_net(alpha, ratio, False)
    reading = _reading(model, rows, losses[model.loss], penalty, "rows")
    reading["iteration"]["stochastic"] = True
    return reading


def read_huber_regressor(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    """Read HuberRegressor: Σ s (σ + σ H(r/σ)) + α‖w‖²; the scale σ is fitted too."""
    r = "yᵢ − xᵢᵀw − b" if model.fit_intercept else "yᵢ − xᵢᵀw"
    penalty = f" + {_times(model.alpha)}‖w‖²" if model.alpha else ""
    return {
        "definition": "huber_regression",
        "formula": f"Σ sᵢ (σ + σ H(({r})/σ)){penalty} over σ > 0",
        "parameters": {
            **_coefficients(model), "scale": float(model.scale_), "epsilon": float(model.epsilon),
            "alpha": float(model.alpha),
        },
        "iteration": _iteration(model),
    }  # fmt: skip


def refuse_multi_task(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    raise ValueError(
        f"{type(model).__name__} penalises the coefficients of all targets together, and certus "
        "has no definition of that"
    )


# --- log link: counts and amounts -----------------------------------------------------------------

# F(w, b) = 1/(2S) Σ_i s_i d(y_i, exp(o_i + x_iᵀw + b)) + αl‖w‖₁ + α(1 − l)/2 ‖w‖², S the sum of the
# weights, d the deviance of one target; scikit-learn's models have no offset o, and l = 0
LOG_LINK_FORMULA = "1/(2{D}) Σ sᵢ d(yᵢ, exp({z})){penalty}, d the {family} deviance"
FAMILY_NAMES = {"poisson": "Poisson", "gamma": "gamma"}


def read_poisson(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _read_log_link(model, rows, "poisson")


def read_gamma(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _read_log_link(model, rows, "gamma")


def _read_log_link(model: FittedModel, rows: "Rows", family: str) -> dict[str, Any]:
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
        "formula": LOG_LINK_FORMULA.format(
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


# --- any loss and penalty -------------------------------------------------------------------------


def _plain_list(value: object) -> Any:
    """Return values as plain numbers and lists, which compare and print without NumPy."""
    return np.asarray(value, dtype=float).tolist()


def _terms(penalty: Any) -> dict[str, Any]:
    """Return a penalty of ``certus.penalties``, read by name and attributes, for the definition."""
    name = vars(type(penalty)).get("name")
    if name in ("l1", "l2", "elastic_net"):
        positive = bool(vars(penalty).get("positive", False))
        return {
            "name": "elastic_net", "l1": float(penalty.l1), "l2": float(penalty.l2),
            "positive": positive,
        }  # fmt: skip
    if name == "nonnegative":
        return {"name": "elastic_net", "l1": 0.0, "l2": 0.0, "positive": True}
    if name == "group_l2":
        groups = [np.asarray(g, dtype=int).tolist() for g in penalty.groups]
        return {"name": name, "strength": float(penalty.strength), "groups": groups}
    if name in ("mcp", "scad"):
        return {"name": name, "strength": float(penalty.strength), "gamma": float(penalty.gamma)}
    if name == "box":
        return {"name": name, "low": _plain_list(penalty.low), "high": _plain_list(penalty.high)}
    if name == "simplex":
        return {"name": name, "total": float(penalty.total)}
    raise ValueError(f"the penalty {penalty!r} is your own, and certus has no definition of it")


def read_penalized_regressor(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read PenalizedRegressor: Σ_i s_i ℓ_i + penalty(w), both read by their attributes."""
    loss = model.loss_
    name = vars(type(loss)).get("name")
    if name not in ("squared", "huber"):
        raise ValueError(f"the loss {loss!r} is your own, and certus has no definition of it")
    loss_term = {"name": name} if name == "squared" else {"name": name, "delta": float(loss.delta)}
    return _reading(model, rows, loss_term, _terms(model.penalty_), None)


# --- the objective as text ------------------------------------------------------------------------


def _times(factor: float) -> str:
    return "" if factor == 1 else f"{factor:g}"


def _elastic_net_words(l1: float, l2: float, positive: bool, **_: Any) -> tuple[str, str]:
    text = f" + {_times(l1)}‖w‖₁" if l1 else ""
    if l2:
        text += f" + {'½' if l2 == 1 else f'{l2 / 2:g}'}‖w‖²"
    return text, " over w ≥ 0" if positive else ""


def _box_words(low: np.ndarray, high: np.ndarray, **_: Any) -> tuple[str, str]:
    plain = np.ndim(low) == np.ndim(high) == 0
    return "", f" over {low:g} ≤ w ≤ {high:g}" if plain else " over low ≤ w ≤ high"


PENALTY: dict[str, Any] = {
    "elastic_net": _elastic_net_words,
    "group_l2": lambda strength, **_: (f" + {_times(strength)} Σ √|g| ‖w_g‖", ""),
    "mcp": lambda strength, gamma, **_: (f" + MCP(w; {strength:g}, {gamma:g})", ""),
    "scad": lambda strength, gamma, **_: (f" + SCAD(w; {strength:g}, {gamma:g})", ""),
    "box": _box_words,
    "simplex": lambda total, **_: ("", f" over w ≥ 0, Σ wⱼ = {total:g}"),
}


def formula(
    weighted: bool, *, loss: dict[str, Any], penalty: dict[str, Any], divisor: str | None,
    fit_intercept: bool, **_other: Any,
) -> str:  # fmt: skip
    """Return the objective, such as 1/(2n) Σ sᵢ(yᵢ − xᵢᵀw − b)² + 0.1‖w‖₁."""
    r = "yᵢ − xᵢᵀw − b" if fit_intercept else "yᵢ − xᵢᵀw"
    D = {None: "", "rows": "n", "weights": "Σsᵢ" if weighted else "n"}[divisor]
    if loss["name"] == "squared":
        text = f"{f'1/(2{D})' if D else '½'} Σ sᵢ({r})²"
    else:
        text = f"{f'1/{D} ' if D else ''}Σ sᵢ huber({r})"
    terms, over = PENALTY[penalty["name"]](**penalty)
    return text + terms + over
