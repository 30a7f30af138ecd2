"""Curves over all thresholds: ROC, precision–recall and decision curve."""

from ...content.performance import ThresholdCounts
from ...content.values import MeasureEstimate
from .. import thresholds
from ..numbers import digits3, share, value_and_interval
from ..svg.canvas import Canvas
from ..svg.plot import HEIGHT, WIDTH, Plot
from .chart import Chart


def roc(counts: ThresholdCounts, area: MeasureEstimate | None) -> Chart:
    """Sensitivity against the share of false alarms."""
    every = thresholds.all_of(counts)
    points = [(0.0, 0.0)]
    points += [(1 - (m.specificity or 0.0), m.sensitivity or 0.0) for m in reversed(every)]
    points.append((1.0, 1.0))
    title = "ROC curve"
    canvas = Canvas(
        "chart-roc", title,
        "Sensitivity against the share of false alarms, for every threshold. "
        f"{named(area)}. The dashed diagonal is guessing.",
        WIDTH, HEIGHT,
    )  # fmt: skip
    plot = Plot(
        canvas, (0.0, 1.0), (0.0, 1.0), "false alarms (1 − specificity)", "sensitivity", share,
        share,
    )  # fmt: skip
    canvas.band(
        [plot.at(x, 0.0) for x in (0.0, 1.0)], [plot.at(*point) for point in points], "fill"
    )
    plot.curve([(0.0, 0.0), (1.0, 1.0)], "line dashed quiet")
    plot.curve(points, "line accent")
    plot.label(0.98, 0.06, named(area), "end")
    plot.label(0.6, 0.5, "guessing", "start", "t quiet-text")
    now = thresholds.at(counts, counts.selected)
    plot.marker("roc", 1 - (now.specificity or 0.0), now.sensitivity or 0.0)
    return Chart("roc", title, canvas.markup(), None)


def precision_recall(counts: ThresholdCounts, area: MeasureEstimate | None) -> Chart:
    """Precision against sensitivity."""
    every = [m for m in thresholds.all_of(counts) if m.precision is not None and m.tp > 0]
    points = [(m.sensitivity or 0.0, m.precision or 0.0) for m in reversed(every)]
    prevalence = counts.n_positive / (counts.n_positive + counts.n_negative)
    top = min(1.0, 1.15 * max([prevalence * 2, *(p for s, p in points if s >= 0.03)]))
    title = "Precision and recall"
    canvas = Canvas(
        "chart-pr", title,
        "Precision, the share of alarms that are right, against sensitivity. "
        f"{named(area)}. The dashed line is guessing: {share(prevalence)}.",
        WIDTH, HEIGHT,
    )  # fmt: skip
    plot = Plot(canvas, (0.0, 1.0), (0.0, top), "sensitivity (recall)", "precision", share, share)
    plot.curve([(0.0, prevalence), (1.0, prevalence)], "line dashed quiet")
    if points:
        plot.curve(points, "line accent")
    plot.label(0.98, top * 0.95, named(area), "end")
    plot.label(0.02, prevalence + 0.02 * top, "guessing", "start", "t quiet-text")
    now = thresholds.at(counts, counts.selected)
    plot.marker("pr", now.sensitivity or 0.0, now.precision or 0.0)
    return Chart("pr", title, canvas.markup(), None)


def decision(counts: ThresholdCounts) -> Chart:
    """Net benefit of the model, of treating all and of treating none."""
    end = thresholds.highest_useful(counts)
    every = [
        (m.threshold, m.net_benefit or 0.0) for m in thresholds.all_of(counts) if m.threshold <= end
    ]
    prevalence = counts.n_positive / (counts.n_positive + counts.n_negative)
    top = 1.1 * max([prevalence, *(b for _, b in every)])
    low = -0.3 * top
    title = "Decision curve"
    canvas = Canvas(
        "chart-decision", title,
        "Net benefit: true positives less false positives weighted by the odds of the threshold, "
        "a row. Solid: the model; dashed: every row predicted positive; dotted: none.",
        WIDTH, HEIGHT,
    )  # fmt: skip
    plot = Plot(canvas, (0.0, end), (low, top), "threshold", "net benefit per row", share, digits3)
    steps = [end * i / 60 for i in range(61)]
    treated = [(t, thresholds.treat_all(counts, t)) for t in steps]
    treated = [(t, b) for t, b in treated if b >= low]
    plot.curve([(0.0, 0.0), (end, 0.0)], "line dotted quiet")
    plot.curve(treated, "line dashed quiet")
    inside = [(t, b) for t, b in every if b >= low]
    if inside:
        plot.curve(inside, "line accent")
    plot.label(end, -0.075 * top, "alarm for none", "end", "t quiet-text")
    plot.label(
        treated[-1][0] + 0.015 * end, low + 0.04 * top, "alarm for all", "start", "t quiet-text"
    )
    now = thresholds.at(counts, counts.selected)
    plot.marker("decision", now.threshold, now.net_benefit)
    return Chart("decision", title, canvas.markup(), None)


def named(area: MeasureEstimate | None) -> str:
    """The area with its interval, on a chart."""
    if area is None:
        return ""
    return f"{area.name} {value_and_interval(area.value, area.interval)}".replace(" interval", "")
