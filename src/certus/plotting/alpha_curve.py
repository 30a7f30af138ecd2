"""Plot of the cross-validated score and the number of selected columns against λ."""

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..text.format import number
from .style import COLORS, curve, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class AlphaCurveDisplay:
    """Plot of mean score ± one standard error against λ, with the best and the chosen λ.

    Parameters
    ----------
    alphas : (A,) array
        λ, the strongest first.
    mean, error : (A,) arrays
        Mean and standard error of the folds' scores.
    n_selected : (A, folds) array of int
        Number of columns that each fold selected.
    best, chosen : int
        Indices of the λ with the best mean, and of the one chosen.
    score : str
        Name of the score.
    baseline : float
        The mean score without columns.

    Attributes
    ----------
    ax_, columns_ax_ : matplotlib Axes
        Axes of the scores, and of the numbers of columns, on the right.
    figure_ : Figure
    line_, columns_ : Line2D
        Mean scores; mean numbers of columns.
    band_ : PolyCollection
        ± one standard error.
    best_, chosen_ : Line2D
        Markers; the same one if both are the same λ.
    limit_, baseline_ : Line2D
        The best mean minus one standard error; the score without columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.feature_selection import NCFSClassifierCV
    >>> model = NCFSClassifierCV(alphas=[0.1, 1.0, 10.0], cv=3).fit(*load_iris(return_X_y=True))
    >>> display = model.plot()
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel(), display.columns_ax_.get_ylabel()
    ('penalty, λ', 'accuracy on rows left out', 'columns selected')
    """

    ax_: "Axes"
    columns_ax_: "Axes"
    figure_: "Figure | SubFigure"
    line_: "Line2D"
    columns_: "Line2D"
    band_: "PolyCollection"
    best_: "Line2D"
    chosen_: "Line2D"
    limit_: "Line2D"
    baseline_: "Line2D"

    def __init__(
        self, alphas: np.ndarray, mean: np.ndarray, error: np.ndarray, n_selected: np.ndarray, *,
        best: int, chosen: int, score: str, baseline: float,
    ):  # fmt: skip
        self.alphas, self.mean, self.error, self.n_selected = alphas, mean, error, n_selected
        self.best, self.chosen, self.score, self.baseline = best, chosen, score, baseline

    def plot(self, ax: "Axes | None" = None) -> "AlphaCurveDisplay":
        """Draw scores and numbers of columns against λ.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; if not given, a new figure of 600 × 400 px.

        Returns
        -------
        self
        """
        alphas, mean, error = self.alphas, self.mean, self.error
        with style() as plt:
            self.figure_, self.ax_ = plt.subplots() if ax is None else (ax.figure, ax)
            ax = self.ax_
            self.columns_ax_ = self._draw_columns(plt)
            self.band_ = ax.fill_between(
                alphas, mean - error, mean + error, color=COLORS[3], alpha=0.25, linewidth=0,
                label="± one std error",
            )  # fmt: skip
            line_style = curve(0, len(alphas)) | {"markevery": 1}
            (self.line_,) = ax.plot(alphas, mean, label="mean of folds", **line_style)
            limit = float(mean[self.best] - error[self.best])
            self.limit_ = ax.axhline(limit, label="best − one std error", **_thin(2))
            self.baseline_ = ax.axhline(self.baseline, label="without columns", **_thin(5))
            is_best = self.best == self.chosen
            self.chosen_ = self._mark(self.chosen, "best and taken" if is_best else "taken", 1)
            self.best_ = self.chosen_ if is_best else self._mark(self.best, "best", 4)
            ax.set(xlabel="penalty, λ", ylabel=f"{self.score} on rows left out", xscale="log")
            self._exclude_distant_baseline()
            handles = [*ax.get_legend_handles_labels()[0], self.columns_]
            ax.legend(
                handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2
            )
        return self

    def _draw_columns(self, plt: ModuleType) -> "Axes":
        ax = self.ax_.twinx()
        line_style = curve(6) | {"linewidth": 1.2, "drawstyle": "steps-mid"}
        counts = self.n_selected.mean(axis=1)
        (self.columns_,) = ax.plot(
            self.alphas, counts, label="columns, mean of folds", **line_style
        )
        ax.set(ylabel="columns selected")
        if counts.max() > 200 and counts[counts > 0].min(initial=1) < 0.05 * counts.max():
            ax.set_yscale("symlog", linthresh=1)
        else:
            ax.set_ylim(0, max(1.0, 1.05 * float(counts.max())))
            ax.yaxis.set_major_locator(plt.MaxNLocator(integer=True, nbins=6))
        ax.grid(visible=False)
        ax.spines["right"].set_visible(True)
        # draw the scores above the line of columns
        self.ax_.set_zorder(ax.get_zorder() + 1)
        self.ax_.patch.set_visible(False)
        return ax

    def _mark(self, a: int, name: str, i: int) -> "Line2D":
        line_style = curve(i, 1) | {"linestyle": "none", "markersize": 9, "zorder": 3}
        label = f"{name}: λ = {number(float(self.alphas[a]), 3)}"
        (marker,) = self.ax_.plot([self.alphas[a]], [self.mean[a]], label=label, **line_style)
        return marker

    def _exclude_distant_baseline(self) -> None:
        """Leave a baseline far below the scores outside the axes, and say so in its label."""
        low, high = np.nanmin(self.mean - self.error), np.nanmax(self.mean + self.error)
        if self.baseline < low - (high - low) and high > low:
            self.ax_.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
            self.baseline_.set_label(f"without columns: {number(self.baseline, 3)} ↓")


def _thin(i: int) -> dict[str, Any]:
    return curve(i) | {"linewidth": 1.0}
