"""A dendrogram as SVG, written without matplotlib and with every text escaped."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from .style import COLORS

TEXT_PIXELS = 11  # font size of axes and notes


class DendrogramText(NamedTuple):
    """Texts of the plot."""

    labels: Sequence[tuple[int, str, str]]  # place, text, colour
    font: float  # font size of labels in pixels
    heights: str  # title of the axis of heights
    leaves: str  # title of the axis of leaves
    cut: str  # "3 clusters", or ""
    numbers: Sequence[tuple[str, float, float, str]]  # text, place, height, colour


def svg(
    lines: dict[str, np.ndarray], triangles: dict[str, np.ndarray], places: int, cut: float | None,
    text_items: DendrogramText, orientation: str, width: int, height: int, stroke: float,
) -> str:  # fmt: skip
    """Return the SVG document. ``lines``: (m, 4, 2) of places and heights, by colour."""
    vertical = orientation in ("top", "bottom")
    font = text_items.font
    longest = max((len(text) for _, text, _ in text_items.labels), default=0)
    rotated = vertical and longest * 0.62 * font * places > width - 100
    label_extent = 1.2 * font if vertical and not rotated else 0.62 * font * longest
    left_margin, right_margin, top_margin = 64, 12, 26
    leaf_margin = 2.2 * TEXT_PIXELS + label_extent
    top = max([float(part[..., 1].max()) for part in lines.values() if len(part)], default=0.0)
    top = max(top, cut or 0.0) or 1.0
    if vertical:
        along = width - left_margin - right_margin
        depth = height - top_margin - leaf_margin
    else:
        along = height - top_margin - 44
        depth = width - right_margin - leaf_margin - 34

    def at(place: float, h: float) -> tuple[float, float]:
        u = (place + 0.5) / places * along
        v = h / (1.04 * top) * depth
        if orientation == "top":
            return left_margin + u, top_margin + depth - v
        if orientation == "bottom":
            return left_margin + u, height - top_margin - depth + v
        if orientation == "left":
            return width - leaf_margin - v, top_margin + u
        return leaf_margin + v, top_margin + u

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" '
        f'font-size="{TEXT_PIXELS}">',
        f"<title>{escape('; '.join(('Dendrogram', *filter(None, text_items[3:5]))))}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    out += _axis(top, at, vertical, places, text_items)
    for color, part in triangles.items():
        path = "".join(
            "M" + "L".join(_point(at, place, h) for place, h in corner) + "Z" for corner in part
        )
        out.append(f'<path fill="{color}" fill-opacity="0.3" d="{path}"/>')
    for color, part in lines.items():
        path = "".join(
            "M" + "L".join(_point(at, place, h) for place, h in corners)
            for corners in part.tolist()
        )
        out.append(
            f'<path fill="none" stroke="{color}" stroke-width="{stroke:g}" '
            f'stroke-linejoin="miter" d="{path}"/>'
        )
    if cut is not None:
        (x0, y0), (x1, y1) = at(-0.5, cut), at(places - 0.5, cut)
        out.append(
            f'<path stroke="{COLORS[0]}" stroke-width="1" stroke-dasharray="6 4" '
            f'd="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>'
        )
    out += _texts(at, text_items, orientation, rotated)
    if text_items.cut:
        out.append(_text(width - right_margin, TEXT_PIXELS * 1.4, text_items.cut, "end"))
    return "\n".join([*out, "</svg>", ""])


At = Callable[[float, float], tuple[float, float]]


def _point(at: At, place: float, h: float) -> str:
    x, y = at(place, h)
    return f"{x:.2f} {y:.2f}"


def _axis(top: float, at: At, vertical: bool, places: int, text_items: DendrogramText) -> list[str]:
    out = []
    for tick in ticks(top):
        (x0, y0), (x1, y1) = at(-0.5, tick), at(places - 0.5, tick)
        line = f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"
        out.append(f'<path stroke="#D9D9D9" stroke-width="0.6" d="{line}"/>')
        text = f"{tick:g}"
        out.append(
            _text(x0 - 6, y0 + TEXT_PIXELS * 0.35, text, "end")
            if vertical
            else _text(x0, y1 + TEXT_PIXELS * 1.3, text, "middle")
        )
    (x0, y0), (x1, y1) = at(-0.5, 0.5 * top), at(places - 0.5, 0.5 * top)
    if vertical:
        out.append(_text(14, (y0 + y1) / 2, text_items.heights, "middle", turned=-90))
    else:
        out.append(_text((x0 + x1) / 2, y1 + TEXT_PIXELS * 2.8, text_items.heights, "middle"))
    return out


def _texts(at: At, text_items: DendrogramText, orientation: str, rotated: bool) -> list[str]:
    out, font = [], text_items.font
    for place, text, color in text_items.labels:
        x, y = at(place, 0.0)
        if orientation in ("top", "bottom"):
            down = 1 if orientation == "top" else -1
            if rotated:
                side = "end" if down > 0 else "start"
                out.append(
                    _text(x + font * 0.35, y + 4 * down, text, side, font, color, turned=-90)
                )
            else:
                lower = 1.2 * font if down > 0 else -0.5 * font
                out.append(_text(x, y + lower, text, "middle", font, color))
        else:
            side, away = ("start", 4.0) if orientation == "left" else ("end", -4.0)
            out.append(_text(x + away, y + font * 0.35, text, side, font, color))
    for text, at_place, h, color in text_items.numbers:
        x, y = at(at_place, h)
        side = "end" if orientation == "left" else "start"
        dx, dy = -4 if side == "end" else 4, TEXT_PIXELS if orientation == "bottom" else -4
        out.append(_text(x + dx, y + dy, text, side, TEXT_PIXELS, color))
    x, y = at(-0.5, 0.0)
    if text_items.leaves:
        out.append(_text(x, TEXT_PIXELS * 1.4, text_items.leaves, "start"))
    return out


def _text(
    x: float, y: float, text: str, anchor: str, size: float = TEXT_PIXELS, color: str = "#000000",
    turned: int = 0,
) -> str:  # fmt: skip
    turn = f' transform="rotate({turned} {x:.1f} {y:.1f})"' if turned else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}" '
        f'fill="{color}"{turn}>{escape(text)}</text>'
    )


def ticks(top: float) -> list[float]:
    """Return about five round numbers from 0 to top.

    >>> ticks(9.0), ticks(0.033)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 0.01, 0.02, 0.03])
    """
    rough = top / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((1, 2, 5, 10), key=lambda m: abs(m * power - rough)) * power
    return [round(i * step, 12 - math.floor(math.log10(step))) for i in range(int(top / step) + 1)]
