"""Common style of all plots: safe for colour-blind readers and in grey, legible at 600 px.

The i-th curve has the i-th colour *and* line style *and* marker, so that nothing depends on colour
alone. A plot is drawn inside ``style()``; the user's own rcParams stay as they were.
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
    """Context in which pyplot draws in the common style of all plots."""
    plt = pyplot()
    with plt.rc_context(SETTINGS):
        yield plt


def curve(i: int, points: int = 0) -> dict[str, Any]:
    """Return the style of the i-th curve; with ``points``, about ten of them are marked."""
    k = i % len(COLORS)
    line_style = {"color": COLORS[k], "linestyle": LINES[k]}
    if points:
        line_style |= {"marker": MARKERS[k], "markevery": max(1, points // 10)}
    return line_style
