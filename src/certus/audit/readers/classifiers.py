"""Linear classifiers, each by its own objective.

    F(w, b) = C Σ_i s_i c_{y_i} ℓ(y_i, x_iᵀw + b) + l1·‖w‖₁ + l2/2·‖w‖²

They differ in what C, l1 and l2 are computed from, in whether the intercept is penalised, and in
which counts the "balanced" class weights c use.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import Labels
from ..rows_of_fit import slope_tol
from ..types import FittedModel
from .linear import RIDGE, _coefficients, _weights

if TYPE_CHECKING:
    from ...data.rows import Rows


def _iteration(model: FittedModel) -> dict[str, Any]:
    """Return how the fit ended, as far as recorded: max_iter if it was reached, and tol."""
    steps = np.max(np.asarray(vars(model).get("n_iter_", 0), dtype=float), initial=0.0)
    reached = model.max_iter is not None and steps >= model.max_iter > 0
    return {"max_iter": int(model.max_iter) if reached else None, "tol": model.tol}


# --- logistic regression --------------------------------------------------------------------------


def _penalty(C: float, l1_ratio: Any, penalty: object) -> dict[str, float]:
    """Return C, l1 and l2 from scikit-learn's parameters; ``penalty`` is deprecated there.

    With C = inf or penalty=None there is no penalty, and the loss has the factor 1.
    """
    if penalty is None or np.isposinf(C):
        return {"C": 1.0, "l1": 0.0, "l2": 0.0}
    ratio_of_penalty = {"l1": 1.0, "l2": 0.0}
    ratio = ratio_of_penalty[penalty] if penalty in ratio_of_penalty else float(l1_ratio or 0.0)
    return {"C": float(C), "l1": ratio, "l2": 1.0 - ratio}


def _read_logistic(model: FittedModel, C: float, l1_ratio: object, scaling: Any) -> dict[str, Any]:
    parameters = {
        **_coefficients(model),
        **_penalty(C, l1_ratio, vars(model).get("penalty", "deprecated")),
        "class_weight": class_weight_of(model),
    }
    definition = "softmax" if len(model.classes_) > 2 else "logistic"
    if scaling is not None:
        parameters["intercept_scaling"] = float(scaling)
    return {
        "definition": definition,
        "formula": formula(definition, **parameters),
        "parameters": parameters,
        "labels": Labels(np.asarray(model.classes_)),
        "iteration": {**_iteration(model), "slope_tol": slope_tol(model)},
    }


def _with_direction(model: FittedModel, reading: dict[str, Any]) -> dict[str, Any]:
    """Add the direction (u, c) along which a fit of certus found the classes separated."""
    direction = vars(model).get("_direction")
    if direction is not None:
        reading["parameters"]["direction"] = direction
    return reading


def read_logistic(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    """Read LogisticRegression; liblinear penalises b, as a column of intercept_scaling."""
    scaling = model.intercept_scaling if _by_liblinear(model) else None
    return _with_direction(model, _read_logistic(model, model.C, model.l1_ratio, scaling))


def _by_liblinear(model: FittedModel) -> bool:
    return bool(model.solver == "liblinear" and model.fit_intercept)


def _read_logistic_cv(model: FittedModel, scaling: object) -> dict[str, Any]:
    if not model.refit:
        raise ValueError(
            f"{type(model).__name__}(refit=False) averages the coefficients of its folds: they "
            "minimise nothing, so there is no claim to check. Use refit=True"
        )
    # one value, or the same value for each class
    C, l1_ratio = np.ravel(model.C_)[0], np.ravel(model.l1_ratio_)[0]
    reading = _read_logistic(model, C, l1_ratio, scaling)
    note = "the choice of C_ and l1_ratio_ was not recomputed, the fit at them was"
    return {**reading, "notes": (note,)}


def read_logistic_cv(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    scaling = model.intercept_scaling if _by_liblinear(model) else None
    return _with_direction(model, _read_logistic_cv(model, scaling))


def read_sklearn_logistic_cv(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    """Read scikit-learn's class, whose last fit has liblinear's default scaling in any case."""
    return _read_logistic_cv(model, 1.0 if _by_liblinear(model) else None)


def read_firth(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    """Read FirthLogisticRegression: −Σ s_i log P(y_i | x_i) − ½ log det of the information."""
    constant = "x̃ = (x, 1)" if model.fit_intercept else "x̃ = x"
    return {
        "definition": "firth",
        "formula": f"−Σ sᵢ log P(yᵢ|xᵢ) − ½ log det Σ sᵢ pᵢ(1 − pᵢ)x̃ᵢx̃ᵢᵀ, {constant}",
        "parameters": _coefficients(model),
        "labels": Labels(np.asarray(model.classes_)),
        "iteration": _iteration(model),
    }


def read_ordinal(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    """Read OrdinalRegression: −Σ s_i log P(y_i | x_i) + α/2 ‖w‖², P(y ≤ k | x) = σ(c_k − xᵀw)."""
    alpha = float(model.alpha)
    penalty = f" + {'½' if alpha == 1 else f'{alpha / 2:g}'}‖w‖²" if alpha else ""
    reading = {
        "definition": "ordinal",
        "formula": f"−Σ sᵢ log P(yᵢ|xᵢ){penalty}, P(y ≤ k|x) = σ(cₖ − xᵀw)",
        "parameters": {
            "w": _weights(model),
            "thresholds": np.asarray(model.thresholds_, dtype=float).ravel(),
            "alpha": alpha,
        },
        "labels": Labels(np.asarray(model.classes_)),
        "iteration": {**_iteration(model), "one_solver": True},
    }
    return _with_direction(model, reading)


# --- linear support vector machines ---------------------------------------------------------------


def read_linear_svc(model: FittedModel, _rows: "Rows") -> dict[str, Any]:
    """Read LinearSVC: C Σ_i s_i c_{y_i} ℓ_i + ½‖w‖², or ‖w‖₁.

    The intercept is penalised, as the coefficient of a column of intercept_scaling. With more than
    two classes, there is one such problem for each class against the rest, whose class weight is 1.
    A hinge fit of certus provides its dual point, or the steps to it.
    """
    if model.multi_class != "ovr":
        raise ValueError(
            f"LinearSVC(multi_class={model.multi_class!r}) cannot be audited: only "
            "multi_class='ovr' can"
        )
    l1 = 1.0 if model.penalty == "l1" else 0.0
    several = len(model.classes_) > 2
    parameters = {
        **_coefficients(model), "C": float(model.C), "l1": l1, "l2": 1.0 - l1,
        "class_weight": class_weight_of(model), "one_vs_rest": several,
        "intercept_scaling": float(model.intercept_scaling) if model.fit_intercept else None,
    }  # fmt: skip
    if model.loss == "hinge" and "dual_coef_" in vars(model):
        parameters["beta"] = np.asarray(model.dual_coef_, dtype=float)
    elif model.loss == "hinge" and "dual_steps_" in vars(model):
        parameters["steps"] = np.asarray(model.dual_steps_, dtype=float)
    return {
        "definition": model.loss,
        "formula": formula(model.loss, **parameters),
        "parameters": parameters,
        "labels": Labels(np.asarray(model.classes_)),
        "iteration": {**_iteration(model), "one_solver": True},
        "notes": (ONE_VS_REST_NOTE,) if several else (),
    }


# --- stochastic gradient descent ------------------------------------------------------------------


SGD_LOSSES = {"log_loss": "logistic", "hinge": "hinge", "squared_hinge": "squared_hinge"}
ONE_VS_REST_NOTE = "for each class against the rest; the objective is their sum"


def read_sgd(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read SGDClassifier: (1/n) Σ_i s_i c_{y_i} ℓ_i + α(l‖w‖₁ + (1−l)/2‖w‖²).

    n counts rows, not weights, and so does "balanced". With more than two classes, there is one
    such problem for each class against the rest, whose class weight is 1.
    """
    if model.loss not in SGD_LOSSES:
        raise ValueError(
            f"SGDClassifier(loss={model.loss!r}) cannot be audited: only "
            f"{', '.join(f'loss={name!r}' for name in SGD_LOSSES)} can"
        )
    if model.early_stopping:
        raise ValueError(
            "SGDClassifier(early_stopping=True) fits on a part of the rows only, and the model "
            "does not record which: nothing can be checked on the rows given"
        )
    ratio = {"l1": 1.0, "elasticnet": model.l1_ratio}.get(model.penalty, 0.0)
    alpha = 0.0 if model.penalty is None else float(model.alpha)
    if alpha == 0 and SGD_LOSSES[model.loss] in LOSSES_WITHOUT_BOUND:
        raise ValueError(
            f"without a penalty no bound is known for SGDClassifier(loss={model.loss!r})"
        )
    several = len(model.classes_) > 2
    parameters = {
        **_coefficients(model),
        "C": 1.0 / rows.shape[0],
        "l1": alpha * ratio,
        "l2": alpha * (1 - ratio),
        "class_weight": _balanced_by_rows(model, rows),
        "one_vs_rest": several,
    }
    notes = (ONE_VS_REST_NOTE,) if several else ()
    return {
        "definition": SGD_LOSSES[model.loss],
        "formula": formula(SGD_LOSSES[model.loss], **{**parameters, "C": "1/n"}),
        "parameters": parameters,
        "labels": Labels(np.asarray(model.classes_)),
        "iteration": {**_iteration(model), "stochastic": True},
        "notes": notes,
    }


