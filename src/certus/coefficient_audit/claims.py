"""The claim of a structure as a reading: an existing proof recomputes it on the scaled rows.

    least_squares  Σ s r² + λ₂‖v‖²         penalized  ½ Σ s r² + λ₁‖v‖₁ + λ₂/2 ‖v‖²
    logistic       Σ s log(1 + e^{−yz}) + λ₁‖v‖₁ + λ₂/2 ‖v‖²
    log_link       (1/W)(Σ s ½d(y, e^z) + λ₁‖v‖₁ + λ₂/2 ‖v‖²)

An intercept that is penalised is the coefficient of a column of ones among the others.
"""

from typing import Any

import numpy as np

from ..audit import Labels, Reading
from ..data.rows import Rows
from .judge import Judgement, LossAndPenalty
from .objective import Objective

MODEL = "A table of coefficients"
SCALED = "columns are divided by their standard deviations, coefficients multiplied by them"
CONSTANT = "the intercept is penalised, as the coefficient of a column of ones"


def rows_of(objective: Objective) -> Rows:
    """Return the rows of a claim: scaled columns, targets as its definition takes them."""
    design = objective.design
    free = design.intercept and not objective.intercept_penalized
    X = np.ascontiguousarray(objective.Phi[:, 1:] if free else objective.Phi)
    y = design.y
    if objective.loss == "gaussian" and design.offset is not None:
        y = y - design.offset
    columns = [y]
    if objective.loss in ("poisson", "gamma") and design.offset is not None:
        columns.append(design.offset)
    return Rows(X, np.column_stack(columns).astype(float), design.s)


def reading_of(
    structure: LossAndPenalty, objective: Objective, v: np.ndarray, l1: float, l2: float,
    classes: np.ndarray | None,
) -> Reading:  # fmt: skip
    """Return the claim that v minimises F."""
    design = objective.design
    free = design.intercept and not objective.intercept_penalized
    w, b = (v[1:], v[:1]) if free else (v, np.zeros(1))
    common: dict[str, Any] = {"w": w[:, None].copy(), "b": b.copy(), "fit_intercept": free}
    definition, formula, parameters = _claim(structure, objective, l1, l2, common)
    notes = []
    if objective.standardized:
        notes.append(SCALED)
    if design.intercept and not free:
        notes.append(CONSTANT)
    labels = Labels(classes) if structure.loss == "logistic" and classes is not None else None
    return Reading(
        model=MODEL, definition=definition, formula=formula, parameters=parameters,
        notes=tuple(notes), labels=labels, ours=False,
    )  # fmt: skip


def _claim(
    structure: LossAndPenalty, objective: Objective, l1: float, l2: float, common: dict[str, Any]
) -> tuple[str, str, dict[str, Any]]:
    z = "xᵢᵀw + b" if common["fit_intercept"] else "xᵢᵀw"
    penalty = (f" + {l1:.6g}‖w‖₁" if l1 else "") + (f" + {l2 / 2:.6g}‖w‖²" if l2 else "")
    if structure.loss == "gaussian" and not l1:
        doubled = f" + {l2:.6g}‖w‖²" if l2 else ""
        formula = f"Σ sᵢ(yᵢ − {z.replace('+', '−')})²{doubled}"
        return "least_squares", formula, {**common, "alpha": l2, "positive": False}
    if structure.loss == "gaussian":
        net = {"name": "elastic_net", "l1": l1, "l2": l2, "positive": False}
        formula = f"½ Σ sᵢ(yᵢ − {z.replace('+', '−')})²{penalty}"
        more = {"loss": {"name": "squared"}, "penalty": net, "divisor": None}
        return "penalized", formula, {**common, **more}
    if structure.loss == "logistic":
        formula = f"Σ sᵢ log(1 + exp(−yᵢ({z}))){penalty}"
        return "logistic", formula, {**common, "C": 1.0, "l1": l1, "l2": l2, "class_weight": None}
    design = objective.design
    W = float(design.weights.sum())
    offset = design.offset is not None
    score = f"oᵢ + {z}" if offset else z
    family = "Poisson" if structure.loss == "poisson" else "gamma"
    formula = f"½ Σ sᵢ d(yᵢ, exp({score})){penalty}, d the {family} deviance, all over Σ sᵢ"
    more = {"family": structure.loss, "l1": l1 / W, "l2": l2 / W, "offset": offset}
    return "log_link", formula, {**common, **more}


def claims_of(found: Judgement, classes: np.ndarray | None) -> tuple[Rows, Reading, Reading | None]:
    """Return the rows, the claim of the printed coefficients and that of the optimum."""
    rows = rows_of(found.objective)
    args = found.l1, found.l2, classes
    printed = reading_of(found.structure, found.objective, found.printed, *args)
    if found.optimum is None:
        return rows, printed, None
    return rows, printed, reading_of(found.structure, found.objective, found.optimum.v, *args)
