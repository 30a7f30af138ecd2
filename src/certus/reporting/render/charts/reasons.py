"""What each column adds to the score of a case, as bars to either side of 0."""

from ...content.model import Case
from .. import tables
from ..numbers import integer, signed
from ..svg.canvas import MARGIN, TEXT_PIXELS, Canvas
from ..svg.scales import LinearScale
from ..svg.text_width import shortened, width_of
from .chart import Chart

WIDTH, ROW_PIXELS, BAR_PIXELS = 224.0, 34.0, 8.0


def reasons(case: Case, number: int) -> Chart | None:
    """Bars below their labels; None for a case without reasons."""
    if not case.reasons:
        return None
    values = [value for _, value in case.reasons]
    canvas = Canvas(
        f"chart-case-{number}", f"Reasons of row {integer(case.row)}",
        "What each column adds to the score, to the right if it raises it.", WIDTH,
        ROW_PIXELS * len(values),
    )  # fmt: skip
    x = LinearScale(min([*values, 0.0]), max([*values, 0.0]), 2.0, WIDTH - 2.0)
    for k, (column, value) in enumerate(case.reasons):
        y, text = ROW_PIXELS * k + TEXT_PIXELS + 1, signed(value)
        room = WIDTH - width_of(text, TEXT_PIXELS) - 12
        canvas.text(MARGIN, y, shortened(column, TEXT_PIXELS, room))
        canvas.text(WIDTH - MARGIN, y, text, "end", "t number")
        left, right = sorted((x(0.0), x(value)))
        canvas.bar(left, y + 5, right - left, BAR_PIXELS, "reason up" if value > 0 else "reason")
        canvas.rule((x(0.0), y + 2), (x(0.0), y + 8 + BAR_PIXELS), "axis")
    return Chart(f"case-{number}", "What adds to its score", canvas.markup(), tables.reasons(case))
