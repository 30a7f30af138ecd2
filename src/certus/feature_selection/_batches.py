r"""NCFS on rows in batches: what a fit has to know of all rows before it begins, in a pass or two.

    F(W) = 1/B Σ_b Σ_{i in b} a_i q_i − λ Σ_l W_l

Batches are the blocks of at most ``batch_size`` consecutive rows, as ``Rows`` cuts them. Rows that
are sorted by y make batches in which all rows agree whatever the weights, and are refused: with
y_b the mean of y in batch b of n_b rows, and for classes summed over their indicators,

    share = Σ_b n_b (y_b − ȳ)² / Σ_i (y_i − ȳ)²            about (B − 1)/(n − 1) in random order
"""

from typing import NamedTuple

import numpy as np

from ..data.finite import require_finite
from ..data.rows import Rows
from ..data.spread import spread
from ..solvers.ncfs import (
    GAIN_ROWS,
    BatchedProblem,
    BatchTerms,
    ClassTargets,
    NCFSFit,
    ValueTargets,
    left_out_votes,
)
from ..solvers.progress import OnStep
from ..text.format import listed, number
from ._scaling import Scaling, require_no_overflow, scaling_of_ranges, stored_dtype
from ._task import Kept, LeftOutScores, SolverParameters, maximize

TABLE_BATCH_SIZE = 1024  # rows of a batch of a table, whose rows are never all compared
# share of the variance of y between batches: above the first, batches hold one class or value and
# tell nothing; above the second the user is warned
MAX_SHARE_BETWEEN, MAX_USUAL_SHARE = 0.5, 0.2


class BatchTask(NamedTuple):
    """Rows in batches, their problem, the scaling between the two, and the rows that are kept."""

    rows: Rows  # as given; y holds class indices or numbers
    problem: BatchedProblem
    scaling: Scaling
    kept_rows: "ReferenceRows"
    remarks: tuple[str, ...] = ()  # on the order of the rows, for the user

    @property
    def batch_size(self) -> int:
        return self.problem.batch_size

    @property
    def kept_numbers(self) -> np.ndarray:
        return self.kept_rows.numbers

    @property
    def kept_y(self) -> np.ndarray:
        return self.kept_rows.y

    def solve(
        self, model: SolverParameters, W: np.ndarray, on_step: OnStep, tol: float | None,
        max_iter: int | None,
    ) -> NCFSFit:  # fmt: skip
        return maximize(model, self.problem, W, on_step, tol, max_iter)

    def score(self, model: LeftOutScores, kept: Kept, columns: np.ndarray, W: np.ndarray) -> float:
        return model._batch_score(self, columns, W)

    def kept(self, fit: NCFSFit, columns: np.ndarray, W: np.ndarray) -> Kept:
        """Return kept rows in some columns of the problem, and F."""
        X = self.scaling.of(self.kept_rows.X, self.scaling.columns[columns], np.dtype(np.float64))
        return Kept(X, X, fit.objective)

    def terms(self, columns: np.ndarray) -> BatchTerms:
        """Terms of the problem in some of its columns."""
        return self.problem.terms.restricted(columns)


class ReferenceRows(NamedTuple):
    """Rows that predictions are made from, spread over all: as many as a batch has."""

    numbers: np.ndarray
    X: np.ndarray
    y: np.ndarray  # (m,)

    @classmethod
    def of(cls, rows: Rows, batch_size: int) -> "ReferenceRows":
        n = rows.shape[0]
        numbers = np.arange(n) if batch_size >= n else np.sort(spread(n, batch_size))
        taken = rows.take(numbers)
        X, y, _ = taken.block(0, len(numbers))
        assert y is not None
        return cls(numbers, np.asarray(X), np.array(y[:, 0]))


class Survey(NamedTuple):
    """What one pass finds; fields of all batches are added, or combined."""

    low: np.ndarray  # of each column
    high: np.ndarray
    counts: np.ndarray  # rows of each class; of numbers: Σ (y − c), Σ (y − c)²
    weights: np.ndarray  # Σ s of each class; of numbers (1,): Σ s
    alone: np.ndarray  # rows that are the only ones of their class in their batch
    squares: float  # Σ_b n_b y_b², the part of Σ_b n_b (y_b − ȳ)² that needs the batches


