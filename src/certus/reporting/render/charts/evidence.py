"""Scores by the number of clusters, one small plot for each score."""

from ...content.values import ReportTable
from ..numbers import digits3, integer
from ..svg.canvas import Canvas, fixed
from ..svg.plot import Plot
from ..svg.scales import domain
from .chart import NARROW_PIXELS, Chart, in_two_widths

PANEL_PIXELS, PANEL_GAP = 200.0, 24.0
MAX_PANELS = 4
ERROR_MARK = "±"  # a column so named holds the errors of the one before it


def evidence(grid: ReportTable) -> Chart | None:
    """The first column counts clusters, every other column of numbers is a score."""
    panels = [j for j, column in enumerate(grid.columns) if j and _is_score(grid, j)][:MAX_PANELS]
    if not panels:
        return None

    def draw(canvas: Canvas, narrow: bool) -> None:
        width = NARROW_PIXELS if narrow else (canvas.width - PANEL_GAP) / 2
        for number, j in enumerate(panels):
            row, column = (number, 0) if narrow else divmod(number, 2)
            inner = Canvas("", "", "", width, PANEL_PIXELS)
            _panel(inner, grid, j)
            shift = f"{fixed(column * (width + PANEL_GAP))} {fixed(row * PANEL_PIXELS)}"
            canvas.add(f'<g transform="translate({shift})">{inner.contents()}</g>')

    names = ", ".join(grid.columns[j].name for j in panels)
    heights = (PANEL_PIXELS * ((len(panels) + 1) // 2), PANEL_PIXELS * len(panels))
    return in_two_widths(
        "evidence", grid.title, f"By the number of clusters: {names}.", heights, draw, grid
    )


def _panel(canvas: Canvas, grid: ReportTable, j: int) -> None:
    errors = j + 1 < len(grid.columns) and grid.columns[j + 1].name.startswith(ERROR_MARK)
    points = [
        (_number(row[0]), _number(row[j]), _number(row[j + 1]) if errors else 0.0)
        for row in grid.rows
        if _is_number(row[0]) and _is_number(row[j])
    ]
    ends = [y + sign * e for _, y, e in points for sign in (-1, 1)]
    plot = Plot(
        canvas, domain([x for x, _, _ in points]), domain(ends, 0.12), grid.columns[0].name,
        grid.columns[j].name, integer, digits3, whole=True,
    )  # fmt: skip
    plot.curve([(x, y) for x, y, _ in points], "line accent")
    for x, y, e in points:
        if e:
            canvas.rule(plot.at(x, y - e), plot.at(x, y + e), "whisker")
        canvas.dot(*plot.at(x, y), 3.5, "dot")


def _is_score(grid: ReportTable, j: int) -> bool:
    column = grid.columns[j]
    numbers = column.kind in ("number", "share") and not column.name.startswith(ERROR_MARK)
    return numbers and sum(_is_number(row[j]) for row in grid.rows) > 1


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and value == value


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value == value else 0.0