# --- ridge ----------------------------------------------------------------------------------------


SINGLE_COLUMN_NOTE = "y is 1 for the second class and −1 for the first"
SQUARES = "Σ sᵢ(yᵢ − xᵢᵀw − b)²"
COLUMN_PER_CLASS_NOTE = "y has a column for each class, 1 for its rows and −1 for the rest"


def _read_ridge(model: FittedModel, rows: "Rows", alpha: object) -> dict[str, Any]:
    """Read least squares on ±1, with a column for each class (one for two classes)."""
    weight = _balanced_by_rows(model, rows)
    return {
        "definition": "least_squares",
        "formula": RIDGE if weight is None else RIDGE.replace("sᵢ", "sᵢcᵢ"),
        "parameters": {**_coefficients(model), "alpha": np.asarray(alpha, dtype=float)},
        "labels": Labels(np.asarray(model.classes_), "signs", weight),
        "notes": (SINGLE_COLUMN_NOTE if len(model.classes_) == 2 else COLUMN_PER_CLASS_NOTE,),
    }


def read_ridge_classifier(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    reading = _read_ridge(model, rows, model.alpha)
    reading["parameters"]["positive"] = bool(model.positive)
    reading["formula"] += " over w ≥ 0" if model.positive else ""
    return reading


def read_ridge_classifier_cv(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    reading = _read_ridge(model, rows, model.alpha_)
    note = "the choice of alpha_ was not recomputed, the fit at it was"
    return {**reading, "notes": (*reading["notes"], note)}


# --- any loss and penalty -------------------------------------------------------------------------


def read_penalized(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read PenalizedClassifier: Σ_i s_i c_{y_i} ℓ_i + penalty(w), both read by their attributes."""
    loss, penalty = model.loss_, model.penalty_
    try:
        l1, l2 = float(penalty.l1), float(penalty.l2)
    except AttributeError:
        raise ValueError(
            f"the penalty {penalty!r} is your own, and certus has no definition of it"
        ) from None
    if getattr(penalty, "positive", False):
        raise ValueError(f"certus has no definition of a classifier with the penalty {penalty!r}")
    if loss.name not in LOSS:
        raise ValueError(f"the loss {loss!r} is your own, and certus has no definition of it")
    if (
        l1 == l2 == 0
        and loss.name == "squared"
        and (len(model.coef_) == 1 or not model.class_weight)
    ):
        return _read_squares(model, rows)
    if l1 == l2 == 0 and loss.name in LOSSES_WITHOUT_BOUND:
        raise ValueError(f"without a penalty no bound is known for the loss {loss!r}")
    w = np.atleast_2d(model.coef_)
    parameters = {
        **_coefficients(model), "C": 1.0, "l1": l1, "l2": l2,
        "class_weight": class_weight_of(model),
    }  # fmt: skip
    if loss.name != "softmax":
        parameters["one_vs_rest"] = len(w) > 1
    if "delta" in vars(loss):
        parameters["delta"] = float(loss.delta)
    definition = loss.name
    if loss.name == "squared":  # Huber's, with no row beyond δ
        definition, parameters["delta"] = "huber", UNREACHED_DELTA
    return {
        "definition": definition,
        "formula": formula(loss.name, **parameters),
        "parameters": parameters,
        "labels": Labels(np.asarray(model.classes_)),
        "iteration": _iteration(model),
    }


def _read_squares(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Half of least squares on ±1, without a penalty."""
    weight = class_weight_of(model)
    if isinstance(weight, str):
        assert rows.y is not None
        K = len(model.classes_)
        counts = np.bincount(rows.y[:, 0].astype(np.intp), weights=rows.s, minlength=K)
        weight = counts.sum() / (K * counts)
    signs = SINGLE_COLUMN_NOTE if len(model.classes_) == 2 else COLUMN_PER_CLASS_NOTE
    return {
        "definition": "least_squares",
        "formula": SQUARES if weight is None else SQUARES.replace("sᵢ", "sᵢcᵢ"),
        "parameters": {**_coefficients(model), "alpha": np.zeros(len(model.coef_))},
        "labels": Labels(np.asarray(model.classes_), "signs", weight),
        "notes": (f"{signs}; this is twice the model's own objective",),
    }


# --- class weights --------------------------------------------------------------------------------


def class_weight_of(model: FittedModel) -> Any:
    """Return None, "balanced", or c_k for each class; 1 for a class that a dict does not name."""
    given = model.class_weight
    if not given or isinstance(given, str):
        return given or None
    c = np.ones(len(model.classes_))
    for k, label in enumerate(np.asarray(model.classes_).tolist()):
        keys = [label, *_as_whole_number(label)]
        c[k] = next((given[key] for key in keys if key in given), 1.0)
    return c


def _as_whole_number(label: Any) -> list[int]:
    try:
        return [int(label)]
    except ValueError:
        return []


def _balanced_by_rows(model: FittedModel, rows: "Rows") -> Any:
    """Return class weights, with "balanced" as c_k = n / (K n_k), ignoring sample weights."""
    class_weight = class_weight_of(model)
    if not isinstance(class_weight, str):
        return class_weight
    assert rows.y is not None
    K = len(model.classes_)
    counts = np.bincount(rows.y[:, 0].astype(np.intp), minlength=K)
    return len(rows.y) / (K * counts)


# --- the objective as text ------------------------------------------------------------------------

LOSSES_WITHOUT_BOUND = ("hinge", "squared_hinge", "huber", "squared")
UNREACHED_DELTA = 1e150  # of Huber's loss: no row has so large a residual
LOSS = {
    "logistic": "log(1 + exp(−yᵢ({z})))",
    "softmax": "(log Σₖ exp(zᵢₖ) − zᵢ,yᵢ)",
    "hinge": "[1 − yᵢ({z})]₊",
    "squared_hinge": "[1 − yᵢ({z})]₊²",
    "huber": "huber(yᵢ − ({z}))",
    "squared": "½(yᵢ − ({z}))²",
}


def formula(
    loss: str,
    *,
    C: np.ndarray,
    l1: float,
    l2: float,
    fit_intercept: bool,
    class_weight: object = None,
    intercept_scaling: float | None = None,
    **_other: Any,
) -> str:
    """Return the objective without factors of 1: Σ sᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½‖w‖²."""
    weight = "sᵢ" if class_weight is None else "sᵢcᵢ"
    factor = "" if C == 1 else f"{C} " if isinstance(C, str) else f"{C:g} "
    z = "xᵢᵀw + b" if fit_intercept else "xᵢᵀw"
    text = f"{factor}Σ {weight} {LOSS[loss].format(z=z)}"
    penalized = intercept_scaling if fit_intercept else None
    b = "b" if penalized == 1 else f"b/{penalized:g}" if penalized else ""
    if l1:
        times = "" if l1 == 1 else f"{l1:g}"
        text += f" + {times}‖w‖₁" + (f" + {times}|{b}|" if b else "")
    if l2:
        times = "½" if l2 == 1 else f"{l2 / 2:g}"
        square = f"{b}²" if b == "b" else f"({b})²"
        text += f" + {times}(‖w‖² + {square})" if b else f" + {times}‖w‖²"
    if loss == "softmax":
        text += f", zᵢₖ = {'xᵢᵀwₖ + bₖ' if fit_intercept else 'xᵢᵀwₖ'}"
    return text
