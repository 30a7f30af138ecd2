"""Points with intervals under each other: the layout of every forest plot of the page."""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from ...content.values import Interval, ReportTable
from ..numbers import digits3, interval_text, value_beside
from ..svg.canvas import MARGIN, TEXT_PIXELS, Canvas
from ..svg.scales import Axis, LinearScale, LogScale, labeled
from ..svg.text_width import shortened, width_of
from .chart import NARROW_PIXELS, Chart, in_two_widths

ROW_PIXELS, STACKED_ROW_PIXELS = 28.0, 44.0  # the latter with the label above
HEAD_PIXELS, FOOT_PIXELS = 27.0, 44.0
LABEL_PIXELS = 270.0  # at most
MIN_LOG_REACH = 0.1  # of a logarithmic axis to either side of 1: a ratio of about 1.1
BOLD_WIDTH = 1.08  # bold letters are that much wider


@dataclass(frozen=True)
class IntervalRow:
    """One line: what it is, the value and its interval; ``kind``: "accent" or "quiet"."""

    label: str
    value: float | None
    interval: Interval | None
    kind: str = "accent"
    text: str = ""  # instead of the numbers
    bold: bool = False

    @property
    def numbers(self) -> str:
        """Value and interval as written at the end of the row."""
        if self.text or (self.value is None and self.interval is None):
            return self.text
        if self.value is None:
            return interval_text(self.interval) if self.interval is not None else ""
        shown = value_beside(self.value, self.interval)
        return shown if self.interval is None else f"{shown} ({interval_text(self.interval)})"


@dataclass(frozen=True)
class Rule:
    """A vertical line through all rows: guessing, or no effect."""

    value: float
    label: str


def interval_chart(
    name: str, title: str, description: str, rows: list[IntervalRow], axis: str,
    table: ReportTable | None, rule: Rule | None = None, log: bool = False,
    write: Callable[[float], str] = digits3, start: float | None = None,
) -> Chart:  # fmt: skip
    """Draw rows of points with intervals on one scale, which begins at ``start`` if given."""
    low, high = _domain(rows, rule, log)
    low = low if start is None else start

    def draw(canvas: Canvas, narrow: bool) -> None:
        label = 10.0 if narrow else _label_room(rows)
        numbers = 10.0 if narrow else 20.0 + max(width_of(r.numbers, TEXT_PIXELS) for r in rows)
        make = LogScale if log else LinearScale
        x: Axis = make(low, high, label, canvas.width - numbers)
        bottom = canvas.height - FOOT_PIXELS
        for value, text in labeled(x.ticks(5 if narrow else 7), write):
            canvas.rule((x(value), HEAD_PIXELS), (x(value), bottom), "grid")
            canvas.text(x(value), bottom + 16, text, "middle", "tick")
        canvas.rule((x.start, bottom), (x.end, bottom), "axis")
        canvas.text((x.start + x.end) / 2, canvas.height - 6, axis, "middle")
        if rule is not None:
            canvas.rule(
                (x(rule.value), HEAD_PIXELS - 5), (x(rule.value), bottom), "line dashed quiet"
            )
            canvas.text(x(rule.value), HEAD_PIXELS - 10, rule.label, "middle", "t quiet-text")
        for k, row in enumerate(rows):
            _row(canvas, x, row, k, narrow)

    count = len(rows)
    heights = (
        HEAD_PIXELS + FOOT_PIXELS + 6 + ROW_PIXELS * count,
        HEAD_PIXELS + FOOT_PIXELS + 6 + STACKED_ROW_PIXELS * count,
    )
    return in_two_widths(name, title, description, heights, draw, table)


def _row(canvas: Canvas, x: Axis, row: IntervalRow, k: int, narrow: bool) -> None:
    step = STACKED_ROW_PIXELS if narrow else ROW_PIXELS
    y = HEAD_PIXELS + 6 + step * k + (step * 0.72 if narrow else step / 2)
    text_y = y - 14 if narrow else y + 4
    size = TEXT_PIXELS * (BOLD_WIDTH if row.bold else 1)
    room = NARROW_PIXELS - 20 - width_of(row.numbers, TEXT_PIXELS) if narrow else x.start - 14
    label = shortened(row.label, size, room)
    canvas.text(MARGIN, text_y, label, "start", "t strong" if row.bold else "t")
    canvas.text(canvas.width - MARGIN, text_y, row.numbers, "end", "t number")
    if row.interval is not None:
        canvas.whisker(x, row.interval.low, row.interval.high, y, f"whisker {row.kind}")
    if row.value is None or not math.isfinite(row.value):
        return
    place = x(min(max(row.value, x.low), x.high))
    if row.kind == "accent":
        canvas.dot(place, y, 4.5, "dot")
    else:
        canvas.diamond(place, y, 5, "dot hollow")


def _label_room(rows: list[IntervalRow]) -> float:
    widest = max(width_of(row.label, TEXT_PIXELS) for row in rows) * BOLD_WIDTH
    return min(LABEL_PIXELS, widest) + 18.0


def _domain(rows: list[IntervalRow], rule: Rule | None, log: bool) -> tuple[float, float]:
    """The range of values and intervals, unless a few intervals are much wider than the rest."""
    forward = (lambda v: math.log(max(v, 1e-300))) if log else (lambda v: v)
    values = [forward(r.value) for r in rows if r.value is not None and math.isfinite(r.value)]
    values += [forward(rule.value)] if rule is not None else []
    ends = [
        (forward(r.interval.low), forward(r.interval.high))
        for r in rows
        if r.interval is not None
        and all(map(math.isfinite, (r.interval.low, r.interval.high)))
    ]  # fmt: skip
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = max(high - low, statistics.median(b - a for a, b in ends) if ends else 0.0)
    low = min([low, *(max(a, low - room) for a, _ in ends)])
    high = max([high, *(min(b, high + room) for _, b in ends)])
    if log:  # ratios near 1 are shown as such
        low, high = min(low, -MIN_LOG_REACH), max(high, MIN_LOG_REACH)
    pad = 0.05 * (high - low) or 0.5
    low, high = low - pad, high + pad
    return (math.exp(low), math.exp(high)) if log else (low, high)
