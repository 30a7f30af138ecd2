r"""Comparison of an NCFS model's other attributes with the data.

These are the scaling of the columns, F, the leave-one-out score and the rows stored for prediction.

    minmax     shift = min x,   scale = max x − min x
    standard   shift = mean x,  scale² = mean (x − shift)²          1 for a constant column

The prediction for row i by the others is Σ_j p_ij v_j, with v_j the class of row j or its y. The
score is the weighted share of rows whose class is predicted, or R².
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.types import RowData

CLAIM_RTOL = 1e-9  # of recomputed values
R2_ATOL = 1e-8  # larger, since the spread of y may be small compared with y
AUTO_ALPHA_FORMULA = "λ = Σa/n, times the mean cost of a wrong answer"
IQR_TO_EPSILON = 13.49  # ε is the interquartile range of y divided by this, as in MATLAB
CHUNK_ELEMENTS = 2**20  # of X, handled at a time


class ScaledRows(NamedTuple):
    """Scaled rows (x − shift)/scale."""

    X: np.ndarray  # (n, P), unscaled
    shift: np.ndarray
    scale: np.ndarray
    low: np.ndarray  # of each column of X
    high: np.ndarray

    @classmethod
    def of(cls, data: RowData, shift: np.ndarray | None, scale: np.ndarray | None) -> "ScaledRows":
        X, P = data.all_rows(), data.shape[1]
        shift = np.zeros(P) if shift is None else np.asarray(shift, dtype=float)
        scale = np.ones(P) if scale is None else np.asarray(scale, dtype=float)
        return cls(X, shift, scale, X.min(axis=0).astype(float), X.max(axis=0).astype(float))

    @property
    def varies(self) -> np.ndarray:
        return np.asarray(self.high > self.low)

    @property
    def ranges(self) -> np.ndarray:
        """Range of each scaled column."""
        return np.asarray((self.high - self.low) / self.scale)

    def columns(self, which: np.ndarray) -> np.ndarray:
        """Scaled columns ``which``, (n, len(which))."""
        X = np.take(self.X, which, axis=1)
        return np.asarray((X - self.shift[which]) / self.scale[which], dtype=float)

    def about(
        self, which: np.ndarray, means: tuple[np.ndarray, np.ndarray] | None, dtype: type | np.dtype
    ) -> np.ndarray:
        """Scaled columns minus the middle of their range, or minus the rows' means."""
        middle = ((self.low + self.high) / 2 - self.shift) / self.scale
        out = np.empty((len(self.X), len(which)), dtype)
        step = max(1, CHUNK_ELEMENTS // len(self.X))
        for first in range(0, len(which), step):
            chunk = which[first : first + step]
            Z = self.columns(chunk)
            if means is None:
                Z -= middle[chunk]
            else:  # in two parts, so that a constant row becomes exactly 0
                Z -= means[0]
                Z -= means[1]
            out[:, first : first + step] = Z
        return out

    def means(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W-weighted means of the rows in two parts (n, 1): an entry, and the mean minus it."""
        used = np.flatnonzero(W)[: max(1, np.count_nonzero(W))]
        if not len(used):
            return (np.zeros((len(self.X), 1)),) * 2
        Z = self.columns(used)
        first = Z[:, :1].copy()
        return first, np.dot(Z - first, W[used])[:, None] / W.sum()


class Score(NamedTuple):
    """Leave-one-out score, with bounds for ties."""

    value: float | None  # None if y is constant
    low: float  # if all ties count as wrong
    high: float
    kind: str  # "accuracy", "R²"


def score_of(votes: np.ndarray, G: Any, y: np.ndarray, s: np.ndarray) -> Score:
    """Score of the votes: class probabilities (n, K), or predicted y minus its mean (n, 1)."""
    if votes.shape[1] == 1:
        mean = y.mean()
        error = float(np.dot(s, (y - mean - votes[:, 0]) ** 2))
        spread = float(np.dot(s, (y - np.average(y, weights=s)) ** 2))
        return r_squared_of(error, spread)
    return accuracy_of(hit_sums(votes, G, s), float(s.sum()))


class HitSums(NamedTuple):
    """Σ s over the rows whose class is predicted, with bounds for ties."""

    value: float
    low: float
    high: float


def hit_sums(votes: np.ndarray, G: Any, s: np.ndarray) -> HitSums:
    """Sums over some rows, of class probabilities (n, K)."""
    expected_gains = np.dot(votes, G.gains)  # of each class as the answer
    rows = np.arange(len(s))
    own_gain = expected_gains[rows, G.codes]
    tie_tolerance = CLAIM_RTOL * max(1e-300, float(np.ptp(G.gains)))
    others = expected_gains.copy()
    others[rows, G.codes] = -np.inf
    lead = own_gain - others.max(axis=1)
    hits = expected_gains.argmax(axis=1) == G.codes
    return HitSums(
        *(float((s * x).sum()) for x in (hits, lead > tie_tolerance, lead > -tie_tolerance))
    )


def accuracy_of(hits: HitSums, S: float) -> Score:
    return Score(hits.value / S, hits.low / S, hits.high / S, "accuracy")


def r_squared_of(error: float, spread: float) -> Score:
    """R² from the sums of squared errors and of squares about the mean of y."""
    if spread == 0:
        return Score(None, -np.inf, np.inf, "R²")
    R2 = 1 - error / spread
    return Score(R2, R2 - R2_ATOL * (1 + abs(R2)), R2 + R2_ATOL * (1 + abs(R2)), "R²")


def claim_contradictions(
    claims: dict[str, Any], rows: ScaledRows, W: np.ndarray, F: float, size: float, score: Score,
    alpha: float, y: np.ndarray, mean_and_spread: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[str]:  # fmt: skip
    """Messages about claims that disagree with the data.

    ``size``: sum of the absolute terms of F; ``alpha``: the λ that "auto" stands for. ``rows`` and
    y may be some of the data, if ``mean_and_spread`` of all columns are given.
    """
    messages = []
    if "scaling" in claims:
        messages = _scaling_contradictions(claims["scaling"], rows, mean_and_spread)
    constant = np.flatnonzero((W > 0) & ~rows.varies)
    if len(constant):
        l = constant[0]
        messages.append(f"column {l} is constant, but has weight {W[l]:.6g}")
    objective = claims.get("objective")
    if objective is not None and not abs(objective - F) <= CLAIM_RTOL * size:
        messages.append(f"objective_ is {objective:.9g}, but the rows give {F:.9g}")
    loo = claims.get("loo_score")
    if loo is not None and not score.low - CLAIM_RTOL <= loo <= score.high + CLAIM_RTOL:
        messages.append(f"loo_score_ is {loo:.9g}, but the rows give {score.value:.9g}")
    lam = claims.get("auto_alpha")
    if lam is not None and not abs(lam - alpha) <= CLAIM_RTOL * alpha:
        auto = f"{alpha:.9g} ({AUTO_ALPHA_FORMULA})"
        messages.append(f"alpha_ is {lam:.9g}, but alpha='auto' is {auto}")
    epsilon = claims.get("auto_epsilon")
    if epsilon is not None:
        low, high = np.percentile(y, [25, 75])
        true = float(high - low) / IQR_TO_EPSILON
        if not abs(epsilon - true) <= CLAIM_RTOL * true:
            iqr = f"the interquartile range/{IQR_TO_EPSILON} is {true:.9g}"
            messages.append(f"epsilon_ is {epsilon:.9g}, but {iqr}")
    if "kept" in claims:
        messages += _stored_row_contradictions(claims["kept"], rows, W, y)
    return messages


def _scaling_contradictions(
    scaling: str | None, rows: ScaledRows, mean_and_spread: tuple[np.ndarray, np.ndarray] | None
) -> list[str]:
    P = len(rows.low)
    shift, scale = np.zeros(P), np.ones(P)
    if scaling == "minmax":
        shift, scale = rows.low, np.where(rows.varies, rows.high - rows.low, 1.0)
    elif scaling == "standard":
        shift, scale = _mean_and_spread(rows) if mean_and_spread is None else mean_and_spread
    ranges = np.where(rows.varies, rows.high - rows.low, 0.0)
    messages = []
    for name, stated, true in (("shift_", rows.shift, shift), ("scale_", rows.scale, scale)):
        size = np.maximum(np.abs(true), ranges if name == "shift_" else 0.0)
        wrong = np.flatnonzero(~(np.abs(stated - true) <= CLAIM_RTOL * size))
        if len(wrong):
            l = wrong[0]
            stated_l, true_l = f"{stated[l]:.9g}", f"{true[l]:.9g}"
            messages.append(f"{name} of column {l} is {stated_l}, but the rows give {true_l}")
    return messages


def _mean_and_spread(rows: ScaledRows) -> tuple[np.ndarray, np.ndarray]:
    P, n = len(rows.low), len(rows.X)
    mean, spread = np.empty((2, P))
    ranges = np.where(rows.varies, rows.high - rows.low, 1.0)
    step = max(1, CHUNK_ELEMENTS // n)
    for first in range(0, P, step):
        chunk = slice(first, first + step)
        Z = (rows.X[:, chunk] - rows.low[chunk]) / ranges[chunk]  # in [0, 1]: nothing overflows
        mean[chunk] = rows.low[chunk] + ranges[chunk] * Z.mean(axis=0)
        spread[chunk] = ranges[chunk] * Z.std(axis=0)
    return mean, np.where(rows.varies, spread, 1.0)


def _stored_row_contradictions(
    stored: np.ndarray, rows: ScaledRows, W: np.ndarray, y: np.ndarray
) -> list[str]:
    """Messages about the rows stored for prediction: X, its columns, and y."""
    X, columns, stored_y = stored
    used = np.flatnonzero(W)
    if not np.array_equal(columns, used):
        return ["the columns stored for prediction are not those with weight"]
    if X.shape != (len(y), len(used)) or len(stored_y) != len(y):
        return [f"{len(X):,} rows of {X.shape[1]:,} columns are stored for prediction"]
    wrong = np.flatnonzero(np.asarray(stored_y) != y)
    if len(wrong):
        return [f"the y stored for row {wrong[0]} differs"]
    step, eps = max(1, CHUNK_ELEMENTS // len(y)), 4 * np.finfo(X.dtype).eps
    size = np.maximum(np.abs(rows.low - rows.shift), np.abs(rows.high - rows.shift)) / rows.scale
    for first in range(0, len(used), step):
        chunk = used[first : first + step]
        wrong = ~(np.abs(X[:, first : first + step] - rows.columns(chunk)) <= eps * size[chunk])
        if wrong.any():
            i, l = np.argwhere(wrong)[0]
            return [f"row {i}, column {chunk[l]} differs in the rows stored for prediction"]
    return []
