"""Forest plots: effects, candidates, headroom, subgroups, and the verdict's interval."""

from ...content.answer import Ceiling, Headroom, ModelComparison
from ...content.data import Subgroups
from ...content.model import Effect, WhatItUses
from ...content.values import Interval, MeasureEstimate
from .. import tables
from ..numbers import share
from .chart import Chart
from .intervals import IntervalRow, Rule, interval_chart

MAX_EFFECTS = 20  # on the page; the JSON has all


def effects(uses: WhatItUses) -> Chart | None:
    """Coefficients, or odds ratios on a logarithmic scale, with the line of no effect."""
    found = uses.effects[:MAX_EFFECTS]
    if not found:
        return None
    log = all(e.ratio is not None and e.ratio > 0 for e in found)
    rows = [
        IntervalRow(
            effect_label(e),
            e.ratio if log else e.estimate,
            _positive(e.ratio_interval) if log else e.interval,
        )
        for e in found
    ]
    what = "odds ratio" if log else "coefficient"
    return interval_chart(
        "effects", f"{what.capitalize()} with interval",
        f"{what.capitalize()} of each column with its interval; the dashed line is no effect.",
        rows, f"{what}, logarithmic scale" if log else what, tables.effects(found),
        Rule(1.0 if log else 0.0, "no effect"), log,
    )  # fmt: skip


def effect_label(effect: Effect) -> str:
    """The column with its unit or levels, and the class where there are several."""
    unit = "" if effect.unit in ("", "per 1") else f", {effect.unit}"
    where = f"{effect.of_class}: " if effect.of_class else ""
    return f"{where}{effect.column}{unit}"


def _positive(interval: Interval | None) -> Interval | None:
    return interval if interval is not None and interval.low > 0 else None


def candidates(comparison: ModelComparison) -> Chart | None:
    """Scores on inner folds, ± one standard error."""
    rows = []
    for c in comparison.candidates:
        if c.score is None:
            rows.append(IntervalRow(c.name, None, None, "quiet", "no score"))
            continue
        error = c.standard_error
        bar = None if error is None else Interval(c.score - error, c.score + error)
        rows.append(
            IntervalRow(c.name, c.score, bar, "accent" if c.chosen else "quiet", bold=c.chosen)
        )
    if all(row.value is None for row in rows):
        return None
    name = comparison.candidates[0].measure
    return interval_chart(
        "candidates", f"{name} on inner folds, with one standard error",
        f"{name} on inner folds, with one standard error to either side. The chosen model has a "
        "filled circle and bold letters.",
        rows, f"{name} on inner folds", tables.candidates(comparison),
        Rule(comparison.baseline, "guessing"),
    )  # fmt: skip


def headroom(found: Headroom) -> Chart:
    """The chosen procedure and the boosted tree on the same folds."""
    rows = [
        IntervalRow("Chosen model", found.chosen.value, found.chosen.interval, bold=True),
        IntervalRow(
            "Boosted tree (reference)", found.reference.value, found.reference.interval, "quiet"
        ),
    ]
    baseline = found.chosen.baseline
    return interval_chart(
        "headroom", f"{found.measure} on the same outer folds",
        f"{found.measure} of the chosen model and of a boosted tree on the same outer folds.",
        rows, f"{found.measure} on outer folds", tables.headroom(found),
        None if baseline is None else Rule(baseline, "guessing"),
    )  # fmt: skip


def subgroups(found: Subgroups, number: int) -> Chart | None:
    """The verdict's measure within each group."""
    rows = [
        IntervalRow(
            f"{g.name} (n = {g.estimate.n:,})",
            None if g.note and g.estimate.interval is None else g.estimate.value,
            g.estimate.interval,
            "accent",
            "no estimate" if g.note and g.estimate.interval is None else "",
        )
        for g in found.groups
    ]
    if all(row.value is None for row in rows):
        return None
    baselines = [g.estimate.baseline for g in found.groups if g.estimate.baseline is not None]
    measure = found.groups[0].estimate.name
    same = len(set(baselines)) == 1
    return interval_chart(
        f"subgroups-{number}", f"{measure} by {found.column}",
        f"{measure} within each group of {found.column}, with intervals.", rows, measure,
        tables.subgroups(found), Rule(baselines[0], "guessing") if same else None,
    )  # fmt: skip


def verdict(measure: MeasureEstimate) -> Chart:
    """The verdict's interval beside guessing."""
    row = IntervalRow("", measure.value, measure.interval, text=" ")
    rule = None if measure.baseline is None else Rule(measure.baseline, "guessing")
    return interval_chart(
        "verdict", f"{measure.name} with its interval",
        f"{measure.name} of the whole procedure with its interval, beside guessing.", [row],
        measure.name, None, rule,
    )  # fmt: skip


def ceiling(found: Ceiling) -> Chart:
    """The bracket of the best possible error beside the error that was reached."""
    best = Interval(found.lower, found.upper)
    rows = [
        IntervalRow(
            "Best possible model", None, best, "quiet", f"{share(best.low)} to {share(best.high)}"
        ),
        IntervalRow("The procedure", found.error, None, "accent", share(found.error), bold=True),
    ]
    return interval_chart(
        "ceiling", "Error rates",
        "The bracket of the error rate of the best possible model, and the error rate reached.",
        rows, f"share of rows that are answered wrongly, n = {found.n:,}", found.table,
        write=share, start=0.0,
    )  # fmt: skip
