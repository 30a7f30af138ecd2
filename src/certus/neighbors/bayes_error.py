"""Bounds on the error of the best possible classifier, from the error of one nearest neighbour.

    R* ≤ R ≤ R*(2 − c/(c−1)·R*)      so      (c−1)/c·(1 − √(1 − c/(c−1)·R)) ≤ R* ≤ R

R* is the Bayes error, R the error of one nearest neighbour with infinitely many rows, c the number
of classes (Cover & Hart 1967). R is estimated from the rows at hand.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.labels import encode, read_labels, require_two_classes
from ..data.types import Metric, Seed
from ..data.validation import positive_whole
from ..runtime.refusals import refuses_in_one_frame
from ..text.format import count, number, printable
from ..text.proportions import clopper_pearson
from ._averages import check_share
from ._left_out_neighbors import (
    NeighborSearch,
    blocks,
    checked_threads,
    dummy_estimator,
    generator,
    read_points,
)


@dataclass(frozen=True, repr=False)
class BayesErrorResult:
    """Bounds on the Bayes error, made by ``certus.neighbors.bayes_error_bracket``.

    Attributes
    ----------
    lower, upper : float
        The Cover–Hart bounds on R* for the measured R.
    R : float
        The share of rows whose nearest other row is of another class.
    interval : tuple of float
        Clopper–Pearson interval of R, with n/``design_effect`` as the number of rows.
    confident : tuple of float
        The bounds on R* at the ends of that interval. They allow for chance, but not for the finite
        number of rows.
    confidence : float
    n : int
        Number of rows whose nearest neighbour was found.
    rows : int
        Number of rows that were searched, the query included.
    classes : int
    design_effect : float
        The variance of R relative to that of as many independent rows. Two rows that are each
        other's nearest are right or wrong together, so that it is 1.4 to 2 where all rows are used.
    kind : str
        "measured": an estimate, not a proof.
    text : str
        The result in words.

    Examples
    --------
    >>> from certus.neighbors import bayes_error_bracket
    >>> bayes_error_bracket([[0], [1], [2], [8], [9]], list("aabbb"))
    BayesErrorResult(0.113–0.2; measured, asymptotic)
    """

    lower: float
    upper: float
    R: float
    interval: tuple[float, float]
    confident: tuple[float, float]
    confidence: float
    n: int
    rows: int
    classes: int
    design_effect: float
    text: str
    kind: str = "measured"

    def __repr__(self) -> str:
        return printable(
            f"BayesErrorResult({number(self.lower, 3)}–{number(self.upper, 3)}; measured, "
            "asymptotic)"
        )


@refuses_in_one_frame
def bayes_error_bracket(
    X: object,
    y: object,
    *,
    sample: int | None = None,
    confidence: float = 0.95,
    metric: Metric = "euclidean",
    metric_params: dict[str, Any] | None = None,
    random_state: Seed = None,
    threads: int | None = None,
) -> BayesErrorResult:
    """Bound the Bayes error: how well any classifier could do with these columns.

    Each row is predicted by the class of its nearest other row. The bounds hold for infinitely many
    rows; with few rows, or many columns, the error of one neighbour is still far above its limit,
    and the Bayes error can lie below ``lower``.

    Parameters
    ----------
    X : array or frame of shape (n, p)
    y : array of shape (n,)
        Classes.
    sample : int, optional
        Number of rows to predict, drawn without replacement; all rows are searched.
    confidence : float
        Confidence level of ``interval``.
    metric, metric_params
        As in ``certus.distances.get_distance``.
    random_state : int, Generator, RandomState or None
        Seed of ``sample``.
    threads : int, optional

    Returns
    -------
    BayesErrorResult

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.neighbors import bayes_error_bracket
    >>> bracket = bayes_error_bracket(*load_iris(return_X_y=True))
    >>> round(bracket.lower, 4), round(bracket.upper, 4)
    (0.0203, 0.04)
    >>> print(bracket.text)
    The Bayes error is between 2 % and 4 % (Cover–Hart; 3 classes). One nearest neighbour is wrong
    for 6 of 150 rows, 4 %, 95 % interval 0.7–12 %; at its ends the bounds are 0.35 % and 12 %.
    Measured, and asymptotic: with few rows or many columns the Bayes error can lie outside.
    """
    X = read_points(X, metric, dummy_estimator("bayes_error_bracket"))
    n = len(X)
    classes, codes = encode(read_labels(y, n)[0])
    require_two_classes(classes, n)
    confidence = check_share("confidence", confidence)
    queries = _sampled_rows(n, sample, random_state)
    search = NeighborSearch(X, metric, metric_params, checked_threads(threads))
    nearest = np.full(n, -1)
    for rows in blocks(queries, 2):
        nearest[rows] = search.others(rows, 1)[1][:, 0]
    incomparable = queries[nearest[queries] < 0]
    if len(incomparable):
        raise ValueError(
            f"row {incomparable[0]} has no value in common with any other: drop it, or impute"
        )
    wrong = codes[nearest[queries]] != codes[queries]
    effect = design_effect(queries, nearest, wrong)
    return _bracket(int(wrong.sum()), len(queries), n, len(classes), confidence, effect)


def _sampled_rows(n: int, sample: int | None, random_state: Seed) -> np.ndarray:
    """Return the rows to predict: all, or a sorted sample."""
    if sample is None or positive_whole("sample", sample) >= n:
        return np.arange(n)
    return np.sort(generator(random_state).permutation(n)[:sample])


def design_effect(queries: np.ndarray, nearest: np.ndarray, wrong: np.ndarray) -> float:
    """Return Σ r_i r_j over all pairs i, j that share a row, divided by Σ r_i²; r = wrong − R.

    Rows i and j share a row if {i, its nearest} and {j, its nearest} intersect. With S_v the sum of
    r over the pairs {i, nearest} that contain row v, Σ_v S_v² counts each r_i² twice, and r_i r_j
    of two rows that are each other's nearest once too often. The result is at least 1 + the share
    of such rows: the value if only they depended on each other.
    """
    r = wrong - wrong.mean()
    partner = nearest[queries]
    mutual = nearest[partner] == queries
    least = 1 + float(mutual.mean())
    S, r_of_row = np.zeros(len(nearest)), np.zeros(len(nearest))
    np.add.at(S, queries, r)
    np.add.at(S, partner, r)
    r_of_row[queries] = r
    squares = float(np.dot(r, r))
    if squares == 0:
        return least
    both = float(np.dot(r[mutual], r_of_row[partner[mutual]]))
    return max(least, (float(np.dot(S, S)) - squares - both) / squares)


def _bracket(
    wrong: int, m: int, n: int, c: int, confidence: float, effect: float
) -> BayesErrorResult:
    R = wrong / m
    low, high = (float(end) for end in clopper_pearson(wrong / effect, m / effect, confidence))
    worst = (c - 1) / c  # error of guessing, which bounds R* from above
    lower, upper = least_bayes_error(R, c), min(R, worst)
    confident = least_bayes_error(low, c), min(high, worst)
    percent = [f"{number(100 * x, 2)} %" for x in (lower, upper, R, low, high, *confident)]
    among = "" if m == n else f" sampled from {n:,}"
    guess = ""
    if upper == worst:
        guess = f" That is no better than guessing ({number(100 * worst, 3)} %)."
    text = (
        f"The Bayes error is between {percent[0]} and {percent[1]} (Cover–Hart; "
        f"{c} classes). One nearest neighbour is wrong\n"
        f"for {wrong:,} of {count(m, 'row')}{among}, {percent[2]}, {number(100 * confidence)} % "
        f"interval {percent[3][:-2]}–{percent[4]}; at its ends the bounds are {percent[5]} and "
        f"{percent[6]}.{guess}\n"
        "Measured, and asymptotic: with few rows or many columns the Bayes error can lie outside."
    )
    return BayesErrorResult(
        lower, upper, R, (low, high), confident, confidence, m, n, c, effect, printable(text)
    )


def least_bayes_error(R: float, c: int) -> float:
    """Return the smallest R* with R*(2 − c/(c−1)·R*) = R.

    It is (c−1)/c·(1 − √(1 − x)) with x = c/(c−1)·R, computed without cancellation for small R.

    >>> least_bayes_error(0.5, 2), least_bayes_error(0.75, 2), least_bayes_error(0.0, 3)
    (0.5, 0.5, 0.0)
    """
    x = min(1.0, c / (c - 1) * R)
    return (c - 1) / c * x / (1 + math.sqrt(1 - x))
