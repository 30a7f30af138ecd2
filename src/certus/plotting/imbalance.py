"""Plot of measures for imbalanced classes with intervals, and of curves over thresholds."""

from typing import TYPE_CHECKING

import numpy as np

from ..text.format import number
from .style import COLORS, curve, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from ..metrics.report import ImbalanceResult

# measures from 0 (MCC: −1) to 1 where higher is better
MEASURE_LABELS = {
    "accuracy": "accuracy",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "precision": "precision",
    "f1": "F",
    "g_mean": "G-mean",
    "balanced_accuracy": "balanced acc.",
    "mcc": "MCC",
    "roc_auc": "ROC area",
    "pr_auc": "PR area",
}
FIGURE_SIZES = {1: (6.0, 4.0), 3: (11.0, 4.0), 4: (9.0, 7.5)}  # inches, by the number of panels


class ImbalanceDisplay:
    """Plot of measures beside the majority baseline, with ROC, PR and calibration curves.

    Parameters
    ----------
    report : ImbalanceResult
        The result of ``certus.metrics.imbalance_report``.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
        Axes of the measures.
    axes_ : dict of Axes
        "measures"; for scores also "roc" and "pr"; for probabilities also "calibration".
    shown_ : list of str
        The measures shown, from top to bottom.
    points_, baseline_ : Line2D
        Their values, and those when always predicting the larger class.
    bars_ : LineCollection
        Intervals.

    Examples
    --------
    >>> from certus.metrics import imbalance_report
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1]
    >>> display = imbalance_report(y, [0.1, 0.2, 0.2, 0.3, 0.4, 0.6, 0.5, 0.9]).plot()
    >>> list(display.axes_)
    ['measures', 'roc', 'pr', 'calibration']
    """

    figure_: "Figure | SubFigure"
    ax_: "Axes"
    axes_: "dict[str, Axes]"
    shown_: list[str]
    points_: "Line2D"
    baseline_: "Line2D"
    bars_: "LineCollection"

    def __init__(self, report: "ImbalanceResult"):
        self.report = report

    def plot(self, ax: "Axes | None" = None) -> "ImbalanceDisplay":
        """Draw the measures and the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes for the measures only; if not given, a new figure with all panels.

        Returns
        -------
        self
        """
        panels = ["measures"]
        if ax is None:
            panels += [name for name in ("roc", "pr") if name in self.report.curves]
            panels += ["calibration"] if self.report.decomposition is not None else []
        with style() as plt:
            if ax is None:
                rows = 2 if len(panels) == 4 else 1
                size = FIGURE_SIZES.get(len(panels), FIGURE_SIZES[3])
                self.figure_, grid = plt.subplots(
                    rows, len(panels) // rows, figsize=size, squeeze=False
                )
                self.axes_ = dict(zip(panels, grid.ravel(), strict=True))
            else:
                self.figure_, self.axes_ = ax.figure, {"measures": ax}
            self.ax_ = self.axes_["measures"]
            self._draw_measures(self.ax_)
            for name in panels[1:]:
                getattr(self, f"_draw_{name}")(self.axes_[name])
        return self

    def _draw_measures(self, ax: "Axes") -> None:
        report = self.report
        self.shown_ = [name for name in MEASURE_LABELS if not np.isnan(report.values[name])]
        at = np.arange(len(self.shown_))
        values, base = (
            np.array([measures[name] for name in self.shown_])
            for measures in (report.values, report.baseline)
        )
        low, high = np.array([report.intervals[name] for name in self.shown_]).reshape(-1, 2).T
        self.bars_ = ax.hlines(at, low, high, color=COLORS[3], linewidth=3)
        (self.points_,) = ax.plot(
            values, at, linestyle="none", marker="o", color=COLORS[0], label="these predictions"
        )
        (self.baseline_,) = ax.plot(
            base, at, linestyle="none", marker="|", markersize=11, markeredgewidth=1.8,
            color=COLORS[1], label="always the larger class",
        )  # fmt: skip
        ax.set_yticks(at, [MEASURE_LABELS[name] for name in self.shown_])
        ax.set_ylim(len(at) - 0.5, -0.5)
        left = np.nanmin(np.r_[0.0, low, values])
        ax.set_xlim(1.05 * left - 0.03, 1.03)
        ax.set_xlabel(f"value, {number(100 * report.confidence)} % interval")
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)

    def _draw_roc(self, ax: "Axes") -> None:
        report = self.report
        ax.plot(*report.curves["roc"], **curve(0))
        ax.plot([0, 1], [0, 1], label="guessing", **(curve(1) | {"linewidth": 1.0}))
        self._mark(ax, 1 - report["specificity"], report["sensitivity"])
        ax.set(xlabel="1 − specificity", ylabel="sensitivity", title=self._area("roc_auc"))
        ax.legend(loc="lower right")

    def _draw_pr(self, ax: "Axes") -> None:
        report = self.report
        ax.plot(*report.curves["pr"], drawstyle="steps-post", **curve(0))
        share = report.prevalence
        ax.axhline(share, label="guessing", **(curve(1) | {"linewidth": 1.0}))
        if not np.isnan(report["precision"]):
            self._mark(ax, report["sensitivity"], report["precision"])
        ax.set(
            xlabel="sensitivity (recall)", ylabel="precision", title=self._area("pr_auc"),
            ylim=(-0.03, 1.03),
        )  # fmt: skip
        ax.legend(loc="best")

    def _draw_calibration(self, ax: "Axes") -> None:
        parts = self.report.decomposition
        assert parts is not None
        ax.plot([0, 1], [0, 1], label="calibrated", **(curve(1) | {"linewidth": 1.0}))
        line_style = curve(0, 1) | {"markevery": 1}
        ax.plot(parts.mean_predicted, parts.observed, label="mean of a bin", **line_style)
        title = f"Brier score {number(parts.brier, 3)}, reliability {number(parts.reliability, 2)}"
        ax.set(xlabel="predicted probability", ylabel="observed share", title=title)
        ax.legend(loc="best")

    def _mark(self, ax: "Axes", x: float, y: float) -> None:
        assert self.report.threshold is not None
        marker_style = curve(2, 1) | {"linestyle": "none", "markersize": 9, "zorder": 3}
        ax.plot([x], [y], label=f"above {number(self.report.threshold, 3)}", **marker_style)

    def _area(self, name: str) -> str:
        low, high = self.report.intervals[name]
        spread = "" if np.isnan(low) else f" ({number(low, 3)}–{number(high, 3)})"
        return f"{MEASURE_LABELS[name]} {number(self.report[name], 3)}{spread}"
