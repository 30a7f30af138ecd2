"""Plot of the scores of each number of clusters, with the values of noise."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..text.format import number
from .style import COLORS, curve, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from ..cluster._n_clusters_result import NClustersResult

PANEL_INCHES = 2.0  # height of one method's panel: three are 600 × 600 px
AXIS_NAMES = {"bic": "BIC(one group) − BIC"}  # if a panel shows another quantity than the method's


class NClustersDisplay:
    """A panel for each method: its value for every k, the values of noise, and its answer.

    Parameters
    ----------
    choice : NClustersResult
        The result of ``certus.cluster.choose_n_clusters``.

    Attributes
    ----------
    ax_ : array of matplotlib Axes
        One for each method, in the order of ``choice.methods``.
    figure_ : Figure
    lines_ : dict of str to Line2D
        The values of each method.
    noise_ : dict of str to PolyCollection
        The range of values of noise, for silhouette and stability.
    marks_ : dict of str to Line2D
        The k of each method that finds structure.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import choose_n_clusters
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 8 * (np.arange(40) % 2)[:, None]
    >>> choice = choose_n_clusters(X, [1, 2, 3], n_references=3, n_resamples=3, random_state=0)
    >>> display = choice.plot()
    >>> [ax.get_ylabel() for ax in display.ax_], display.ax_[-1].get_xlabel()
    (['silhouette', 'gap', 'stability', 'BIC(one group) − BIC'], 'clusters, k')
    """

    ax_: np.ndarray
    figure_: "Figure | SubFigure"

    def __init__(self, choice: "NClustersResult"):
        self.choice = choice
        self.lines_: dict[str, Line2D] = {}
        self.noise_: dict[str, PolyCollection] = {}
        self.marks_: dict[str, Line2D] = {}

    def plot(self, ax: "Axes | Sequence[Axes] | np.ndarray | None" = None) -> "NClustersDisplay":
        """Draw one panel for each method.

        Parameters
        ----------
        ax : Axes, one for each method, optional
            Axes to draw on; by default a new figure, 600 px wide and 200 px high for each method.

        Returns
        -------
        self
        """
        methods = self.choice.methods
        with style() as plt:
            if ax is None:
                size = (6.0, 0.6 + PANEL_INCHES * len(methods))
                self.figure_, axes = plt.subplots(
                    len(methods), sharex=True, squeeze=False, figsize=size
                )
                self.ax_ = axes[:, 0]
            else:
                self.ax_ = np.atleast_1d(np.asarray(ax, dtype=object))
                if len(self.ax_) != len(methods):
                    raise ValueError(
                        f"{len(self.ax_)} axes were given for {len(methods)} methods: give one "
                        "for each"
                    )
                self.figure_ = self.ax_[0].figure
            for panel, name in zip(self.ax_, methods, strict=True):
                self._draw(panel, name)
                panel.xaxis.set_major_locator(plt.MaxNLocator(integer=True))
            self.ax_[-1].set_xlabel("clusters, k")
        return self

    def _draw(self, ax: "Axes", name: str) -> None:
        choice = self.choice
        ks, (values, low, high, noise) = choice.ks, choice.curve(name)
        shown = np.isfinite(values)
        if noise is not None and len(noise):
            noise = noise[:, shown]
            self.noise_[name] = ax.fill_between(
                ks[shown], noise.min(axis=0), noise.max(axis=0), color=COLORS[3], alpha=0.25,
                linewidth=0, label="noise",
            )  # fmt: skip
        percent = f"{number(100 * choice.confidence)} %"
        interval = {"gap": "± one error", "bic": "data"}.get(name, percent)
        line_style = curve(0, len(ks)) | {"markevery": 1}
        self.lines_[name] = ax.errorbar(
            ks[shown], values[shown], [(values - low)[shown], (high - values)[shown]],
            capsize=3, elinewidth=1.0, label=interval, **line_style,
        )[0]  # fmt: skip
        k = choice.n_clusters_by_method[name]
        answer = "cannot say" if k is None else "no structure" if k == 1 else f"k = {k}"
        if k is not None and shown[ks == k].any():
            mark = curve(1, 1) | {"linestyle": "none", "markersize": 9, "zorder": 3}
            (self.marks_[name],) = ax.plot([k], values[ks == k], **mark)
        ax.set(ylabel=AXIS_NAMES.get(name, name))
        ax.set_title(answer, loc="right")
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0)
