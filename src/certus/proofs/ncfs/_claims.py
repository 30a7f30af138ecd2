r"""What a model of NCFS says besides its weights: how columns are scaled, F, the score of rows that
are left out, the rows that it keeps.

    minmax     shift = min x,   scale = max x − min x
    standard   shift = mean x,  scale² = mean (x − shift)²          1 where a column never changes

Of each row the others say Σ_j p_ij v_j: v its class, or y. The score is the share of rows, by
weight, whose class is the best answer to that, or R².
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.types import RowData

AGREES = 1e-9  # relative, of what is recomputed
OF_SQUARES = 1e-8  # of R²: the least spread of y is small beside y
ALPHA_OF = "λ = Σa/n, times the mean cost of a wrong answer"
IQR = 13.49  # interquartile ranges of y in ε, as MATLAB has it
AT_ONCE = 2**20  # numbers


class Scaled(NamedTuple):
    """Rows as the model sees them: (x − shift)/scale."""

    X: np.ndarray  # (n, P), as they were given
    shift: np.ndarray
    scale: np.ndarray
    low: np.ndarray  # of each column of X
    high: np.ndarray

    @classmethod
    def of(cls, data: RowData, shift: np.ndarray | None, scale: np.ndarray | None) -> "Scaled":
        X, P = data.all_rows(), data.shape[1]
        shift = np.zeros(P) if shift is None else np.asarray(shift, dtype=float)
        scale = np.ones(P) if scale is None else np.asarray(scale, dtype=float)
        return cls(X, shift, scale, X.min(axis=0).astype(float), X.max(axis=0).astype(float))

    @property
    def varies(self) -> np.ndarray:
        return np.asarray(self.high > self.low)

    @property
    def reach(self) -> np.ndarray:
        """Of each column, scaled."""
        return np.asarray((self.high - self.low) / self.scale)

    def columns(self, which: np.ndarray) -> np.ndarray:
        """(n, len(which)), scaled."""
        X = np.take(self.X, which, axis=1)
        return np.asarray((X - self.shift[which]) / self.scale[which], dtype=float)

    def about(
        self, which: np.ndarray, means: tuple[np.ndarray, np.ndarray] | None, dtype: type | np.dtype
    ) -> np.ndarray:
        """Each column less a number near its middle, or each row less its mean."""
        middle = ((self.low + self.high) / 2 - self.shift) / self.scale
        out = np.empty((len(self.X), len(which)), dtype)
        step = max(1, AT_ONCE // len(self.X))
        for first in range(0, len(which), step):
            some = which[first : first + step]
            Z = self.columns(some)
            if means is None:
                Z -= middle[some]
            else:  # a row of equal numbers becomes 0, whatever its mean rounds to
                Z -= means[0]
                Z -= means[1]
            out[:, first : first + step] = Z
        return out

    def means(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of each row, by W, in two parts (n, 1): one of its numbers, and the mean of the rest."""
        used = np.flatnonzero(W)[: max(1, np.count_nonzero(W))]
        if not len(used):
            return (np.zeros((len(self.X), 1)),) * 2
        Z = self.columns(used)
        first = Z[:, :1].copy()
        return first, np.dot(Z - first, W[used])[:, None] / W.sum()


class Score(NamedTuple):
    value: float | None  # None: y does not vary
    low: float  # if ties go against it
    high: float
    kind: str  # "accuracy", "R²"


def score_of(said: np.ndarray, G: Any, y: np.ndarray, s: np.ndarray) -> Score:
    """What the others say of each row: of classes their shares (n, K), else y less its mean."""
    if said.shape[1] == 1:
        mean = y.mean()
        error = float(np.dot(s, (y - mean - said[:, 0]) ** 2))
        spread = float(np.dot(s, (y - np.average(y, weights=s)) ** 2))
        if spread == 0:
            return Score(None, -np.inf, np.inf, "R²")
        R2 = 1 - error / spread
        return Score(R2, R2 - OF_SQUARES * (1 + abs(R2)), R2 + OF_SQUARES * (1 + abs(R2)), "R²")
    worth = np.dot(said, G.gains)  # of each answer
    own = worth[np.arange(len(y)), G.codes]
    slack = AGREES * max(1e-300, float(np.ptp(G.gains)))
    others = worth.copy()
    others[np.arange(len(y)), G.codes] = -np.inf
    lead = own - others.max(axis=1)
    hits = worth.argmax(axis=1) == G.codes
    value, low, high = (
        float(np.average(x, weights=s)) for x in (hits, lead > slack, lead > -slack)
    )
    return Score(value, low, high, "accuracy")


