"""Scores by the number of clusters, one small plot for each score."""

from ...content.values import Grid
from ..numbers import digits3, integer
from ..svg.canvas import Canvas, fixed
from ..svg.plot import WIDTH, Plot
from ..svg.scales import domain
from .chart import Chart

PANEL_PIXELS = 190.0
MAX_PANELS = 3


def evidence(grid: Grid) -> Chart | None:
    """The first column counts clusters, every column of numbers is a score."""
    scores = [
        j for j, column in enumerate(grid.columns) if j and column.kind in ("number", "share")
    ]
    scores = [j for j in scores if sum(_is_number(row[j]) for row in grid.rows) > 1][:MAX_PANELS]
    if not scores:
        return None
    names = ", ".join(grid.columns[j].name for j in scores)
    canvas = Canvas(
        "chart-evidence", grid.title, f"By the number of clusters: {names}.", WIDTH,
        PANEL_PIXELS * len(scores),
    )  # fmt: skip
    for panel, j in enumerate(scores):
        points = [
            (float(row[0]), float(row[j]))  # type: ignore[arg-type]
            for row in grid.rows
            if _is_number(row[0]) and _is_number(row[j])
        ]
        inner = Canvas("", "", "", WIDTH, PANEL_PIXELS)
        plot = Plot(
            inner, domain([x for x, _ in points]), domain([y for _, y in points], 0.12),
            grid.columns[0].name, grid.columns[j].name, integer, digits3,
            whole=True,
        )  # fmt: skip
        plot.curve(points, "line accent")
        for point in points:
            inner.dot(*plot.at(*point), 3.5, "dot")
        canvas.add(
            f'<g transform="translate(0 {fixed(panel * PANEL_PIXELS)})">{inner.contents()}</g>'
        )
    return Chart("evidence", grid.title, canvas.markup(), grid)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and value == value
