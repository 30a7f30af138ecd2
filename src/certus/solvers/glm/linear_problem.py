"""A least-squares problem in centred, scaled columns, and its solution in the user's units.

    x̃_j∘q_j/d_j,  d_j = ‖x̃_j‖∘q_j:   w = (q/d) ∘ v,   penalty α‖w‖² = Σ α(q_j/d_j)² v_j²

Scaled columns have norm 1, so that conditioning and rank do not depend on units.
"""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..linalg.gram import Gram, NonFiniteError

# a column is constant up to rounding where ‖x̃_j‖ is at most this times eps·‖x_j‖
CONSTANT_COLUMN_ROUNDING_UNITS = 2.0


class Aliases(NamedTuple):
    """Columns that depend on others: x̃_columns = x̃_kept · coef, in the user's units.

    coef is given for the first few of ``columns`` only.
    """

    columns: np.ndarray
    kept: np.ndarray
    coef: np.ndarray  # (kept, few columns); all 0: the column is constant


class Solution(NamedTuple):
    """Coefficients of a linear model and how they were computed."""

    w: np.ndarray  # (p, k), in the user's units
    b: np.ndarray  # (k,)
    solver: str
    rank: int | None = None
    triangle: np.ndarray | None = None  # R with RᵀR = X̃ᵀSX̃, in the user's units
    aliases: Aliases | None = None
    n_iter: int = 1  # passes of an iterative solver
    stopped_at: int | None = None  # max_iter, if the fit ended there


class Scaled(NamedTuple):
    """Gram sums with the scale of each column."""

    sums: Gram
    norm: np.ndarray  # (p,): ‖x̃_j‖ of x∘q; 0 where the column is constant
    scale: np.ndarray  # (p,): norm, with 1 for 0
    unscale: np.ndarray  # (p,): w = unscale ∘ v
    centered: bool  # whether there is an intercept

    @classmethod
    def of(cls, sums: Gram, norm: np.ndarray, centered: bool) -> "Scaled":
        scale = np.where(norm > 0, norm, 1.0)
        with np.errstate(over="ignore"):
            unscale = (1.0 if sums.q is None else sums.q) / scale
        if not np.isfinite(unscale).all():
            raise NonFiniteError
        return cls(sums, norm, scale, unscale, centered)

    @property
    def mean(self) -> np.ndarray:
        """Column means x̄, in the user's units."""
        return self.sums.mean if self.sums.q is None else self.sums.mean / self.sums.q

    def penalty(self, alpha: float) -> np.ndarray:
        """Return the penalty of each scaled coefficient v_j."""
        if alpha == 0:
            return np.zeros_like(self.unscale)  # 0·∞ is not a number
        with np.errstate(over="ignore"):
            return np.minimum(alpha * self.unscale**2, 1e300)

    def solution(self, v: np.ndarray, solver: str, **fields: object) -> Solution:
        with np.errstate(over="ignore"):
            w = self.unscale[:, None] * v
        if not np.isfinite(w).all():  # columns are smaller than 1 over the largest float
            raise NonFiniteError
        return Solution(w, self.sums.mean_y - self.mean @ w, solver, **fields)  # type: ignore[arg-type]


def scaled(sums: Gram, centered: bool) -> Scaled:
    """Scale columns to norm 1; constant columns get norm 0."""
    square = np.diagonal(sums.G)
    noise = (CONSTANT_COLUMN_ROUNDING_UNITS * np.finfo(float).eps * sums.size) ** 2
    return Scaled.of(sums, np.sqrt(np.where(square > noise, square, 0.0)), centered)


def rank_noise(sigma: np.ndarray, Vt: np.ndarray, problem: Scaled, rows: Rows) -> np.ndarray:
    """Return the level below which each singular value of the scaled columns is rounding.

    It covers the rounding of the factorisation and of the data, whose columns are known to ε‖x_j‖.
    """
    eps, relative_size = data_eps(rows), problem.sums.size / problem.scale
    largest = np.max(sigma, initial=0.0)
    data: np.ndarray = 4 * eps * (np.abs(Vt) @ relative_size)
    return max(Vt.shape[1], 64) * eps * largest + data


def largest_rank_noise(problem: Scaled, rows: Rows) -> float:
    """Return a bound of ``rank_noise`` for any singular vectors: |v|ᵀz ≤ ‖z‖, and σ ≤ √p."""
    p, relative_size = len(problem.scale), problem.sums.size / problem.scale
    noise = max(p, 64) * np.sqrt(p) + 4 * np.linalg.norm(relative_size)
    return float(data_eps(rows) * noise)


def data_eps(rows: Rows) -> float:
    """Return the unit roundoff of X's floating-point type."""
    return float(np.finfo(np.float32 if rows.X.dtype == np.float32 else float).eps)
