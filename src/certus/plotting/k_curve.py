"""Plot of the error on left-out rows against the number of neighbours."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..text.format import number
from .style import COLORS, curve, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from ..neighbors._k_result import KResult

SCORING_LABELS = {
    "error": "wrong answers, %",
    "balanced_error": "wrong answers, mean over classes, %",
    "brier": "Brier score",
    "squared_error": "squared error",
    "absolute_error": "absolute error",
}
MIN_LOG_RATIO = 10  # of the largest to the smallest k; above, the axis of k is logarithmic


class KCurveDisplay:
    """Plot of the error against k, with intervals, the best k and the largest about as good.

    Parameters
    ----------
    choice : KResult
        The result of ``certus.neighbors.choose_k``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    line_ : Line2D
        The error of each k.
    band_ : PolyCollection
        The intervals.
    best_, smoothest_ : Line2D
        Markers at ``best`` and ``one_standard_error``.
    limit_, baseline_ : Line2D
        The smallest error plus one standard error; the error without neighbours.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.neighbors import choose_k
    >>> display = choose_k(*load_iris(return_X_y=True), [1, 5, 9]).plot()
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('neighbours, k', 'wrong answers, %')
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    line_: "Line2D"
    band_: "PolyCollection"
    best_: "Line2D"
    smoothest_: "Line2D"
    limit_: "Line2D"
    baseline_: "Line2D"

    def __init__(self, choice: "KResult"):
        self.choice = choice

    def plot(self, ax: "Axes | None" = None) -> "KCurveDisplay":
        """Draw the errors against k.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; if not given, a new figure of 600 × 400 px.

        Returns
        -------
        self
        """
        choice = self.choice
        scale = 100 if SCORING_LABELS[choice.scoring].endswith("%") else 1
        ks, error = choice.ks, scale * choice.error
        intervals = scale * choice.intervals
        best = choice.at(choice.best)
        limit = scale * (best["error"] + np.nan_to_num(best["standard_error"]))
        with style() as plt:
            self.figure_, self.ax_ = plt.subplots() if ax is None else (ax.figure, ax)
            ax = self.ax_
            self.band_ = ax.fill_between(
                ks, intervals[:, 0], intervals[:, 1], color=COLORS[3], alpha=0.25, linewidth=0,
                label=f"{number(100 * choice.confidence)} % interval",
            )  # fmt: skip
            n_markers = len(ks) if len(ks) <= 40 else 0  # mark each k where there is room
            (self.line_,) = ax.plot(ks, error, label="error", **curve(0, n_markers))
            self.line_.set_markevery(1)
            self.limit_ = ax.axhline(limit, label="least + one std error", **_thin(2))
            self.baseline_ = ax.axhline(
                scale * choice.baseline, label="without neighbours", **_thin(5)
            )
            self.best_ = self._mark(choice.best, scale, "best", 1)
            self.smoothest_ = self._mark(choice.one_standard_error, scale, "largest that close", 4)
            ax.set(xlabel="neighbours, k", ylabel=SCORING_LABELS[choice.scoring])
            if ks[-1] > MIN_LOG_RATIO * max(ks[0], 10):
                ax.set_xscale("log")
                ax.xaxis.set_major_formatter("{x:g}")
            else:
                ax.xaxis.set_major_locator(plt.MaxNLocator(integer=True))
            _exclude_distant_baseline(ax, intervals, scale * choice.baseline)
            # above the axes, since the curve can be anywhere in them
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
        return self

    def _mark(self, k: int, scale: int, name: str, i: int) -> "Line2D":
        line_style = curve(i, 1) | {"linestyle": "none", "markersize": 9, "zorder": 3}
        (marker,) = self.ax_.plot(
            [k], [scale * self.choice.at(k)["error"]], label=f"{name}: k = {k}", **line_style
        )
        return marker


def _thin(i: int) -> dict[str, Any]:
    return curve(i) | {"linewidth": 1.0}


def _exclude_distant_baseline(ax: "Axes", intervals: np.ndarray, baseline: float) -> None:
    """Leave a baseline far above the errors outside the axes, and say so in its label."""
    shown = intervals[np.isfinite(intervals)]
    low, high = (shown.min(), shown.max()) if len(shown) else (0.0, baseline)
    if baseline > high + (high - low) and high > low:
        ax.set_ylim(max(0.0, low - 0.05 * (high - low)), high + 0.1 * (high - low))
        line = next(line for line in ax.lines if line.get_label() == "without neighbours")
        line.set_label(f"without neighbours: {number(baseline, 3)} ↑")
