"""The dendrogram of a tree of clusters, drawn with matplotlib or written as SVG without it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, Protocol, cast

import numpy as np

from ..text.files import write_whole
from ..text.format import count
from ._dendrogram_labels import MAX_LABEL_POINTS, ShownLabels, note, shown_labels
from ._dendrogram_shape import ABOVE_CUT, Drawing, drawing
from ._dendrogram_svg import DendrogramText, svg
from .style import COLORS, readable, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from ..cluster.tree import Tree


GRAY = "#8C8C8C"  # lines above the cut
ORIENTATIONS = ("top", "bottom", "left", "right")  # sides of the root
HEIGHT_NAMES = {"diana": "diameter", "bisecting": "sum of squares"}
WIDTH_INCHES = (6.0, 12.0)  # smallest and largest size along the leaves
INCHES_A_LEAF = 0.04  # between them
INCHES_A_LABEL = {
    True: 0.13,
    False: 0.16,
}  # with labels: standing, lying
MAX_LABEL_CHARACTERS = 32  # longer labels are shortened
MAX_NUMBERED_CLUSTERS = 12  # with more clusters, their numbers are not written


class HasTree(Protocol):
    """A fitted model with the tree of its clusters."""

    tree_: "Tree"


class DendrogramDisplay:
    """The dendrogram of a tree.

    Parameters
    ----------
    tree : Tree
        Or a fitted model that has a ``tree_``.
    n_clusters, height : optional
        A cut, as in ``Tree.cut``: clusters get colours, merges above it are grey.
    max_leaves : int or None, default=2000
        A larger tree is truncated to so many branches, each with its number of rows. None: never.
    labels : array-like of str, False or None
        Labels of the leaves. None: their names, or else their numbers; False: none. If space is
        short, labels become smaller, then fewer, which the plot says, and finally are omitted.
    orientation : {"top", "bottom", "left", "right"}, default="top"
        Position of the root.

    Attributes
    ----------
    truncated_ : bool
        Whether branches were drawn in place of leaves.
    note_ : str
        What was left out, as written on the plot.
    ax_, figure_ : matplotlib Axes and Figure
        After ``plot``.
    lines_ : LineCollection
        A path of four points for each merge, in the order of merges.
    cut_ : Line2D or None
        The line at the height of the cut, if there is one.

    Examples
    --------
    >>> from certus.cluster import Tree
    >>> tree = Tree([[0, 1, 1.0, 2], [3, 4, 1.5, 2], [2, 6, 4.0, 3], [5, 7, 9.0, 5]])
    >>> display = tree.plot(n_clusters=2, labels=list("abcde"))
    >>> display.truncated_, len(display.lines_.get_paths())
    (False, 4)
    >>> display.to_svg()[:4]
    '<svg'
    >>> import matplotlib.pyplot as plt; plt.close(display.figure_)
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: "LineCollection"
    branches_: "PolyCollection"
    cut_: "Line2D | None"

    def __init__(
        self, tree: "Tree | HasTree", *, n_clusters: int | None = None,
        height: float | None = None, max_leaves: int | None = 2000,
        labels: Iterable[object] | Literal[False] | None = None, orientation: str = "top",
    ):  # fmt: skip
        self.tree = cast("Tree", getattr(tree, "tree_", tree))
        if not hasattr(self.tree, "merges"):
            raise TypeError(
                f"a {type(self.tree).__name__} is not a tree: give certus.cluster.Tree(merges), or "
                "a model that has a tree_"
            )
        if orientation not in ORIENTATIONS:
            raise ValueError(
                f"orientation={orientation!r}: give one of {', '.join(map(repr, ORIENTATIONS))}"
            )
        whole = isinstance(max_leaves, (int, np.integer)) and not isinstance(max_leaves, bool)
        if max_leaves is not None and not (whole and max_leaves >= 2):
            raise ValueError(f"max_leaves={max_leaves!r}: give a whole number above 1, or None")
        self.orientation = orientation
        self._labels = self._read_labels(labels)
        has_cut = n_clusters is not None or height is not None
        undone = self.tree._undone(n_clusters, height)[0] if has_cut else None
        self.drawing_: Drawing = drawing(self.tree, max_leaves, undone)
        if height is not None:
            self.drawing_ = self.drawing_._replace(cut=float(height))
        self._clusters = "" if undone is None else count(int(undone.sum()) + 1, "cluster")
        self.truncated_ = self.drawing_.truncated
        self._named = labels is not False
        self.note_ = note(self.drawing_, None)

    def _read_labels(self, labels: Iterable[object] | Literal[False] | None) -> list[str] | None:
        n = self.tree.n_leaves
        if labels is False:
            return None
        if labels is None:
            labels = range(n) if self.tree.names is None else self.tree.names
        texts = [str(label) for label in labels]
        if len(texts) != n:
            raise ValueError(f"{len(texts):,} labels were given for {n:,} leaves")
        return [
            t if len(t) <= MAX_LABEL_CHARACTERS else t[: MAX_LABEL_CHARACTERS - 1] + "…"
            for t in texts
        ]

    # --- shared by matplotlib and SVG ---

    def _texts(self) -> list[str]:
        """Return the label of every place."""
        n, sizes = self.tree.n_leaves, self.tree.sizes
        assert self._labels is not None
        return [
            self._labels[node] if node < n else f"({sizes[node]:,})"
            for node in self.drawing_.nodes.tolist()
        ]

    def _shown(self, room: float, per_point: float) -> ShownLabels:
        """Return what labels are shown in ``room`` pixels, and say in the note which are not."""
        places = 0 if self._labels is None else len(self.drawing_.nodes)
        shown = shown_labels(places, room / per_point)
        self.note_ = note(self.drawing_, shown if self._named else None)
        return shown

    @property
    def _colors(self) -> list[str]:
        if not self._clusters:
            return [COLORS[0]] * len(self.drawing_.colors)
        return [_color(c) for c in self.drawing_.colors.tolist()]

    @property
    def _place_colors(self) -> list[str]:
        d = self.drawing_
        if not self._clusters:
            return [COLORS[0]] * len(d.nodes)
        return [_color(c) for c in d.place_colors.tolist()]

    @property
    def _triangles(self) -> np.ndarray:
        """Triangles of truncated branches, from their height down to 0, (m, 3, 2)."""
        d = self.drawing_
        at = np.flatnonzero(d.nodes >= d.n_leaves)
        h, zero = d.heights[at], np.zeros(len(at))
        corners = [(at, h), (at + 0.35, zero), (at - 0.35, zero)]
        return np.stack([np.column_stack(corner) for corner in corners], axis=1)

    @property
    def _numbers(self) -> list[tuple[str, float, float, str]]:
        """Texts, positions and colours of cluster numbers, if there are few clusters."""
        tops = self.drawing_.tops
        if not 1 < len(tops) <= MAX_NUMBERED_CLUSTERS:
            return []
        return [(str(label), x, h, _color(c)) for label, x, h, c in tops if label >= 0]

    @property
    def _inches(self) -> tuple[float, float]:
        places, vertical = len(self.drawing_.nodes), self.orientation in ("top", "bottom")
        a_leaf = INCHES_A_LEAF if self._labels is None else INCHES_A_LABEL[vertical]
        if vertical:
            return float(np.clip(a_leaf * places, *WIDTH_INCHES)), 4.0
        return 6.0, float(np.clip(a_leaf * places, 4.0, WIDTH_INCHES[1]))

    @property
    def _stroke(self) -> float:
        places = len(self.drawing_.nodes)
        return 1.6 if places <= 60 else 1.0 if places <= 500 else 0.6 if places <= 5000 else 0.3

    @property
    def _height_name(self) -> str:
        method = self.tree.method
        return HEIGHT_NAMES.get(method or "", f"{method} distance" if method else "distance")

    # --- matplotlib ---

    def plot(self, ax: "Axes | None" = None) -> "DendrogramDisplay":
        """Draw with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure of 600 × 400 px, wider for more than 45
            leaves (without labels, 150).

        Returns
        -------
        self
        """
        d, vertical = self.drawing_, self.orientation in ("top", "bottom")
        with style() as plt:
            from matplotlib.collections import LineCollection, PolyCollection

            if ax is None:
                self.figure_, self.ax_ = plt.subplots(figsize=self._inches)
            else:
                self.figure_, self.ax_ = ax.figure, ax
            ax = self.ax_
            flip = slice(None) if vertical else slice(None, None, -1)
            self.branches_ = PolyCollection(
                list(self._triangles[..., flip]), alpha=0.3, linewidth=0,
                facecolors=self._branch_colors(),
            )  # fmt: skip
            ax.add_collection(self.branches_)
            self.lines_ = LineCollection(
                list(d.lines[..., flip]), colors=self._colors, linewidths=self._stroke,
                capstyle="butt",
            )  # fmt: skip
            ax.add_collection(self.lines_)
            self._set_axes(ax, vertical)
            self._draw_texts(ax, vertical)
        return self

    def _branch_colors(self) -> list[str]:
        colors = self._place_colors
        return [colors[i] for i in np.flatnonzero(self.drawing_.nodes >= self.drawing_.n_leaves)]

    def _set_axes(self, ax: "Axes", vertical: bool) -> None:
        d = self.drawing_
        top = max(float(d.lines[..., 1].max(initial=0.0)), d.cut or 0.0) or 1.0
        limits = (-0.5, len(d.nodes) - 0.5), (0.0, 1.04 * top)
        along, up = limits if self.orientation in ("top", "right") else (limits[0], limits[1][::-1])
        if vertical:
            ax.set(xlim=along, ylim=up, ylabel=self._height_name)
            ax.grid(visible=False, axis="x")
        else:
            ax.set(xlim=up, ylim=along[::-1], xlabel=self._height_name)
            ax.grid(visible=False, axis="y")
        for side in ("bottom",) if vertical else ("left",):
            ax.spines[side].set_visible(False)
        self.cut_ = None
        if d.cut is not None:
            line = ax.axhline if vertical else ax.axvline
            self.cut_ = line(d.cut, color=COLORS[0], linestyle="--", linewidth=1.0)

    def _draw_texts(self, ax: "Axes", vertical: bool) -> None:
        box, dots = ax.get_window_extent(), ax.figure.dpi / 72
        room = 0.95 * (box.width if vertical else box.height)
        places, size = self._shown(room, dots)
        axis = ax.xaxis if vertical else ax.yaxis
        if self.orientation == "bottom":
            ax.xaxis.tick_top()
        elif self.orientation == "left":
            ax.yaxis.tick_right()
        axis.set_tick_params(length=0)
        axis.set_ticks(places)
        texts, colors = self._texts() if places else [], self._place_colors
        axis.set_ticklabels([texts[i] for i in places])
        widest = max((len(texts[i]) for i in places), default=0) * 0.62 * size * dots
        turned = vertical and widest > box.width / max(1, len(places))
        for i, tick in zip(places, axis.get_ticklabels(), strict=False):
            tick.set(fontsize=size, rotation=90 if turned else 0)
            tick.set_color(_text_color(colors[i]))
        flipped, up = self.orientation == "left", -1 if self.orientation == "bottom" else 1
        for text, place, h, color in self._numbers:
            ax.annotate(
                text, (place, h) if vertical else (h, place), (-3 if flipped else 3, 2 * up),
                textcoords="offset points", ha="right" if flipped else "left",
                va="bottom" if up > 0 else "top", color=color, fontsize=MAX_LABEL_POINTS,
                fontweight="bold",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
            )  # fmt: skip
        ax.set_title(self._clusters, loc="right")
        if self.note_:
            ax.set_title(self.note_, loc="left", fontsize=9)

    # --- SVG ---

    def to_svg(self, path: object = None) -> str:
        """Return the plot as SVG, without matplotlib.

        Parameters
        ----------
        path : str or Path, optional
            A file to write, atomically.

        Returns
        -------
        str
        """
        d, vertical = self.drawing_, self.orientation in ("top", "bottom")
        width, height = (round(100 * inches) for inches in self._inches)
        room = (width if vertical else height) - 80
        places, points = self._shown(room, 4 / 3)
        texts, colors = self._texts() if places else [], self._place_colors
        text_items = DendrogramText(
            [(i, texts[i], _text_color(colors[i])) for i in places],
            points * 4 / 3, self._height_name, self.note_, self._clusters, self._numbers,
        )  # fmt: skip
        text = svg(
            _by_color(d.lines, self._colors), _by_color(self._triangles, self._branch_colors()),
            len(d.nodes), d.cut, text_items, self.orientation, width, height, self._stroke * 1.2,
        )  # fmt: skip
        if path is not None:
            write_whole(path, text)
        return text


