"""What is known about each k, which to take, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..text.format import count, listed, number, printable
from ..text.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import KCurveDisplay


METHODS = {
    "loo": "rows left out one at a time",
    "bootstrap": "rows left out of resamples",
    "folds": "rows left out by folds",
}
SHARES = ("error", "balanced_error")
WORDS = {
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
        Mean loss on rows left out; NaN for a k with which a row had no neighbour with a vote
        (numbers only: for classes such a row counts as wrong).
    standard_error : (m,) array
        Of the mean: from the spread over rows, times √2 (bootstrap: √2.5) since rows that share
        neighbours are right or wrong together; or from the spread over folds.
    intervals : (m, 2) array
        For ``error``: Clopper–Pearson (with half the rows, for the same reason) for a share of
        rows; Student's t over folds; else normal.
    best : int
        The k with the least error; of equals the smallest.
    one_standard_error : int
        The largest k whose error is within one standard error of the least: the smoothest model
        that these rows cannot tell from the best.
    baseline : float
        The loss without neighbours: always the commonest class, the classes' shares, the mean or
        the median.
    advice : str
        What to know before taking a k.
    picked : (B,) array of int or None
        The best k of each resample of a bootstrap.
    method, task, scoring : str
    confidence : float
    n : int
        Rows.

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
    picked: np.ndarray | None = None

    def at(self, k: int) -> dict[str, float]:
        """Error, standard error and interval of one k."""
        where = np.flatnonzero(self.ks == k)
        if not len(where):
            tried = listed([str(value) for value in self.ks], 10)
            raise KeyError(f"k = {k} was not tried: there are {tried}")
        c = int(where[0])
        low, high = self.intervals[c]
        return {
            "error": float(self.error[c]),
            "standard_error": float(self.standard_error[c]),
            "low": float(low),
            "high": float(high),
        }

    def table(self) -> Table:
        """All of it, a row for each k; to be read, or taken elsewhere (``to_polars``)."""
        columns = {
            "k": self.ks,
            WORDS[self.scoring]: self.error,
            "std error": self.standard_error,
            f"{number(100 * self.confidence)} % low": self.intervals[:, 0],
            "high": self.intervals[:, 1],
        }
        title = f"{WORDS[self.scoring].capitalize()} on {METHODS[self.method]}, "
        return Table(columns, title=title + count(self.n, "row"), notes=self.advice.splitlines())

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each k."""
        return self.table().to_pandas()

    def plot(self, ax: "Axes | None" = None) -> "KCurveDisplay":
        """Draw error against k: a ``certus.plotting.KCurveDisplay``."""
        from ..plotting import KCurveDisplay

        return KCurveDisplay(self).plot(ax)

    def __repr__(self) -> str:
        here = self.at(self.best)
        interval = spread(here["low"], here["high"], self.scoring)
        return printable(
            f"KResult(k = {self.best}: {WORDS[self.scoring]} {amount(here['error'], self.scoring)} "
            f"on {METHODS[self.method]}, {number(100 * self.confidence)} % interval {interval}; "
            f"largest k within one standard error: {self.one_standard_error})"
        )


def best_and_smoothest(
    ks: np.ndarray, error: np.ndarray, standard_error: np.ndarray
) -> tuple[int, int]:
    """The k of the least error, and the largest within its standard error."""
    if np.isnan(error).all():
        raise ValueError("with every k some row has no neighbour with a vote: look at weights=")
    c = int(np.nanargmin(error))
    se = standard_error[c] if np.isfinite(standard_error[c]) else 0.0
    within = np.flatnonzero(error <= error[c] + se)  # NaN is within nothing
    return int(ks[c]), int(ks[within[-1]])


def amount(loss: float, scoring: str) -> str:
    return f"{number(100 * loss, 3)} %" if scoring in SHARES else number(loss, 4)


def spread(low: float, high: float, scoring: str) -> str:
    if scoring in SHARES:
        return f"{number(100 * low, 2)}–{number(100 * high, 2)} %"
    return f"{number(low, 4)}–{number(high, 4)}"


def advice_on(
    choice: dict[str, Any], *, largest: int, classes: int, uniform: bool, twins: int, answer: str
) -> str:
    """Sentences, one a line.

    ``largest``: no k can be larger; ``classes``: 0 for numbers; ``answer``: what the baseline says.
    """
    ks, best, smoothest = choice["ks"], choice["best"], choice["one_standard_error"]
    error, scoring = choice["error"], choice["scoring"]
    c = int(np.flatnonzero(ks == best)[0])
    told = []
    if error[c] + _known(choice["standard_error"][c]) >= choice["baseline"]:
        told.append(
            f"No evidence that neighbours help: {answer} costs "
            f"{amount(choice['baseline'], scoring)}, the best k "
            f"{amount(error[c], scoring)}."
        )
    even = sorted({k for k in (best, smoothest) if k % 2 == 0})
    if classes == 2 and uniform and even:
        which = " and ".join(map(str, even))
        told.append(
            f"Two classes: take an odd k. With an even one ({which}) votes can tie, and the nearer "
            "neighbour then decides alone."
        )
    if smoothest == ks[-1] and smoothest < largest:
        told.append(
            f"The largest k tried, {smoothest}, is within one standard error of the best: try "
            f"larger ones (up to {largest:,})."
        )
    if twins:
        told.append(
            f"{count(twins, 'row')} of {choice['n']:,} {_have(twins)} another at distance 0. If "
            "those are copies, the error is too low, most of all for small k: leave copies out "
            "together (method=list(GroupKFold().split(X, y, groups)))."
        )
    if choice["picked"] is not None:
        low, high = np.quantile(choice["picked"], [0.025, 0.975], method="nearest")
        told.append(
            f"In 95 % of {len(choice['picked'])} resamples the best k lay between {low} and "
            f"{high}. A row drawn twice counts twice: k neighbours are fewer different rows."
        )
    if np.isnan(error).any():
        which = listed([str(k) for k in ks[np.isnan(error)]])
        told.append(f"With k = {which} some row had no neighbour with a vote.")
    if len(ks) > 1:
        told.append(
            f"The error of the best k is the least of {len(ks)}: on new rows expect a little more."
        )
    return "\n".join(told)


def _known(se: float) -> float:
    return float(se) if np.isfinite(se) else 0.0


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def losses_without_neighbours(
    y: np.ndarray, s: np.ndarray, labels: Sequence[Any] | None, scoring: str
) -> tuple[float, str]:
    """(loss, whose) of the best answer that does not look at X."""
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
    said = f"always {labels[int(p.argmax())]!r}"
    return float(1 - (1 / np.count_nonzero(p) if scoring == "balanced_error" else p.max())), said


def _median(y: np.ndarray, s: np.ndarray) -> float:
    order = np.argsort(y, kind="stable")
    total = np.cumsum(s[order])
    return float(y[order][np.searchsorted(total, total[-1] / 2)])
