"""What the chosen model uses, in the table's own units.

    number      coefficient of one unit: w_j/scale_j, times a round number of units near one
                standard deviation
    category    difference from the commonest level: w_level − w_reference
    odds ratio  exp(coefficient): two classes, and ordered classes (odds of being higher)

Sorted by the effect of one standard deviation of the column. Models without coefficients have none
to show, and the section says so.
"""

from dataclasses import replace

import numpy as np

from ..content.model import Effect, WhatItUses
from ..content.phrases import count, digits3, percent
from ..content.values import Interval, Note
from ..prepared import Prepared
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.column_weights import weights_of_columns
from .parts.linear import LinearModel, levels_of, linear_model, numbers_of
from .parts.selection import selected_columns
from .parts.uncertainty import Uncertainty, uncertainty

SPARSE_KEYS = ("lasso", "sparse-logistic")
REASONS_FOR_NONE = {
    "knn": "k nearest neighbours has no coefficients: every column counts alike, in units of its "
    "standard deviation. The explained cases show which rows voted.",
    "ls-svm": "A kernel machine has no coefficients for columns: its answer is a weighted sum over "
    "training rows. The explained cases show the rows that are nearest.",
}


def make(prepared: Prepared, settings: Settings, result: ProcedureResult) -> WhatItUses:
    """Effects, or weights, or the reason why there are none."""
    weights = weights_of_columns(prepared, settings, result)
    if weights is not None:
        return weights
    linear = linear_model(prepared, result)
    if linear is None:
        text = REASONS_FOR_NONE.get(result.key, REASONS_FOR_NONE["ls-svm"])
        return WhatItUses("none", text)
    known = uncertainty(prepared, settings, result)
    is_sparse = result.key in SPARSE_KEYS
    effects, rare = effects_of(prepared, settings, linear, known)
    notes = [Note(f"{count(n, 'row')} of rare levels of '{name}' (fewer than 5 rows) not shown.")
             for name, n in rare]  # fmt: skip
    n_zero = 0
    if is_sparse:
        n_zero = len(prepared.columns) - len({e.column for e in effects if e.estimate})
        effects = [e for e in effects if e.estimate]
    kind = "odds ratios" if linear.link in ("logistic", "cumulative") else "coefficients"
    text = _text(prepared, settings, linear, known, n_zero if is_sparse else None)
    selected = selected_columns(linear, known) if is_sparse else ()
    if result.calibration:
        notes.append(Note(result.calibration))
    return WhatItUses(kind, text, tuple(effects), selected, tuple(notes))


# --- effects --------------------------------------------------------------------------------------


def effects_of(
    prepared: Prepared, settings: Settings, linear: LinearModel, known: Uncertainty
) -> tuple[list[Effect], list[tuple[str, int]]]:
    """Effects by decreasing size, and the columns with levels too rare to show."""
    sized: list[tuple[float, Effect]] = []
    rare = []
    for column in prepared.columns:
        if not linear.places(column.name):
            continue
        if column.role == "number":
            sized += _of_number(prepared, settings, linear, known, column.name)
        else:
            found, hidden = _of_category(prepared, settings, linear, known, column.name)
            sized += found
            if hidden:
                rare.append((column.name, hidden))
    sized.sort(key=lambda pair: -pair[0])  # stable: equal sizes keep the table's order
    return [effect for _, effect in sized], rare


def round_unit(spread: float) -> float:
    """The power of ten nearest to one standard deviation."""
    return float(10.0 ** np.round(np.log10(spread))) if 0 < spread < np.inf else 1.0


def _of_number(
    prepared: Prepared, settings: Settings, linear: LinearModel, known: Uncertainty, name: str
) -> list[tuple[float, Effect]]:
    (j,) = linear.places(name)
    values = numbers_of(prepared, name)
    spread = float(values.std()) if len(values) else 0.0
    unit = round_unit(spread)
    c = np.zeros(len(linear.steps) + 1)
    c[j + 1] = unit / linear.steps[j].scale
    plain = Effect(name, None, None, f"per {digits3(unit)}", 0.0, None, None, None, None)
    return [
        (abs(one.estimate) / unit * spread, one)
        for one in _scored(settings, linear, known, plain, c)
    ]


def _of_category(
    prepared: Prepared, settings: Settings, linear: LinearModel, known: Uncertainty, name: str
) -> tuple[list[tuple[float, Effect]], int]:
    levels, hidden = levels_of(prepared, linear, name)
    if not levels:
        return [], hidden
    reference, found = levels[0], []
    for level in levels[1:]:
        c = np.zeros(len(linear.steps) + 1)
        for sign, one in ((1.0, level), (-1.0, reference)):
            for j, weight in one.shares:
                c[j + 1] += sign * weight / linear.steps[j].scale
        plain = Effect(name, level.name, reference.name, f"'{level.name}' against "
                       f"'{reference.name}'", 0.0, None, None, None, None)  # fmt: skip
        p = level.n / prepared.n
        found += [
            (abs(one.estimate) * np.sqrt(p * (1 - p)), one)
            for one in _scored(settings, linear, known, plain, c)
        ]
    return found, hidden


def _scored(
    settings: Settings, linear: LinearModel, known: Uncertainty, plain: Effect, c: np.ndarray
) -> list[Effect]:
    """The effect on each score, with interval and ratio."""
    made = []
    has_ratio = linear.link in ("logistic", "cumulative")
    for k, output in enumerate(linear.outputs):
        estimate = float(linear.w[k] @ c[1:])
        ends = known.interval(k, estimate, c, settings.confidence)
        interval = None
        if ends is not None and np.isfinite(ends).all():
            interval = Interval(*ends, settings.confidence)
        made.append(replace(
            plain, estimate=estimate, interval=interval,
            ratio=_exp(estimate) if has_ratio else None,
            ratio_interval=_exp_of(interval) if has_ratio else None,
            p_value=known.p_value(estimate, c), of_class=output or None,
        ))  # fmt: skip
    return made


def _exp(x: float) -> float:
    return float(np.exp(np.clip(x, -700, 700)))


def _exp_of(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return Interval(_exp(interval.low), _exp(interval.high), interval.level)


# --- words ----------------------------------------------------------------------------------------


def _text(
    prepared: Prepared, settings: Settings, linear: LinearModel, known: Uncertainty,
    n_zero: int | None,
) -> str:  # fmt: skip
    what = {
        "logistic": "An odds ratio is the factor by which the odds of '{}' change if the column is "
        "higher by its unit, or has the level instead of the reference, all else being equal.",
        "cumulative": "An odds ratio is the factor by which the odds of a higher class change if "
        "the column is higher by its unit, all else being equal.",
        "softmax": "A coefficient is what a unit of the column adds to the score of a class. The "
        "class with the highest score is the most probable; only differences of scores count.",
        "identity": "A coefficient is by how much the prediction changes if the column is higher "
        "by its unit, or has the level instead of the reference, all else being equal.",
    }[linear.link]  # fmt: skip
    positive = "" if prepared.positive is None else prepared.classes[prepared.positive]
    text = what.format(positive) if linear.link == "logistic" else what
    if n_zero:
        n = len(prepared.columns)
        text += f" The model leaves out {n_zero:,} of {count(n, 'column')}."
    how = known.note
    if known.is_known:
        how = f"{percent(settings.confidence)} intervals: {known.note}"
    return f"{text} {how[:1].upper()}{how[1:]}. None of this says that a column is a cause."