def survey_of(rows: Rows, batch_size: int, classes: int | None, center: float) -> Survey:
    """Return ranges, classes and the order of the rows; ``center`` c is a number amid the y."""
    survey: Survey = rows.reduce(
        _survey, classes, center, combine=_combined, block_rows=batch_size,
        result_bytes=8 * (2 * rows.shape[1] + 3 * (classes or 2)),
    )  # fmt: skip
    return survey


def _survey(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, classes: int | None, center: float
) -> Survey:
    n = len(y)
    with np.errstate(invalid="ignore"):
        low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    if classes is None:
        v = y[:, 0] - center
        counts = np.array([v.sum(), np.dot(v, v)])
        weights = np.array([n if s is None else s.sum()], dtype=float)
        return Survey(low, high, counts, weights, np.zeros(0), float(counts[0]) ** 2 / n)
    k = y[:, 0].astype(np.intp)
    counts = np.bincount(k, minlength=classes).astype(float)
    weights = counts.copy() if s is None else np.bincount(k, s, classes)
    alone = (counts == 1).astype(float)
    return Survey(low, high, counts, weights, alone, float(np.dot(counts, counts)) / n)


def _combined(one: Survey, other: Survey) -> Survey:
    return Survey(
        np.minimum(one.low, other.low), np.maximum(one.high, other.high),
        one.counts + other.counts, one.weights + other.weights, one.alone + other.alone,
        one.squares + other.squares,
    )  # fmt: skip


def share_between(survey: Survey, n: int, are_classes: bool) -> float:
    """Share of the variance of y that lies between batches; 0 if y is constant."""
    if are_classes:
        mean_square = float(np.dot(survey.counts, survey.counts)) / n
        total = float(n)
    else:
        mean_square, total = float(survey.counts[0]) ** 2 / n, float(survey.counts[1])
    if total - mean_square <= 1e-12 * total:
        return 0.0
    return max(0.0, (survey.squares - mean_square) / (total - mean_square))


def require_mixed(share: float, batch_size: int, what: str) -> None:
    """Refuse rows in an order that makes the rows of a batch alike."""
    if share <= MAX_SHARE_BETWEEN:
        return
    raise ValueError(
        f"the rows are in an order that depends on {what}: {number(100 * share, 2)} % of its "
        f"variance lies between batches of {batch_size:,} consecutive rows, and in a batch of rows "
        "that agree all weights are equally good. Shuffle the rows: X[rng.permutation(n)] of an "
        "array; of files, write them in random order, or open a query that orders by random() with "
        "cache=True"
    )


def remarks_on_order(share: float, batch_size: int, what: str) -> list[str]:
    """Warning that batches differ more than in random order."""
    if share <= MAX_USUAL_SHARE:
        return []
    return [
        f"{number(100 * share, 2)} % of the variance of {what} lies between batches of "
        f"{batch_size:,} consecutive rows: their order depends on it, and the weights are those "
        "for rows that are alike. Shuffle the rows."
    ]


def classes_without_pairs(classes: np.ndarray, survey: Survey, batch_size: int) -> list[str]:
    """Warning about classes that have no two rows in any batch."""
    labels = [
        repr(label)
        for label, total, alone in zip(classes.tolist(), survey.counts, survey.alone, strict=True)
        if total == alone
    ]
    if not labels:
        return []
    what, it = ("Class", "it counts") if len(labels) == 1 else ("Classes", "they count")
    has = "has" if len(labels) == 1 else "have"
    return [
        f"{what} {listed(labels)} {has} no two rows in one batch of {batch_size:,}, so {it} as "
        "wrong whatever the weights. Raise batch_size, or merge rare classes."
    ]


def require_weights_of_classes(classes: np.ndarray, survey: Survey) -> None:
    for label, weight in zip(classes.tolist(), survey.weights, strict=True):
        if not weight > 0:
            raise ValueError(
                f"class {label!r} has no row whose weight is above 0: drop the class, or give it "
                "rows"
            )


# --- scaling --------------------------------------------------------------------------------------


