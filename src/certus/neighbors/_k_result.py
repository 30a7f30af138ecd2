"""The result of ``choose_k``: the error for each k, its uncertainty, and which k to take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..text.box import box
from ..text.format import count, listed, number, printable
from ..text.table import ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import KCurveDisplay


METHOD_PHRASES = {
    "loo": "rows left out one at a time",
    "bootstrap": "rows left out of resamples",
    "folds": "rows left out by folds",
}
SHARE_SCORINGS = ("error", "balanced_error")
SCORING_NAMES = {
    "error": "error",
    "balanced_error": "balanced error",
    "brier": "Brier score",
    "squared_error": "squared error",
    "absolute_error": "absolute error",
}


@dataclass(frozen=True, eq=False, repr=False)
class KResult:
    """The error of k nearest neighbours on rows left out, for every k that was tried.

    Made by ``certus.neighbors.choose_k``.

    Attributes
    ----------
    ks : (m,) array of int
        The numbers of neighbours, ascending.
    error : (m,) array
        Mean loss on left-out rows; NaN for a k with which some row has no neighbour with a vote
        (regression only: in a classification such a row counts as wrong).
    standard_error : (m,) array
        Standard error of the mean: from the spread over rows, times √2 (bootstrap: √2.5) since the
        losses of rows that share neighbours are correlated; or from the spread over folds.
    intervals : (m, 2) array
        Intervals of ``error``: Clopper–Pearson (with half the rows, for the same reason) for a
        share of rows; Student's t over folds; else normal.
    best : int
        The k with the smallest error; the smallest of several.
    one_standard_error : int
        The largest k whose error is within one standard error of the smallest: the smoothest model
        that these rows cannot distinguish from the best.
    baseline : float
        The loss of a constant prediction: the most frequent class, the classes' shares, the mean or
        the median.
    advice : str
        Points to consider before choosing a k.
    best_of_resamples : (B,) array of int or None
        The best k of each resample of a bootstrap.
    method, task, scoring : str
    confidence : float
    n : int
        Number of rows.

    Examples
    --------
    >>> from certus.neighbors import choose_k
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> choice = choose_k(X, ["a", "a", "a", "b", "b", "b"], [1, 3, 5])
    >>> choice.best, choice.one_standard_error, choice.error.tolist()
    (1, 3, [0.0, 0.0, 1.0])
    """

    ks: np.ndarray
    error: np.ndarray
    standard_error: np.ndarray
    intervals: np.ndarray
    best: int
    one_standard_error: int
    baseline: float
    advice: str
    method: str
    task: str
    scoring: str
    confidence: float
    n: int
    best_of_resamples: np.ndarray | None = None

    def at(self, k: int) -> dict[str, float]:
        """Return the error, its standard error and its interval for one k."""
        where = np.flatnonzero(self.ks == k)
        if not len(where):
            tried = listed([str(value) for value in self.ks], 10)
            raise KeyError(f"k = {k} was not tried; these were: {tried}")
        c = int(where[0])
        low, high = self.intervals[c]
        return {
            "error": float(self.error[c]),
            "standard_error": float(self.standard_error[c]),
            "low": float(low),
            "high": float(high),
        }

    def table(self) -> ResultTable:
        """Table with a row for each k, to print or to convert (``to_polars``)."""
        columns = {
            "k": self.ks,
            SCORING_NAMES[self.scoring]: self.error,
            "std error": self.standard_error,
            f"{number(100 * self.confidence)} % low": self.intervals[:, 0],
            "high": self.intervals[:, 1],
        }
        title = f"{SCORING_NAMES[self.scoring].capitalize()} on {METHOD_PHRASES[self.method]}, "
        return ResultTable(
            columns, title=title + count(self.n, "row"), notes=self.advice.splitlines()
        )

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each k."""
        return self.table().to_pandas()

    def plot(self, ax: "Axes | None" = None) -> "KCurveDisplay":
        """Draw error against k: a ``certus.plotting.KCurveDisplay``."""
        from ..plotting import KCurveDisplay

        return KCurveDisplay(self).plot(ax)

    def _summary(self) -> str:
        values = self.at(self.best)
        interval = interval_text(values["low"], values["high"], self.scoring)
        loss = f"{SCORING_NAMES[self.scoring]} {loss_text(values['error'], self.scoring)}"
        return (
            f"{loss} on {METHOD_PHRASES[self.method]}, {number(100 * self.confidence)} % interval "
            f"{interval}; largest k within one standard error: {self.one_standard_error}"
        )

    def __repr__(self) -> str:
        return printable(f"KResult(k = {self.best}: {self._summary()})")

    def _repr_html_(self) -> str:
        table = self.table()._repr_html_()
        return box("number of neighbours", "✔", f"k = {self.best}", self._summary(), table)


