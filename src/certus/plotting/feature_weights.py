"""Plot of feature weights, the largest first, with optional intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..text.format import count
from .style import COLORS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


INCHES_PER_COLUMN = 0.21  # 20 columns are 480 px high with the axis
MIN_HEIGHT_INCHES = 2.0
MAX_NAME_LENGTH = 28  # characters


class FeatureWeightsDisplay:
    """Plot of the largest feature weights, one line for each column.

    Parameters
    ----------
    weights : (P,) array
        Weights, not negative.
    names : sequence of str, optional
        Names of the columns; by default "column 0", ….
    intervals : (P, 2) array, optional
        Intervals to draw instead of bars from 0 to the weight.
    selected : (P,) array of bool, optional
        Columns with filled markers; by default those with a weight above 0.
    label : str
        Label of the axis.
    candidates : (P,) array of bool, optional
        Columns that may be drawn; by default those with a weight above 0.
    hidden_label : str
        End of the title's note about columns not drawn: "4 more have" ``hidden_label``.
    legend_labels : (str, str)
        Legend of filled and open markers.
    threshold : float, optional
        Position of a dashed line: the selection threshold.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    shown_ : (k,) array of int
        Indices of the columns drawn, from top to bottom.
    points_, open_points_ : Line2D
        Markers of the selected columns, and of the others.
    bars_ : LineCollection
        Intervals, or bars from 0 to the weight.
    threshold_line_ : Line2D or None
        The dashed line.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from certus.feature_selection import NCFSClassifier
    >>> from certus.plotting import FeatureWeightsDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = FeatureWeightsDisplay.from_estimator(NCFSClassifier().fit(X, y), n_features=3)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['flavanoids', 'proline', 'color_intensity']
    >>> display.ax_.get_title(loc="right")
    '3 of 13 columns; 4 more have weight'
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    shown_: np.ndarray
    points_: "Line2D"
    open_points_: "Line2D"
    bars_: "LineCollection"
    threshold_line_: "Line2D | None"

    def __init__(
        self, weights: npt.ArrayLike, names: Sequence[str] | None = None, *,
        intervals: npt.ArrayLike | None = None, selected: npt.ArrayLike | None = None,
        candidates: npt.ArrayLike | None = None, label: str = "weight",
        hidden_label: str = "weight",
        legend_labels: tuple[str, str] = ("selected", "not selected"),
        threshold: float | None = None,
    ):  # fmt: skip
        self.weights = np.asarray(weights, dtype=float)
        P = len(self.weights)
        self.names = [f"column {j}" for j in range(P)] if names is None else list(map(str, names))
        self.intervals = None if intervals is None else np.asarray(intervals, dtype=float)
        self.selected = self.weights > 0 if selected is None else np.asarray(selected, dtype=bool)
        self.candidates = (
            self.weights > 0 if candidates is None else np.asarray(candidates, dtype=bool)
        )
        self.label, self.hidden_label = label, hidden_label
        self.legend_labels, self.threshold = legend_labels, threshold
        for what, shape in (
            ("names", (len(self.names),)),
            ("selected", self.selected.shape),
            ("candidates", self.candidates.shape),
            ("intervals", (P, 2) if self.intervals is None else self.intervals.shape),
        ):
            if shape != ((P, 2) if what == "intervals" else (P,)):
                raise ValueError(f"{what} has shape {shape}, but there are {count(P, 'weight')}")

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_features: int = 20, ax: "Axes | None" = None
    ) -> "FeatureWeightsDisplay":
        """Plot ``weights_`` of a fitted model, with the selected columns filled.

        Parameters
        ----------
        estimator : fitted NCFSClassifier, NCFSRegressor or NCFSClassifierCV
        n_features : int
            Largest number of columns to draw.
        ax : matplotlib Axes, optional
        """
        names = vars(estimator).get("feature_names_in_")
        label = "weight of the scaled column" if estimator.scale is not None else "weight"
        display = cls(estimator.weights_, names, selected=estimator.support_, label=label)
        return display.plot(ax, n_features=n_features)

    def plot(self, ax: "Axes | None" = None, *, n_features: int = 20) -> "FeatureWeightsDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; by default a new figure, 600 px wide and as high as the columns need.
        n_features : int
            Largest number of columns to draw; columns outside ``candidates`` only if it is empty.

        Returns
        -------
        self
        """
        if isinstance(n_features, bool) or int(n_features) != n_features or n_features < 1:
            raise ValueError(f"n_features={n_features!r}: give a whole number above 0")
        self.shown_ = shown = self._largest(int(n_features))
        with style() as plt:
            if ax is None:
                size = (6.0, max(MIN_HEIGHT_INCHES, INCHES_PER_COLUMN * len(shown) + 0.9))
                self.figure_, self.ax_ = plt.subplots(figsize=size)
            else:
                self.figure_, self.ax_ = ax.figure, ax
            ax, at = self.ax_, np.arange(len(shown))
            low, high = self._extents(shown)
            self.bars_ = ax.hlines(at, low, high, color=COLORS[3], linewidth=2.5)
            filled = self.selected[shown]
            marker_style: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": COLORS[2]}
            values = self.weights[shown]
            (self.points_,) = ax.plot(
                values[filled], at[filled], label=self.legend_labels[0], **marker_style
            )
            (self.open_points_,) = ax.plot(
                values[~filled],
                at[~filled],
                markerfacecolor="white",
                label=self.legend_labels[1],
                **marker_style,
            )
            if not filled.all():  # the lower right is free, since weights decrease downwards
                ax.legend(loc="lower right", frameon=True, edgecolor="none", framealpha=0.9)
            self.threshold_line_ = None
            if self.threshold is not None:
                self.threshold_line_ = ax.axvline(
                    self.threshold, color=COLORS[1], linestyle="--", linewidth=1.0
                )
            ax.set_yticks(at, [_short(self.names[j]) for j in shown])
            ax.set_ylim(len(shown) - 0.5, -0.5)  # the largest at the top
            ax.set_xlim(*self._limits(shown))
            ax.set_xlabel(self.label)
            ax.set_title(self._title_text(), loc="right")
            ax.grid(visible=False, axis="y")
            ax.tick_params(axis="y", length=0)
        return self

    def _largest(self, n_features: int) -> np.ndarray:
        high = np.zeros(len(self.weights)) if self.intervals is None else self.intervals[:, 1]
        order = np.lexsort((-high, -self.weights))
        candidates = order[self.candidates[order]]
        return (candidates if len(candidates) else order)[:n_features]

    def _extents(self, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.intervals is None:
            return np.zeros(len(shown)), self.weights[shown]
        return self.intervals[shown, 0], self.intervals[shown, 1]

    def _limits(self, shown: np.ndarray) -> tuple[float, float]:
        largest = max(float(self._extents(shown)[1].max(initial=0.0)), self.threshold or 0.0) or 1.0
        return -0.02 * largest, 1.04 * largest

    def _title_text(self) -> str:
        """Title: how many columns are drawn, and how many others have weight."""
        P, k = len(self.weights), len(self.shown_)
        n_hidden = int(self.candidates.sum() - self.candidates[self.shown_].sum())
        if k == P:
            return count(P, "column")
        others = (
            f"{n_hidden:,} more {'has' if n_hidden == 1 else 'have'}"
            if n_hidden
            else "no other has"
        )
        return f"{k:,} of {count(P, 'column')}; {others} {self.hidden_label}"


def _short(name: str) -> str:
    name = "".join(c if c.isprintable() else " " for c in name).replace("$", r"\$")
    return name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…"
