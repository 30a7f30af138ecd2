"""Common style of all plots: safe for colour-blind readers and in grey, legible at 600 px.

The i-th curve has the i-th colour *and* line style *and* marker, so that nothing depends on colour
alone; from the ninth on, colours come again with other line styles and markers. A plot is drawn
inside ``style()``; the user's own rcParams stay as they were.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

# Okabe & Ito 2008, with grey in place of the yellow, which is hard to see on white; consecutive
# colours differ in lightness
COLORS = (
    "#000000", "#D55E00", "#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#E69F00", "#666666",
)  # fmt: skip
LINES: tuple[Any, ...] = (
    "-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (2, 1)), (0, (8, 3)), (0, (3, 1, 1, 1)),
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

MIN_TEXT_CONTRAST = 4.5  # of text on white, as WCAG 2 asks for

SETTINGS: dict[str, Any] = {
    "figure.figsize": (6.0, 4.0),  # 600 × 400 px at 100 dpi, where text of 11 pt is 15 px high
    "figure.dpi": 100,
    "savefig.dpi": 100,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.labelsize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#D9D9D9",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
}


def pyplot() -> ModuleType:
    """Return matplotlib.pyplot, or raise an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'plots need matplotlib: pip install "certus[plot]", or pip install matplotlib'
        ) from error
    return plt


@contextmanager
def style() -> Iterator[ModuleType]:
    """Context in which pyplot draws in the common style of all plots.

    Only the settings of the style are put back. ``rc_context`` would put all of them back, and with
    them the interactive mode, which a notebook turns on while its first figure is made: no later
    figure would be shown.
    """
    plt = pyplot()
    before = {name: plt.rcParams[name] for name in SETTINGS}
    plt.rcParams.update(SETTINGS)
    try:
        yield plt
    finally:
        plt.rcParams.update(before)


def curve(i: int, points: int = 0) -> dict[str, Any]:
    """Return the style of the i-th curve; with ``points``, about ten of them are marked."""
    line_style = {"color": COLORS[i % len(COLORS)], "linestyle": LINES[_shape(i)]}
    if points:
        line_style |= {"marker": marker(i), "markevery": max(1, points // 10)}
    return line_style


def marker(i: int) -> str:
    """Return the marker of the i-th curve."""
    return MARKERS[_shape(i)]


def _shape(i: int) -> int:
    """Index of a line style and a marker: another one each time that a colour comes again."""
    rounds, k = divmod(i, len(COLORS))
    return (k + rounds) % len(MARKERS)


def readable(color: str) -> str:
    """Return the colour, darkened until text in it can be read on white.

    >>> readable("#0072B2"), readable("#56B4E9")
    ('#0072B2', '#3B7CA0')
    """
    rgb = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    share = 1.0
    while _contrast([share * value for value in rgb]) < MIN_TEXT_CONTRAST:
        share -= 0.01
    return "#" + "".join(f"{int(share * value):02X}" for value in rgb)


def _contrast(rgb: list[float]) -> float:
    """Contrast of white and a colour: 1.05 / (L + 0.05), L the relative luminance (WCAG 2)."""
    linear = [
        v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in (c / 255 for c in rgb)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 1.05 / (luminance + 0.05)
