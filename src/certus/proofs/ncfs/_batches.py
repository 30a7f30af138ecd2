r"""NCFS in batches: F and its slopes as sums over batches of consecutive rows.

    F(W) = Σ_b Σ_{i in b} a_i q_i − λ Σ_l W_l,          ∂F/∂W_l = Σ_b (slope of batch b)_l − λ

p_ij and q_i are those of row i among the rows of its batch. The slopes of a batch come with a bound
on their rounding errors (``_sums.py``); bounds are added, with one for the additions themselves.
The first pass finds what all batches need: ranges of the columns, weights of the classes, the mean
of y.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import gamma
from certus.proofs.ncfs._claims import (
    HitSums,
    ScaledRows,
    Score,
    accuracy_of,
    hit_sums,
    r_squared_of,
)
from certus.proofs.ncfs._sums import ClassGains, SoftNeighbors, ValueGains, exact_slopes
from certus.proofs.types import FunctionTo, PairFunction, RowData


class Totals(NamedTuple):
    """What one pass finds of all rows."""

    low: np.ndarray  # of each column
    high: np.ndarray
    weights: np.ndarray  # Σ s of each class; of numbers (1,): Σ s
    y_sum: float  # Σ s y
    batches: int


class BatchModel(NamedTuple):
    """The claim, as a batch is checked against it."""

    W: np.ndarray
    sigma: float
    metric: str
    gains: np.ndarray | None  # (K, K) between classes; None: ``loss`` between numbers
    loss: str | PairFunction | None
    epsilon: Any
    factors: np.ndarray  # (K,) or (1,): a_i = factors[y_i] s_i
    shift: np.ndarray
    scale: np.ndarray
    varies: np.ndarray  # columns that vary over all rows
    mean: float  # of y, weighted


class BatchResult(NamedTuple):
    """Sums over batches."""

    gain: float  # Σ a q
    slopes: np.ndarray  # (P,)
    sizes: np.ndarray  # (P,): Σ over batches of |slope|
    errors: np.ndarray  # (P,): bounds on the rounding errors of the slopes
    kinks: np.ndarray  # (P,)
    span: float  # Σ a (max G − min G)
    size: float  # Σ a max|G|
    pair_gain: float  # Σ_{i≠j} G_ij within batches
    pairs: float
    hits: np.ndarray  # (3,): Σ s of rows whose class is predicted
    squares: np.ndarray  # (2,): Σ s (y − prediction)², Σ s (y − mean)²


class _OneBatch:
    """The rows of a batch, as far as sums over row numbers need data."""

    def reduce(
        self, statistic: FunctionTo[Any], *args: object, combine: FunctionTo[Any],
        beside: tuple[np.ndarray, ...], times: int, most: int,
    ) -> Any:  # fmt: skip
        n, total = len(beside[0]), None
        for start in range(0, n, most):
            values = [array[start : start + most] for array in beside]
            part = statistic(None, None, None, *values, *args)
            total = part if total is None else combine(total, part)
        return total


def totals_of(data: RowData, batch_size: int, classes: int | None) -> Totals:
    return data.reduce(_totals, classes, combine=_combined, exactly=batch_size)


def _totals(X: np.ndarray, y: np.ndarray, s: np.ndarray | None, classes: int | None) -> Totals:
    s = np.ones(len(y)) if s is None else s
    low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    if classes is None:
        return Totals(low, high, np.array([s.sum()]), float(np.dot(s, y[:, 0])), 1)
    return Totals(low, high, np.bincount(y[:, 0].astype(np.intp), s, classes), 0.0, 1)


def _combined(one: Totals, other: Totals) -> Totals:
    return Totals(
        np.minimum(one.low, other.low), np.maximum(one.high, other.high),
        one.weights + other.weights, one.y_sum + other.y_sum, one.batches + other.batches,
    )  # fmt: skip


def factors_of(totals: Totals, prior: str | np.ndarray | None, mean: bool) -> np.ndarray:
    """Row weights a of rows with s = 1 in each class; F is a mean over batches, or over rows."""
    S_c, S = totals.weights, float(totals.weights.sum())
    factors = np.ones(len(S_c))
    if prior is not None:
        factors /= np.where(S_c > 0, S_c, 1.0)
        if not isinstance(prior, str):
            factors *= S * np.asarray(prior)
    return factors / (S if mean else totals.batches)


def sums_of(data: RowData, model: BatchModel, batch_size: int) -> BatchResult:
    """Sum over all batches, in one pass."""
    return data.reduce(_batch, model, exactly=batch_size, times=batch_size)


def _batch(X: np.ndarray, y: np.ndarray, s: np.ndarray | None, model: BatchModel) -> BatchResult:
    n, P = X.shape
    s, v = np.ones(n) if s is None else s, y[:, 0]
    rows_view = ScaledRows(
        X, model.shift, model.scale, X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    )
    if model.gains is None:
        G: ClassGains | ValueGains = ValueGains(v, model.loss, model.epsilon)
        a = model.factors[0] * s
    else:
        codes = v.astype(np.intp)
        G, a = ClassGains(codes, model.gains), model.factors[codes] * s
    neighbors = SoftNeighbors(rows_view, model.W, a, G, model.sigma, model.metric)
    data: Any = _OneBatch()
    gain_sums = neighbors.evaluate(data)
    slopes, errors, kinks = np.zeros((3, P))
    if len(model.varies):
        at = model.varies
        slopes[at], errors[at], kinks[at] = exact_slopes(data, neighbors, at, gain_sums)
    hits, squares = np.zeros(3), np.zeros(2)
    if isinstance(G, ClassGains):
        hits = np.array(hit_sums(neighbors.votes, G, s))
    else:
        predicted = v.mean() + neighbors.votes[:, 0]
        squares = np.array([np.dot(s, (v - predicted) ** 2), np.dot(s, (v - model.mean) ** 2)])
    return BatchResult(
        float(np.dot(a, neighbors.q)), slopes, np.abs(slopes), errors, kinks, gain_sums.span,
        gain_sums.size, gain_sums.total, float(n * (n - 1)), hits, squares,
    )  # fmt: skip


def slope_errors(sums: BatchResult, data: RowData) -> np.ndarray:
    """Bounds on the errors of the slopes: those of the batches, and of adding them up."""
    added: np.ndarray = sums.errors + gamma(data.depth) * (sums.sizes + sums.errors)
    return added


def score_of_sums(sums: BatchResult, model: BatchModel, totals: Totals) -> Score:
    if model.gains is None:
        return r_squared_of(*(float(square) for square in sums.squares))
    return accuracy_of(HitSums(*sums.hits.tolist()), float(totals.weights.sum()))


# --- rows that are kept, and scales ---------------------------------------------------------------


def kept_rows_of(
    data: RowData, numbers: np.ndarray, totals: Totals, shift: np.ndarray, scale: np.ndarray
) -> tuple[ScaledRows, np.ndarray] | str:
    """Return the data's rows with these numbers and their y; a message if there are none such."""
    n = data.shape[0]
    whole = numbers.ndim == 1 and numbers.dtype.kind in "iu"
    if not whole or not len(numbers) or numbers.min() < 0 or numbers.max() >= n:
        return f"the rows stored for prediction have numbers that are not of {n:,} rows"
    if (np.diff(numbers) <= 0).any():
        return "the numbers of the rows stored for prediction do not ascend"
    X, y, _ = data.take(numbers)
    return ScaledRows(np.asarray(X), shift, scale, totals.low, totals.high), y[:, 0]


class _ColumnSums(NamedTuple):
    total: np.ndarray


def mean_and_spread(
    data: RowData, totals: Totals, batch_size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and spread of each column, in two passes; the spread of a constant column is 1."""
    low, varies = totals.low, totals.high > totals.low
    ranges = np.where(varies, totals.high - low, 1.0)
    n = data.shape[0]
    mean = data.reduce(_unit_sums, low, ranges, exactly=batch_size).total / n
    squares = data.reduce(_unit_squares, low, ranges, mean, exactly=batch_size).total / n
    return low + ranges * mean, np.where(varies, ranges * np.sqrt(squares), 1.0)


def _unit_sums(X: Any, y: Any, s: Any, low: np.ndarray, ranges: np.ndarray) -> _ColumnSums:
    return _ColumnSums(((X - low) / ranges).sum(axis=0))


def _unit_squares(
    X: Any, y: Any, s: Any, low: np.ndarray, ranges: np.ndarray, mean: np.ndarray
) -> _ColumnSums:
    return _ColumnSums((((X - low) / ranges - mean) ** 2).sum(axis=0))
