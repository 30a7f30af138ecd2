"""Observed against predicted: shares for classes, values for numbers."""

from ...content.performance import Calibration
from ...content.values import ReportTable, TableColumn
from ..numbers import digits3, interval_text, share
from ..svg.canvas import Canvas
from ..svg.plot import HEIGHT, WIDTH, Plot
from ..svg.scales import domain
from .chart import Chart


def calibration(found: Calibration, numbers: bool, threshold: float | None) -> Chart:
    """Bins of similar predictions, with the diagonal of perfect calibration."""
    write = digits3 if numbers else share
    ends = [v for b in found.bins for v in (b.predicted, b.observed)]
    ends += [v for b in found.bins if b.interval for v in (b.interval.low, b.interval.high)]
    low, high = domain(ends)
    if not numbers:
        low, high = 0.0, min(1.0, high)
    title = "Observed against predicted" if numbers else "Calibration curve"
    canvas = Canvas(
        "chart-calibration", title,
        f"{len(found.bins)} bins of rows with similar predictions: their mean prediction and what "
        "was observed, with intervals. On the dashed diagonal both are equal.",
        WIDTH, HEIGHT,
    )  # fmt: skip
    side = (low, high)
    plot = Plot(
        canvas, side, side, "predicted" if numbers else "predicted probability",
        "observed" if numbers else "observed share", write, write,
    )  # fmt: skip
    plot.curve([(low, low), (high, high)], "line dashed quiet")
    plot.label(high, low + 0.04 * (high - low), "dashed: predicted = observed", "end")
    for part in found.bins:
        x, _ = plot.at(part.predicted, part.observed)
        if part.interval is not None:
            ends_y = [
                plot.at(part.predicted, v)[1] for v in (part.interval.low, part.interval.high)
            ]
            canvas.rule((x, ends_y[0]), (x, ends_y[1]), "whisker")
    plot.curve([(b.predicted, b.observed) for b in found.bins], "line thin accent")
    for part in found.bins:
        canvas.dot(*plot.at(part.predicted, part.observed), 3.5, "dot")
    if threshold is not None:
        plot.marker("calibration", threshold, None)
    return Chart("calibration", title, canvas.markup(), table(found, numbers))


def table(found: Calibration, numbers: bool) -> ReportTable:
    """The bins as a table."""
    kind = "number" if numbers else "share"
    return ReportTable(
        "Bins of rows with similar predictions",
        (
            TableColumn("mean prediction", kind), TableColumn("observed", kind),
            TableColumn("interval", "text"), TableColumn("rows", "count"),
        ),
        tuple(
            (b.predicted, b.observed, interval_text(b.interval) if b.interval else None, b.n)
            for b in found.bins
        ),
    )  # fmt: skip
