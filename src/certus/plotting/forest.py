"""Forest plot: estimates with their intervals, one line each, on a log axis for ratios."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..text.format import count
from .style import COLORS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

INCHES_PER_ROW = 0.26
MIN_HEIGHT_INCHES = 1.6
MAX_NAME_LENGTH = 28  # characters
TICKS = (1.0, 2.0, 5.0)  # in each power of ten of a log axis
MAX_DECADES_WITH_TICKS_WITHIN = 3  # beyond, only powers of ten have a label


class ForestDisplay:
    """Forest plot of estimates and their intervals.

    Parameters
    ----------
    names : sequence of str
    estimates, low, high : (m,) array
        Estimates, and the ends of their intervals.
    ratio : bool, default=False
        Whether they are ratios, which are drawn on a log axis with a line at 1 instead of 0.
    label : str
        Label of the axis.
    texts : sequence of str, optional
        Written to the right of each line, such as "1.24 (1.15 to 1.33)".
    title : str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    shown_ : (k,) array of int
        Indices of the estimates drawn, from top to bottom.
    points_ : Line2D
        The estimates.
    intervals_ : LineCollection
    reference_line_ : Line2D
        At 1 for ratios, else at 0.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> X = X[["age", "bmi", "bp"]]
    >>> display = LinearRegression().fit(X, y).inference(X, y).plot(per={"bmi": 0.1})
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['age', 'bmi (per 0.1)', 'bp']
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    shown_: np.ndarray
    points_: "Line2D"
    intervals_: "LineCollection"
    reference_line_: "Line2D"

    def __init__(
        self, names: Sequence[str], estimates: npt.ArrayLike, low: npt.ArrayLike,
        high: npt.ArrayLike, *, ratio: bool = False, label: str = "coefficient",
        texts: Sequence[str] | None = None, title: str = "",
    ):  # fmt: skip
        self.names = list(map(str, names))
        self.estimates, self.low, self.high = (
            np.asarray(values, dtype=float) for values in (estimates, low, high)
        )
        self.ratio, self.label, self.title = ratio, label, title
        self.texts = None if texts is None else list(texts)
        for what, size in (
            ("estimates", self.estimates.shape), ("low", self.low.shape),
            ("high", self.high.shape), ("texts", np.shape(self.texts or self.names)),
        ):  # fmt: skip
            if size != (len(self.names),):
                raise ValueError(f"{what} has shape {size}, but there are {len(self.names)} names")

    def plot(self, ax: "Axes | None" = None, *, n_rows: int = 40) -> "ForestDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; by default a new figure, 600 px wide and as high as the rows need.
        n_rows : int, default=40
            Largest number of estimates to draw: the first ones. Those without a finite interval
            are left out.

        Returns
        -------
        self
        """
        if isinstance(n_rows, bool) or int(n_rows) != n_rows or n_rows < 1:
            raise ValueError(f"n_rows={n_rows!r}: give a whole number above 0")
        drawable = np.isfinite(self.estimates) & np.isfinite(self.low) & np.isfinite(self.high)
        if self.ratio:
            drawable &= self.low > 0
        self.shown_ = shown = np.flatnonzero(drawable)[: int(n_rows)]
        with style() as plt:
            if ax is None:
                height = max(MIN_HEIGHT_INCHES, INCHES_PER_ROW * len(shown) + 0.9)
                self.figure_, self.ax_ = plt.subplots(figsize=(6.0, height))
            else:
                self.figure_, self.ax_ = ax.figure, ax
            ax, at = self.ax_, np.arange(len(shown))
            self.reference_line_ = ax.axvline(
                1.0 if self.ratio else 0.0, color=COLORS[7], linestyle="--", linewidth=1.0
            )
            self.intervals_ = ax.hlines(
                at, self.low[shown], self.high[shown], color=COLORS[2], linewidth=1.8
            )
            (self.points_,) = ax.plot(
                self.estimates[shown], at, linestyle="none", marker="s", color=COLORS[0]
            )
            if self.ratio:
                self._scale_log(shown)
            ax.set_yticks(at, [_short(self.names[j]) for j in shown])
            ax.set_ylim(len(shown) - 0.5, -0.5)
            ax.set_xlabel(self.label)
            ax.set_title(self._title_text(), loc="left")
            ax.grid(visible=False, axis="y")
            ax.tick_params(axis="y", length=0)
            if self.texts is not None:
                for i, j in enumerate(shown):
                    ax.text(
                        1.02, i, self.texts[j], va="center", fontsize=10,
                        transform=ax.get_yaxis_transform(),
                    )  # fmt: skip
        return self

    def _scale_log(self, shown: np.ndarray) -> None:
        """Set a log axis with plain numbers, 1 always among them."""
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        low = min(float(self.low[shown].min(initial=1.0)), 1.0)
        high = max(float(self.high[shown].max(initial=1.0)), 1.0)
        decades = np.log10(high) - np.log10(low)
        ax = self.ax_
        ax.set_xscale("log")
        margin = 10 ** (0.05 * max(float(decades), 0.1))
        ax.set_xlim(low / margin, high * margin)
        axis = ax.xaxis
        if decades < np.log10(2):  # no two of 1, 2, 5: ticks as on a plain axis
            from matplotlib.ticker import MaxNLocator

            axis.set_major_locator(MaxNLocator(5))
        elif decades <= MAX_DECADES_WITH_TICKS_WITHIN:
            axis.set_major_locator(LogLocator(base=10, subs=TICKS, numticks=20))
        else:
            axis.set_major_locator(LogLocator(base=10, numticks=5))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axis.set_minor_formatter(NullFormatter())

    def _title_text(self) -> str:
        n_hidden = len(self.names) - len(self.shown_)
        if not n_hidden:
            return self.title
        drawn = f"{len(self.shown_):,} of {count(len(self.names), 'estimate')}"
        return f"{self.title} ({drawn})" if self.title else drawn


def _short(name: str) -> str:
    name = "".join(c if c.isprintable() else " " for c in name).replace("$", r"\$")
    return name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…"