def best_and_smoothest(
    ks: np.ndarray, error: np.ndarray, standard_error: np.ndarray
) -> tuple[int, int]:
    """Return the k of the smallest error, and the largest k within its standard error."""
    if np.isnan(error).all():
        raise ValueError("with every k some row has no neighbour with a vote: check weights=")
    c = int(np.nanargmin(error))
    se = standard_error[c] if np.isfinite(standard_error[c]) else 0.0
    within = np.flatnonzero(error <= error[c] + se)  # False for NaN
    return int(ks[c]), int(ks[within[-1]])


def loss_text(loss: float, scoring: str) -> str:
    return f"{number(100 * loss, 3)} %" if scoring in SHARE_SCORINGS else number(loss, 4)


def interval_text(low: float, high: float, scoring: str) -> str:
    if scoring in SHARE_SCORINGS:
        return f"{number(100 * low, 2)}–{number(100 * high, 2)} %"
    return f"{number(low, 4)}–{number(high, 4)}"


def advice_on(
    choice: dict[str, Any],
    *,
    largest: int,
    classes: int,
    uniform: bool,
    n_duplicated: int,
    answer: str,
) -> str:
    """Return the advice on a choice, one sentence a line.

    ``largest``: the largest possible k; ``classes``: 0 in a regression; ``answer``: the baseline's
    prediction in words.
    """
    ks, best, smoothest = choice["ks"], choice["best"], choice["one_standard_error"]
    error, scoring = choice["error"], choice["scoring"]
    c = int(np.flatnonzero(ks == best)[0])
    sentences = []
    if error[c] + _finite_or_zero(choice["standard_error"][c]) >= choice["baseline"]:
        sentences.append(
            f"No evidence that neighbours help: {answer} costs "
            f"{loss_text(choice['baseline'], scoring)}, the best k "
            f"{loss_text(error[c], scoring)}."
        )
    even = sorted({k for k in (best, smoothest) if k % 2 == 0})
    if classes == 2 and uniform and even:
        which = " and ".join(map(str, even))
        sentences.append(
            f"Two classes: take an odd k. With an even one ({which}) votes can tie, and then the "
            "nearest neighbour alone decides."
        )
    if smoothest == ks[-1] and smoothest < largest:
        sentences.append(
            f"The largest k tried, {smoothest}, is within one standard error of the best: try "
            f"larger ones (up to {largest:,})."
        )
    if n_duplicated:
        sentences.append(
            f"{count(n_duplicated, 'row')} of {choice['n']:,} {_have(n_duplicated)} another at "
            "distance 0. If those are copies, the error is too low, especially for small k: leave "
            "copies out together (method=list(GroupKFold().split(X, y, groups)))."
        )
    if choice["best_of_resamples"] is not None:
        low, high = np.quantile(choice["best_of_resamples"], [0.025, 0.975], method="nearest")
        sentences.append(
            f"In 95 % of {len(choice['best_of_resamples'])} resamples the best k lay between "
            f"{low} and "
            f"{high}. A row drawn twice counts twice, so k neighbours are fewer distinct rows."
        )
    if np.isnan(error).any():
        which = listed([str(k) for k in ks[np.isnan(error)]])
        sentences.append(f"With k = {which} some row had no neighbour with a vote.")
    if len(ks) > 1:
        sentences.append(
            f"The error of the best k is the smallest of {len(ks)}: expect a slightly larger error "
            "on new rows."
        )
    return "\n".join(sentences)


def _finite_or_zero(se: float) -> float:
    return float(se) if np.isfinite(se) else 0.0


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def losses_without_neighbors(
    y: np.ndarray, s: np.ndarray, labels: Sequence[Any] | None, scoring: str
) -> tuple[float, str]:
    """Return the loss of the best constant prediction, and that prediction in words."""
    if labels is None:
        if scoring == "squared_error":
            mean = np.average(y, axis=0, weights=s)
            return float(np.average((y - mean) ** 2, axis=0, weights=s).mean()), "always the mean"
        middle = np.array([_median(y[:, t], s) for t in range(y.shape[1])])
        return (
            float(np.average(np.abs(y - middle), axis=0, weights=s).mean()),
            "always the median",
        )
    p = np.bincount(y, weights=s, minlength=len(labels)) / s.sum()
    if scoring == "brier":
        return float(1 - np.sum(p**2)), "always the classes' shares"
    answer = f"always {labels[int(p.argmax())]!r}"
    return float(1 - (1 / np.count_nonzero(p) if scoring == "balanced_error" else p.max())), answer


def _median(y: np.ndarray, s: np.ndarray) -> float:
    order = np.argsort(y, kind="stable")
    total = np.cumsum(s[order])
    return float(y[order][np.searchsorted(total, total[-1] / 2)])
