r"""Interfaces between the parts of the proof of least squares.

    f(w, b) = Σ_i s_i (y_i − x_iᵀw − b)² + α‖w‖²,     h = −∇f/2,     X̃ = QRD

``SquaresProblem`` is one (w, b) on one data set, ``ColumnFactor`` is R with D, and
``SquaresExcess`` bounds how far f is above its minimum.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, ResidualStatistics, View
from certus.proofs.types import RowData


class ColumnFactor(NamedTuple):
    """R of all rows, with columns scaled to norm 1."""

    R: np.ndarray  # (m, p)
    scale: np.ndarray  # (p,), of the columns as viewed

    def of(self, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """(σ, V, δ) of the columns ``keep``."""
        _, sigma, Vt = np.linalg.svd(self.R[:, keep], full_matrices=False)
        largest = float(np.max(sigma, initial=0.0))
        return sigma, Vt.T, 2 * UNIT * max(self.R.shape[1], 64) * largest


class SquaresExcess(NamedTuple):
    """Bound of f − f* for each target."""

    excess: np.ndarray  # (k,): from the sums as computed
    error: np.ndarray  # (k,): from rounding of the gradient; the roots of both are added
    step: np.ndarray  # (p, k): from w to the optimum, as viewed
    coef_error: np.ndarray  # (k,): bound of |w_j − w*_j|, in the user's units
    nominal_excess: np.ndarray  # (k,): the excess, if nothing had been rounded


class ViewedRows(Protocol):
    """Interface: rows with their view, independent of a fit."""

    data: RowData
    view: View
    fit_intercept: bool


class SquaresProblem(Protocol):
    """Interface: one (w, b) on one data set, with its sums and what follows from them."""

    data: RowData
    fit_intercept: bool
    positive: bool
    user: tuple[np.ndarray, np.ndarray]  # w (p, k) and b (k,) in the user's units
    w: np.ndarray  # (p, k), as viewed; so is all below
    b: np.ndarray  # (k,)
    q: np.ndarray  # (p,): the view's powers of two
    alpha: np.ndarray  # (p, k)
    unit: float  # relative error of one operation of the sums
    sums: ResidualStatistics
    h: np.ndarray  # (p, k), with components that w ≥ 0 blocks set to 0
    unclipped: np.ndarray  # (p, k): h without that
    h_error: np.ndarray  # (p, k)
    r_error: np.ndarray  # (k,)
    norm: np.ndarray  # (p,): ‖x̃_j‖
    size: np.ndarray  # (p,): ‖x_j‖
    may_fall: np.ndarray  # (p,) of bool

    @property
    def null_objective(self) -> np.ndarray:
        """f₀, the objective of the intercept alone."""
        ...

    @property
    def user_mean(self) -> np.ndarray:
        """x̄ in the user's units; 0 without an intercept."""
        ...

    def take_sums(self, dtype: type) -> None:
        """Sum over all rows, in float64 or in long double."""
        ...

    def find_gradient(self, size: np.ndarray) -> None:
        """Compute h and a bound of its rounding error, for ‖x_j‖ ≤ size_j."""
        ...

    def claim(
        self, f: np.ndarray, evaluation: np.ndarray, excess: np.ndarray, proof: str
    ) -> dict[str, Any]:
        """Result from f, its error ``evaluation``, and a bound of its excess."""
        ...

    def verdict(
        self, excess: np.ndarray, error: np.ndarray, proof: str
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Result from an excess in w with its ``error``, and the total excess."""
        ...

    def coef_bounds(self, error: np.ndarray) -> dict[str, Any]:
        """Bound |w_j − w*_j| ≤ error_t of target t, absolute and relative to ‖w_t‖."""
        ...

    def excess_share(self, nominal_excess: np.ndarray) -> float:
        """Excess along w plus that of b, relative to f₀."""
        ...

    def total_excess(self, excess: SquaresExcess) -> np.ndarray:
        """Excess of w plus that of b and all rounding, (k,)."""
        ...

    def is_within(self, excess: SquaresExcess, tol: float) -> bool:
        """Return whether the excess is within tol, rounding included."""
        ...
