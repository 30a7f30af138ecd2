"""NCFS of certus: weights of columns, and what the model states about F, scales and its rows.

Attributes that follow from the weights alone (``support_``, ``weights_in_units_``) are checked
here, those that depend on the rows in ``proofs/ncfs/ncfs.py``.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import Labels
from ..types import FittedModel

if TYPE_CHECKING:
    from ...data.rows import Rows


DISTANCE = {
    "manhattan": "Σ W|xᵢ − xⱼ|", "sqeuclidean": "Σ W(xᵢ − xⱼ)²",
    "euclidean": "√(Σ W(xᵢ − xⱼ)²)", "phi_s": "phi_s(xᵢ, xⱼ; W)",
}  # fmt: skip
WEIGHT_SUMMARIES: dict[str, Any] = {"max": np.max, "mean": np.mean, "median": np.median}
SOLVER_AIMS = {
    "yang": "the published ascent ends where the objective hardly changes, not where slopes are 0"
}
UNCHECKED_CHOICE_NOTE = "the choice of alpha_ was not recomputed, the fit at it was"
# apparent fall of F in a step that rounding explains, as a share of Σa; 1e-9 in float64
MAX_APPARENT_FALL = {"float32": 1e-6}


def read_classifier(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    classes = np.asarray(model.classes_)
    K, row_weight, notes = len(classes), "sᵢ ", []
    gains, gain = np.eye(K), "[yᵢ = yⱼ]"
    if model.loss is not None:
        gains, gain = -_costs(model.loss, classes), "loss(yᵢ, yⱼ)"
    prior = _prior(model.prior, classes)
    if prior is not None:
        row_weight = "aᵢ "
        times_share = "" if isinstance(prior, str) else ", times the class's share"
        notes.append(f"aᵢ is the weight of a row as a share of its class{times_share}")
    reading = _reading(model, rows, row_weight, gain)
    reading["parameters"] |= {"gains": gains, "prior": prior}
    return {**reading, "labels": Labels(classes), "notes": tuple(notes)}


def read_classifier_cv(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    reading = read_classifier(model, rows)
    chosen = float(model.alphas_[model.chosen_index_])
    if model.alpha_ != chosen:
        wrong_text = f"alpha_ is {model.alpha_:.9g}, alphas_[chosen_index_] is {chosen:.9g}"
        reading["contradictions"] = (*reading["contradictions"], wrong_text)
    return {**reading, "notes": (*reading["notes"], UNCHECKED_CHOICE_NOTE)}


def read_regressor(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    loss = model.loss
    gain = {"absolute": "|yᵢ − yⱼ|", "squared": "(yᵢ − yⱼ)²"}.get(str(loss), "loss(yᵢ, yⱼ)")
    reading = _reading(model, rows, "sᵢ ", gain)
    epsilon: Any = vars(model).get("epsilon_")
    reading["parameters"] |= {"loss": loss, "epsilon": epsilon}
    if loss == "epsilon_insensitive":
        if isinstance(model.epsilon, str):
            reading["extra_claims"]["claims"]["auto_epsilon"] = float(epsilon)
        elif epsilon != model.epsilon:
            wrong_text = f"epsilon_ is {epsilon}, epsilon={model.epsilon} was requested"
            reading["contradictions"] = (*reading["contradictions"], wrong_text)
        reading["notes"] = (f"loss(yᵢ, yⱼ) = max(|yᵢ − yⱼ| − {epsilon:.6g}, 0)",)
    return reading


def _reading(model: FittedModel, rows: "Rows", row_weight: str, gain: str) -> dict[str, Any]:
    W, fitted = np.asarray(model.weights_, dtype=float), vars(model)
    shift, scale = (np.asarray(fitted[name], dtype=float) for name in ("shift_", "scale_"))
    for name, values in (("weights_", W), ("shift_", shift), ("scale_", scale)):
        if values.shape != (rows.shape[1],) or not np.isfinite(values).all():
            raise ValueError(f"{name} must hold a finite number for each of the columns")
    if not (scale > 0).all():
        raise ValueError(
            f"scale_ of column {np.argmin(scale)} is {scale.min()}: it must be above 0"
        )
    alpha, sigma = float(model.alpha_), float(model.sigma)
    claims: dict[str, Any] = {
        "objective": float(model.objective_), "loo_score": float(model.loo_score_),
        "scaling": model.scale, "kept": (model._fit_X, model._fit_columns, model._fit_y),
        "selected": (int(np.count_nonzero(model.support_)), _selection(W, model)),
    }  # fmt: skip
    batch_size = _batch_size(model)
    if batch_size is not None:
        claims["kept_rows"] = model._fit_rows
    wrong, requested = _weight_errors(model, W, scale), fitted.get("alpha")
    if isinstance(requested, str) and model.metric != "phi_s":
        claims["auto_alpha"] = alpha
    elif requested is not None and alpha != (0.0 if model.metric == "phi_s" else float(requested)):
        wrong.append(f"alpha_ is {alpha:.9g}, alpha={requested!r} was requested")
    by = "" if sigma == 1 else f"/{sigma:.4g}"
    n = "n" if rows.s is None else "Σ sᵢ"
    mean = f"1/{n} " if model.form == "mean" else ""
    within = ""
    if batch_size is not None:
        batches = -(-rows.shape[0] // batch_size)
        mean = mean or (f"1/{batches} " if batches > 1 else "")
        within = f", j in the batch of i: at most {batch_size} consecutive rows"
    sign = "" if gain.startswith("[") else "−"
    times = "" if alpha == 1 else f"{alpha:.4g} "
    penalty = "" if alpha == 0 else f" − {times}Σ W"
    return {
        "definition": "ncfs",
        "formula": f"{sign}{mean}Σ {row_weight}pᵢⱼ {gain}{penalty} over W ≥ 0, pᵢⱼ ~ "
        f"exp(−{DISTANCE[model.metric]}{by}){within}",
        "parameters": {
            "W": W, "sigma": sigma, "alpha": alpha, "metric": model.metric, "shift": shift,
            "scale": scale, "mean": model.form == "mean", "batch_size": batch_size,
        },
        "extra_claims": {"claims": claims},
        "iteration": _iteration(model),
        "contradictions": (*wrong, *_decreases(model, rows)),
    }  # fmt: skip


def _batch_size(model: FittedModel) -> int | None:
    """Return the rows of a batch; None: all rows are compared with each other."""
    used, requested = vars(model).get("batch_size_"), vars(model).get("batch_size")
    if used is None:
        return None
    if used != int(used) or used < 1 or (requested is not None and used != requested):
        raise ValueError(f"batch_size_ is {used}, batch_size={requested!r} was requested")
    return int(used)


def _costs(loss: object, classes: np.ndarray) -> np.ndarray:
    """Return the costs of predicting class j for a row of class i."""
    if callable(loss):
        loss = loss(classes[:, None], classes[None, :])
    return np.array(np.broadcast_to(np.asarray(loss, dtype=float), (len(classes),) * 2))


def _prior(prior: object, classes: np.ndarray) -> Any:
    """Return None, "balanced", or the share of each class."""
    if isinstance(prior, str):
        shares = {"empirical": None, "balanced": "balanced"}
        return shares.get(prior, np.full(len(classes), 1 / len(classes)))
    if isinstance(prior, dict):
        prior = [prior[label] for label in classes.tolist()]
    pi = np.asarray(prior, dtype=float)
    return pi / pi.sum()


def _iteration(model: FittedModel) -> dict[str, Any]:
    """Return tol, max_iter if reached, and what the solver aims at if not at a local optimum."""
    fitted = vars(model)
    reached = fitted.get("n_iter_", 0) >= model.max_iter
    iteration = {"tol": model.tol, "max_iter": model.max_iter if reached else None}
    aims = SOLVER_AIMS.get(fitted.get("solver_", model.solver))
    return iteration | ({} if aims is None else {"aims": aims})


def _decreases(model: FittedModel, rows: "Rows") -> list[str]:
    """Report a fall of F between steps; F of a fit by L-BFGS never falls."""
    decrease = float(vars(model).get("_largest_decrease", 0.0))
    if "aims" in _iteration(model) or decrease <= MAX_APPARENT_FALL.get(str(rows.X.dtype), 1e-9):
        return []
    return [f"the objective fell by a share of {decrease:.1g} between two steps"]


def _weight_errors(model: FittedModel, W: np.ndarray, scale: np.ndarray) -> list[str]:
    """Report errors of ``support_`` and of ``weights_in_units_``."""
    wrong, units = [], vars(model).get("weights_in_units_")
    if model.metric == "phi_s":
        if units is not None:
            wrong.append("weights_in_units_ is not None, although phi_s is no sum over columns")
    else:
        true = W / (scale if model.metric == "manhattan" else scale**2)
        if units is None or not np.allclose(units, true, rtol=1e-9, atol=0.0):
            wrong.append("weights_in_units_ is not weights_ in the units of the columns")
    if not np.array_equal(model.support_, _selected(W, model)):
        wrong.append("support_ does not follow from weights_, threshold and n_features_to_select")
    return wrong


def _selected(W: np.ndarray, model: FittedModel) -> np.ndarray:
    count = model.n_features_to_select
    if count is not None:
        whole = not isinstance(count, float | np.floating)
        n_selected = int(count) if whole else max(1, int(count * len(W)))
        largest = np.argsort(-W, kind="stable")[:n_selected]
        return np.isin(np.arange(len(W)), largest) & (W > 0)
    return np.asarray((W > 0) & (_threshold(W, model) <= W))


def _threshold(W: np.ndarray, model: FittedModel) -> float:
    """Return the least weight that is selected."""
    factor, _, summary = str(model.threshold).rpartition("*")
    if summary.strip() in WEIGHT_SUMMARIES:
        return float(factor or 1.0) * float(WEIGHT_SUMMARIES[summary.strip()](W))
    return float(model.threshold)


def _selection(W: np.ndarray, model: FittedModel) -> str:
    """Say which columns with weight are selected."""
    if model.n_features_to_select is not None:
        return f"n_features_to_select={model.n_features_to_select!r}"
    least = _threshold(W, model)
    return f"threshold={model.threshold!r}: weights of {least:.3g} or more"