def other_claims(
    claims: dict[str, Any], view: Scaled, W: np.ndarray, F: float, size: float, score: Score,
    alpha: float, y: np.ndarray,
) -> list[str]:  # fmt: skip
    """Sentences about what the data do not bear out. ``size``: of the terms of F; ``alpha``: what
    "auto" makes of λ."""
    said = _other_scaling(claims.get("scaling"), view) if "scaling" in claims else []
    still = np.flatnonzero((W > 0) & ~view.varies)
    if len(still):
        said.append(f"column {still[0]} never changes, and has the weight {W[still[0]]:.6g}")
    objective = claims.get("objective")
    if objective is not None and not abs(objective - F) <= AGREES * size:
        said.append(f"objective_ is {objective:.9g}, the rows say {F:.9g}")
    loo = claims.get("loo_score")
    if loo is not None and not score.low - AGREES <= loo <= score.high + AGREES:
        said.append(f"loo_score_ is {loo:.9g}, the rows say {score.value:.9g}")
    lam = claims.get("auto_alpha")
    if lam is not None and not abs(lam - alpha) <= AGREES * alpha:
        said.append(f"alpha_ is {lam:.9g}, alpha='auto' is {alpha:.9g} ({ALPHA_OF})")
    epsilon = claims.get("auto_epsilon")
    if epsilon is not None:
        low, high = np.percentile(y, [25, 75])
        true = float(high - low) / IQR
        if not abs(epsilon - true) <= AGREES * true:
            said.append(f"epsilon_ is {epsilon:.9g}, the interquartile range/{IQR} is {true:.9g}")
    return said + (_other_rows(claims["kept"], view, W, y) if "kept" in claims else [])


def _other_scaling(scaling: str | None, view: Scaled) -> list[str]:
    P = len(view.low)
    shift, scale = np.zeros(P), np.ones(P)
    if scaling == "minmax":
        shift, scale = view.low, np.where(view.varies, view.high - view.low, 1.0)
    elif scaling == "standard":
        shift, scale = _mean_and_spread(view)
    reach = np.where(view.varies, view.high - view.low, 0.0)
    said = []
    for name, stated, true in (("shift_", view.shift, shift), ("scale_", view.scale, scale)):
        size = np.maximum(np.abs(true), reach if name == "shift_" else 0.0)
        off = np.flatnonzero(~(np.abs(stated - true) <= AGREES * size))
        if len(off):
            l = off[0]
            said.append(f"{name} of column {l} is {stated[l]:.9g}, the rows say {true[l]:.9g}")
    return said


def _mean_and_spread(view: Scaled) -> tuple[np.ndarray, np.ndarray]:
    P, n = len(view.low), len(view.X)
    mean, spread = np.empty((2, P))
    reach = np.where(view.varies, view.high - view.low, 1.0)
    step = max(1, AT_ONCE // n)
    for first in range(0, P, step):
        some = slice(first, first + step)
        Z = (view.X[:, some] - view.low[some]) / reach[some]  # about 0, and no square overflows
        mean[some] = view.low[some] + reach[some] * Z.mean(axis=0)
        spread[some] = reach[some] * Z.std(axis=0)
    return mean, np.where(view.varies, spread, 1.0)


def _other_rows(kept: np.ndarray, view: Scaled, W: np.ndarray, y: np.ndarray) -> list[str]:
    """The rows that answer for new ones: X, the columns it has, y."""
    X, columns, own = kept
    used = np.flatnonzero(W)
    if not np.array_equal(columns, used):
        return ["the columns that it keeps for new rows are not those with weight"]
    if X.shape != (len(y), len(used)) or len(own) != len(y):
        return [f"it keeps {len(X):,} rows of {X.shape[1]:,} columns for new rows"]
    off = np.flatnonzero(np.asarray(own) != y)
    if len(off):
        return [f"the y of row {off[0]} that it keeps for new rows is another"]
    step, eps = max(1, AT_ONCE // len(y)), 4 * np.finfo(X.dtype).eps
    size = np.maximum(np.abs(view.low - view.shift), np.abs(view.high - view.shift)) / view.scale
    for first in range(0, len(used), step):
        some = used[first : first + step]
        off = ~(np.abs(X[:, first : first + step] - view.columns(some)) <= eps * size[some])
        if off.any():
            i, l = np.argwhere(off)[0]
            return [f"row {i}, column {some[l]} is another among the rows kept for new ones"]
    return []
