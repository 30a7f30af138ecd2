"""A chart with its caption and its numbers as a table."""

from collections.abc import Callable
from dataclasses import dataclass

from ...content.values import ReportTable
from ..svg.canvas import Canvas

WIDE_PIXELS, NARROW_PIXELS = (
    728.0,
    328.0,
)  # pixels: the column of text on a desk, and on a telephone


@dataclass(frozen=True)
class Chart:
    """One picture; ``narrow`` replaces it on small screens."""

    name: str
    title: str
    svg: str
    table: ReportTable | None
    narrow: str = ""
    note: str = ""


Draw = Callable[[Canvas, bool], None]


def in_two_widths(
    name: str, title: str, description: str, heights: tuple[float, float], draw: Draw,
    table: ReportTable | None, note: str = "",
) -> Chart:  # fmt: skip
    """Draw a chart for wide and for narrow screens; ``draw(canvas, narrow)``."""
    pictures = []
    for narrow, width, height in zip(
        (False, True), (WIDE_PIXELS, NARROW_PIXELS), heights, strict=True
    ):
        suffix = "-narrow" if narrow else ""
        canvas = Canvas(f"chart-{name}{suffix}", title, description, width, height)
        draw(canvas, narrow)
        pictures.append(canvas.markup("chart chart-narrow" if narrow else "chart chart-wide"))
    return Chart(name, title, pictures[0], table, pictures[1], note)
