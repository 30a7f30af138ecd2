"""What-if: sliders whose positions add to the score of a linear model.

    z_k = intercept_k + Σ_sliders score_k(position)      column at its position, others stay

Positions are quantiles between the 5 % and the 95 % one, rounded to 3 digits, and levels with at
least 5 rows; all columns without a slider stay at their rounded median or commonest level, which is
part of the intercept. The variance of z is vᵀVv: v is the sum of the positions' parts of ``design``
(index 0, 1 at every position of the first slider, is all that stays) and V = root·rootᵀ.
"""

import numpy as np
from scipy.special import ndtri

from ..content.data import Unchecked
from ..content.model import Slider, WhatIf
from ..content.phrases import count, digits3, percent
from ..prepared import Prepared
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.linear import LinearModel, levels_of, linear_model, numbers_of
from .parts.uncertainty import Uncertainty, uncertainty

CHECK = "What-if"
N_POSITIONS = 21
MAX_SLIDERS = 20
MAX_LEVELS = 30
TAIL, MIN_TAIL_ROWS = 0.05, 5  # share and number of rows beyond the ends of a slider
MAX_ROOT_ROWS = 120  # of the covariance's root on the page: about 100 kB
NOT_LINEAR = (
    "the chosen model is no sum of contributions of columns: a page could only recompute its "
    "answers with the training rows, which it does not hold"
)


def make(
    prepared: Prepared, settings: Settings, result: ProcedureResult
) -> tuple[WhatIf | None, tuple[Unchecked, ...]]:
    """The sliders; None with the reason where the model is not linear."""
    linear = linear_model(prepared, result)
    if linear is None:
        return None, (Unchecked(CHECK, NOT_LINEAR),)
    inputs = [
        made
        for column in prepared.columns
        if (made := _input(prepared, linear, column.name, column.role == "number")) is not None
    ]
    if not inputs:
        return None, (Unchecked(CHECK, "no column has two positions of at least 5 rows"),)
    fixed = _fixed(prepared, linear, inputs)
    order = sorted(range(len(inputs)), key=lambda i: -_reach(linear, inputs[i]))
    shown = [inputs[i] for i in order[:MAX_SLIDERS]]
    for one in (inputs[i] for i in order[MAX_SLIDERS:]):
        fixed += one.values[one.start]
    sliders = tuple(_slider(linear, one) for one in shown)
    width = float(ndtri((1 + settings.confidence) / 2))
    known = uncertainty(prepared, settings, result)
    design, root, note = _variance(settings, linear, known, shown, fixed)
    rest = len(prepared.columns) - len(shown)
    others = (
        ""
        if not rest
        else (f"{count(rest, 'column')} without a slider: at the median, or the commonest level.")
    )
    outputs = prepared.classes if prepared.classes else (settings.target or "the target",)
    if linear.link == "logistic":  # the probability is that of the second output
        assert prepared.positive is not None
        positive = prepared.positive
        outputs = (prepared.classes[1 - positive], prepared.classes[positive])
    intercepts = linear.b + linear.w @ fixed
    return WhatIf(
        link=linear.link, outputs=outputs, intercepts=tuple(intercepts.tolist()),
        cuts=tuple(linear.cuts.tolist()), sliders=sliders, design=design, root=root, width=width,
        interval_note=note, others_note=others,
    ), ()  # fmt: skip


# --- positions ------------------------------------------------------------------------------------


class _Input:
    """The positions of a column: labels, and the encoded values (positions, m) of each."""

    def __init__(self, column: str, labels: list[str], values: np.ndarray, start: int):
        self.column, self.labels, self.values, self.start = column, labels, values, start


def _input(prepared: Prepared, linear: LinearModel, name: str, is_number: bool) -> _Input | None:
    """Positions of a column; None where there is only one."""
    places = linear.places(name)
    if not places:
        return None
    if is_number:
        (j,) = places
        found = positions_of(numbers_of(prepared, name))
        if found is None:
            return None
        numbers, start = found
        values = np.zeros((len(numbers), len(linear.steps)))
        values[:, j] = (numbers - linear.steps[j].shift) / linear.steps[j].scale
        return _Input(name, [digits3(x) for x in numbers.tolist()], values, start)
    levels = [level for level in levels_of(prepared, linear, name)[0] if len(level.shares) <= 1][
        :MAX_LEVELS
    ]
    if len(levels) < 2:
        return None
    values = np.array([level_values(linear, name, level.shares) for level in levels])
    return _Input(name, [level.name for level in levels], values, 0)


