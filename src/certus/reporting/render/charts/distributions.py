"""Deciles of predictions, and quantiles of errors."""

from ...content.values import ReportTable
from ..numbers import digits3, integer, share
from ..svg.canvas import Canvas
from ..svg.plot import HEIGHT, WIDTH, Plot
from ..svg.scales import domain
from .chart import Chart

BAR_SHARE = 0.66  # of the distance between two bars


def deciles(grid: ReportTable) -> Chart | None:
    """Observed shares as bars, mean probabilities as dots; None without two columns of shares."""
    places = [j for j, column in enumerate(grid.columns) if column.kind == "share"]
    if len(places) < 2 or not grid.rows:
        return None
    predicted, observed = ([as_number(row[j]) for row in grid.rows] for j in places[:2])
    top = 1.3 * max([*predicted, *observed, 1e-3])
    canvas = Canvas(
        "chart-deciles", grid.title,
        "Bars: observed share in each tenth. Dots: mean predicted probability.", WIDTH, HEIGHT,
    )  # fmt: skip
    n = len(grid.rows)
    plot = Plot(
        canvas, (0.5, n + 0.5), (0.0, top), "tenths of rows, most likely first", "share",
        integer, share,
    )  # fmt: skip
    base, width = plot.y(0.0), BAR_SHARE * abs(plot.x(2.0) - plot.x(1.0))
    for k, value in enumerate(observed):
        x, y = plot.at(k + 1.0, value)
        canvas.bar(x - width / 2, y, width, base - y, "bar")
    for k, value in enumerate(predicted):
        canvas.dot(*plot.at(k + 1.0, value), 3.5, "dot")
    x, y = plot.x.end - 108, plot.y.end + 8
    canvas.bar(x - 5, y - 9, 10, 10, "bar")
    canvas.text(x + 11, y, "observed")
    canvas.dot(x, y + 12, 3.5, "dot")
    canvas.text(x + 11, y + 16, "predicted")
    return Chart("deciles", grid.title, canvas.markup(), grid)


def residuals(grid: ReportTable) -> Chart | None:
    """Quantiles of the errors; None without a column of shares and one of numbers."""
    shares = [j for j, column in enumerate(grid.columns) if column.kind == "share"]
    numbers = [j for j, column in enumerate(grid.columns) if column.kind == "number"]
    if not shares or not numbers or len(grid.rows) < 2:
        return None
    points = [(as_number(row[shares[0]]), as_number(row[numbers[0]])) for row in grid.rows]
    low, high = domain([0.0, *(v for _, v in points)])
    canvas = Canvas(
        "chart-residuals", "Errors by quantile",
        "Quantiles of observed less predicted values. The dashed line is no error.", WIDTH, HEIGHT,
    )  # fmt: skip
    plot = Plot(canvas, (0.0, 1.0), (low, high), "share of rows", "error", share, digits3)
    plot.curve([(0.0, 0.0), (1.0, 0.0)], "line dashed quiet")
    plot.curve(points, "line accent")
    for point in points:
        canvas.dot(*plot.at(*point), 3.5, "dot")
    return Chart("residuals", "Errors by quantile", canvas.markup(), grid)


def as_number(value: object) -> float:
    """A cell as a number; 0 where there is none."""
    return float(value) if isinstance(value, int | float) and value == value else 0.0
