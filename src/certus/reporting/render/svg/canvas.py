"""A canvas on which charts are drawn: lines, bands, bars, points and text, by classes of the page.

Text whose estimated width leaves the viewBox is moved inside, and cut off if that is not enough.
"""

from collections.abc import Iterable, Sequence
from html import escape

from .scales import Axis
from .text_width import shortened, width_of

TEXT_PIXELS = 12.0
MARGIN = 1.0  # pixels between text and the edge of the viewBox

Point = tuple[float, float]


def fixed(x: float) -> str:
    """A coordinate with at most one decimal."""
    text = f"{x:.1f}"
    return text[:-2] if text.endswith(".0") else text


class Canvas:
    """A picture of this size, filled element by element."""

    def __init__(self, name: str, title: str, description: str, width: float, height: float):
        self.name, self.title, self.description = name, title, description
        self.width, self.height = width, height
        self._parts: list[str] = []

    def add(self, markup: str) -> None:
        """Add markup as it is."""
        self._parts.append(markup)

    def line(self, points: Iterable[Point], kind: str) -> None:
        """Straight lines from point to point."""
        path = "L".join(f"{fixed(x)} {fixed(y)}" for x, y in _without_repeats(points))
        self.add(f'<path class="{kind}" d="M{path}"/>')

    def step(self, points: Sequence[Point], kind: str) -> None:
        """A staircase: each height lasts until the next point."""
        corners = [points[0]]
        for x, y in points[1:]:
            corners += [(x, corners[-1][1]), (x, y)]
        self.line(corners, kind)

    def band(self, lower: Sequence[Point], upper: Sequence[Point], kind: str) -> None:
        """The area between two lines."""
        path = "L".join(f"{fixed(x)} {fixed(y)}" for x, y in [*lower, *reversed(upper)])
        self.add(f'<path class="{kind}" d="M{path}Z"/>')

    def bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """A rectangle from its upper left corner."""
        self.add(
            f'<rect class="{kind}" x="{fixed(x)}" y="{fixed(y)}" width="{fixed(max(width, 0.0))}" '
            f'height="{fixed(max(height, 0.0))}"/>'
        )

    def rule(self, start: Point, end: Point, kind: str) -> None:
        """One straight line."""
        self.line((start, end), kind)

    def dot(self, x: float, y: float, radius: float, kind: str) -> None:
        """A filled circle."""
        self.add(f'<circle class="{kind}" cx="{fixed(x)}" cy="{fixed(y)}" r="{fixed(radius)}"/>')

    def diamond(self, x: float, y: float, radius: float, kind: str) -> None:
        """A square that stands on its corner."""
        corners = [(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)]
        path = "L".join(f"{fixed(a)} {fixed(b)}" for a, b in corners)
        self.add(f'<path class="{kind}" d="M{path}Z"/>')

    def whisker(self, x: Axis, low: float, high: float, y: float, kind: str) -> None:
        """An interval across; an arrow where it leaves the scale."""
        inside = max(low, x.low), min(high, x.high)
        a, b = x(inside[0]), x(inside[1])
        self.rule((a, y), (b, y), kind)
        for value, end, place, way in ((low, inside[0], a, 1), (high, inside[1], b, -1)):
            if value == end:
                self.rule((place, y - 3.5), (place, y + 3.5), kind)
            else:
                self.line([(place + 5 * way, y - 4), (place, y), (place + 5 * way, y + 4)], kind)

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", kind: str = "t",
        size: float = TEXT_PIXELS, turned: bool = False,
    ) -> None:  # fmt: skip
        """Text with its baseline at y; ``turned``: it reads upwards, centred on (x, y)."""
        room = (self.height if turned else self.width) - 2 * MARGIN
        text = shortened(text, size, room)
        width = width_of(text, size)
        if turned:
            y = min(max(y, MARGIN + width / 2), self.height - MARGIN - width / 2)
        else:
            before = {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            x = min(max(x, MARGIN + before), self.width - MARGIN - width + before)
        turn = f' transform="rotate(-90 {fixed(x)} {fixed(y)})"' if turned else ""
        side = "" if anchor == "start" else f' text-anchor="{anchor}"'
        scale = "" if size == TEXT_PIXELS else f' font-size="{fixed(size)}"'
        self.add(
            f'<text class="{kind}" x="{fixed(x)}" y="{fixed(y)}"{side}{scale}{turn}>'
            f"{escape(text)}</text>"
        )

    def contents(self) -> str:
        """Return the elements without the SVG element around them."""
        return "".join(self._parts)

    def markup(self, kind: str = "chart") -> str:
        """Return the SVG element."""
        title, description = f"{self.name}-title", f"{self.name}-desc"
        head = (
            f'<svg class="{kind}" id="{self.name}" role="img" '
            f'aria-labelledby="{title} {description}" '
            f'viewBox="0 0 {fixed(self.width)} {fixed(self.height)}" '
            f'width="{fixed(self.width)}" height="{fixed(self.height)}" '
            f'font-size="{fixed(TEXT_PIXELS)}">'
            f'<title id="{title}">{escape(self.title)}</title>'
            f'<desc id="{description}">{escape(self.description)}</desc>'
        )
        return f"{head}{self.contents()}</svg>"


def _without_repeats(points: Iterable[Point]) -> list[Point]:
    """Points without those that are drawn at the same tenth of a pixel as the one before."""
    kept: list[Point] = []
    for x, y in points:
        here = (round(x, 1), round(y, 1))
        if len(kept) < 1 or kept[-1] != here:
            kept.append(here)
    return kept * 2 if len(kept) == 1 else kept
