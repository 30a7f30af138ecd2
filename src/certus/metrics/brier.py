"""Decomposition of the Brier score (Murphy 1973), with the remainder of binning (Stephenson 2008).

    Σ sᵢ(pᵢ − yᵢ)²/S = reliability − resolution + uncertainty + remainder

    reliability  Σ_b S_b(p̄_b − ȳ_b)²/S         distance of p from observed shares; 0 is best
    resolution   Σ_b S_b(ȳ_b − ȳ)²/S           distance of bins from the mean; higher is better
    uncertainty  ȳ(1 − ȳ)                      a property of the rows; the same for every model
    remainder    Σ_b S_b(var_b p − 2 cov_b(p, y))/S    0 if each bin has one value of p

S_b is the weight of bin b, bars are weighted means.
"""

from dataclasses import dataclass, field

import numpy as np

from ..data.validation import as_numbers, positive_whole
from ..runtime.refusals import refuses_in_one_frame
from ..text.format import count, number, printable
from ..text.table import ResultTable
from ._input import read_truth, read_weights, require_probabilities


@dataclass(frozen=True, repr=False, eq=False)
class BrierResult:
    """Brier score = reliability − resolution + uncertainty + remainder.

    Made by ``certus.metrics.brier_decomposition``.

    Attributes
    ----------
    brier : float
        Σ s(p − y)²/Σs.
    reliability, resolution, uncertainty, remainder : float
        Its parts; ``remainder`` is due to binning.
    mean_predicted, observed, weight : (bins,) arrays
        For each bin: mean probability, share of positives, share of the rows' weight.
    edges : (bins + 1,) array
        A bin contains the p in (edge, next edge], the first also its lower edge.

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

    def table(self) -> ResultTable:
        """Return a table with a row for each bin: mean probability, observed share, weight."""
        return ResultTable(
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


@refuses_in_one_frame
def brier_decomposition(
    y_true: object, y_prob: object, *, bins: int | None = 10, pos_label: object = None,
    sample_weight: object = None,
) -> BrierResult:  # fmt: skip
    """Decompose the Brier score: reliability − resolution + uncertainty (+ remainder of binning).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    bins : int or None
        Bins with about equally many rows; equal p are in the same bin. None, or where there are no
        more distinct p than bins: one bin for each distinct p, with remainder 0.
    pos_label : label, optional
        The positive class; 1 where the classes are 0 and 1, −1 and 1, or False and True.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    BrierResult

    Notes
    -----
    With few rows in a bin, reliability and resolution are too large by about the same amount:
    chance moves observed shares away from p, and bins away from each other.

    Examples
    --------
    >>> from certus.metrics import brier_decomposition
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> parts = brier_decomposition(y, [0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9])
    >>> round(parts.reliability, 4), round(parts.resolution, 4), parts.uncertainty
    (0.0225, 0.0625, 0.25)
    """
    truth = read_truth(y_true, pos_label)
    n = len(truth.y)
    p = as_numbers(y_prob, "y_prob")
    if p.shape != (n,):
        raise ValueError(f"y has {count(n, 'row')}, y_prob has shape {p.shape}: give ({n},)")
    require_probabilities(p)
    s = read_weights(y_true, sample_weight, n)
    return decompose(truth.y, p, np.ones(n) if s is None else s, bins)


def decompose(y: np.ndarray, p: np.ndarray, s: np.ndarray, bins: int | None) -> BrierResult:
    """Decompose the Brier score of y = 0 and 1."""
    has_weight = s > 0
    y, p, s = y[has_weight], p[has_weight], s[has_weight] / s[has_weight].sum()
    edges = _edges(p, bins)
    b = np.searchsorted(edges[1:-1], p, side="left")  # (edge, next edge]
    S = np.bincount(b, weights=s, minlength=len(edges) - 1)
    p_mean, y_mean = (np.bincount(b, weights=s * v, minlength=len(S)) / S for v in (p, y))
    overall = float(s @ y)
    p_deviation, y_deviation = p - p_mean[b], y - y_mean[b]
    return BrierResult(
        brier=float(s @ (p - y) ** 2),
        reliability=float(S @ (p_mean - y_mean) ** 2),
        resolution=float(S @ (y_mean - overall) ** 2),
        uncertainty=overall * (1 - overall),
        remainder=float(s @ (p_deviation * (p_deviation - 2 * y_deviation))),
        mean_predicted=p_mean, observed=y_mean, weight=S, edges=edges,
    )  # fmt: skip


def _edges(p: np.ndarray, bins: int | None) -> np.ndarray:
    """Return the edges of bins, none of which is empty."""
    distinct = np.unique(p)
    if bins is None or len(distinct) <= positive_whole("bins", bins):
        inner = distinct[:-1]
    else:
        inner = np.unique(np.quantile(p, np.arange(1, bins) / bins, method="inverted_cdf"))
        inner = inner[inner < distinct[-1]]
    return np.concatenate([[min(0.0, distinct[0])], inner, [max(1.0, distinct[-1])]])
