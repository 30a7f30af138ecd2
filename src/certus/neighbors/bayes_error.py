"""Between which limits the error of the best possible classifier lies, from one nearest neighbour.

    R* ≤ R ≤ R*(2 − c/(c−1)·R*)      so      (c−1)/c·(1 − √(1 − c/(c−1)·R)) ≤ R* ≤ R

R* is the Bayes error, R the error of one nearest neighbour with infinitely many rows, c the number
of classes (Cover & Hart 1967). R is measured here on the rows there are.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.labels import encode, read_labels, require_two_classes
from ..data.types import Metric, Seed
from ..data.validation import positive_whole
from ..text.format import count, number, printable
from ..text.proportions import clopper_pearson
from ._averages import share
from ._left_out_neighbors import Searching, asking, blocks, checked_threads, generator, points


@dataclass(frozen=True, repr=False)
class BayesErrorResult:
    """Limits of the Bayes error. Made by ``certus.neighbors.bayes_error_bracket``.

    Attributes
    ----------
    lower, upper : float
        The Cover–Hart limits of R* for the R that was measured.
    R : float
        The share of rows whose nearest other row is of another class.
    interval : tuple of float
        Clopper–Pearson for R, with n/``design_effect`` for the number of rows.
    confident : tuple of float
        The limits of R* at the ends of that interval: chance is allowed for, the number of rows is
        still taken as infinite.
    confidence : float
    n : int
        Rows that were asked for their neighbour.
    rows : int
        Rows among which it was looked for, the one itself included.
    classes : int
    design_effect : float
        The variance of R over that of as many independent rows. Two rows that are each other's
        nearest are right or wrong together, so that it is 1.4 to 2 where all rows are asked.
    kind : str
        "measured": an estimate, and no proof.
    text : str
        All of it in words.

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
    """How well any classifier could do with these columns: limits of the Bayes error.

    Each row is asked for the class of its nearest other row. The limits hold for infinitely many
    rows; with few rows, or many columns, the error of one neighbour is still far above its limit,
    and the Bayes error can lie below ``lower``.

    Parameters
    ----------
    X : array or frame of shape (n, p)
    y : array of shape (n,)
        Classes.
    sample : int, optional
        Ask only so many rows, drawn without replacement; all are looked among.
    confidence : float
        Of ``interval``.
    metric, metric_params
        As in ``certus.distances.get_distance``.
    random_state : int, Generator, RandomState or None
        For ``sample``.
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
    for 6 of 150 rows, 4 %, 95 % interval 0.7–12 %; at its ends the limits are 0.35 % and 12 %.
    Measured, and asymptotic: with few rows or many columns the Bayes error can lie outside.
    """
    X = points(X, metric, asking("bayes_error_bracket"))
    n = len(X)
    classes, codes = encode(read_labels(y, n)[0])
    require_two_classes(classes, n)
    confidence = share("confidence", confidence)
    asked = _asked(n, sample, random_state)
    searching = Searching(X, metric, metric_params, checked_threads(threads))
    nearest = np.full(n, -1)
    for rows in blocks(asked, 2):
        nearest[rows] = searching.others(rows, 1)[1][:, 0]
    alone = asked[nearest[asked] < 0]
    if len(alone):
        raise ValueError(f"row {alone[0]} can be compared with no other: drop it, or impute")
    wrong = codes[nearest[asked]] != codes[asked]
    effect = design_effect(asked, nearest, wrong)
    return _bracket(int(wrong.sum()), len(asked), n, len(classes), confidence, effect)


def _asked(n: int, sample: int | None, random_state: Seed) -> np.ndarray:
    if sample is None or positive_whole("sample", sample) >= n:
        return np.arange(n)
    return np.sort(generator(random_state).permutation(n)[:sample])


def design_effect(asked: np.ndarray, nearest: np.ndarray, wrong: np.ndarray) -> float:
    """Σ r_i r_j over all pairs i, j that share a row, over Σ r_i²; r = wrong − R.

    Row i shares a row with j if {i, its nearest} and {j, its nearest} meet. With S_v the sum of r
    over the pairs {i, nearest} that hold row v, Σ_v S_v² counts each r_i² twice, and once too often
    those of two rows that are each other's nearest. At least 1 + the share of such rows, the value
    if none but they depended on each other.
    """
    r = wrong - wrong.mean()
    partner = nearest[asked]
    mutual = nearest[partner] == asked
    least = 1 + float(mutual.mean())
    S, own = np.zeros(len(nearest)), np.zeros(len(nearest))
    np.add.at(S, asked, r)
    np.add.at(S, partner, r)
    own[asked] = r
    squares = float(np.dot(r, r))
    if squares == 0:
        return least
    both = float(np.dot(r[mutual], own[partner[mutual]]))
    return max(least, (float(np.dot(S, S)) - squares - both) / squares)


def _bracket(
    wrong: int, m: int, n: int, c: int, confidence: float, effect: float
) -> BayesErrorResult:
    R = wrong / m
    low, high = (float(end) for end in clopper_pearson(wrong / effect, m / effect, confidence))
    worst = (c - 1) / c  # guessing: no R* is above it
    lower, upper = least_bayes_error(R, c), min(R, worst)
    confident = least_bayes_error(low, c), min(high, worst)
    percent = [f"{number(100 * x, 2)} %" for x in (lower, upper, R, low, high, *confident)]
    among = "" if m == n else f" asked, of {n:,}"
    guess = ""
    if upper == worst:
        guess = f" That is no better than guessing ({number(100 * worst, 3)} %)."
    text = (
        f"The Bayes error is between {percent[0]} and {percent[1]} (Cover–Hart; "
        f"{c} classes). One nearest neighbour is wrong\n"
        f"for {wrong:,} of {count(m, 'row')}{among}, {percent[2]}, {number(100 * confidence)} % "
        f"interval {percent[3][:-2]}–{percent[4]}; at its ends the limits are {percent[5]} and "
        f"{percent[6]}.{guess}\n"
        "Measured, and asymptotic: with few rows or many columns the Bayes error can lie outside."
    )
    return BayesErrorResult(
        lower, upper, R, (low, high), confident, confidence, m, n, c, effect, printable(text)
    )


def least_bayes_error(R: float, c: int) -> float:
    """The least R* with R*(2 − c/(c−1)·R*) = R.

    (c−1)/c·(1 − √(1 − x)) with x = c/(c−1)·R, written so that a small R keeps its digits.

    >>> least_bayes_error(0.5, 2), least_bayes_error(0.75, 2), least_bayes_error(0.0, 3)
    (0.5, 0.5, 0.0)
    """
    x = min(1.0, c / (c - 1) * R)
    return (c - 1) / c * x / (1 + math.sqrt(1 - x))