def positions_of(values: np.ndarray) -> tuple[np.ndarray, int] | None:
    """Rounded quantiles of a column of numbers, and the place of the rounded median among them."""
    if len(values) < 2 * MIN_TAIL_ROWS:
        return None
    tail = max(TAIL, MIN_TAIL_ROWS / len(values))
    quantiles = np.quantile(values, np.linspace(tail, 1 - tail, N_POSITIONS))
    rounded = np.unique([rounded3(x) for x in [*quantiles.tolist(), median_of(values)]])
    if len(rounded) < 2:
        return None
    return rounded, int(np.searchsorted(rounded, rounded3(median_of(values))))


def rounded3(x: float) -> float:
    """The number with 3 significant digits."""
    return float(f"{x:.3g}")


def median_of(values: np.ndarray) -> float:
    return float(np.median(values))


def level_values(
    linear: LinearModel, name: str, shares: tuple[tuple[int, float], ...]
) -> np.ndarray:
    """Encoded values of a level, of all columns; 0 for those of other columns of the table."""
    values = np.zeros(len(linear.steps))
    for j in linear.places(name):
        values[j] = -linear.steps[j].shift / linear.steps[j].scale
    for j, weight in shares:
        values[j] += weight / linear.steps[j].scale
    return values


def _fixed(prepared: Prepared, linear: LinearModel, inputs: list[_Input]) -> np.ndarray:
    """Encoded values of the columns that have no positions."""
    with_positions = {one.column for one in inputs}
    fixed = np.zeros(len(linear.steps))
    for column in prepared.columns:
        places = linear.places(column.name)
        if column.name in with_positions or not places:
            continue
        if column.role == "number":
            step = linear.steps[places[0]]
            values = numbers_of(prepared, column.name)
            middle = rounded3(median_of(values)) if len(values) else float(step.shift)
            fixed[places[0]] = (middle - step.shift) / step.scale
        else:
            levels = levels_of(prepared, linear, column.name)[0]
            fixed += level_values(linear, column.name, levels[0].shares if levels else ())
    return fixed


def _reach(linear: LinearModel, one: _Input) -> float:
    """The largest difference that a slider makes to a score."""
    scores = one.values @ linear.w.T
    return float(np.max(scores.max(axis=0) - scores.min(axis=0)))


def _slider(linear: LinearModel, one: _Input) -> Slider:
    scores = linear.w @ one.values.T
    return Slider(one.column, tuple(one.labels), tuple(tuple(row) for row in scores.tolist()),
                  one.start)  # fmt: skip


# --- the interval ---------------------------------------------------------------------------------


def _variance(
    settings: Settings, linear: LinearModel, known: Uncertainty, shown: list[_Input],
    fixed: np.ndarray,
) -> tuple[
    tuple[tuple[tuple[tuple[int, float], ...], ...], ...], tuple[tuple[float, ...], ...] | None, str
]:  # fmt: skip
    """``design`` and ``root``, and what the interval is; without a root, why there is none."""
    used = sorted({j for one in shown for j in np.flatnonzero(one.values.any(axis=0)).tolist()})
    place = {j: i + 1 for i, j in enumerate(used)}
    design = []
    for number, one in enumerate(shown):
        first = ((0, 1.0),) if number == 0 else ()
        design.append(tuple(
            (*first, *((place[j], float(row[j])) for j in np.flatnonzero(row).tolist()))
            for row in one.values
        ))  # fmt: skip
    if linear.link in ("softmax", "cumulative"):
        what = "scores of all classes" if linear.link == "softmax" else "score and thresholds"
        return tuple(design), None, f"No interval: {what} vary together."
    if not known.is_known:
        return tuple(design), None, f"{known.note[:1].upper()}{known.note[1:]}."
    if len(used) + 1 > MAX_ROOT_ROWS:
        return tuple(design), None, (
            f"No interval: {len(used):,} coefficients are too many for a page of this size."
        )  # fmt: skip
    C = np.zeros((len(used) + 1, len(linear.steps) + 1))
    C[0, 0], C[0, 1:] = 1.0, fixed
    for j, i in place.items():
        C[i, j + 1] = 1.0
    root = known.root(0, C)
    if root is None:
        return tuple(design), None, "No interval: some coefficients are not determined."
    of = "the mean" if linear.link == "identity" else "the probability"
    note = (
        f"{percent(settings.confidence)} interval of {of}, from the uncertainty of the "
        f"coefficients ({known.note}); a single row scatters more."
    )
    return tuple(design), tuple(tuple(row) for row in root.tolist()), note
