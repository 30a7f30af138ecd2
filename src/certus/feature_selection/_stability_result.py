"""Result of stability selection."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.validation import one_of
from ..text.format import count, number, printable
from ..text.table import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import FeatureWeightsDisplay


QUANTILES = (0.05, 0.5, 0.95)  # of weights, in tables and plots
MAX_HTML_ROWS = 20  # of the table in a notebook
PLOT_KINDS = ("frequencies", "weights")


@dataclass(frozen=True, eq=False, repr=False)
class StabilityResult:
    """Frequencies with which columns were selected from resamples of the rows.

    Returned by ``certus.feature_selection.stability_selection``.

    Attributes
    ----------
    frequencies : (P,) array
        Share of the resamples in which a column was selected.
    intervals : (P, 2) array
        Wilson intervals for the frequency in infinitely many resamples of the same rows. They say
        nothing about other rows.
    support : (P,) array of bool
        Mask of the columns with ``frequencies`` of at least ``threshold``.
    selected : (B, P) array of bool
        Columns selected from each resample.
    weights : (B, P) array or None
        Weights in each resample: ``weights_``, ``feature_importances_`` or |``coef_``| of the
        selector or of its estimator. None if it has none.
    drawn : (B, n) array of bool
        Rows of each resample.
    false_selections : float or None
        q²/((2·threshold − 1)·P) with q the mean number of columns that a resample selects: a bound
        on the expected number of columns of ``support`` that half of the rows select with a
        probability of q/P or less. None where the theorem does not hold: ``share`` other than 0.5,
        or ``threshold`` up to 0.5.
    n_selected : float
        Mean number of columns that a resample selects, q.
    threshold, share, confidence : float
    names : tuple of str
        Names of the columns: those of the frame, or "column 0", ….
    stopped : str or None
        By whom and when the resampling was stopped, if it was.
    notes : tuple of str
        Remarks about the result.

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
    >>> found.get_feature_names_out().tolist()
    ['column 3']
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
        """Return ``support``, or the indices of its columns, as scikit-learn's selectors do."""
        return np.flatnonzero(self.support) if indices else self.support

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Return the names of the selected columns, as scikit-learn's selectors do.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of all columns, in place of ``names``.
        """
        names = np.array(self.names if input_features is None else list(input_features), object)
        if len(names) != len(self.names):
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({len(self.names):,}), got {len(names):,}"
            )
        return names[self.support]

    def quantiles(self, q: float | Sequence[float] = QUANTILES) -> np.ndarray:
        """Quantiles of the columns' weights over the resamples, (P,) or (len(q), P)."""
        if self.weights is None:
            raise ValueError(
                "the selector has no weights: neither weights_, feature_importances_ nor coef_"
            )
        return np.asarray(np.quantile(self.weights, q, axis=0))

    def table(self) -> ResultTable:
        """Table with a row for each column, the most frequent first."""
        return self._table(len(self.names))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each column of X."""
        return self.table().to_pandas()

    def plot(
        self, kind: str = "frequencies", *, n_features: int = 20, ax: "Axes | None" = None
    ) -> "FeatureWeightsDisplay":
        """Plot the columns, largest first (``certus.plotting.FeatureWeightsDisplay``).

        Parameters
        ----------
        kind : {"frequencies", "weights"}
            Frequencies with Wilson's intervals, or medians of weights with the middle 90 % of the
            resamples.
        n_features : int
            Largest number of columns to plot.
        ax : matplotlib Axes, optional
        """
        from ..plotting import FeatureWeightsDisplay

        one_of("kind", kind, PLOT_KINDS)
        if kind == "weights":
            low, values, high = self.quantiles()
            percent, threshold = f"{100 * (QUANTILES[2] - QUANTILES[0]):.0f} %", None
            label = f"weight: median and middle {percent} of resamples"
        else:
            values, (low, high), threshold = self.frequencies, self.intervals.T, self.threshold
            percent = f"{number(100 * self.confidence)} %"
            label = f"share of {count(len(self.selected), 'resample')}, {percent} interval"
        return FeatureWeightsDisplay(
            values, self.names, intervals=np.stack([low, high], axis=1), selected=self.support,
            candidates=self.selected.any(axis=0), hidden_label="been selected",
            legend_labels=("stable", "not stable"), label=label, threshold=threshold,
        ).plot(ax, n_features=n_features)  # fmt: skip

    def _table(self, max_rows: int) -> ResultTable:
        median = np.zeros(len(self.names)) if self.weights is None else self.quantiles(0.5)
        order = np.lexsort((-median, -self.frequencies))[:max_rows]
        percent = f"{number(100 * self.confidence)} % low"
        columns: dict[str, np.ndarray] = {
            "column": np.array(self.names, dtype=object)[order],
            "frequency": self.frequencies[order],
            percent: self.intervals[order, 0],
            "high": self.intervals[order, 1],
        }
        if self.weights is not None:
            low, median, high = self.quantiles()[:, order]
            columns |= {"weight": median, "5 %": low, "95 %": high}
        columns["stable"] = np.where(self.support[order], "yes", "")
        title = f"Selected in {count(len(self.selected), 'resample')} of {self._rows_drawn()}"
        notes = list(self.notes)
        if max_rows < len(self.names):
            notes.insert(0, f"{len(self.names) - max_rows:,} more columns: table() has them all.")
        return ResultTable(columns, title=title, notes=notes)

    def _rows_drawn(self) -> str:
        sizes = self.drawn.sum(axis=1)
        return f"{count(int(sizes.max()), 'row')} of {self.drawn.shape[1]:,}"

    def _repr_html_(self) -> str:
        return self._table(min(MAX_HTML_ROWS, len(self.names)))._repr_html_()

    def __repr__(self) -> str:
        k, B = int(self.support.sum()), len(self.selected)
        are = "is" if k == 1 else "are"
        summary = (
            f"{k:,} of {count(len(self.names), 'column')} {are} selected in at least "
            f"{number(100 * self.threshold)} % of {count(B, 'resample')}"
        )
        stopped = "" if self.stopped is None else f"; stopped {self.stopped}"
        return printable(f"StabilityResult({summary}{stopped})")

    __str__ = __repr__