class _Sums(NamedTuple):
    total: np.ndarray


def batch_scaling(
    rows: Rows, survey: Survey, kind: str | None, batch_size: int, names: object
) -> Scaling:
    """Scaling of the columns from their ranges; "standard" takes two more passes."""
    low, high = survey.low, survey.high
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        require_finite(rows.X[: rows.shape[0]], names)  # type: ignore[arg-type]
    require_no_overflow(low, high, stored_dtype(rows.X), kind, names)  # type: ignore[arg-type]
    if kind != "standard":
        return scaling_of_ranges(low, high, kind)
    n, ranges = rows.shape[0], np.where(high > low, high - low, 1.0)
    mean = rows.reduce(_unit_sums, low, ranges, block_rows=batch_size).total / n
    squares = rows.reduce(_unit_squares, low, ranges, mean, block_rows=batch_size).total
    spread_of = np.where(high > low, ranges * np.sqrt(squares / n), 1.0)
    return Scaling(low + ranges * mean, spread_of, np.flatnonzero(high > low))


def _unit_sums(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, low: np.ndarray, ranges: np.ndarray
) -> _Sums:
    return _Sums(((X - low) / ranges).sum(axis=0))


def _unit_squares(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, low: np.ndarray, ranges: np.ndarray,
    mean: np.ndarray,
) -> _Sums:  # fmt: skip
    return _Sums((((X - low) / ranges - mean) ** 2).sum(axis=0))


# --- losses and leave-one-out scores --------------------------------------------------------------


def mean_loss(rows: Rows, batch_size: int, targets: ValueTargets) -> float:
    """Mean loss over all pairs within batches, the unit of λ; 1 if all y of each are equal."""
    total, pairs = rows.reduce(
        _losses, targets, block_rows=batch_size, times=batch_size, result_bytes=16
    )
    return float(total) / float(pairs) or 1.0


def _losses(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, targets: ValueTargets
) -> tuple[float, float]:
    G, _ = targets.of(y, None)
    n = len(y)
    parts = (np.arange(n)[i : i + GAIN_ROWS] for i in range(0, n, GAIN_ROWS))
    total = -sum(float(G.of(rows).sum()) for rows in parts)
    return total, float(n * (n - 1))


def accuracy(task: BatchTask, columns: np.ndarray, W: np.ndarray) -> float:
    """Weighted share of rows whose class the other rows of their batch predict."""
    hits, weight = task.rows.reduce(
        _hits, task.terms(columns), W, block_rows=task.problem.batch_size,
        times=task.problem.batch_size, result_bytes=16,
    )  # fmt: skip
    return float(hits) / float(weight)


def _hits(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, terms: BatchTerms, W: np.ndarray
) -> tuple[float, float]:
    assert isinstance(terms.targets, ClassTargets)
    k, gains = y[:, 0].astype(np.intp), terms.targets.gains
    votes = left_out_votes(X, terms, W, np.eye(len(gains))[k])
    hits = (votes @ gains).argmax(axis=1) == k  # gains are −costs, or 1 for the own class
    s = np.ones(len(y)) if s is None else s
    return float(np.dot(s, hits)), float(s.sum())


def r_squared(task: BatchTask, columns: np.ndarray, W: np.ndarray, center: float) -> float:
    """R² of the predictions by the other rows of each batch; ``center``: a number amid the y."""
    S, T, Q, error = task.rows.reduce(
        _residuals, task.terms(columns), W, center, block_rows=task.problem.batch_size,
        times=task.problem.batch_size, result_bytes=32,
    )  # fmt: skip
    spread_of = Q - T * T / S
    if spread_of <= 0:  # as scikit-learn's r2_score
        return 1.0 if error == 0 else 0.0
    return float(1 - error / spread_of)


def _residuals(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, terms: BatchTerms, W: np.ndarray,
    center: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    v = y[:, 0] - center
    predicted = left_out_votes(X, terms, W, (v - v.mean())[:, None])[:, 0] + v.mean()
    s = np.ones(len(v)) if s is None else s
    residual = v - predicted
    return float(s.sum()), float(s @ v), float(s @ (v * v)), float(s @ (residual * residual))
