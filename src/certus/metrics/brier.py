"""What a Brier score is made of (Murphy 1973), with what binning leaves (Stephenson 2008).

    Σ sᵢ(pᵢ − yᵢ)²/S = reliability − resolution + uncertainty + remainder

    reliability  Σ_b S_b(p̄_b − ȳ_b)²/S         how far p is from what happens; 0 is best
    resolution   Σ_b S_b(ȳ_b − ȳ)²/S           how far bins are from the mean; more is better
    uncertainty  ȳ(1 − ȳ)                      of the rows themselves; no model changes it
    remainder    Σ_b S_b(var_b p − 2 cov_b(p, y))/S    0 where a bin holds one value of p

S_b is the weight of bin b, bars are weighted means.
"""

from dataclasses import dataclass, field

import numpy as np

from ..data.validation import as_numbers, positive_whole, weights
from ..text.format import count, number, printable
from ..text.table import Table
from ._input import read_truth, require_probabilities


@dataclass(frozen=True, repr=False, eq=False)
class BrierResult:
    """Brier score = reliability − resolution + uncertainty + remainder.

    Made by ``certus.metrics.brier_decomposition``.

    Attributes
    ----------
    brier : float
        Σ s(p − y)²/Σs.
    reliability, resolution, uncertainty, remainder : float
        Its parts; ``remainder`` is that of binning.
    mean_predicted, observed, weight : (bins,) arrays
        Of each bin: mean probability, share of positives, share of the rows' weight.
    edges : (bins + 1,) array
        A bin holds the p in (edge, next edge], the first its lower edge too.

    Examples
    --------
    >>> from certus.metrics import brier_decomposition
    >>> brier_decomposition([0, 0, 0, 1], [0.25, 0.25, 0.25, 0.25])
    BrierResult(0.1875 = reliability 0 − resolution 0 + uncertainty 0.1875 + remainder 0)
    """

    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    remainder: float
    mean_predicted: np.ndarray = field(compare=False)
    observed: np.ndarray = field(compare=False)
    weight: np.ndarray = field(compare=False)
    edges: np.ndarray = field(compare=False)

    def table(self) -> Table:
        """A line for each bin: mean probability, what happened, share of the rows."""
        return Table(
            {
                "bin": [str(b + 1) for b in range(len(self.weight))],
                "mean p": self.mean_predicted,
                "observed": self.observed,
                "share of rows": self.weight,
            },
            title=repr(self),
        )

    def __repr__(self) -> str:
        parts = [
            number(x, 4)
            for x in (
                self.brier, self.reliability, self.resolution, self.uncertainty, self.remainder,
            )
        ]  # fmt: skip
        return printable(
            "BrierResult({} = reliability {} − resolution {} + uncertainty {} + remainder "
            "{})".format(*parts)
        )


def brier_decomposition(
    y_true: object, y_prob: object, *, bins: int | None = 10, pos_label: object = None,
    sample_weight: object = None,
) -> BrierResult:  # fmt: skip
    """Brier score = reliability − resolution + uncertainty (+ remainder of binning).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    bins : int or None
        Bins with about as many rows each; equal p are never parted. None: one for each distinct
        p, with remainder 0. So it is too where there are no more distinct p than bins.
    pos_label : label, optional
        The positive class; 1 where the classes are 0 and 1, −1 and 1, or False and True.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    BrierResult

    Notes
    -----
    Reliability and resolution of few rows a bin are both too large by about the same: chance moves
    what is observed away from p, and bins away from each other.

    Examples
    --------
    >>> from certus.metrics import brier_decomposition
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> found = brier_decomposition(y, [0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9])
    >>> round(found.reliability, 4), round(found.resolution, 4), found.uncertainty
    (0.0225, 0.0625, 0.25)
    """
    truth = read_truth(y_true, pos_label)
    n = len(truth.y)
    p = as_numbers(y_prob, "y_prob")
    if p.shape != (n,):
        raise ValueError(f"y has {count(n, 'row')}, y_prob has shape {p.shape}: give ({n},)")
    require_probabilities(p)
    s = weights(sample_weight, n)
    return decompose(truth.y, p, np.ones(n) if s is None else s, bins)


def decompose(y: np.ndarray, p: np.ndarray, s: np.ndarray, bins: int | None) -> BrierResult:
    """The same of y = 0 and 1."""
    some = s > 0
    y, p, s = y[some], p[some], s[some] / s[some].sum()
    edges = _edges(p, bins)
    b = np.searchsorted(edges[1:-1], p, side="left")  # (edge, next edge]
    S = np.bincount(b, weights=s, minlength=len(edges) - 1)
    p_mean, y_mean = (np.bincount(b, weights=s * v, minlength=len(S)) / S for v in (p, y))
    overall = float(s @ y)
    off, about = p - p_mean[b], y - y_mean[b]
    return BrierResult(
        brier=float(s @ (p - y) ** 2),
        reliability=float(S @ (p_mean - y_mean) ** 2),
        resolution=float(S @ (y_mean - overall) ** 2),
        uncertainty=overall * (1 - overall),
        remainder=float(s @ (off * (off - 2 * about))),
        mean_predicted=p_mean, observed=y_mean, weight=S, edges=edges,
    )  # fmt: skip


def _edges(p: np.ndarray, bins: int | None) -> np.ndarray:
    """Every bin holds a row."""
    distinct = np.unique(p)
    if bins is None or len(distinct) <= positive_whole("bins", bins):
        inner = distinct[:-1]
    else:
        inner = np.unique(np.quantile(p, np.arange(1, bins) / bins, method="inverted_cdf"))
        inner = inner[inner < distinct[-1]]
    return np.concatenate([[min(0.0, distinct[0])], inner, [max(1.0, distinct[-1])]])
