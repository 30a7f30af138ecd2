"""What changed since an earlier report or a model file: rows, columns, verdict, coefficients.

An earlier report is its ``report.json`` as a dictionary; a model file is {"kind": "model file",
"summary": …, "table": schema}. A file that lacks a part is compared in the others.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..content.document import Against, Change, ReportContent
from ..content.model import Effect
from ..content.phrases import count, digits3, interval_text, listed, value_and_interval
from ..content.values import Interval, MeasureEstimate

MAX_COLUMNS_NAMED = 10
MODEL_FILE = "model file"


def make(content: ReportContent, earlier: dict[str, object], source: str) -> Against:
    """The differences, the verdict's first."""
    if earlier.get("kind") == MODEL_FILE:
        changes = _since_model(content, earlier)
        what = "the model file"
    else:
        changes = _since_report(content, earlier)
        what = "the earlier report"
    if not changes:
        return Against(source, f"Nothing that is compared has changed since {what}.", ())
    names = listed([change.what for change in changes], 6)
    differs = "difference" if len(changes) == 1 else "differences"
    text = f"{len(changes):,} {differs} from {what}: {names}."
    return Against(source, text, tuple(changes))


def _since_report(content: ReportContent, earlier: Mapping[str, Any]) -> list[Change]:
    question = _part(earlier, "question")
    changes = _of_verdict(content, _part(earlier, "verdict"))
    changes += _of_question(content, question)
    before = {str(row.get("column")) for row in _rows(_part(earlier, "uses"), "effects")}
    after = {e.column for e in content.uses.effects} if content.uses is not None else set()
    if before and after:
        changes += _of_columns(before, after, "columns with a coefficient")
    changes += _of_model(content, earlier)
    changes += _of_coefficients(content, _rows(_part(earlier, "uses"), "effects"))
    if "problems" in _part(earlier, "problems"):
        changes += _of_problems(content, _rows(_part(earlier, "problems"), "problems"))
    return changes


def _since_model(content: ReportContent, earlier: Mapping[str, Any]) -> list[Change]:
    schema, summary = _part(earlier, "table"), _part(earlier, "summary")
    changes = []
    target = schema.get("target")
    if target is not None and target != content.question.target:
        changes.append(Change("target", str(target), content.question.target))
    shape = summary.get("shape")
    if isinstance(shape, Sequence) and shape and shape[0] != content.question.n_rows:
        changes.append(_numbers("rows", int(shape[0]), content.question.n_rows))
    used = schema.get("used")
    if isinstance(used, Sequence) and content.table_one is not None:
        now = {str(row[0]) for row in content.table_one.table.rows if row[0] is not None}
        gone = [str(name) for name in used if str(name) not in now]
        if gone:
            changes.append(Change("columns", listed(gone, MAX_COLUMNS_NAMED), "",
                                  "used by the model, and not in this table"))  # fmt: skip
    n_used = len(used) if isinstance(used, Sequence) else None
    if n_used is not None and n_used != content.question.n_columns:
        changes.append(_numbers("number of columns", n_used, content.question.n_columns))
    return changes


# --- what is compared -----------------------------------------------------------------------------


def _of_verdict(content: ReportContent, before: Mapping[str, Any]) -> list[Change]:
    now = content.verdict
    changes = []
    if before.get("kind") not in (None, now.kind):
        changes.append(Change("verdict", str(before.get("headline", before["kind"])), now.headline))
    old, new = _estimate(_part(before, "measure")), now.measure
    if old is None or new is None:
        return changes
    if old.name != new.name:
        changes.append(Change("measure", old.name, new.name, "they cannot be compared"))
    elif digits3(old.value) != digits3(new.value):
        changes.append(Change(new.name, _shown(old), _shown(new), _overlap(old, new)))
    return changes


def _overlap(old: MeasureEstimate, new: MeasureEstimate) -> str:
    if old.interval is None or new.interval is None:
        return ""
    apart = old.interval.high < new.interval.low or new.interval.high < old.interval.low
    return "the intervals do not overlap" if apart else "the intervals overlap: it may be chance"


