"""Plot of the leave-one-out score against C and γ."""

from typing import TYPE_CHECKING

import numpy as np

from ..text.format import number
from .style import COLORS, curve, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class ScoreGridDisplay:
    """Heat map of scores against C and γ, with the best pair; with a single γ, a curve.

    Parameters
    ----------
    Cs, gammas : arrays
        Values tried, ascending.
    scores : (n_gammas, n_Cs) array
        Higher is better.
    best : (int, int)
        Row of γ and column of C of the best score.
    score : str
        Name of the score.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : Figure
    scores_ : QuadMesh or Line2D
        The scores; a line where one γ was tried.
    best_ : Line2D
        Marker of the best score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.svm import LSSVCCV
    >>> display = LSSVCCV(Cs=4, gammas=3).fit(*load_iris(return_X_y=True)).plot()
    >>> display.ax_.get_xlabel()
    'C'
    >>> import matplotlib.pyplot as plt; plt.close(display.figure_)
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    scores_: "QuadMesh | Line2D"
    best_: "Line2D"

    def __init__(
        self, Cs: np.ndarray, gammas: np.ndarray, scores: np.ndarray, *,
        best: tuple[int, int], score: str,
    ):  # fmt: skip
        self.Cs, self.gammas, self.scores = Cs, gammas, scores
        self.best, self.score = best, score

    def plot(self, ax: "Axes | None" = None) -> "ScoreGridDisplay":
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; if not given, a new figure of 600 × 400 px.

        Returns
        -------
        self
        """
        g, c = self.best
        score_label = f"{self.score} of rows left out"
        with style() as plt:
            self.figure_, self.ax_ = plt.subplots() if ax is None else (ax.figure, ax)
            ax = self.ax_
            label = (
                f"best: {number(float(self.scores[g, c]), 3)} at C = {number(float(self.Cs[c]), 3)}"
            )
            if len(self.gammas) == 1:
                line_style = curve(0, len(self.Cs)) | {"markevery": 1}
                (self.scores_,) = ax.plot(self.Cs, self.scores[0], **line_style)
                height = self.scores[0, c]
                ax.set(xlabel="C", ylabel=score_label, xscale="log")
            else:
                label += f", γ = {number(float(self.gammas[g]), 3)}"
                self.scores_ = ax.pcolormesh(
                    edges(self.Cs), edges(self.gammas), self.scores, cmap="cividis"
                )
                self.figure_.colorbar(self.scores_, ax=ax, label=score_label)
                height = self.gammas[g]
                ax.set(xlabel="C", ylabel="γ", xscale="log", yscale="log")
                ax.grid(visible=False)
            line_style = curve(1, 1) | {"linestyle": "none", "markersize": 9, "zorder": 3}
            line_style |= {"markeredgecolor": "white", "color": COLORS[1]}
            (self.best_,) = ax.plot([self.Cs[c]], [height], label=label, **line_style)
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
        return self


def edges(values: np.ndarray) -> np.ndarray:
    """Return the edges of cells around ascending values, halfway between them in log scale."""
    logs = np.log(values)
    if len(logs) == 1:
        return np.asarray(values * np.array([0.5, 2.0]))
    middle = (logs[1:] + logs[:-1]) / 2
    ends = 2 * logs[0] - middle[0], 2 * logs[-1] - middle[-1]
    return np.exp(np.concatenate([ends[:1], middle, ends[1:]]))