def _color(cluster: int) -> str:
    return GRAY if cluster == ABOVE_CUT else COLORS[1 + cluster % (len(COLORS) - 1)]


def _text_color(color: str) -> str:
    """Return the colour of a label: that of its cluster, dark enough to be read."""
    return COLORS[0] if color == GRAY else readable(color)


def _by_color(shapes: np.ndarray, colors: list[str]) -> dict[str, np.ndarray]:
    """Group shapes by colour, grey first, so that clusters are drawn above it."""
    each = np.array(colors)
    return {c: shapes[each == c] for c in sorted(set(colors), key=lambda c: (c != GRAY, c))}


def plot_dendrogram(
    tree: "Tree | HasTree", *, n_clusters: int | None = None, height: float | None = None,
    max_leaves: int | None = 2000, labels: Iterable[object] | Literal[False] | None = None,
    orientation: str = "top", ax: "Axes | None" = None, svg: object = None,
) -> DendrogramDisplay:  # fmt: skip
    """Draw the dendrogram of a tree.

    Parameters
    ----------
    tree : Tree
        Or a fitted model that has a ``tree_``.
    n_clusters, height : optional
        A cut, as in ``Tree.cut``: clusters get colours and, if few, their numbers; merges above it
        are grey.
    max_leaves : int or None, default=2000
        A larger tree is truncated to so many branches, each with its number of rows in brackets,
        and a note on the plot says so. None: never.
    labels : array-like of str, False or None
        Labels of the leaves. None: their names, or else their numbers; False: none. If space is
        short, labels become smaller, then fewer, which the plot says, and finally are omitted.
    orientation : {"top", "bottom", "left", "right"}, default="top"
        Position of the root.
    ax : matplotlib Axes, optional
        Axes to draw on; by default a new figure of 600 × 400 px, wider for more than 45 leaves
        (without labels, 150).
    svg : str or Path, optional
        Write an SVG file instead of drawing; matplotlib is not needed.

    Returns
    -------
    DendrogramDisplay
        ``to_svg()`` returns the SVG as text.

    Examples
    --------
    >>> from certus.cluster import Tree, plot_dendrogram
    >>> tree = Tree([[0, 1, 1.0, 2], [3, 4, 1.5, 2], [2, 6, 4.0, 3], [5, 7, 9.0, 5]])
    >>> display = plot_dendrogram(tree, n_clusters=2)
    >>> display.ax_.get_title(loc="right")
    '2 clusters'
    >>> import matplotlib.pyplot as plt; plt.close(display.figure_)
    """
    display = DendrogramDisplay(
        tree, n_clusters=n_clusters, height=height, max_leaves=max_leaves, labels=labels,
        orientation=orientation,
    )  # fmt: skip
    if svg is not None:
        display.to_svg(svg)
        return display
    return display.plot(ax)
