"""Section 11: the verdict's measure within groups of rows, by the columns of --by and over --time.

Each row is answered by a model that had not seen it; the measure is that of the verdict, computed
from the rows of the group. Groups differ by more than chance if

    Q = Σ (m_g − m̄)²/s_g² > χ²(G − 1),    m̄ = Σ (m_g/s_g²)/Σ 1/s_g²

with s_g from the interval of group g, its half width over the normal quantile.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2, norm

from ...text.format import count
from ..arrays import MIN_ROWS_NAMED, codes_of, numbers_of
from ..content.data import Subgroup, Subgroups
from ..content.phrases import digits3, p_value
from ..content.values import MeasureEstimate

if TYPE_CHECKING:
    from ..prepared import Prepared
    from ..procedure.result import ProcedureResult
    from ..settings import Settings

MIN_ROWS = 20
N_BINS = 4  # of a column of numbers
N_PERIODS = 5
MAX_GROUPS = 20
MAX_DISTINCT_NUMBERS = 6  # a column of so few numbers is shown by its values
LEVEL = 0.05


def make(
    prepared: "Prepared", settings: "Settings", result: "ProcedureResult"
) -> tuple[Subgroups, ...]:
    """Return the measure by group, for every column of --by and for --time."""
    found = [
        _subgroups(prepared, settings, result, name, "group", *_groups_of(prepared, name))
        for name in settings.by
    ]
    if prepared.times is not None and settings.time is not None:
        names, codes = _periods(prepared.times)
        found.append(_subgroups(prepared, settings, result, settings.time, "time", names, codes))
    return tuple(found)


def _groups_of(prepared: "Prepared", name: str) -> tuple[list[str], np.ndarray]:
    """Names of groups and the group of each row."""
    import pyarrow as pa

    values = prepared.table.data.column(name).take(pa.array(prepared.positions))
    is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    if is_number:
        x = numbers_of(values)
        counts = np.unique(x[~np.isnan(x)], return_counts=True)[1]
        if len(counts) > MAX_DISTINCT_NUMBERS or (counts < MIN_ROWS_NAMED).any():
            return _bins(x)
    column = codes_of(values)
    codes, names = column.codes.copy(), list(column.levels)
    counts = column.counts
    kept = np.flatnonzero(counts >= MIN_ROWS_NAMED)
    kept = np.sort(kept[np.argsort(-counts[kept], kind="stable")[:MAX_GROUPS]])
    if is_number:
        kept = kept[np.argsort([float(names[k]) for k in kept], kind="stable")]
    place = np.full(len(names) + 1, len(kept))
    place[kept] = np.arange(len(kept))
    place[-1] = len(kept) + 1
    return [*(names[k] for k in kept), "other values", "missing"], place[codes]


def _bins(x: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Quarters of a column of numbers, named by their edges to three digits."""
    known = ~np.isnan(x)
    edges = np.unique(np.quantile(x[known], np.linspace(0, 1, N_BINS + 1)[1:-1]))
    codes = np.where(known, np.searchsorted(edges, x, side="left"), len(edges) + 1)
    shown = [digits3(float(e)) for e in edges]
    names = [f"up to {shown[0]}"]
    names += [f"above {a}, up to {b}" for a, b in pairwise(shown)]
    return [*names, f"above {shown[-1]}", "missing"], codes


def _periods(times: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Fifths of the rows in the order of time; rows of one time stay together."""
    edges = np.unique(np.quantile(times, np.linspace(0, 1, N_PERIODS + 1)[1:-1]))
    codes = np.searchsorted(edges, times, side="left")
    present = np.unique(codes)
    last = len(present)
    ends = {1: ", the earliest", last: ", the latest"}
    names = [f"period {i} of {last}{ends.get(i, '')}" for i in range(1, last + 1)]
    return names, np.searchsorted(present, codes)


def _subgroups(
    prepared: "Prepared", settings: "Settings", result: "ProcedureResult", column: str, kind: str,
    names: list[str], codes: np.ndarray,
) -> Subgroups:  # fmt: skip
    groups = []
    for k, name in enumerate(names):
        rows = np.flatnonzero((codes == k) & (result.outer.fold >= 0))
        if len(rows):
            groups.append(_subgroup(prepared, settings, result, name, rows))
    return Subgroups(column, kind, _sentence(result.measure.name, kind, groups), tuple(groups))


def _subgroup(
    prepared: "Prepared", settings: "Settings", result: "ProcedureResult", name: str,
    rows: np.ndarray,
) -> Subgroup:  # fmt: skip
    measure = result.measure
    empty = MeasureEstimate(measure.name, float("nan"), len(rows), None, measure.baseline)
    if len(rows) < MIN_ROWS:
        return Subgroup(name, empty, f"fewer than {MIN_ROWS} rows: no estimate")
    from ..procedure import intervals, measures

    target = prepared.codes() if prepared.task != "numbers" else prepared.y.astype(float)
    if prepared.task == "two classes":
        target = (target == prepared.positive).astype(int)
    together = prepared.duplicates if prepared.groups is None else prepared.groups
    estimate = intervals.estimate(
        measures.measure_of(prepared.task), target[rows], result.outer.output[rows],
        result.outer.fold[rows], _guesses(prepared, result)[rows],
        None if prepared.weights is None else prepared.weights[rows], together[rows],
        settings.confidence, settings.seed,
    )  # fmt: skip
    if not np.isfinite(estimate.value):
        return Subgroup(name, empty, "all rows have the same class: no estimate")
    return Subgroup(name, estimate)


def _guesses(prepared: "Prepared", result: "ProcedureResult") -> np.ndarray:
    """For numbers the mean target of the rows of other folds; for classes nothing is needed."""
    guess = np.zeros(prepared.n)
    if prepared.task == "numbers":
        s = np.ones(prepared.n) if prepared.weights is None else prepared.weights
        for fold in np.unique(result.outer.fold):
            inside = result.outer.fold == fold
            others = s * ~inside
            if others.sum() > 0:
                guess[inside] = others @ prepared.y.astype(float) / others.sum()
    return guess


def _sentence(measure: str, kind: str, groups: list[Subgroup]) -> str:
    """Whether groups differ by more than chance explains."""
    known = [g for g in groups if g.estimate.interval is not None]
    if len(known) < 2:
        return f"{count(len(known), 'group')} with enough rows: nothing to compare."
    values = np.array([g.estimate.value for g in known])
    errors = []
    for g in known:
        interval = g.estimate.interval
        assert interval is not None
        errors.append((interval.high - interval.low) / 2 / norm.ppf((1 + interval.level) / 2))
    s2 = np.maximum(np.array(errors), 1e-6) ** 2
    mean = np.sum(values / s2) / np.sum(1 / s2)
    p = float(chi2.sf(np.sum((values - mean) ** 2 / s2), len(known) - 1))
    low, high = known[int(values.argmin())], known[int(values.argmax())]
    span = (
        f"{measure} is between {digits3(low.estimate.value)} ({low.name}) and "
        f"{digits3(high.estimate.value)} ({high.name})"
    )
    what = "periods" if kind == "time" else "groups"
    caution = ""
    if measure == "R²" and kind == "group":
        caution = " R² also depends on how much the target varies within a group."
    if p < LEVEL:
        differ = f"the {what} differ by more than chance explains (p {_compared(p)})."
        return f"{span}: {differ}{caution}"
    return (
        f"{span}, no more than chance explains (p {_compared(p)}). That is no proof that the "
        f"{what} are alike.{caution}"
    )


def _compared(p: float) -> str:
    text = p_value(p)
    return text if text[0] in "<>" else f"= {text}"