def _of_question(content: ReportContent, before: Mapping[str, Any]) -> list[Change]:
    now, changes = content.question, []
    for name in ("target", "task", "positive"):
        old, new = before.get(name), getattr(now, name)
        if old is not None and old != new:
            changes.append(Change(name, str(old), "none" if new is None else str(new)))
    for name, words in (("n_rows", "rows"), ("n_columns", "number of columns")):
        old, new = before.get(name), getattr(now, name)
        if isinstance(old, int) and old != new:
            changes.append(_numbers(words, old, new))
    sizes = {c.name: c.n for c in now.classes}
    for row in _rows(before, "classes"):
        name, n = str(row.get("name")), row.get("n")
        if isinstance(n, int) and sizes.get(name) != n:
            changes.append(_numbers(f"rows of '{name}'", n, sizes.get(name, 0)))
    return changes


def _of_columns(before: set[str], after: set[str], what: str) -> list[Change]:
    new, gone = sorted(after - before), sorted(before - after)
    changes = []
    if new:
        changes.append(Change(f"new {what}", "", listed(new, MAX_COLUMNS_NAMED)))
    if gone:
        changes.append(Change(f"{what} that are gone", listed(gone, MAX_COLUMNS_NAMED), ""))
    return changes


def _of_model(content: ReportContent, earlier: Mapping[str, Any]) -> list[Change]:
    before = [r for r in _rows(_part(earlier, "comparison"), "candidates") if r.get("chosen")]
    now = [c for c in content.comparison.candidates if c.chosen] if content.comparison else []
    if not before or not now:
        return []
    old, new = before[0], now[0]
    names = [" ".join(filter(None, (str(old.get("name")), str(old.get("parameters") or "")))),
             " ".join(filter(None, (new.name, new.parameters)))]  # fmt: skip
    return [] if names[0] == names[1] else [Change("chosen model", names[0], names[1])]


def _of_coefficients(content: ReportContent, before: list[Mapping[str, Any]]) -> list[Change]:
    """Coefficients of the same columns, in the same unit, whose three digits differ."""
    if content.uses is None:
        return []
    old = {_key(row.get): row for row in before}
    changes = []
    for effect in content.uses.effects:
        row = old.get(_key(vars(effect).get))
        if row is None or not isinstance(row.get("estimate"), int | float):
            continue
        was, is_now = float(row["estimate"]), effect.estimate
        if digits3(was) == digits3(is_now):
            continue
        interval = _interval(row.get("interval"))
        text = "the sign has changed" if was * is_now < 0 else ""
        if interval is not None and not interval.low <= is_now <= interval.high:
            text = f"{text}; " if text else ""
            text += f"outside its earlier interval, {interval_text(interval)}"
        changes.append(Change(_named(effect), digits3(was), digits3(is_now), text))
    return changes


def _key(get: Any) -> tuple[object, ...]:
    return tuple(get(name) for name in ("column", "level", "reference", "unit", "of_class"))


def _named(effect: Effect) -> str:
    what = f"coefficient of {effect.column}"
    if effect.level is not None:
        what += f" ({effect.unit})"
    elif effect.unit != "per 1":
        what += f", {effect.unit}"
    return what + (f", for '{effect.of_class}'" if effect.of_class else "")


def _of_problems(content: ReportContent, before: list[Mapping[str, Any]]) -> list[Change]:
    old = {str(row.get("code")) for row in before}
    new = {p.code for p in content.problems.problems}
    changes = []
    if new - old:
        changes.append(Change("new data problems", "", listed(sorted(new - old))))
    if old - new:
        changes.append(Change("data problems that are gone", listed(sorted(old - new)), ""))
    return changes


# --- parts of a dictionary ------------------------------------------------------------------------


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def _rows(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = document.get(name)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _estimate(row: Mapping[str, Any]) -> MeasureEstimate | None:
    value = row.get("value")
    if not isinstance(value, int | float):
        return None
    return MeasureEstimate(str(row.get("name")), float(value), int(row.get("n") or 0),
                    _interval(row.get("interval")))  # fmt: skip


def _interval(row: object) -> Interval | None:
    if not isinstance(row, Mapping):
        return None
    low, high = row.get("low"), row.get("high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    return Interval(float(low), float(high), float(row.get("level") or 0.95))


def _shown(estimate: MeasureEstimate) -> str:
    return f"{estimate.name} {value_and_interval(estimate.value, estimate.interval)}"


def _numbers(what: str, before: int, after: int) -> Change:
    more = after - before
    words = count(abs(more), "row") if what.startswith("rows") else f"{abs(more):,}"
    return Change(what, f"{before:,}", f"{after:,}", f"{words} {'more' if more > 0 else 'fewer'}")
