"""A rectangular plot: two axes with ticks and titles, and what curves have in common."""

from collections.abc import Callable, Sequence

from ..numbers import digits3
from .canvas import TEXT_PIXELS, Canvas, fixed
from .scales import LinearScale, labeled
from .text_width import width_of

WIDTH, HEIGHT = 352.0, 300.0  # pixels: two side by side on a desk, one on a telephone
TOP, BOTTOM, RIGHT = 14.0, 48.0, 14.0


class Plot:
    """A canvas with a horizontal and a vertical axis."""

    def __init__(
        self, canvas: Canvas, x: tuple[float, float], y: tuple[float, float], x_title: str,
        y_title: str, x_text: Callable[[float], str] = digits3,
        y_text: Callable[[float], str] = digits3, top: float = TOP,
        whole: bool = False,
    ):  # fmt: skip
        self.canvas = canvas
        rough = LinearScale(*y, canvas.height - BOTTOM, top)
        widest = max(width_of(y_text(v), TEXT_PIXELS) for v in rough.ticks())
        left = 28.0 + widest
        self.y = rough
        self.x = LinearScale(*x, left, canvas.width - RIGHT)
        self.whole = whole
        self._axes(x_title, y_title, x_text, y_text)

    def _axes(
        self, x_title: str, y_title: str, x_text: Callable[[float], str],
        y_text: Callable[[float], str],
    ) -> None:  # fmt: skip
        canvas, x, y = self.canvas, self.x, self.y
        for value, text in labeled(y.ticks(), y_text):
            canvas.rule((x.start, y(value)), (x.end, y(value)), "grid")
            canvas.text(x.start - 7, y(value) + 4, text, "end", "tick")
        for value, text in labeled(x.ticks(whole=self.whole), x_text):
            canvas.rule((x(value), y.start), (x(value), y.start + 4), "axis")
            canvas.text(x(value), y.start + 18, text, "middle", "tick")
        canvas.rule((x.start, y.start), (x.end, y.start), "axis")
        canvas.text((x.start + x.end) / 2, canvas.height - 8, x_title, "middle", "t")
        canvas.text(14, (y.start + y.end) / 2, y_title, "middle", "t", turned=True)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Pixels of a value, held inside the axes."""
        return (
            self.x(min(max(x, self.x.low), self.x.high)),
            self.y(min(max(y, self.y.low), self.y.high)),
        )

    def curve(self, points: Sequence[tuple[float, float]], kind: str, steps: bool = False) -> None:
        """A line, or a staircase, through values."""
        pixels = [self.at(*point) for point in points]
        if steps:
            self.canvas.step(pixels, kind)
        else:
            self.canvas.line(pixels, kind)

    def label(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "t") -> None:
        """Text at a value."""
        self.canvas.text(*self.at(x, y), text, anchor, kind)

    def marker(self, chart: str, x: float, y: float | None) -> None:
        """The place of the current threshold, which the page's script moves.

        It finds the scales in data attributes: pixel = a + b · value.
        """
        place = self.at(x, self.y.low if y is None else y)
        b_x = (self.x.end - self.x.start) / (self.x.high - self.x.low)
        b_y = (self.y.end - self.y.start) / (self.y.high - self.y.low)
        a_x, a_y = self.x.start - b_x * self.x.low, self.y.start - b_y * self.y.low
        inside = (
            f'<path class="now" d="M0 {fixed(self.y.end)}V{fixed(self.y.start)}"/>'
            if y is None
            else '<circle class="now-dot" r="5.5"/>'
        )
        shift = fixed(place[0]), "0" if y is None else fixed(place[1])
        self.canvas.add(
            f'<g class="marker" data-chart="{chart}" data-x="{a_x:.4g} {b_x:.6g} '
            f'{self.x.low:.4g} {self.x.high:.4g}" data-y="{a_y:.4g} {b_y:.6g} {self.y.low:.4g} '
            f'{self.y.high:.4g}" transform="translate({shift[0]} {shift[1]})">{inside}</g>'
        )
