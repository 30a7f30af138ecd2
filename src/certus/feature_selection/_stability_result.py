"""Which columns are selected again and again, when rows are drawn anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.validation import one_of
from ..text.format import count, number, printable
from ..text.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import FeatureWeightsDisplay


QUANTILES = (0.05, 0.5, 0.95)  # of weights, in tables and pictures
SHOWN = 20  # columns of a notebook's table
WHAT = ("frequencies", "weights")


@dataclass(frozen=True, eq=False, repr=False)
class StabilityResult:
    """How often each column was selected from resamples of the rows.

    Made by ``certus.feature_selection.stability_selection``.

    Attributes
    ----------
    frequencies : (P,) array
        The share of the resamples in which a column was selected.
    intervals : (P, 2) array
        Wilson's, for the frequency in ever more resamples of the same rows. They say nothing of
        other rows.
    support : (P,) array of bool
        ``frequencies`` of at least ``threshold``.
    selected : (B, P) array of bool
        What each resample selected.
    weights : (B, P) array or None
        What each resample weighed: ``weights_``, ``feature_importances_`` or |``coef_``| of the
        selector or of its estimator. None where it has none.
    drawn : (B, n) array of bool
        The rows of each resample.
    false_selections : float or None
        q²/((2·threshold − 1)·P), q the mean number of columns that a resample selects: on average
        over data sets no more columns of ``support`` are such that half of the rows select them
        with a chance of q/P or less. None where the theorem does not hold: ``share`` other than
        0.5, or ``threshold`` up to 0.5.
    n_selected : float
        q.
    threshold, share, confidence : float
    names : tuple of str
        Of the columns: those of the frame, or "column 0", ….
    stopped : str or None
        By whom and when, if not all resamples were drawn.
    notes : tuple of str
        What to know beside it.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.feature_selection import NCFSClassifier, stability_selection
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 8)), np.arange(60) % 2
    >>> X[:, 3] += 3 * y
    >>> found = stability_selection(NCFSClassifier(), X, y, n_resamples=20, random_state=0)
    >>> found
    StabilityResult(1 of 8 columns is selected in at least 60 % of 20 resamples)
    >>> found.get_support(indices=True), found.frequencies[3]
    (array([3]), np.float64(1.0))
    """

    frequencies: np.ndarray
    intervals: np.ndarray
    support: np.ndarray
    selected: np.ndarray
    weights: np.ndarray | None
    drawn: np.ndarray
    false_selections: float | None
    n_selected: float
    threshold: float
    share: float
    confidence: float
    names: tuple[str, ...]
    stopped: str | None
    notes: tuple[str, ...]

    def get_support(self, indices: bool = False) -> np.ndarray:
        """``support``, or the numbers of its columns, as of scikit-learn's selectors."""
        return np.flatnonzero(self.support) if indices else self.support

    def quantiles(self, q: float | Sequence[float] = QUANTILES) -> np.ndarray:
        """Of a column's weights over resamples, 0 where it had none; (P,) or (len(q), P)."""
        if self.weights is None:
            raise ValueError(
                "the selector has no weights: neither weights_, feature_importances_ nor coef_"
            )
        return np.asarray(np.quantile(self.weights, q, axis=0))

    def table(self) -> Table:
        """A row for each column, the most frequent first; to be read, or taken elsewhere."""
        return self._table(len(self.names))

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each column of X."""
        return self.table().to_pandas()

    def plot(
        self, what: str = "frequencies", *, n_features: int = 20, ax: "Axes | None" = None
    ) -> "FeatureWeightsDisplay":
        """Draw the columns, largest first: a ``certus.plotting.FeatureWeightsDisplay``.

        Parameters
        ----------
        what : {"frequencies", "weights"}
            Frequencies with Wilson's intervals, or medians of weights with the middle 90 % of the
            resamples.
        n_features : int
            How many columns at most.
        ax : matplotlib Axes, optional
        """
        from ..plotting import FeatureWeightsDisplay

        one_of("what", what, WHAT)
        if what == "weights":
            low, values, high = self.quantiles()
            percent, mark = f"{100 * (QUANTILES[2] - QUANTILES[0]):.0f} %", None
            label = f"weight: median and middle {percent} of resamples"
        else:
            values, (low, high), mark = self.frequencies, self.intervals.T, self.threshold
            percent = f"{number(100 * self.confidence)} %"
            label = f"share of {count(len(self.selected), 'resample')}, {percent} interval"
        return FeatureWeightsDisplay(
            values, self.names, intervals=np.stack([low, high], axis=1), selected=self.support,
            some=self.selected.any(axis=0), said="been selected",
            kinds=("stable", "not stable"), label=label, mark=mark,
        ).plot(ax, n_features=n_features)  # fmt: skip

    def _table(self, most: int) -> Table:
        middle = np.zeros(len(self.names)) if self.weights is None else self.quantiles(0.5)
        order = np.lexsort((-middle, -self.frequencies))[:most]
        percent = f"{number(100 * self.confidence)} % low"
        columns: dict[str, np.ndarray] = {
            "column": np.array(self.names, dtype=object)[order],
            "frequency": self.frequencies[order],
            percent: self.intervals[order, 0],
            "high": self.intervals[order, 1],
        }
        if self.weights is not None:
            low, middle, high = self.quantiles()[:, order]
            columns |= {"weight": middle, "5 %": low, "95 %": high}
        columns["stable"] = np.where(self.support[order], "yes", "")
        title = f"Selected in {count(len(self.selected), 'resample')} of {self._rows_drawn()}"
        notes = list(self.notes)
        if most < len(self.names):
            notes.insert(0, f"{len(self.names) - most:,} more columns: table() has them all.")
        return Table(columns, title=title, notes=notes)

    def _rows_drawn(self) -> str:
        sizes = self.drawn.sum(axis=1)
        return f"{count(int(sizes.max()), 'row')} of {self.drawn.shape[1]:,}"

    def _repr_html_(self) -> str:
        return self._table(min(SHOWN, len(self.names)))._repr_html_()

    def __repr__(self) -> str:
        k, B = int(self.support.sum()), len(self.selected)
        are = "is" if k == 1 else "are"
        said = (
            f"{k:,} of {count(len(self.names), 'column')} {are} selected in at least "
            f"{number(100 * self.threshold)} % of {count(B, 'resample')}"
        )
        stopped = "" if self.stopped is None else f"; stopped {self.stopped}"
        return printable(f"StabilityResult({said}{stopped})")

    __str__ = __repr__
