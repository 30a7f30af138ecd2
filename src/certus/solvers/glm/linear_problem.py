"""A linear model's problem in centred, scaled columns, and its answer in the user's units.

    x̃_j∘q_j/d_j,  d_j = ‖x̃_j‖∘q_j:   w = (q/d) ∘ v,   penalty α‖w‖² = Σ α(q_j/d_j)² v_j²

Scaled columns have norm 1, so that conditioning and rank do not depend on units.
"""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ..linalg.gram import Gram, NonFiniteError

CONSTANT = 2.0  # times eps·‖x_j‖ that ‖x̃_j‖ may be where a column is constant but for rounding


class Aliases(NamedTuple):
    """Columns that repeat others: x̃_columns = x̃_kept · coef, in the user's units.

    coef is of the first few only.
    """

    columns: np.ndarray
    cache: np.ndarray
    coef: np.ndarray  # (kept, few columns); all 0: the column is constant


class Solution(NamedTuple):
    w: np.ndarray  # (p, k), in the user's units
    b: np.ndarray  # (k,)
    solver: str
    rank: int | None = None
    triangle: np.ndarray | None = None  # R with RᵀR = X̃ᵀSX̃, in the user's units
    aliases: Aliases | None = None
    n_iter: int = 1  # passes of an iterative solver
    stopped_at: int | None = None  # max_iter, if that is what ended it


class Scaled(NamedTuple):
    sums: Gram
    norm: np.ndarray  # (p,): ‖x̃_j‖ of x∘q; 0 where the column is constant
    scale: np.ndarray  # (p,): norm, with 1 for 0
    unscale: np.ndarray  # (p,): w = unscale ∘ v
    centred: bool  # is there an intercept?

    @classmethod
    def of(cls, sums: Gram, norm: np.ndarray, centred: bool) -> "Scaled":
        scale = np.where(norm > 0, norm, 1.0)
        with np.errstate(over="ignore"):
            unscale = (1.0 if sums.q is None else sums.q) / scale
        if not np.isfinite(unscale).all():
            raise NonFiniteError
        return cls(sums, norm, scale, unscale, centred)

    @property
    def mean(self) -> np.ndarray:
        """x̄, in the user's units."""
        return self.sums.mean if self.sums.q is None else self.sums.mean / self.sums.q

    def penalty(self, alpha: float) -> np.ndarray:
        """Of v, coefficient by coefficient."""
        if alpha == 0:
            return np.zeros_like(self.unscale)  # 0·∞ is no number
        with np.errstate(over="ignore"):
            return np.minimum(alpha * self.unscale**2, 1e300)

    def solution(self, v: np.ndarray, solver: str, **more: object) -> Solution:
        with np.errstate(over="ignore"):
            w = self.unscale[:, None] * v
        if not np.isfinite(w).all():  # columns are smaller than 1 over the largest float
            raise NonFiniteError
        return Solution(w, self.sums.mean_y - self.mean @ w, solver, **more)  # type: ignore[arg-type]


def scaled(sums: Gram, centred: bool) -> Scaled:
    square = np.diagonal(sums.G)
    noise = (CONSTANT * np.finfo(float).eps * sums.size) ** 2
    return Scaled.of(sums, np.sqrt(np.where(square > noise, square, 0.0)), centred)


def rank_noise(sigma: np.ndarray, Vt: np.ndarray, problem: Scaled, rows: Rows) -> np.ndarray:
    """A singular value of the scaled columns that is not above this is rounding.

    Of the factorisation, and of the data: columns of size ‖x_j‖ are known to ε‖x_j‖ only.
    """
    eps, relative_size = eps_of(rows), problem.sums.size / problem.scale
    largest = np.max(sigma, initial=0.0)
    data: np.ndarray = 4 * eps * (np.abs(Vt) @ relative_size)
    return max(Vt.shape[1], 64) * eps * largest + data


def largest_rank_noise(problem: Scaled, rows: Rows) -> float:
    """Whatever the singular vectors: |v|ᵀz ≤ ‖z‖, and σ ≤ √p."""
    p, relative_size = len(problem.scale), problem.sums.size / problem.scale
    noise = max(p, 64) * np.sqrt(p) + 4 * np.linalg.norm(relative_size)
    return float(eps_of(rows) * noise)


def eps_of(rows: Rows) -> float:
    return float(np.finfo(np.float32 if rows.X.dtype == np.float32 else float).eps)
