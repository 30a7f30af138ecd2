r"""What the parts of the proof of least squares know of each other.

    f(w, b) = Σ_i s_i (y_i − x_iᵀw − b)² + α‖w‖²,     h = −∇f/2,     X̃ = QRD

``SquaresProblem`` is one (w, b) on one data set, ``Factor`` is R with D, and ``Excess`` is how far
f can be above its minimum.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, Sums, View
from certus.proofs.types import RowData


class Factor(NamedTuple):
    """R of all rows, with columns scaled to norm 1."""

    R: np.ndarray  # (m, p)
    scale: np.ndarray  # (p,), of the columns as viewed

    def of(self, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """(σ, V, δ) of some columns."""
        _, sigma, Vt = np.linalg.svd(self.R[:, keep], full_matrices=False)
        largest = float(np.max(sigma, initial=0.0))
        return sigma, Vt.T, 2 * UNIT * max(self.R.shape[1], 64) * largest


class Excess(NamedTuple):
    """f − f* at most, of each target."""

    excess: np.ndarray  # (k,), at the sums as computed
    error: np.ndarray  # (k,), what rounding of the gradient can add: √ of both are added
    step: np.ndarray  # (p, k): from w to the optimum, as viewed
    coef_error: np.ndarray  # (k,): |w_j − w*_j| at most, in the user's units
    seen: np.ndarray  # (k,): the excess, if nothing had been rounded


class ViewedRows(Protocol):
    """Rows as they are looked at, whatever is fitted to them."""

    data: RowData
    view: View
    fit_intercept: bool


class SquaresProblem(Protocol):
    """One (w, b) on one data set: its sums, and the numbers that follow from them."""

    data: RowData
    fit_intercept: bool
    positive: bool
    user: tuple[np.ndarray, np.ndarray]  # w (p, k) and b (k,) in the user's units
    w: np.ndarray  # (p, k), as viewed, and so all below
    b: np.ndarray  # (k,)
    q: np.ndarray  # (p,): the view's powers of two
    alpha: np.ndarray  # (p, k)
    unit: float  # relative error of one operation of the sums
    sums: Sums
    h: np.ndarray  # (p, k), without what w ≥ 0 takes up
    unclipped: np.ndarray  # (p, k): h itself
    h_error: np.ndarray  # (p, k)
    r_error: np.ndarray  # (k,)
    norm: np.ndarray  # (p,): ‖x̃_j‖
    size: np.ndarray  # (p,): ‖x_j‖
    may_fall: np.ndarray  # (p,) of bool

    @property
    def null_objective(self) -> np.ndarray:
        """f₀, of the intercept alone."""
        ...

    @property
    def user_mean(self) -> np.ndarray:
        """x̄ in the user's units; 0 without an intercept."""
        ...

    def take_sums(self, dtype: type) -> None:
        """The pass over all rows, in float64 or in the widest floats."""
        ...

    def find_gradient(self, size: np.ndarray) -> None:
        """h, and what rounding can have done to it, for ‖x_j‖ ≤ size_j."""
        ...

    def claim(
        self, f: np.ndarray, evaluation: np.ndarray, excess: np.ndarray, proof: str
    ) -> dict[str, Any]:
        """From f, up to ``evaluation``, and its excess at most."""
        ...

    def verdict(
        self, excess: np.ndarray, error: np.ndarray, proof: str
    ) -> tuple[dict[str, Any], np.ndarray]:
        """The claim that an excess in w, known up to ``error``, allows, and the excess in all."""
        ...

    def known_to(self, error: np.ndarray) -> dict[str, Any]:
        """|w_j − w*_j| ≤ error_t of target t, and its share of ‖w_t‖."""
        ...

    def share_of(self, seen: np.ndarray) -> float:
        """An excess along w, with that of b, as a share of f₀."""
        ...

    def excess_of(self, found: Excess) -> np.ndarray:
        """What was found of w, with b's part and all rounding, (k,)."""
        ...

    def within(self, found: Excess, tol: float) -> bool:
        """Is that excess small enough, rounding included?"""
        ...
